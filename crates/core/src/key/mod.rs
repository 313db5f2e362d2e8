//! The hashes that name things: one type each, so that the compiler refuses to mix them, and the encoding under them.

mod canonical;
mod document;
mod hash;
mod names;

pub use canonical::{Canonical, context};
pub use document::{FORMAT_EPOCH, KeyDocument, Versioned};
pub(crate) use hash::ByHash;
pub use hash::{ActionKey, BuildKey, ContentId, Digest, Fingerprint, ParseHashError, RecordId, ToolchainId};
pub use names::{ActionKind, HostAbi, Language, ParseNameError, Profile};
