//! The native code: the only unsafe code of the run time.
//!
//! ```text
//! stage     verified bytes ──▶ sealed memfd, which cannot be changed
//! library   memfd ──▶ dlopen ──▶ handshake ──▶ modules
//! linked    modules linked into the program: their tables ──▶ handshake ──▶ modules
//! array_ref arrays of the caller, borrowed for a call
//! raw_array arrays described by foreign code, such as DLPack and NumPy
//! object    tensors as modules see them: owned, borrowed, views; reference counts; requests large pages
//! matmul    products of matrices and vectors, with the instructions of this CPU's level: `c/product/`
//! keep      an allocator for programs with large arrays, which keeps their memory
//! roofline  measured limits of this machine, for profiles (feature `watch`)
//! floats    the default floating-point environment, whatever the calling thread has set
//! threads   number of threads for the work of a call, and helper threads
//! host      the services that modules call: new tensors, views, memory, formatting, GEMM
//! instance  one instance of a module: init, run, cleanup
//! plain     the native function of a graph of C scalars; typed: handles to it with checked types
//! capture   finds the kernels of a module without running them; chain runs several kernels block by block
//! direct    programs of maps and whole reductions, run on the caller's arrays
//! executable  a program with loaded modules; storage keeps the memory of dead temporaries
//! exit      functions that run at the normal end of the process
//! frame     the registers and instances of one call of a program; pool keeps frames between calls
//! ```
//! # The contract of loading
//! Bytes are hashed before they are passed here, and exactly the hashed bytes are loaded. They are first copied into a
//! sealed memory file, so they cannot change in between. The handshake checks magic, ABI version, struct sizes and the key
//! of the slot before anything is called. It cannot check that the code keeps the contract of the headers. The code
//! generator and its tests ensure that.
#![allow(unsafe_code, reason = "loading and calling machine code; each block argues its case")]

mod array_ref;
mod capture;
mod chain;
mod copy;
mod direct;
mod executable;
mod exit;
mod floats;
mod frame;
mod header;
mod host;
mod instance;
mod keep;
mod library;
mod linked;
mod matmul;
mod object;
mod pages;
mod plain;
mod pool;
pub mod profiling;
mod raw_array;
#[cfg(feature = "watch")]
pub mod roofline;
mod stage;
mod storage;
mod strided;
pub mod threads;
mod typed;
#[cfg(feature = "watch")]
pub mod watch;

pub use array_ref::{ArrayMut, ArrayRef};
pub use capture::{Captured, Driven, Kernels, Operand};
pub use chain::{Chain, Chained, Value};
pub use direct::{AllMade, Call, Direct, Made, Map};
pub use executable::{Bound, Executable, Room, Work};
pub use exit::at_exit;
pub use floats::DefaultFloats;
#[cfg(feature = "watch")]
pub use floats::OtherFloats;
pub use frame::Targets;
pub(crate) use frame::{Frame, StepError};
pub use host::{here as host, libc_version};
pub use instance::RunError;
pub use keep::KeepLarge;
pub use library::{LoadLibraryError, LoadedLibrary, LoadedModule};
pub(crate) use linked::find as find_linked;
pub use matmul::{Factor, matmul};
pub use plain::{NativeFunction, NoNative};
pub(crate) use pool::Pool;
pub use precast_abi::context::ErrorKind;
pub use profiling::Label;
pub use raw_array::{RawArray, RawArrayError};
pub use stage::Staged;
pub use strided::Strided;
pub use typed::{BindNativeError, Native, NativeType, Number, Results, Returns};
