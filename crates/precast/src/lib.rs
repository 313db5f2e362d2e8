//! Numeric graphs compiled ahead of deployment: the crate that users add.
//!
//! A graph is declared once, in Rust, in `precast.toml` or as text; `precast-build` compiles it in a `build.rs`; this crate
//! finds what was compiled, verifies it and calls it. No compiler is needed where the program runs.
//!
//! ```no_run
//! use precast::{Policy, Runtime};
//!
//! // build.rs: fn main() { precast_build::Build::new().run() }      beside a precast.toml with `[[graph]] name = "score"`
//! # const BUNDLE: &[u8] = &[];
//! let runtime = Runtime::builder()
//!     .bundle(BUNDLE) // precast::include_bundle!()
//!     .policy(Policy::Strict)
//!     .build()?;
//! let score = runtime.entry("score")?;
//! let (x, y) = (ndarray::array![1.0, 2.0], ndarray::array![0.5, 0.5]);
//! let results = score.call(&[x.view().into(), y.view().into()])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! | want | use |
//! |---|---|
//! | graphs compiled by `build.rs`, inside the binary | [`include_bundle!`], [`Policy::Strict`] |
//! | artifacts in a directory or a bundle file | [`Builder::store`], [`Builder::bundle_file`] |
//! | compile what is missing, keep it for the next process | [`Builder::writable`], [`Policy::Jit`] (feature `jit`) |
//! | write down what is missing, to build it | `Builder::record`, or `PRECAST_RECORD` (feature `record`) |
//! | build graphs in Rust | [`build::Graph`] |
//! | one callable for all dtypes of an op | [`Dispatcher`] |
//! | hold ops in C against their contract | [`debug`], or `PRECAST_DEBUG=1` |

pub use ndarray;
pub use precast_graph::OtherDTypeError;
pub use precast_ops::build;
#[cfg(feature = "record")]
pub use precast_runtime::RecordError;
pub use precast_runtime::debug;
pub use precast_runtime::{
    Array, ArrayMut, ArrayRef, BuildRuntimeError, Builder, CallError, Check, DType, DispatchError,
    Dispatcher, EntryError, Event, Explanation, Function, FunctionError, FunctionGraph, GENERATOR,
    LayerError, LoadLibraryError, Lookup, Miss, Ops, ParsePolicyError, Policy, Provenance, Runtime, Serve,
    Served, Stats, Type,
};

/// The bundle that `precast-build` wrote in this package's `build.rs`, as `&'static [u8]`.
///
/// A build helper of another version than this crate is a compile error here, not a silent miss at run time.
///
/// # Examples
/// ```ignore
/// let runtime = precast::Runtime::builder().bundle(precast::include_bundle!()).build()?;
/// ```
#[macro_export]
macro_rules! include_bundle {
    () => {{
        #[allow(unreachable_pub, dead_code, missing_docs, reason = "generated")]
        mod __precast_index {
            include!(concat!(
                env!("OUT_DIR", "include_bundle! needs a build.rs with `precast_build::Build::new().run()`; see the README"),
                "/precast.rs"
            ));
        }
        const _: () = assert!(
            $crate::same_generator(__precast_index::GENERATOR, $crate::GENERATOR),
            "the bundle was written by another version of precast-build; use the same version of precast and precast-build"
        );
        const BUNDLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/precast.bundle"));
        BUNDLE
    }};
}

/// Whether two generator digests are equal; for [`include_bundle!`].
#[doc(hidden)]
#[must_use]
pub const fn same_generator(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
