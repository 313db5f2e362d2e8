//! Why misses cannot be recorded.

use std::io;
use std::path::PathBuf;

/// Why a miss cannot be recorded.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The manifest cannot be opened or read.
    #[error("cannot open manifest `{}`", path.display())]
    Open {
        /// The manifest.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others held the lock of the manifest all the time.
    #[error("manifest `{}` is locked by another process", path.display())]
    Locked {
        /// The manifest.
        path: PathBuf,
    },
    /// The file is not a manifest. It is left as it is.
    #[error("`{}` is not a manifest that can be added to, and is left as it is: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The manifest cannot be written. It is as it was.
    #[error("cannot write manifest `{}`", path.display())]
    Write {
        /// The manifest.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What the variable asks for there is not.
    #[error("`PRECAST_RECORD_SERVE` is not understood: {problem}")]
    Serve {
        /// Which word is not.
        problem: String,
    },
    /// The code may not leave the process, so there is nothing to declare.
    #[error("an op of it returns the empty cache version, so its code stays in one process")]
    Unpublished,
}

precast_core::debug_as_chain!(RecordError);
