//! The result of comparing artifacts with their expected contents: how many are the same, different, missing or not
//! compared. The exit code of a command follows from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::difference::Difference;
use crate::error::Exit;
use crate::print;

/// The counts and findings of one comparison.
pub(crate) struct Compared {
    /// The operation: the words that begin a line of text, and its name in JSON.
    what: (&'static str, &'static str),
    /// The number of artifacts that match.
    pub(crate) same: usize,
    /// The artifacts that differ, with their differences.
    alarms: BTreeMap<String, Vec<Difference>>,
    /// The artifacts that are missing.
    lacking: BTreeSet<String>,
    /// The reasons why artifacts were not compared, with the number of artifacts for each.
    unchecked: BTreeMap<String, usize>,
}

impl Compared {
    /// Creates an empty result.
    pub(crate) fn new(words: &'static str, name: &'static str) -> Self {
        let (alarms, lacking) = (BTreeMap::new(), BTreeSet::new());
        Self { what: (words, name), same: 0, alarms, lacking, unchecked: BTreeMap::new() }
    }

    /// Records an artifact that differs.
    pub(crate) fn alarm(&mut self, what: impl Into<String>, differences: Vec<Difference>) {
        self.alarms.insert(what.into(), differences);
    }

    /// Records a missing artifact.
    pub(crate) fn lack(&mut self, what: impl Into<String>) {
        self.lacking.insert(what.into());
    }

    /// Counts an artifact that was not compared.
    pub(crate) fn skip(&mut self, why: impl Into<String>) {
        *self.unchecked.entry(why.into()).or_default() += 1;
    }

    /// Returns the exit code of the command; `None` if nothing was compared, which is not a success.
    pub(crate) fn exit(&self) -> Option<Exit> {
        if !self.alarms.is_empty() {
            Some(Exit::Different)
        } else if !self.lacking.is_empty() {
            Some(Exit::Damaged)
        } else {
            (self.same > 0).then_some(Exit::Ok)
        }
    }

    /// Renders the result as text.
    pub(crate) fn text(&self) -> String {
        let mut text =
            format!("{}: {}\n", self.what.0, print::count(self.same, "is the same", "are the same"));
        for (alarm, differences) in &self.alarms {
            let _ = writeln!(text, "  alarm  {alarm}");
            for difference in differences {
                let _ = writeln!(text, "    differs {difference}");
            }
        }
        for lacking in &self.lacking {
            let _ = writeln!(text, "  missing  {lacking}");
        }
        for (why, count) in &self.unchecked {
            let _ = writeln!(text, "  not compared: {count} ({why})");
        }
        text
    }

    /// Returns the name and the value of the result in JSON.
    pub(crate) fn json(&self) -> (&'static str, Value) {
        let alarms =
            self.alarms.iter().map(|(what, differences)| json!({"what": what, "differences": differences}));
        let value = json!({
            "same": self.same, "alarms": alarms.collect::<Vec<_>>(), "lacking": self.lacking, "unchecked": self.unchecked,
        });
        (self.what.1, value)
    }
}
