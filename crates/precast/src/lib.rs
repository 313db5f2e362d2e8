//! Numeric graphs compiled ahead of deployment: the crate that users add.
//!
//! A graph is declared once, in Rust, in `precast.toml` or as text; `precast-build` compiles it in a `build.rs`; this crate
//! finds what was compiled, verifies it and calls it. No compiler is needed where the program runs.
//!
//! ```ignore
//! // build.rs: fn main() { precast_build::Build::new().run() }      beside a precast.toml with `[[graph]] name = "score"`
//! mod model {
//!     precast::include_model!();
//! }
//!
//! let score: f64 = model::score(&x, &y, &z)?; // x, y and z of the ranks and dtypes that precast.toml says
//! ```
//! | want | use | feature |
//! |---|---|---|
//! | graphs compiled by `build.rs`, as Rust functions | [`include_model!`] | – |
//! | a graph of numbers as a plain C function | [`Function::native`] | – |
//! | the same by name, or from a bundle file | [`Loader`], [`include_bundle!`] | – |
//! | artifacts of store directories and several bundles; graphs that no bundle names | `Runtime` | `resolve` |
//! | compile what is missing, keep it for the next process | `Builder::writable`, `Policy::Jit` | `jit` |
//! | answer at once with what there is, and compile the rest meanwhile | `Policy::Tiered` | `jit` |
//! | write down what is missing, to build it | `Builder::record`, or `PRECAST_RECORD` | `record` |
//! | build graphs in Rust | `build::Graph` | `resolve` |
//! | one callable for all dtypes of an op | `Dispatcher` | `resolve` |
//! | hold ops in C against their contract | `debug`, or `PRECAST_DEBUG=1` | `resolve` |
//! | a bundle file only if enough keys have signed it | `Loader::open_signed`, `keyring`, or `PRECAST_KEYRING` | `signed` |
//! | see where the time goes | spans of the crate `tracing`, target `precast` | `tracing` |
//! | results of several megabytes without new pages in each call | [`KeepLarge`] as the global allocator | – |
//! | keep to an ISA level below the CPU's | `PRECAST_ISA_LIMIT=x86-64-v2` | – |
//!
//! # Graphs of numbers
//! A graph whose inputs and outputs are C scalars (`x: f64`, not `f64[]`) is a plain C function beside its tensor entry, with the same bits.
//! `model::score(x, y)` calls it as that. A hot loop binds it once:
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let loader = precast::Loader::open("model.precast")?;
//! use precast::{CallError, Native};
//!
//! let gauss: Native<fn(f64) -> f64> = loader.entry("gauss")?.native()?; // exp(-x*x)*0.5
//! let y: f64 = gauss.call(0.5);
//! // What may fail says so, and several results are a tuple.
//! let power = loader.entry("power")?.native::<fn(i64, i64) -> Result<i64, CallError>>()?;
//! let (low, high) = loader.entry("order")?.native::<fn(f64, f64) -> (f64, f64)>()?.call(2.0, 1.0);
//! # Ok(())
//! # }
//! ```
//! Types are compared when a handle is made, as CEP 1000 signatures: another type is an error that shows both, and a graph without
//! a native function says why. A call is an indirect call; the handle keeps the library, and any thread may call it.
//!
//! Without features this is a light crate: it reads bundles and calls what is in them, and links no code generator, no parser
//! and no reference implementation.

pub use ndarray;
#[doc(hidden)]
pub use precast_core::bundle::FORMAT;
#[cfg(feature = "signed")]
pub use precast_core::keyring;
pub use precast_core::{
    Array, ArrayMut, ArrayRef, BindNativeError, Bundle, BundleSignatureError, CallError, Complex, DType,
    Function, KeepLarge, LoadEntryError, LoadLibraryError, Loader, Native, NativeFunction, NoNative,
    OpenBundleError, OtherDTypeError, OtherTypesError, Provenance, Served, Type, Typed, bf16, f16,
};
pub use precast_core::{event, model, threads};
#[cfg(feature = "resolve")]
pub use precast_ops::build;
#[cfg(feature = "record")]
pub use precast_runtime::RecordError;
#[cfg(feature = "resolve")]
pub use precast_runtime::debug;
#[cfg(feature = "resolve")]
pub use precast_runtime::{
    BuildRuntimeError, Builder, Check, DispatchError, Dispatcher, EntryError, Event, Explanation,
    FunctionError, FunctionGraph, GENERATOR, LayerError, Lookup, Miss, Ops, OtherVersion, ParsePolicyError,
    Policy, Reason, Runtime, Serve, Stats,
};
#[cfg(feature = "remote")]
pub use precast_runtime::{Patience, RemoteOptions};

/// The bundle that `precast-build` wrote in this package's `build.rs`, as `&'static [u8]`.
///
/// A build helper of another version than this crate is a compile error here, not a silent miss at run time.
///
/// # Examples
/// ```ignore
/// let loader = precast::Loader::embedded(precast::include_bundle!())?;
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
        $crate::same_version!(__precast_index);
        const BUNDLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/precast.bundle"));
        BUNDLE
    }};
}

/// A Rust function for each graph that `precast-build` compiled in this package's `build.rs`, in the module that this stands in:
/// rank and dtype of arguments and results are in the types, so that a renamed graph or a wrong dtype is a compile error.
///
/// # Examples
/// ```ignore
/// mod model {
///     precast::include_model!();
/// }
/// let score = model::score(&x, &y, &z)?;
/// ```
#[macro_export]
macro_rules! include_model {
    () => {
        #[allow(
            unreachable_pub,
            unused_qualifications,
            dead_code,
            missing_docs,
            non_snake_case,
            clippy::all,
            clippy::pedantic,
            reason = "generated"
        )]
        mod __precast_model {
            use $crate as __precast;
            mod index {
                include!(concat!(
                    env!("OUT_DIR", "include_model! needs a build.rs with `precast_build::Build::new().run()`; see the README"),
                    "/precast.rs"
                ));
            }
            $crate::same_version!(index);
            include!(concat!(env!("OUT_DIR"), "/precast_model.rs"));
        }
        #[allow(unused_imports, unreachable_pub, reason = "a program may call a part of its graphs")]
        pub use __precast_model::*;
    };
}

/// Refuses an index that was written by another version; for [`include_bundle!`] and [`include_model!`].
#[doc(hidden)]
#[cfg(feature = "resolve")]
#[macro_export]
macro_rules! same_version {
    ($index:ident) => {
        const _: () = assert!(
            $index::FORMAT == $crate::FORMAT && $crate::same_text($index::GENERATOR, $crate::GENERATOR),
            "the bundle was written by another version of precast-build; use the same version of precast and precast-build"
        );
    };
}

/// Refuses an index that was written by another version; for [`include_bundle!`] and [`include_model!`].
#[doc(hidden)]
#[cfg(not(feature = "resolve"))]
#[macro_export]
macro_rules! same_version {
    ($index:ident) => {
        const _: () = assert!(
            $index::FORMAT == $crate::FORMAT,
            "the bundle was written by another version of precast-build; use the same version of precast and precast-build"
        );
    };
}

/// Whether two digests are equal.
#[doc(hidden)]
#[must_use]
pub const fn same_text(a: &str, b: &str) -> bool {
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
