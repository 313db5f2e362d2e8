//! Garbage collection: what nobody declares, calls or has used for long can go.
//!
//! ```text
//! plan_gc: roots ─▶ live modules ─▶ what can go, and why (reads only) ─▶ people, or --dry-run
//!                                        └─▶ sweep: a batch at a time, alone with the store: look again, delete
//! ```
//! # What is kept
//!
//! * What is *declared*: the entries and modules of manifests and lock files, where the caller names some; then whatever else
//!   is there can go. Without them everything is kept that no budget lets go.
//! * Modules that a kept entry calls, for each target and ISA level. Of those, with `max_age`, records that a newer one stands
//!   for can go: an older compiler's.
//! * What is *pinned*: archives by their Digest, whatever their age.
//! * What is younger than `grace`. The age of a record or an entry is the time since a build made it or came to it again.
//! * What a build that goes on has made or come to ([`Session`](super::Session)), however short the grace: it is not done, and no
//!   entry names that yet.
//! * What cannot be understood, since a newer precast wrote it; and then all archives, as it may name them.
//!
//! # Beside others
//!
//! A plan marks what can go, without a lock. Nothing is deleted but under the store's lock, which publishers share
//! ([`super::lease`]), and each batch only after another look at what is named by then (`named.rs`): a record or a root goes if
//! its time is still that of the plan, an archive if no record names it, a graph if no root means it. The order is that of a publish
//! from its end: pointers, record, documents, object. So a collector that is killed leaves what a killed publisher leaves. Readers
//! take no lock: they miss, or have read the file already.

mod leftover;
mod named;
mod plan;
mod sweep;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::paths::RecordName;
use crate::key::{BuildKey, Digest};

pub use sweep::Swept;

/// What to keep.
#[derive(Debug, Clone, Default)]
pub struct Keep {
    /// What manifests and lock files declare. `None`: there are none, and everything counts as wanted.
    pub declared: Option<Roots>,
    /// Archives that stay, whatever their age: those of releases.
    pub pinned: BTreeSet<Digest>,
    /// How long something stays that nobody declares, in a build or by using it in one.
    pub max_age: Option<Duration>,
    /// How many bytes may stay. What no entry calls goes first, the longest unused before others.
    pub max_size: Option<u64>,
    /// How old something is at least that goes.
    pub grace: Duration,
}

/// What is declared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// Names of entries.
    pub entries: BTreeSet<String>,
    /// Keys of modules.
    pub modules: BTreeSet<BuildKey>,
}

/// What can go, and what stays. Nothing has been changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcPlan {
    /// What can go: entries, then records, then leftovers, each sorted by its name.
    pub victims: Vec<Victim>,
    /// Number of records that stay.
    pub records: usize,
    /// Number of entries that stay.
    pub entries: usize,
    /// Size of what stays, in bytes.
    pub bytes: u64,
    /// By how many bytes that is more than the budget: all of it is rooted, or young.
    pub over: u64,
    /// How many records and entries were written by a newer precast; with one, no archive goes.
    pub foreign: usize,
    /// The records that were read, and the archives that they name.
    digests: BTreeMap<RecordName, Digest>,
}

impl GcPlan {
    /// How many bytes would be freed.
    #[must_use]
    pub fn freed(&self) -> u64 {
        self.victims.iter().map(|victim| victim.bytes).sum()
    }
}

/// Something that can go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Victim {
    /// What it is.
    pub kind: VictimKind,
    /// What people call it: an entry's name, the signatures of a unit, a file's name.
    pub name: String,
    /// Why it can go.
    pub reason: Reason,
    /// How long nobody has used it in a build.
    pub age: Duration,
    /// How much that frees, in bytes.
    pub bytes: u64,
    /// What has to be so still when it is deleted.
    guards: Vec<Guard>,
    /// What is deleted, in this order.
    files: Vec<PathBuf>,
    /// The record that goes after that.
    record: Option<Going>,
}

/// A record that goes, with what stands beside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Going {
    name: RecordName,
    /// What it is found by: these pointers go first.
    keys: BTreeSet<String>,
    /// Its archive, which goes with the last record that names it.
    archive: Digest,
}

/// What was so when a plan was made.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Guard {
    /// A file was last written or confirmed at this time.
    Same(PathBuf, SystemTime),
    /// There was no such file.
    Absent(PathBuf),
    /// No record named this archive.
    Unnamed(Digest),
    /// No root meant this graph.
    Meaningless(PathBuf),
}

/// What can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum VictimKind {
    /// The name of a graph.
    Entry,
    /// A record with its archive, for this ISA level.
    Record,
    /// What a killed or failed publish, or a loss, has left: a file that nothing names.
    Leftover,
    /// What was being written by a process that was killed.
    Temporary,
    /// Damage that was moved out of the way.
    Quarantined,
}

/// Why something can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// No manifest or lock file that was named declares it.
    Undeclared,
    /// Nobody has built it for longer than allowed.
    Old,
    /// It is old, and a newer record has its modules for the same target and ISA level.
    Superseded,
    /// The store is larger than allowed, and others were used since.
    Budget,
    /// Nothing names it.
    Unreachable,
}

impl Reason {
    /// The reason in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Undeclared => "nothing declares it",
            Self::Old => "unused for too long",
            Self::Superseded => "a newer one has its modules",
            Self::Budget => "beyond the size that is allowed",
            Self::Unreachable => "nothing names it",
        }
    }
}
