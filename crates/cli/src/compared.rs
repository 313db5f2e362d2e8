//! What came of holding what there is against what it should be: how much is the same, otherwise, lacking, or was not compared. How a
//! command ends follows from that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::difference::Difference;
use crate::error::Exit;
use crate::print;

/// What came of it.
pub(crate) struct Compared {
    /// What was done: words that begin a line, and a name for scripts.
    what: (&'static str, &'static str),
    /// How many are as they should be.
    pub(crate) same: usize,
    /// What came out otherwise, and in what it differs.
    alarms: BTreeMap<String, Vec<Difference>>,
    /// What should be here and is not.
    lacking: BTreeSet<String>,
    /// Why others were not compared, and how many they are.
    unchecked: BTreeMap<String, usize>,
}

impl Compared {
    /// Nothing yet.
    pub(crate) fn new(words: &'static str, name: &'static str) -> Self {
        let (alarms, lacking) = (BTreeMap::new(), BTreeSet::new());
        Self { what: (words, name), same: 0, alarms, lacking, unchecked: BTreeMap::new() }
    }

    /// Notes what came out otherwise.
    pub(crate) fn alarm(&mut self, what: impl Into<String>, differences: Vec<Difference>) {
        self.alarms.insert(what.into(), differences);
    }

    /// Notes what is not here.
    pub(crate) fn lack(&mut self, what: impl Into<String>) {
        self.lacking.insert(what.into());
    }

    /// Counts what was not compared.
    pub(crate) fn skip(&mut self, why: impl Into<String>) {
        *self.unchecked.entry(why.into()).or_default() += 1;
    }

    /// How a command ends that compared; `None` if nothing was, which is no success.
    pub(crate) fn exit(&self) -> Option<Exit> {
        if !self.alarms.is_empty() {
            Some(Exit::Different)
        } else if !self.lacking.is_empty() {
            Some(Exit::Damaged)
        } else {
            (self.same > 0).then_some(Exit::Ok)
        }
    }

    /// Text for people.
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
            let _ = writeln!(text, "  lacking  {lacking}");
        }
        for (why, count) in &self.unchecked {
            let _ = writeln!(text, "  not compared: {count}, as {why}");
        }
        text
    }

    /// What scripts read, and under which name.
    pub(crate) fn json(&self) -> (&'static str, Value) {
        let alarms =
            self.alarms.iter().map(|(what, differences)| json!({"what": what, "differences": differences}));
        let value = json!({
            "same": self.same, "alarms": alarms.collect::<Vec<_>>(), "lacking": self.lacking, "unchecked": self.unchecked,
        });
        (self.what.1, value)
    }
}
