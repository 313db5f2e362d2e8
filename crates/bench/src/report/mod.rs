//! The report: lines of precast and its peers, in a section for each case; as a table, a page, JSON or a picture.
//!
//! ```text
//! case ─▶ Found { lines, facts, skipped } ─▶ Section ─▶ Report ─▶ table (terminal) │ page, picture (committed) │ JSON
//! ```

mod fastest;
mod joined;
mod machine;
mod page;
mod picture;
mod reasons;
mod table;

#[cfg(test)]
mod tests;

use crate::measure::{Runner, Sample, race, race_cold};
use anyhow::Result;
pub(crate) use fastest::{against_fastest, missed, summary};
pub(crate) use machine::{Machine, load};
use serde::Serialize;

/// A subject, measured for precast and for peers in the same rounds.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    /// The subject.
    pub(crate) what: String,
    pub(crate) ours: Figure,
    pub(crate) target: Option<Target>,
    /// The peers by name, in the order of the table's columns.
    pub(crate) peers: Vec<(String, Figure)>,
    /// Remarks in a column of their own.
    pub(crate) note: Option<String>,
    /// Whether the picture shows this line.
    pub(crate) pictured: bool,
}

/// The statistics of many rounds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Figure {
    pub(crate) min_ns: f64,
    pub(crate) median_ns: f64,
    /// Half the interquartile range, as a fraction of the median.
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
    /// At most this many nanoseconds.
    Below(f64),
    /// At most this many nanoseconds more than the first peer.
    BelowPeerPlus(f64),
    /// At most this many times the first peer.
    TimesPeer(f64),
}

impl Line {
    /// Creates a line from samples.
    pub(crate) fn new(what: &str, ours: &Sample, peers: &[(&str, &Sample)]) -> Self {
        let peers = peers.iter().map(|(name, sample)| ((*name).to_owned(), Figure::from(*sample))).collect();
        Self { what: what.to_owned(), ours: ours.into(), target: None, peers, note: None, pictured: false }
    }

    /// Runs a race whose first runner is precast.
    pub(crate) fn raced(what: &str, rounds: usize, mut runners: Vec<Runner<'_>>) -> Result<Self> {
        let samples = race(rounds, &mut runners)?;
        Ok(Self::of_race(what, runners, &samples))
    }

    /// Runs a race like [`Self::raced`] in which the first round counts too.
    pub(crate) fn raced_cold(what: &str, rounds: usize, mut runners: Vec<Runner<'_>>) -> Result<Self> {
        let samples = race_cold(rounds, &mut runners)?;
        Ok(Self::of_race(what, runners, &samples))
    }

    fn of_race(what: &str, runners: Vec<Runner<'_>>, samples: &[Sample]) -> Self {
        let peers = runners.into_iter().zip(samples).skip(1);
        let peers = peers.map(|(runner, sample)| (runner.name, sample.into())).collect();
        let ours = samples.first().map_or_else(|| (&Sample::default()).into(), Figure::from);
        Self { what: what.to_owned(), ours, target: None, peers, note: None, pictured: false }
    }

    pub(crate) fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Adds the line to the picture.
    pub(crate) fn pictured(self) -> Self {
        Self { pictured: true, ..self }
    }

    /// Returns whether the median meets the target; `None` without a target or without the peer that it refers to.
    fn is_met(&self) -> Option<bool> {
        let first = self.peers.first().map(|(_, figure)| figure.median_ns);
        Some(match self.target? {
            Target::Below(ns) => self.ours.median_ns <= ns,
            Target::BelowPeerPlus(ns) => self.ours.median_ns - first? <= ns,
            Target::TimesPeer(times) => self.ours.median_ns <= times * first?,
        })
    }
}

/// The results of a case.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) lines: Vec<Line>,
    /// Results other than times: counts, sizes, whether bits agree.
    pub(crate) facts: Vec<String>,
    /// Subjects that the case could not measure, with the reason.
    pub(crate) skipped: Vec<String>,
}

impl From<Vec<Line>> for Found {
    fn from(lines: Vec<Line>) -> Self {
        Self { lines, ..Self::default() }
    }
}

/// The results of a case, with its name.
#[derive(Debug, Serialize)]
pub(crate) struct Section {
    /// The case's name on the command line.
    pub(crate) case: &'static str,
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<Line>,
    pub(crate) facts: Vec<String>,
    pub(crate) skipped: Vec<String>,
}

/// The results of one run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) sections: Vec<Section>,
    /// Subjects that no case could measure, with the reason.
    pub(crate) skipped: Vec<String>,
}

/// Formats a duration with three digits.
fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Formats a number with three digits, if it is below 1000.
fn three_digits(value: f64) -> String {
    // Chosen by the rounded value: 9.999 is 10.0.
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$}")
}
