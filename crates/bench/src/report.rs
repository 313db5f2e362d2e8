//! What was measured: rows of us, a peer and a target, as a table, Markdown or JSON.

use crate::measure::{Sample, output};
use serde::Serialize;
use std::fmt::Write as _;
use std::process::Command;

/// One figure.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// The case that measured it.
    pub(crate) case: &'static str,
    /// What was measured.
    pub(crate) what: String,
    /// Ours, in nanoseconds.
    pub(crate) min_ns: f64,
    pub(crate) median_ns: f64,
    pub(crate) rounds: usize,
    /// What it is compared with.
    pub(crate) peer: String,
    pub(crate) peer_min_ns: f64,
    pub(crate) peer_median_ns: f64,
    /// Median by median.
    pub(crate) ratio: f64,
    /// What it shall be.
    pub(crate) target: Option<Target>,
}

/// A target of the design.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) enum Target {
    /// At most so many nanoseconds.
    Below(f64),
    /// At most so many nanoseconds more than the peer.
    BelowPeerPlus(f64),
}

impl Row {
    /// A row of two samples.
    pub(crate) fn new(case: &'static str, what: &str, ours: &Sample, peer: &str, theirs: &Sample) -> Self {
        Self {
            case,
            what: what.to_owned(),
            min_ns: ours.min(),
            median_ns: ours.median(),
            rounds: ours.len(),
            peer: peer.to_owned(),
            peer_min_ns: theirs.min(),
            peer_median_ns: theirs.median(),
            ratio: ours.median() / theirs.median(),
            target: None,
        }
    }

    pub(crate) fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Whether the median keeps the target; `None` without one.
    fn is_met(&self) -> Option<bool> {
        Some(match self.target? {
            Target::Below(ns) => self.median_ns <= ns,
            Target::BelowPeerPlus(ns) => self.median_ns - self.peer_median_ns <= ns,
        })
    }

    fn cells(&self) -> [String; 7] {
        let target = match self.target {
            None => "–".to_owned(),
            Some(Target::Below(ns)) => format!("≤ {}", time(ns)),
            Some(Target::BelowPeerPlus(ns)) => format!("≤ peer + {}", time(ns)),
        };
        let verdict = self.is_met().map_or("", |met| if met { " met" } else { " MISSED" });
        [
            self.what.clone(),
            time(self.min_ns),
            time(self.median_ns),
            self.peer.clone(),
            time(self.peer_median_ns),
            format!("{:.2}", self.ratio),
            format!("{target}{verdict}"),
        ]
    }
}

/// A duration with three digits.
fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

const HEAD: [&str; 7] = ["what", "min", "median", "peer", "peer median", "ratio", "target"];

/// Where and with what the figures were made.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    cpu: String,
    processors: usize,
    isa: String,
    kernel: String,
    rustc: String,
    compiler: String,
    /// Libraries that are peers.
    peers: String,
    load_before: String,
    pub(crate) load_after: String,
}

impl Machine {
    /// Asks the system.
    pub(crate) fn here() -> Self {
        let unknown = || "unknown".to_owned();
        let cpuinfo = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
        let cpu = model.and_then(|line| line.split(": ").nth(1)).map_or_else(unknown, str::to_owned);
        let line =
            |command: &mut Command| output(command).map_or_else(|_| unknown(), |text| text.trim().to_owned());
        let toolchain = precast_compile::Toolchain::find(None);
        Self {
            cpu,
            processors: std::thread::available_parallelism().map_or(1, Into::into),
            isa: precast_compile::Isa::native().map_or_else(unknown, |isa| isa.to_string()),
            kernel: line(Command::new("uname").arg("-sr")),
            rustc: line(Command::new("rustc").arg("--version")),
            compiler: toolchain.map_or_else(|_| unknown(), |found| found.description().to_owned()),
            peers: format!(
                "ndarray {}, NumPy {}",
                ndarray(),
                line(Command::new("python3").args(["-c", NUMPY]))
            ),
            load_before: load(),
            load_after: String::new(),
        }
    }
}

const NUMPY: &str = "import numpy; print(numpy.__version__)";

/// The version of ndarray in the lock file that this program was built with.
fn ndarray() -> &'static str {
    let lock = include_str!("../../../Cargo.lock");
    let after = lock.split("name = \"ndarray\"\nversion = \"").nth(1);
    after.and_then(|text| text.split('"').next()).unwrap_or("unknown")
}

/// Running processes on average over the last minute.
pub(crate) fn load() -> String {
    let text = fs_err::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

/// Everything that one run found out.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) rows: Vec<Row>,
    /// What was not measured, and why.
    pub(crate) skipped: Vec<String>,
}

impl Report {
    fn facts(&self) -> String {
        let m = &self.machine;
        format!(
            "{}, {} processors, level {}; {}; {}; {}; {}; load {} before, {} after",
            m.cpu, m.processors, m.isa, m.kernel, m.rustc, m.compiler, m.peers, m.load_before, m.load_after
        )
    }

    /// A table for people.
    pub(crate) fn table(&self) -> String {
        let cells: Vec<[String; 7]> =
            std::iter::once(HEAD.map(str::to_owned)).chain(self.rows.iter().map(Row::cells)).collect();
        let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
        let mut text = format!("{}\n\n", self.facts());
        for row in &cells {
            let padded: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", padded.join("  ").trim_end());
        }
        for what in &self.skipped {
            let _ = writeln!(text, "skipped: {what}");
        }
        text
    }

    /// The table of `RESULTS.md`.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = "# Results\nMade by `cargo run --release -p precast-bench -- --markdown`; how to read them: `README.md`.\n\n".to_owned();
        let _ = writeln!(text, "{}.\n", self.facts());
        text += &line(&HEAD.map(str::to_owned));
        text += "|---|---|---|---|---|---|---|\n";
        self.rows.iter().for_each(|row| text += &line(&row.cells()));
        for what in &self.skipped {
            let _ = write!(text, "\nSkipped: {what}.\n");
        }
        text
    }
}
