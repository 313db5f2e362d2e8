//! The store: records and archives in a directory that many processes read and write at once.
//!
//! # Layout
//!
//! ```text
//! artifacts/
//!   STORE                                         format, hash, lowest format that a reader must know
//!   objects/ab/<Digest>.tar.zst                   an archive; 0444; appears by rename only, never modified
//!   records/ab/<ActionKey>-<RecordId>             a record, named by its own hash
//!   records/ab/<ActionKey>-<RecordId>.documents   the preimages of its members' keys
//!   records/ab/<ActionKey>-<RecordId>.provenance  a builder's statement about the record
//!   records/ab/<ActionKey>-<RecordId>.minisig     signatures of the record
//!   keys/ab/<BuildKey or Fingerprint>/<ActionKey>-<RecordId>     empty pointers, rebuildable from the records
//!   keys/ab/<BuildKey>/current-<target>           the GenerationId of the records in use; only for modules that read
//!                                                 files outside of their sources (`generation.rs`)
//!   entries/ab/<RecordId>                         a named graph
//!   entries/ab/<RecordId>.minisig                 signatures of the entry
//!   roots/entry/<name>                            the RecordId that a name refers to; replaced by rename
//!   roots/deployed/<name>/<number>, current       the entries of a release; the number that is served
//!   roots/release/<name>                          the latest imported release of a name
//!   index/<directory>                             the names below it, for servers without listings ([`crate::remote`])
//!   quarantine/<name>.<random>/<name>             damaged files
//!   builds/                                       the modules that recent builds compiled, and why; for people
//!   tmp/                                          files that are being written
//! ```
//!
//! `ab` stands for the first two digits of the name that follows.
//!
//! # Rules
//!
//! * Files appear atomically: random name in `tmp/` → write → sync → rename → sync. The order is object → documents →
//!   record → pointers → root, so a file is always written before the files that refer to it.
//! * Two writers of the same artifact write the same bytes, so the later rename changes nothing. Correctness needs no
//!   lock: a [`Turn`] only saves the second writer its work.
//! * A writer *verifies* the whole existing file before it skips a write. The next publish or build restores everything
//!   that was lost in a crash, on a full disk or with a deleted directory (`settle.rs`).
//! * A reader trusts nothing. Objects and records must hash to their names; a pointer only says where to look. Damaged
//!   files are moved to `quarantine/` if the tree is writable. Damage is reported as an [`Event`] and counts as a miss.
//! * Reads need no write permission, and leave no trace in an intact tree.
//! * Only [`Store::sweep`] deletes unused files, between publishes and never during one (`lease.rs`).
//! * Pointers are not synced one by one. A pointer lost in a power failure is a miss, and the next publish, build or
//!   [`Store::verify`] restores it.
//! * Files that other users can modify are not read. Directories and files must belong to root or the user, must not be
//!   writable by anybody else, and must not be links ([`crate::trust`]). A violation is never a miss: it is an error
//!   that names the remedy, because a person has to decide. A store that is opened under a keyring
//!   ([`Store::open_signed`]) may belong to anybody, and is only read.
//!
//! # Costs
//!
//! A publish syncs three files, and the file system once for their names; many publishes can share two such syncs
//! ([`Store::publish_all`]). A find costs one directory listing and one read. A load costs one read, one decode and one
//! hash.
//!
//! Two facts limit the speed. First, names must be written after bytes. Each publish therefore takes two commits of the
//! file system's journal, the second one with every new directory. Two plain synced files take as many. Second, an
//! archive is named by its content, so verifying means decoding. For machine code at the stores' compression level,
//! zstd takes 2.7 times as long as BLAKE3. A reader that verifies needs four processors to match one that only hashes.

mod access;
mod batch;
mod complete;
mod create;
mod deploy_error;
mod deployed;
mod entry;
mod find;
mod gc;
pub(crate) mod generation;
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

pub use access::{DamagedRelease, FindError};
pub use create::CreateError;
pub use deploy_error::DeployError;
pub use deployed::Deployed;
pub(crate) use deployed::Served;
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
pub(crate) use signatures::{name_of_entry, name_of_record};
pub use turn::{Turn, Turns};
pub use verify::{EventLog, MissingModule, Verification, lacking};
pub use write::WriteError;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::event::{Event, Observer};
use crate::keyring::Keyring;
use crate::trust::Protection;
use access::Passed;
use deployed::Snapshot;

/// A store in a directory. Cheap to clone, and safe to share between threads.
#[derive(Debug, Clone)]
pub struct Store {
    paths: Paths,
    /// The root as resolved when the store was opened, without links.
    real: PathBuf,
    passed: Passed,
    /// The entries of served releases.
    served: Snapshot,
    observer: Observer,
    /// The protection of the files. A store that only signatures protect is not written to.
    protection: Protection,
    /// The keyring whose signatures readers require, if any.
    keyring: Option<Arc<Keyring>>,
}

impl Store {
    /// Returns the directory of the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.paths.root
    }

    /// Reports an event to the observer.
    pub fn tell(&self, event: &Event) {
        self.observer.tell(event);
    }

    /// Returns the keyring whose signatures readers require, if any.
    pub(crate) fn keyring(&self) -> Option<&Keyring> {
        self.keyring.as_deref()
    }

    /// Sets the observer that receives every [`Event`], replacing the previous one.
    #[must_use]
    pub fn on_event(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.observer = Observer::new(observer);
        self
    }
}
