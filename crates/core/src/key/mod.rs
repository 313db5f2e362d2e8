//! The hashes that identify things, each with its own type so that the compiler rejects mixing them, and their encoding.

mod canonical;
mod document;
mod hash;
mod names;

pub use canonical::{Canonical, context};
pub use document::{FORMAT_EPOCH, KeyDocument, Versioned};
pub(crate) use hash::ByHash;
pub use hash::{
    ActionKey, BuildKey, ContentId, Digest, Fingerprint, GenerationId, ParseHashError, RecordId, ToolchainId,
};
pub use names::{ActionKind, HostAbi, Language, ParseNameError, Profile};
