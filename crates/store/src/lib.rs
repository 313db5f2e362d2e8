//! Keys, archive and bundle formats, and the content-addressed store on disk.
//!
//! One noun a folder, one verb a file:
//!
//! | module | what it is | touches files |
//! |---|---|---|
//! | [`key`] | the three identities (what is wanted, how it was made, what came out), their documents and diffs | no |
//! | [`archive`] | the files of one build as a canonical tar in a zstd frame | no |
//! | [`record`] | the statement that binds keys, action and digest; what code needs to run; named graphs | no |
//! | [`store`] | a directory of records and archives, for many readers and writers at once | yes |
//! | [`export`] | a part of a store as one signed file | no |
//! | [`bundle`] | a store in one deployable file | reads one |
//! | [`layer`] | a bundle or a store, here or elsewhere, searched alike | through them |
//! | [`remote`] | stores elsewhere: what a transport does, and what is done with what it brings | through a store |
//! | [`keyring`] | whose signatures make a mapping from key to content believed | reads one |
//! | [`trust`] | whether a file is out of others' reach | judges some |
//! | [`mod@file`] | reading files that somebody named | reads them |
//! | [`whole`] | writing so that files appear whole | writes them |
//! | [`scratch`] | directories for a moment's work, swept when a process was killed | yes |
//! | [`event`] | what readers got over, as values | no |
//!
//! Whatever is read is verified before it is given out: damage is an error value or a miss with an [`Event`], never an
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
pub use key::{ActionKey, BuildKey, Digest, Fingerprint, RecordId, ToolchainId};
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
    CreateError, FindError, GcPlan, Heard, Keep, Lacking, LoadError, OpenError, PublishError, Published,
    PutEntryError, PutSignatureError, Reason, ReleaseError, Reused, Roots, Session, Signed, Store, Swept,
    Turn, Turns, Verification, Victim, VictimKind, WriteError, lacking,
};
