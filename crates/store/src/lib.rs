//! Keys, archive and bundle formats, and the content-addressed store on disk.
//!
//! Each folder is named after a noun, each file after a verb:
//!
//! | module | purpose | touches files |
//! |---|---|---|
//! | [`key`] | the three identities (wanted module, action, result), their documents and diffs | no |
//! | [`archive`] | the files of one build as a canonical tar in a zstd frame | no |
//! | [`record`] | the statement that binds keys, action and digest; what code needs to run; named graphs | no |
//! | [`store`] | a directory of records and archives, for many readers and writers at once | yes |
//! | [`export`] | a part of a store as one signed file | no |
//! | [`bundle`] | a store in one deployable file | reads one |
//! | [`layer`] | a bundle, a store or a remote store behind one search interface | through them |
//! | [`remote`] | remote stores: the transport interface, and the handling of fetched data | through a store |
//! | [`keyring`] | the trusted keys whose signatures a record needs | reads one |
//! | [`trust`] | whether other users can modify a file | judges some |
//! | [`mod@file`] | reading files given by path | reads them |
//! | [`whole`] | atomic writes: a file appears complete or not at all | writes them |
//! | [`scratch`] | temporary directories, swept after a process was killed | yes |
//! | [`event`] | problems that readers recovered from, as values | no |
//!
//! Everything is verified before it is returned. Damage is an error value, or a miss with an [`Event`], and never an
//! answer. `FORMAT.md` beside this crate draws the bytes.

#[cfg(test)]
extern crate self as precast_store;

mod action_cache;
pub mod archive;
mod cache;
pub mod export;
pub mod key;
pub mod layer;
pub mod remote;
pub mod stat;
mod step;
pub mod store;
pub mod whole;

pub use action_cache::{ActionCache, CachedAction, CachedActionError, CachedBytes};
pub use archive::{Archive, Limits, PackError, UnpackError};
pub use cache::{outdated_user_stores, user_cache, user_store};
pub use export::{
    Export, ExportError, ImportError, Imported, OpenExportError, ParseReleaseError, Release, Stated,
};
pub use key::{ActionKey, BuildKey, Digest, Fingerprint, GenerationId, RecordId, ToolchainId};
pub use layer::{Layer, LayerError};
pub use precast_core::bundle::{
    self, Bundle, BundleLoadError, OpenBundleError, WriteBundleError, write_bundle,
};
pub use precast_core::event::{self, Event};
pub use precast_core::key::KeyDocument;
pub use precast_core::keyring::{self, Keyring, KeyringError, OpenSignedError, Unsigned};
pub use precast_core::record::{self, Entry, Host, Member, Outside, Record, Requires, Unmet};
pub use precast_core::trust::{self, Fault, TrustError, Untrusted};
pub use precast_core::{file, scratch};
pub use store::{
    CreateError, DamagedRelease, DeployError, Deployed, EventLog, FindError, GcPlan, Keep, LoadError,
    MissingModule, OpenError, PublishError, Published, PutEntryError, PutSignatureError, Reason,
    ReleaseError, Reused, Roots, Session, Signed, Store, Swept, Turn, Turns, Verification, Victim,
    VictimKind, WriteError, lacking,
};
