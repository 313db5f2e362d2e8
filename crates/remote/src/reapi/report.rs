//! What happened on the way, for whoever tells people at the end.

use std::collections::BTreeMap;

/// Counts and troubles of one connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How many units the cache had.
    pub found: u64,
    /// How many units it was given.
    pub given: u64,
    /// How many compilers ran on the farm.
    pub ran: u64,
    /// How many runs of a compiler the farm had done before.
    pub known: u64,
    /// What was tried again, by the reason, and how often.
    pub repeated: BTreeMap<String, u64>,
    /// What went wrong and did not end the build, and how often.
    pub warnings: BTreeMap<String, u64>,
}

impl Report {
    /// Renders what was tried again: `3 × unavailable, 1 × a worker was lost`.
    #[must_use]
    pub fn repetitions(&self) -> Option<String> {
        let each = self.repeated.iter().map(|(reason, count)| format!("{count} × {reason}"));
        (!self.repeated.is_empty()).then(|| each.collect::<Vec<_>>().join(", "))
    }
}

/// Counts one more.
pub(super) fn count(counts: &mut BTreeMap<String, u64>, what: impl Into<String>) {
    *counts.entry(what.into()).or_default() += 1;
}
