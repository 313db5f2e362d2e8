//! The hashes that name things: one type each, so that the compiler refuses to mix them, and the encoding under them.

mod canonical;
mod hash;

pub use canonical::{Canonical, context};
pub use hash::{ActionKey, BuildKey, ContentId, Digest, Fingerprint, ParseHashError, RecordId, ToolchainId};
