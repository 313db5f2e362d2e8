//! From verified bytes to instances of modules.
//!
//! ```text
//! stage      verified bytes ──▶ sealed memfd, which cannot be changed
//! library    memfd ──▶ dlopen ──▶ handshake ──▶ modules
//! linked     modules linked into the program: their tables ──▶ handshake ──▶ modules
//! instance   one instance of a module: init, run, cleanup
//! profiling  names of modules and their functions, for profilers and debuggers
//! ```

mod error;
mod instance;
mod library;
mod linked;
pub mod profiling;
mod stage;

pub use error::LoadLibraryError;
pub use instance::RunError;
pub(super) use instance::{Instance, run_error};
pub use library::{LoadedLibrary, LoadedModule};
pub(crate) use linked::find as find_linked;
pub use profiling::Label;
pub use stage::Staged;
