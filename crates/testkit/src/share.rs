//! The share of its cases that a test takes.

/// Makes all tests take all of their cases.
const ALL: &str = "PRECAST_TEST_ALL";

/// Returns whether a test that takes one case in `of` takes the case at a position. It takes every case if
/// `PRECAST_TEST_ALL` is set, as `cargo xtask all-cases` does.
#[must_use]
pub fn is_in_share(position: u64, of: u64) -> bool {
    position.is_multiple_of(of) || std::env::var_os(ALL).is_some()
}
