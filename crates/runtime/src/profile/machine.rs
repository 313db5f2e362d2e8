//! The limits of this machine, each measured on first use.

use precast_core::native::roofline;
use std::collections::BTreeMap;

/// The smallest and largest working set of the triad, in bytes: inside the first cache, and far larger than the last.
const SETS: (usize, usize) = (16 << 10, 256 << 20);

/// The measured limits.
#[derive(Debug, Default)]
pub(super) struct Machine {
    /// Bytes per second, by working set and threads.
    bytes: BTreeMap<(usize, usize), f64>,
    /// Operations per second, by threads.
    operations: BTreeMap<usize, f64>,
}

impl Machine {
    /// Returns the bytes per second for working sets of about this size, since a cache is faster than memory.
    pub(super) fn bytes(&mut self, set_bytes: usize, threads: usize) -> f64 {
        let set = set_bytes.clamp(SETS.0, SETS.1).next_power_of_two();
        *self.bytes.entry((set, threads)).or_insert_with(|| roofline::triad(set, threads))
    }

    /// Returns the `f64` operations per second.
    pub(super) fn operations(&mut self, threads: usize) -> f64 {
        *self.operations.entry(threads).or_insert_with(|| roofline::multiply_add(threads))
    }
}
