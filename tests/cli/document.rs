//! Documents with executable examples, and the commands that their examples run.

pub(crate) use precast_testkit::document::{Block, blocks, examples, fits};
use std::ffi::OsString;
use std::path::Path;

/// Returns a `PATH` that begins with the folder of the command `precast`.
pub(crate) fn path() -> OsString {
    let built = Path::new(env!("CARGO_BIN_EXE_precast")).parent().unwrap();
    [built.as_os_str(), &std::env::var_os("PATH").unwrap()].join(":".as_ref())
}
