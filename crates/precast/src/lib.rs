//! Numeric graphs compiled ahead of deployment: the crate that users add.
//!
//! A graph is declared once, in Rust, in `precast.toml` or as text, and `precast-build` compiles it in a `build.rs`.
//! This crate finds, verifies and calls the compiled code. The deployed program needs no compiler.
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
//! | compile on a miss, and cache the result for the next process | `Builder::writable`, `Policy::Jit` | `jit` |
//! | answer at once from cached parts while the whole graph compiles | `Policy::Tiered` | `jit` |
//! | record cache misses, to build them later | `Builder::record`, or `PRECAST_RECORD` | `record` |
//! | build graphs in Rust | `build::Graph` | `resolve` |
//! | one callable for all dtypes of an op | `Dispatcher` | `resolve` |
//! | check that ops in C follow their contract | `debug`, or `PRECAST_DEBUG=1` | `resolve` |
//! | require enough trusted signatures on a bundle file | `Loader::open_signed`, `keyring`, or `PRECAST_KEYRING` | `signed` |
//! | trace where the time is spent | spans of the crate `tracing`, target `precast` | `tracing` |
//! | results of several megabytes without new pages in each call | [`KeepLarge`] as the global allocator | – |
//! | documentation, dims, initial state and other metadata of a graph | [`Loader::metadata`] | – |
//! | end a running loop from another thread | [`Cancel`] | – |
//! | sample a PyMC model without Python | `density::Density` | `density` |
//! | limit the ISA level below the CPU's | `PRECAST_ISA_LIMIT=x86-64-v2` | – |
//!
//! # Graphs of numbers
//! A graph whose inputs and outputs are all C scalars (`x: f64`, not `f64[]`) also has a plain C function with the
//! same results, bit for bit. `model::score(x, y)` calls that function. A hot loop binds it once:
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
//! Signatures are compared when a handle is created, as CEP 1000 signatures. A different type is an error that shows
//! both signatures; a graph without a native function returns the reason. A call is an indirect call. The handle
//! keeps the library loaded, and any thread may call it.
//!
//! Without features this is a small crate: it reads bundles and calls their functions, and links no code generator,
//! no parser and no reference implementation.

pub use ndarray;
#[doc(hidden)]
pub use precast_core::bundle::FORMAT;
#[cfg(feature = "signed")]
pub use precast_core::keyring;
pub use precast_core::native::ErrorKind;
pub use precast_core::{
    Array, ArrayMut, ArrayRef, BindNativeError, Bundle, BundleMetadataError, BundleSignatureError, CallError,
    Cancel, CodeOrigin, Complex, DType, Function, KeepLarge, LoadEntryError, LoadLibraryError, Loader,
    Native, NativeFunction, NoNative, OpenBundleError, OtherDTypeError, OtherTypesError, Provenance, Type,
    Typed, bf16, f16,
};
pub use precast_core::{event, metadata, model, threads};
#[cfg(feature = "density")]
pub use precast_density as density;
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

/// Includes the bundle that `precast-build` wrote in this package's `build.rs`, as `&'static [u8]`.
///
/// A build helper of a different version causes a compile error here, rather than a silent miss at run time.
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

/// Defines a Rust function in the current module for each graph that `precast-build` compiled in this package's
/// `build.rs`.
///
/// The types contain the rank and dtype of arguments and results, so a renamed graph or a wrong dtype is a compile
/// error.
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

/// Rejects an index that another version wrote; for [`include_bundle!`] and [`include_model!`].
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

/// Rejects an index that another version wrote; for [`include_bundle!`] and [`include_model!`].
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

/// Returns whether two digests are equal.
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
