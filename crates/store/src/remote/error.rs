//! Why a place elsewhere did not give something, or did not take it.

/// Says what a place elsewhere did not do. Places are URLs without credentials.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// No answer came in time, or none that means anything, however often it was asked.
    #[error("`{place}` cannot be reached: {reason}\nhint: see whether the network and the server are up")]
    Unreachable {
        /// What was asked.
        place: String,
        /// What the transport said.
        reason: String,
    },
    /// The credentials do not suffice, or there are none.
    #[error("`{place}` denies access: {reason}\nhint: {remedy}")]
    Denied {
        /// What was asked.
        place: String,
        /// What the transport said.
        reason: String,
        /// Where credentials are taken from.
        remedy: &'static str,
    },
    /// There is no store.
    #[error(
        "no store at `{place}`: it has no file `STORE`\nhint: a store directory, copied there as it is, is one"
    )]
    NoStore {
        /// What was asked.
        place: String,
    },
    /// There is no release.
    #[error("there is no release at `{place}`\nhint: `precast push` puts one there")]
    NoRelease {
        /// What was asked.
        place: String,
    },
    /// What is there is nothing that this precast can use.
    #[error("cannot use `{place}`: {why}")]
    Foreign {
        /// What was asked.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// An item is longer than any of its kind.
    #[error("`{place}` is longer than {limit} bytes, which nothing of its kind is")]
    TooLong {
        /// What was asked.
        place: String,
        /// The most that was expected, in bytes.
        limit: u64,
    },
    /// There is no room here for what comes: no memory, or no space for a temporary file.
    #[error(
        "what comes from `{place}` cannot be held: {reason}\nhint: free some memory or space; `TMPDIR` names another directory for temporary files"
    )]
    Here {
        /// What was asked.
        place: String,
        /// What is missing.
        reason: String,
    },
    /// An answer is not what was asked for.
    #[error("`{place}` is damaged: {why}")]
    Damaged {
        /// What was asked.
        place: String,
        /// What is wrong with it.
        why: String,
    },
}

impl RemoteError {
    /// Tells whether only the item is at fault, and another may be had from the same place.
    #[must_use]
    pub fn is_of_item(&self) -> bool {
        matches!(self, Self::TooLong { .. } | Self::Damaged { .. })
    }
}
