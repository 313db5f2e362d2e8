//! The limits of this machine, each measured when it is first asked for.

use precast_core::native::roofline;
use std::collections::BTreeMap;

/// Smallest and largest working set that the triad is run on, in bytes: within the first cache, and far beyond the last.
const SETS: (usize, usize) = (16 << 10, 256 << 20);

/// What was measured.
#[derive(Debug, Default)]
pub(super) struct Machine {
    /// By size and threads.
    bytes: BTreeMap<(usize, usize), f64>,
    /// By threads.
    operations: BTreeMap<usize, f64>,
}

impl Machine {
    /// Bytes a second in working sets of about this size: a cache is faster than memory.
    pub(super) fn bytes(&mut self, set_bytes: usize, threads: usize) -> f64 {
        let set = set_bytes.clamp(SETS.0, SETS.1).next_power_of_two();
        *self.bytes.entry((set, threads)).or_insert_with(|| roofline::triad(set, threads))
    }

    /// Operations of `f64` a second.
    pub(super) fn operations(&mut self, threads: usize) -> f64 {
        *self.operations.entry(threads).or_insert_with(|| roofline::multiply_add(threads))
    }
}
