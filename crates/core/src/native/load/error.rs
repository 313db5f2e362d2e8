//! The reasons why verified bytes could not be loaded.

use super::profiling;
use crate::event::chain;
use crate::scratch;
use std::error::Error;
use std::io;
use std::path::PathBuf;

/// The reason why verified bytes could not be loaded.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LoadLibraryError {
    /// Neither a memory file nor a private file could be created.
    #[error(
        "cannot stage the module: neither an in-memory file under `/proc` ({memory}) nor a file in `{}` ({file}) can \
         be created\nhint: {}",
        directory.display(), hint(memory, file)
    )]
    Stage {
        /// The error of the memory file.
        memory: io::Error,
        /// The directory of the private file.
        directory: PathBuf,
        /// The error of the private file.
        file: io::Error,
    },
    /// A file of this size would exceed the process's limit, which would kill the process.
    #[error("cannot stage the module")]
    Size {
        /// The limit.
        source: io::Error,
    },
    /// Neither a memory file nor a private file may be mapped as executable.
    #[error(
        "cannot execute files here: neither an in-memory file nor a file in `{}`\nhint: set TMPDIR to a directory of \
         a file system mounted without `noexec`, or link the modules into the program (`Build::static_link`)",
        directory.display()
    )]
    NotExecutable {
        /// The directory of the private file.
        directory: PathBuf,
        /// The error of the dynamic linker.
        source: libloading::Error,
    },
    /// The directory for profilers cannot be written.
    #[error(
        "cannot write a module for profilers to `{}`\nhint: set `{}` to a directory that only this user can write; it \
         is created if missing",
        directory.display(), profiling::VARIABLE
    )]
    Profiling {
        /// The directory.
        directory: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The dynamic linker rejected the shared object.
    #[error("the dynamic linker rejected the shared object")]
    Open(#[source] libloading::Error),
    /// The module table does not match this host.
    #[error("handshake failed: {what} is {found}, expected {expected}")]
    Handshake {
        /// The field.
        what: &'static str,
        /// The value found.
        found: String,
        /// The value that this host requires.
        expected: String,
    },
    /// The module's own initialisation failed.
    #[error("the module's initialization failed: {message}")]
    Init {
        /// The module's message.
        message: String,
    },
}

crate::debug_as_chain!(LoadLibraryError);
impl LoadLibraryError {
    /// Returns whether this process can load no module at all, as opposed to a problem with one module.
    #[must_use]
    pub const fn is_of_process(&self) -> bool {
        matches!(
            self,
            Self::Stage { .. } | Self::Size { .. } | Self::NotExecutable { .. } | Self::Profiling { .. }
        )
    }
}

/// Returns the hint if neither file can be created.
fn hint(memory: &io::Error, file: &io::Error) -> &'static str {
    if is_limit(memory) || is_limit(file) {
        "raise the limit of open files with `ulimit -n`"
    } else {
        match file.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::NotFound => {
                "mount `/proc`, or set `TMPDIR` to a writable directory"
            }
            _ => scratch::remedy(file),
        }
    }
}

/// Returns whether the limit of open files is reached. The dynamic linker reports this only as text.
pub(super) fn is_limit(error: &(dyn Error + 'static)) -> bool {
    chain(error).contains("Too many open files")
}
