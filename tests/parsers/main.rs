//! Every parser of what others may have written, against real values that were edited: cut, flipped, spliced, with lengths that
//! lie. Whatever comes in, a parser ends, within the memory that its input justifies, and what it accepts is in its one form; what
//! is loaded is what was published, or nothing.
//!
//! ```text
//! edit      a real value and a few edits of it: what a fuzzer chooses
//! seeds     the real values: one small build, its store, bundle, export and lock file; texts
//! binary    records, documents, entries, archives, tars, exports, bundles
//! texts     keyrings, keys, signatures, lock files, manifests, expressions, types, graphs, signatures of CEP 1000
//! places    stores in which one file was edited: STORE, roots, pointers, records, documents, objects
//! ```
//! Each test is a target of [bolero](https://docs.rs/bolero): by default a share of random cases, a new one each run, and a failure
//! prints the seed that repeats it. `cargo xtask fuzz-parsers` runs each for as long as one likes; `cargo bolero test --engine
//! libfuzzer binary::records` lets another engine look for what was not reached. What was found is a test of its own, in the crate of
//! the parser.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod binary;
mod edit;
mod places;
mod seeds;
mod texts;

/// A target: its name, how many cases are its share, the real values, how much memory it may take for an input of so many bytes, and
/// what is done.
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

/// What a parser may allocate: bytes for each byte of its input, and some for none. A number alone is the former, beside a mebibyte.
struct Memory {
    per_byte: usize,
    fixed: usize,
}

impl From<usize> for Memory {
    fn from(per_byte: usize) -> Self {
        Self { per_byte, fixed: 1 << 20 }
    }
}

/// Runs a parser, which may allocate so much.
#[track_caller]
fn bounded(length: usize, memory: impl Into<Memory>, parse: impl FnOnce()) {
    let Memory { per_byte, fixed } = memory.into();
    let limit = (fixed + per_byte * length) as u64;
    let used = allocation_counter::measure(parse).bytes_max;
    assert!(used <= limit, "{used} bytes of memory for an input of {length}");
}
