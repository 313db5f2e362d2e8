//! The native code: the only unsafe code of the run time.
//!
//! ```text
//! load     verified bytes ──▶ shared objects ──▶ modules ──▶ instances
//! arrays   the caller's arrays, borrowed for a call
//! call     the calls of a program: direct, or in a frame
//! kernels  the loops that compute: kernels of modules, chains of kernels, products of matrices
//! host     the services that modules call, and the state of threads and processes that they rely on
//! memory   tensors and the memory of values
//! threads  number of threads for the work of a call, and helper threads
//! scalars  graphs of C scalars: plain C functions, and handles to them with checked types
//! watch    runs a module on memory where every access error is found (feature `watch`)
//! ```
//! # The path of a call
//! From [`Function::call`](crate::Function::call) to the C function. Typed, C and Python calls start at the second file.
//!
//! ```text
//! 1  function/mod.rs      tries a direct call; else checks the arguments, and runs a frame or a body
//! 2  call/direct/mod.rs   direct: checks that the operands fit, and fills a table of pointers
//!      3  run.rs            calls the C kernel of each task on all elements; `map.rs` if the program is one map
//! 4  call/frame.rs        frame: points headers to the caller's arrays, and runs step by step
//!      5  load/instance.rs  a module's step: calls its C function `run`
//!      6  kernels/chain/    a step of several modules: the C drivers call their kernels block by block
//! 7  host/mod.rs          either step calls back: new tensors, drivers, products
//! ```
//! A direct call that finds unsuitable operands, or whose kernel fails, is repeated in a frame, which reports the error.
//! A function with a [`Body`](crate::function::Body) has no frame: its body runs instead, or names the function that does.
//! Graphs of C scalars have a second path: `scalars/typed` calls the C function itself.
//!
//! # The contract of loading
//! Bytes are hashed before they are passed here, and exactly the hashed bytes are loaded. They are first copied into a
//! sealed memory file, so they cannot change in between. The handshake checks magic, ABI version, struct sizes and the key
//! of the slot before anything is called. It cannot check that the code keeps the contract of the headers. The code
//! generator and its tests ensure that.
#![allow(unsafe_code, reason = "loading and calling machine code; each block argues its case")]

mod arrays;
mod call;
mod host;
mod kernels;
mod load;
mod memory;
mod scalars;
pub mod threads;
#[cfg(feature = "watch")]
pub mod watch;

pub use arrays::{ArrayMut, ArrayRef, RawArray, RawArrayError, Strided};
pub use call::{AllMade, Bound, Call, Direct, Executable, Made, Map, Room, Targets, Work};
pub(crate) use call::{Frame, Pool, StepError};
#[cfg(feature = "watch")]
pub use host::OtherFloats;
pub(crate) use host::file_size_limit;
pub use host::{
    CANCELLED, Cancel, DefaultFloats, LoopPlan, at_exit, cancellable, here as host, is_cancelled,
    libc_version,
};
#[cfg(feature = "watch")]
pub use kernels::roofline;
pub use kernels::{Captured, Chain, Chained, Driven, Factor, Kernels, Operand, Value, matmul};
pub(crate) use load::find_linked;
pub use load::{Label, LoadLibraryError, LoadedLibrary, LoadedModule, RunError, Staged, profiling};
pub use memory::KeepLarge;
pub use precast_abi::context::ErrorKind;
pub use scalars::{BindNativeError, Native, NativeFunction, NativeType, NoNative, Number, Results, Returns};
