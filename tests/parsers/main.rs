//! Fuzz tests of every parser of untrusted input, with edited real values: cut, flipped, spliced, with false lengths.
//! For any input, a parser terminates within a memory limit that depends on the input, and accepts only the canonical
//! form. Loaded code is either the published code or nothing.
//!
//! ```text
//! edit      a real value and a few edits of it: the input that a fuzzer chooses
//! seeds     the real values: one small build, its store, bundle, export and lock file; texts
//! binary    records, documents, entries, archives, tars, exports, bundles
//! texts     keyrings, keys, signatures, lock files, manifests, expressions, types, graphs, signatures of CEP 1000
//! places    stores in which one file was edited: STORE, roots, pointers, records, documents, objects
//! ```
//! Each test is a target of [bolero](https://docs.rs/bolero): by default it runs a number of random cases, new ones in
//! each run. A failure prints the seed that reproduces it. `cargo xtask fuzz-parsers` runs each target for a chosen
//! time. `cargo bolero test --engine libfuzzer binary::records` lets another engine search for uncovered paths. Each
//! bug that was found has its own test in the crate of the parser.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod binary;
mod edit;
mod places;
mod seeds;
mod texts;

/// Defines a target: its name, its default number of cases, the real values, its memory limit, and
/// the code that parses an input.
macro_rules! target {
    ($name:ident, $share:expr, $seeds:expr, $memory:expr, $parse:expr) => {
        #[test]
        fn $name() {
            let seeds: Vec<Vec<u8>> = $seeds;
            bolero::check!().with_iterations($share).with_type::<crate::edit::Case>().for_each(|case| {
                let bytes = case.edit(&seeds);
                crate::bounded(bytes.len(), $memory, || $parse(&bytes));
            });
        }
    };
}
pub(crate) use target;

/// A memory limit of a parser: bytes for each byte of its input, and a fixed number of bytes. Converting from a number
/// sets the former, with one mebibyte fixed.
struct Memory {
    per_byte: usize,
    fixed: usize,
}

impl From<usize> for Memory {
    fn from(per_byte: usize) -> Self {
        Self { per_byte, fixed: 1 << 20 }
    }
}

/// Runs a parser and checks that it stays within its memory limit.
#[track_caller]
fn bounded(length: usize, memory: impl Into<Memory>, parse: impl FnOnce()) {
    let Memory { per_byte, fixed } = memory.into();
    let limit = (fixed + per_byte * length) as u64;
    let used = allocation_counter::measure(parse).bytes_max;
    assert!(used <= limit, "{used} bytes of memory for an input of {length}");
}
