//! The calls of a program: in a frame, or directly on the caller's arrays.
//!
//! ```text
//! direct      programs of maps and whole reductions on suitable arrays: the kernels only
//! executable  a program with its loaded modules; immutable
//! frame       the registers and instances of one call of an executable
//! pool        the idle frames of a function
//! storage     the memory of dead temporaries, for later ones
//! ```

mod direct;
mod executable;
mod frame;
mod pool;
mod storage;

pub use direct::{AllMade, Call, Direct, Made, Map};
pub use executable::{Bound, Executable, Room, Work};
pub use frame::Targets;
pub(crate) use frame::{Frame, StepError};
pub(crate) use pool::Pool;
