//! Errors of remote locations.

/// An error of a remote location. `place` is a URL without credentials.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// There was no valid answer in time, despite retries.
    #[error("cannot reach `{place}`: {reason}\nhint: check that the network and the server are up")]
    Unreachable {
        /// The remote location.
        place: String,
        /// The transport's message.
        reason: String,
    },
    /// Credentials are missing or insufficient.
    #[error("access to `{place}` was denied: {reason}\nhint: {remedy}")]
    Denied {
        /// The remote location.
        place: String,
        /// The transport's message.
        reason: String,
        /// A hint about the source of the credentials.
        remedy: &'static str,
    },
    /// The location is not a store.
    #[error("no store at `{place}`: missing file `STORE`\nhint: copy a store directory there, unmodified")]
    NoStore {
        /// The remote location.
        place: String,
    },
    /// No release exists at the location.
    #[error("no release at `{place}`\nhint: run `precast push` to publish one")]
    NoRelease {
        /// The remote location.
        place: String,
    },
    /// The location has content that this version of precast cannot use.
    #[error("cannot use `{place}`: {why}")]
    Foreign {
        /// The remote location.
        place: String,
        /// The problem.
        why: String,
    },
    /// An item exceeds the limit of its kind.
    #[error("`{place}` exceeds {limit} bytes, the limit for its kind")]
    TooLong {
        /// The remote location.
        place: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The local machine lacks memory, or space for a temporary file.
    #[error(
        "cannot store data from `{place}`: {reason}\nhint: free some memory or disk space, or set `TMPDIR` to another \
         directory for temporary files"
    )]
    Here {
        /// The remote location.
        place: String,
        /// The missing resource.
        reason: String,
    },
    /// An answer is damaged.
    #[error("`{place}` is damaged: {why}")]
    Damaged {
        /// The remote location.
        place: String,
        /// The defect.
        why: String,
    },
}

impl RemoteError {
    /// Returns whether the error concerns only one item, so the same location can still serve other items.
    #[must_use]
    pub fn is_of_item(&self) -> bool {
        matches!(self, Self::TooLong { .. } | Self::Damaged { .. })
    }
}
