//! A report of remote events, to be printed at the end of a build.

use std::collections::BTreeMap;

/// The counts and warnings of one connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of units found in the cache.
    pub found: u64,
    /// The number of units added to the cache.
    pub given: u64,
    /// The number of compilers that ran on the farm.
    pub ran: u64,
    /// The number of compiler runs with a cached result on the farm.
    pub known: u64,
    /// The number of retries by reason.
    pub repeated: BTreeMap<String, u64>,
    /// The number of failures that did not end the build, by message.
    pub warnings: BTreeMap<String, u64>,
}

impl Report {
    /// Renders the retries: `3 × unavailable, 1 × a worker was lost`.
    #[must_use]
    pub fn repetitions(&self) -> Option<String> {
        let each = self.repeated.iter().map(|(reason, count)| format!("{count} × {reason}"));
        (!self.repeated.is_empty()).then(|| each.collect::<Vec<_>>().join(", "))
    }
}

/// Increments a count.
pub(super) fn count(counts: &mut BTreeMap<String, u64>, what: impl Into<String>) {
    *counts.entry(what.into()).or_default() += 1;
}
