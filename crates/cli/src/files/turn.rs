//! Turns of processes that change one file, or a file beside it.

use std::io;
use std::path::Path;

use precast_store::file;

/// The turn of this process at a file. Dropping it ends the turn.
#[must_use]
pub(crate) struct Turn {
    _held: Option<fs_err::File>,
}

impl Turn {
    /// Waits until no other process has a turn at the file. There are no turns on file systems without locks.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        loop {
            let file = file::open(path)?;
            if file.file().lock().is_err() {
                return Ok(Self { _held: None });
            }
            // The process before this one may have replaced the file.
            if is_at(&file, path)? {
                return Ok(Self { _held: Some(file) });
            }
        }
    }
}

#[cfg(unix)]
fn is_at(file: &fs_err::File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (held, found) = (file.metadata()?, fs_err::metadata(path)?);
    Ok((held.dev(), held.ino()) == (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn is_at(_file: &fs_err::File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}
