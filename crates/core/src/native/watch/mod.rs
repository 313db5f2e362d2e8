//! A run that is watched: the same entry, on memory where nothing goes unnoticed.
//!
//! ```text
//! child    the run happens in a forked child, so that a crash is a report; a page is shared with the parent
//! fault    a signal handler that says whose memory was overrun, by how many bytes
//! region   memory between two pages that nobody may touch; it ends (or begins) exactly where they begin (or end)
//! arena    a host whose tensors and blocks are regions, filled with a pattern, closed for good when they are freed
//! process  what of the process an op could change for everybody else
//! layout   an array laid out in memory: contiguous, Fortran, strided, reversed, broadcast
//! run      one call of an entry on inputs and rooms for outputs, and everything that can be seen of it afterwards
//! ```
//! Nothing here judges; `crate::debug` does.

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
