//! The time limit of a long test, set by `cargo xtask proofs`.

use std::time::{Duration, Instant};

/// The variable that holds the seconds.
const SECONDS: &str = "PRECAST_TEST_SECONDS";

/// The time of a long test, from its start; unlimited unless `PRECAST_TEST_SECONDS` is set.
#[derive(Clone, Copy, Debug)]
pub struct Budget(Option<Instant>);

impl Budget {
    /// Starts the clock.
    ///
    /// # Panics
    /// If `PRECAST_TEST_SECONDS` is not a number.
    #[must_use]
    pub fn start() -> Self {
        let seconds = std::env::var(SECONDS).ok().map(|text| text.parse().expect("a number of seconds"));
        Self(seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)))
    }

    /// Returns whether the time is over, so that the test must not start new work.
    #[must_use]
    pub fn is_spent(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}
