//! Graphs of C scalars: plain C functions that need no host, no arrays and no frame.
//!
//! ```text
//! plain  the native function of a program, and the reason if there is none
//! typed  handles to it with checked argument and result types
//! ```

mod plain;
mod typed;

pub use plain::{NativeFunction, NoNative};
pub use typed::{BindNativeError, Native, NativeType, Number, Results, Returns};
