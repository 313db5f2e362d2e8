//! What was measured: lines of us and our peers, in a section for each case; as a table, Markdown, JSON or a picture.
//!
//! ```text
//! case ─▶ Found { lines, facts, skipped } ─▶ Section ─▶ Report ─▶ table (terminal) │ markdown, picture (committed) │ JSON
//! ```

mod fastest;
mod machine;
mod picture;
mod reasons;
mod table;

#[cfg(test)]
mod tests;

use crate::measure::{Runner, Sample, race, race_cold};
use anyhow::Result;
pub(crate) use fastest::{against_fastest, missed};
pub(crate) use machine::{Machine, load};
use serde::Serialize;

/// One thing, measured for us and for peers in the same rounds.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    /// What was measured.
    pub(crate) what: String,
    pub(crate) ours: Figure,
    /// What it shall be.
    pub(crate) target: Option<Target>,
    /// Peers by name, in the order of the table's columns.
    pub(crate) peers: Vec<(String, Figure)>,
    /// Whether the picture has it.
    pub(crate) pictured: bool,
}

/// Many rounds of one thing.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Figure {
    pub(crate) min_ns: f64,
    pub(crate) median_ns: f64,
    /// Half of what lies between the quartiles, as a part of the median.
    pub(crate) spread: f64,
    pub(crate) rounds: usize,
}

impl From<&Sample> for Figure {
    fn from(sample: &Sample) -> Self {
        Self {
            min_ns: sample.min(),
            median_ns: sample.median(),
            spread: sample.spread(),
            rounds: sample.len(),
        }
    }
}

/// A target of the design.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) enum Target {
    /// At most so many nanoseconds.
    Below(f64),
    /// At most so many nanoseconds more than the first peer.
    BelowPeerPlus(f64),
    /// At most so many times the first peer.
    TimesPeer(f64),
}

impl Line {
    /// A line of samples.
    pub(crate) fn new(what: &str, ours: &Sample, peers: &[(&str, &Sample)]) -> Self {
        let peers = peers.iter().map(|(name, sample)| ((*name).to_owned(), Figure::from(*sample))).collect();
        Self { what: what.to_owned(), ours: ours.into(), target: None, peers, pictured: false }
    }

    /// Runs a race in which the first runner is us.
    pub(crate) fn raced(what: &str, rounds: usize, mut runners: Vec<Runner<'_>>) -> Result<Self> {
        let samples = race(rounds, &mut runners)?;
        Ok(Self::of_race(what, runners, &samples))
    }

    /// The same where the first round counts too.
    pub(crate) fn raced_cold(what: &str, rounds: usize, mut runners: Vec<Runner<'_>>) -> Result<Self> {
        let samples = race_cold(rounds, &mut runners)?;
        Ok(Self::of_race(what, runners, &samples))
    }

    fn of_race(what: &str, runners: Vec<Runner<'_>>, samples: &[Sample]) -> Self {
        let peers = runners.into_iter().zip(samples).skip(1);
        let peers = peers.map(|(runner, sample)| (runner.name, sample.into())).collect();
        let ours = samples.first().map_or_else(|| (&Sample::default()).into(), Figure::from);
        Self { what: what.to_owned(), ours, target: None, peers, pictured: false }
    }

    pub(crate) fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Puts it into the picture.
    pub(crate) fn pictured(self) -> Self {
        Self { pictured: true, ..self }
    }

    /// Whether the median keeps the target; `None` without one, or without the peer that it is about.
    fn is_met(&self) -> Option<bool> {
        let first = self.peers.first().map(|(_, figure)| figure.median_ns);
        Some(match self.target? {
            Target::Below(ns) => self.ours.median_ns <= ns,
            Target::BelowPeerPlus(ns) => self.ours.median_ns - first? <= ns,
            Target::TimesPeer(times) => self.ours.median_ns <= times * first?,
        })
    }
}

/// What a case found out.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) lines: Vec<Line>,
    /// What is no time: counts, sizes, whether bits agree.
    pub(crate) facts: Vec<String>,
    /// What it could not measure, and why.
    pub(crate) skipped: Vec<String>,
}

impl From<Vec<Line>> for Found {
    fn from(lines: Vec<Line>) -> Self {
        Self { lines, ..Self::default() }
    }
}

/// What a case found out, with its name.
#[derive(Debug, Serialize)]
pub(crate) struct Section {
    /// The case's name on the command line.
    pub(crate) case: &'static str,
    /// What it is about.
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<Line>,
    pub(crate) facts: Vec<String>,
    pub(crate) skipped: Vec<String>,
}

/// Everything that one run found out.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) sections: Vec<Section>,
    /// What no case could measure, and why.
    pub(crate) skipped: Vec<String>,
}

/// A duration with three digits.
fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A number with three digits, if it is below 1000.
fn three_digits(value: f64) -> String {
    // By what it rounds to: 9.999 is 10.0.
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$}")
}
