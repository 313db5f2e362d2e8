//! The store: records and archives in a directory that many processes read and write at once, without locks.
//!
//! # Layout
//!
//! ```text
//! artifacts/
//!   STORE                                         format, hash, lowest format that a reader must know
//!   objects/ab/<Digest>.tar.zst                   an archive; 0444; appears by rename only, never modified
//!   records/ab/<ActionKey>-<RecordId>             a record, named by its own hash
//!   records/ab/<ActionKey>-<RecordId>.documents   the preimages of its members' keys
//!   records/ab/<ActionKey>-<RecordId>.minisig     signatures of the record
//!   keys/ab/<BuildKey or Fingerprint>/<ActionKey>-<RecordId>     empty pointers, rebuildable from the records
//!   entries/ab/<RecordId>                         a named graph
//!   entries/ab/<RecordId>.minisig                 signatures of the entry
//!   roots/entry/<name>                            the RecordId that a name means now; replaced by rename
//!   roots/release/<name>                          the latest release that was imported under a name
//!   index/<directory>                             the names below it, for servers that list none ([`crate::remote`])
//!   quarantine/<name>.<random>/<name>             what was damaged
//!   builds/                                       what the last builds compiled, and why; for people
//!   tmp/                                          what is being written
//! ```
//!
//! `ab` are the first two digits of the name that follows.
//!
//! # Rules
//!
//! * A file appears whole: random name in `tmp/` → write → sync → rename → sync. The order is object →
//!   documents → record → pointers → root, so whatever names something comes after it.
//! * Two writers of the same thing write the same bytes; the later rename changes nothing. No lock is needed for that: a
//!   [`Turn`] only saves the second one its work.
//! * A writer *verifies* what is already there before it skips a write, all of it: whatever a crash, a full disk or a lost
//!   directory took, the next publish or build puts back (`settle.rs`).
//! * A reader believes nothing: objects must hash to their names, records too, a pointer only says where to look. Damage is
//!   moved to `quarantine/` where the tree can be written, told as an [`Event`], and is a miss.
//! * Reads need no permission to write, and leave no trace on an intact tree.
//! * What nobody wants any more is deleted by [`Store::sweep`] only, between publishes and never during one (`lease.rs`).
//! * Pointers are not synced one by one: on power loss one may be missing, which is a miss that the next publish, build or
//!   [`Store::verify`] mends.
//! * What others can change is not read: directories and files are root's or the user's, nobody else can write them, and none
//!   is a link ([`crate::trust`]). That is an error which names the remedy, never a miss: it is for people to decide.
//!
//! # Costs
//!
//! A publish costs three files that are synced, and one sync of the file system for their names; many publishes share two such
//! syncs ([`Store::publish_all`]). A find costs one directory listing and one read; a load one read, one decode and one hash.
//!
//! What bounds them: names have to come after bytes, so two commits of the file system's journal, the second with every new
//! directory, stand in each publish, as in two plain files that are synced. An archive is named by what is in it, and zstd decodes
//! machine code, at the level of stores, 2.7 times as long as BLAKE3 hashes it: who verifies needs four processors to be as fast as
//! one that hashes.

mod access;
mod batch;
mod create;
mod entry;
mod find;
mod gc;
mod index;
#[cfg(test)]
mod interleave;
mod lease;
mod load;
mod open;
mod paths;
mod provenance;
mod publish;
mod quarantine;
mod records;
mod releases;
mod session;
mod settle;
mod signatures;
mod turn;
mod verify;
mod write;

pub use access::FindError;
pub use create::CreateError;
pub use entry::PutEntryError;
pub use gc::{GcPlan, Keep, Reason, Roots, Swept, Victim, VictimKind};
pub use load::LoadError;
pub use open::OpenError;
pub(crate) use open::{STORE_FILE, check_format};
pub(crate) use paths::Paths;
pub use paths::RecordName;
pub(crate) use publish::Item;
pub use publish::{PublishError, Published};
pub use releases::ReleaseError;
pub use session::Session;
pub use settle::Reused;
pub use signatures::{PutSignatureError, Signed};
pub use turn::{Turn, Turns};
pub use verify::{Heard, Lacking, Verification, lacking};
pub use write::WriteError;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::event::{Event, Observer};
use crate::keyring::Keyring;
use access::Passed;

/// A store in a directory. Cheap to clone, and safe to share between threads.
#[derive(Debug, Clone)]
pub struct Store {
    paths: Paths,
    /// The root without links, as it was found when the store was opened.
    real: PathBuf,
    passed: Passed,
    observer: Observer,
    /// Whose signatures readers ask for, if anybody's.
    keyring: Option<Arc<Keyring>>,
}

impl Store {
    /// Gives the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.paths.root
    }

    /// Tells the observer.
    pub fn tell(&self, event: &Event) {
        self.observer.tell(event);
    }

    /// Whose signatures readers ask for, if anybody's.
    pub(crate) fn keyring(&self) -> Option<&Keyring> {
        self.keyring.as_deref()
    }

    /// Hands every [`Event`] to `observer` from now on, in place of the one before.
    #[must_use]
    pub fn on_event(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.observer = Observer::new(observer);
        self
    }
}
