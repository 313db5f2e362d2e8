//! The native side: the only unsafe code of the run time.
//!
//! ```text
//! stage     verified bytes ──▶ memfd, which nobody can change
//! library   memfd ──▶ dlopen ──▶ handshake ──▶ modules
//! linked    modules that are part of the program: its own tables ──▶ handshake ──▶ modules
//! array_ref arrays of the caller, borrowed for a call
//! raw_array arrays that others describe: DLPack's, NumPy's
//! object    tensors as modules see them: owned, borrowed, views; reference counts; pages are asked for large
//! matmul    products of matrices and vectors, by the instructions of this CPU's level: `c/product/`
//! keep      an allocator for programs with large arrays, which keeps their memory
//! roofline  what this machine can do at most, measured: for profiles (feature `watch`)
//! floats    the default environment for floats, whatever the calling thread has set
//! threads   how many share the work of a call, and who helps
//! host      the services that modules call: new tensors, views, memory, formatting, GEMM
//! instance  one instance of a module: init, run, cleanup
//! plain     the native function of a graph of C scalars; typed: handles to it, whose types were compared
//! capture   the kernels of a module instead of a run of it; chain runs several kernels block by block
//! direct    a program of maps and whole reductions, run where the caller's arrays lie
//! executable  a program whose modules are loaded; storage keeps what temporaries leave behind
//! exit      functions that run at the normal end of the process
//! frame     the registers and instances of one call of a program; pool keeps frames between calls
//! ```
//! # The contract of loading
//! Bytes are hashed before they come here, and exactly the hashed bytes are loaded: they are copied into a sealed memory
//! file first, so nothing can change them in between. The handshake checks magic, ABI version, struct sizes and the key of
//! the slot before anything is called. What it cannot check is that the code keeps the contract of the headers; that is
//! what the code generator and its tests are for.
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
