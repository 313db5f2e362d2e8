//! Garbage collection: deletes artifacts that are not declared, not called, or unused for a long time.
//!
//! ```text
//! plan_gc: roots ─▶ live modules ─▶ victims with reasons (reads only) ─▶ people, or --dry-run
//!                                        └─▶ sweep: one batch at a time, under an exclusive lock: check again, delete
//! ```
//! # Kept artifacts
//!
//! * *Declared* artifacts: the entries and modules of manifests and lock files, if the caller names some. Everything
//!   else can then be deleted. Without declarations, only age and size limits select victims.
//! * Modules that a kept entry calls, for each target and ISA level. With `max_age`, old records can be deleted if
//!   newer records have all their modules, e.g. records of an older compiler.
//! * The last releases of each name, the served one ([`Store::switch`](super::Store::switch)) and the one that a rollback
//!   would serve, with their entries and modules, whatever is declared and whatever their age. Graphs of deleted releases
//!   are deleted by the next collection.
//! * *Pinned* archives, by Digest, whatever their age.
//! * Artifacts younger than `grace`. The age of a record or an entry is the time since a build last produced or reused
//!   it.
//! * Artifacts that a running build has produced or reused ([`Session`](super::Session)), however short the grace: the
//!   build is not done, and no entry names them yet.
//! * Files that a newer precast wrote. If there are any, all archives are kept as well, since such files may name them.
//!
//! # Concurrency
//!
//! A plan selects victims without a lock. Files are deleted only under the store's exclusive lock; publishers share it
//! ([`super::lease`]). Before each batch, the current names are read again (`named.rs`). A record or a root is deleted
//! only if its time is unchanged since the plan. An archive is deleted only if no record names it, and a graph only if
//! no root refers to it. The order is that of a publish in reverse: pointers, record, documents, object. A killed
//! collector therefore leaves the same state as a killed publisher. Readers take no lock: they miss, or have already
//! read the file.

mod leftover;
mod named;
mod plan;
mod releases;
mod sweep;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::paths::RecordName;
use crate::key::{BuildKey, Digest};

pub use sweep::Swept;

/// The artifacts to keep.
#[derive(Debug, Clone, Default)]
pub struct Keep {
    /// The declarations of manifests and lock files. Without any (`None`), everything counts as wanted.
    pub declared: Option<Roots>,
    /// The digests of archives that are always kept, such as those of releases.
    pub pinned: BTreeSet<Digest>,
    /// The number of last releases of each name that are kept, with their entries and modules. The served release and
    /// the one that a rollback would serve are always kept.
    pub releases: usize,
    /// The maximum time since a build last produced or used an artifact. Applies to all artifacts without declarations,
    /// and otherwise only to superseded records.
    pub max_age: Option<Duration>,
    /// The maximum size of the store, in bytes. Only records that no entry calls are deleted for it, the longest unused
    /// first.
    pub max_size: Option<u64>,
    /// The minimum age of a victim.
    pub grace: Duration,
}

/// The declared entries and modules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// The names of entries.
    pub entries: BTreeSet<String>,
    /// The keys of modules.
    pub modules: BTreeSet<BuildKey>,
}

/// The plan of a collection. Nothing has been changed yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcPlan {
    /// The victims: entries, then records, then leftovers, each sorted by name.
    pub victims: Vec<Victim>,
    /// The number of records that are kept.
    pub records: usize,
    /// The number of entries that are kept.
    pub entries: usize,
    /// The size of everything that is kept, in bytes.
    pub bytes: u64,
    /// The number of bytes above the size limit, which cannot be freed because they are rooted or young.
    pub over: u64,
    /// The number of records and entries written by a newer precast; if there are any, no archive is deleted.
    pub foreign: usize,
    /// The records read for the plan, with the archives that they name.
    digests: BTreeMap<RecordName, Digest>,
}

impl GcPlan {
    /// Returns the number of bytes that a sweep would free.
    #[must_use]
    pub fn freed(&self) -> u64 {
        self.victims.iter().map(|victim| victim.bytes).sum()
    }
}

/// An artifact or file that can be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Victim {
    /// The kind of the victim.
    pub kind: VictimKind,
    /// The name for messages: an entry's name, the signatures of a unit, or a file name.
    pub name: String,
    /// The reason why it can be deleted.
    pub reason: Reason,
    /// The time since a build last used it.
    pub age: Duration,
    /// The number of bytes that deleting it frees.
    pub bytes: u64,
    /// Conditions that must still hold when it is deleted.
    guards: Vec<Guard>,
    /// The files to delete, in this order.
    files: Vec<PathBuf>,
    /// The record to delete after the files.
    record: Option<Going>,
}

/// A record to delete, with the files beside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Going {
    name: RecordName,
    /// The keys and fingerprints by which it is found; their pointers are deleted first.
    keys: BTreeSet<String>,
    /// The record's archive, deleted with the last record that names it.
    archive: Digest,
}

/// A condition observed when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Guard {
    /// A file was last written or confirmed at this time.
    Same(PathBuf, SystemTime),
    /// The file did not exist.
    Absent(PathBuf),
    /// No record named this archive.
    Unnamed(Digest),
    /// No root referred to this graph.
    Meaningless(PathBuf),
    /// No release referred to this graph.
    Unreleased(PathBuf),
    /// This release was not served, and no rollback would serve it.
    NotServed(PathBuf),
}

/// The kind of a victim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum VictimKind {
    /// The name of a graph.
    Entry,
    /// The list of entries of a release.
    Release,
    /// A record with its archive, for one ISA level.
    Record,
    /// A file that nothing names, left by a killed or failed publish or by a loss.
    Leftover,
    /// An unfinished file of a killed process.
    Temporary,
    /// Quarantined damage.
    Quarantined,
}

/// The reason why something can be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// None of the given manifests and lock files declares it.
    Undeclared,
    /// No build has used it for longer than allowed.
    Old,
    /// It is old, and newer records have all its modules for the same target and ISA level.
    Superseded,
    /// The store is larger than allowed, and other artifacts were used more recently.
    Budget,
    /// Later releases of the name are kept.
    Past,
    /// Nothing refers to it.
    Unreachable,
}

impl Reason {
    /// Returns the reason in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Undeclared => "not declared",
            Self::Old => "unused for too long",
            Self::Superseded => "superseded by a newer artifact",
            Self::Budget => "over the size limit",
            Self::Past => "followed by later releases",
            Self::Unreachable => "unreferenced",
        }
    }
}
