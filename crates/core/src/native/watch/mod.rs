//! Watched runs: a call of a module entry on memory where every access error is found.
//!
//! ```text
//! child    runs the call in a forked child, so that a crash becomes a report; shares a page with the parent
//! fault    a signal handler that reports which memory was overrun, and by how many bytes
//! region   memory between two inaccessible pages, adjacent to one of them
//! arena    a host whose tensors and blocks are regions, filled with a pattern, inaccessible after they are freed
//! process  process-wide state that an op might change
//! layout   an array laid out in memory: contiguous, Fortran, strided, reversed, broadcast
//! run      one call of an entry on inputs and output memory, and all its visible effects
//! ```
//! This module only observes; `debug` of `precast-runtime` judges.

mod arena;
mod child;
mod fault;
mod layout;
mod process;
mod region;
mod run;

pub use child::{Ended, Progress, end_children, in_child};
pub use fault::{Fault, Side};
pub use layout::Layout;
pub use region::{Flush, Role};
pub use run::{Input, Output, Room, Seen, Touched, Watched};
