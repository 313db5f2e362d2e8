//! Errors of recording misses.

use std::io;
use std::path::PathBuf;

/// The reason why a miss could not be recorded.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The manifest could not be opened or read.
    #[error("cannot open manifest `{}`", path.display())]
    Open {
        /// The manifest.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Other processes held the lock of the manifest until the timeout.
    #[error("manifest `{}` is locked by another process", path.display())]
    Locked {
        /// The manifest.
        path: PathBuf,
    },
    /// The file is not a valid manifest; it was not changed.
    #[error("cannot add to `{}`, which is not a recorded manifest: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// Writing the manifest failed; it was not changed.
    #[error("cannot write manifest `{}`", path.display())]
    Write {
        /// The manifest.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The variable contains an unknown word.
    #[error("invalid `PRECAST_RECORD_SERVE`: {problem}")]
    Serve {
        /// The unknown word.
        problem: String,
    },
    /// The graph's code must not leave the process, so it cannot be declared.
    #[error("one of its ops has an empty cache version")]
    Unpublished,
}

precast_core::debug_as_chain!(RecordError);
