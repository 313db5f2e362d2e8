//! `precast.lock`: the locked content of a declared set, identical on every machine and for every compiler.
//!
//! ```toml
//! version = 1
//! generator = "precast 0.1.0+…"
//!
//! entry = [
//!   { name = "score", key = "…" },
//! ]
//!
//! module = [
//!   { signature = "add(f64[..], f64[..]) -> f64[..]", key = "…" },
//! ]
//!
//! pin = [
//!   { action = "…", digest = "…", unit = "…", target = "x86_64-unknown-linux-gnu", isa = "x86-64-v3", toolchain = "…" },
//! ]
//! ```
//! Items are one per line and sorted, so that a review shows the changes. An entry's key covers its interface, its
//! program and the declared graph; a module's key is its BuildKey. Edited ops, changed graphs and generators that
//! produce other C are therefore detected before anything is compiled.
//!
//! *Pins* are for releases: if a target has pins, only pinned archives are used for it (`pins.rs`), so a different
//! compiler is rejected too. The *generator* is used only in messages: it names the version of precast that wrote the
//! lines. Another version that would write the same lines leaves it unchanged.

mod compare;
mod pins;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use precast_codegen::Unit;
use precast_core::Metadata;
use precast_ops::{GENERATOR, OtherVersion};
use precast_store::key::ContentId;
use precast_store::{ActionKey, BuildKey, Digest, Entry, Record, RecordId, ToolchainId};

use crate::plan::Plan;
use text::ParseLockError;

pub use compare::Change;

/// The file name of the lock file, in the directory of the manifest.
pub const FILE: &str = "precast.lock";

/// The locked content of a declared set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    /// The version of precast that wrote the lines, as stated in bundles; `None` if the version did not record
    /// itself.
    pub generator: Option<String>,
    /// Named graphs: name → key.
    pub entries: BTreeMap<String, RecordId>,
    /// Modules: signature and key.
    pub modules: BTreeSet<(String, BuildKey)>,
    /// The pinned archives of a release.
    pub pins: BTreeSet<Pin>,
}

/// A pinned archive: no other archive may replace it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pin {
    /// The target.
    pub target: String,
    /// The ISA level.
    pub isa: String,
    /// The key of the action that builds the archive.
    pub action: ActionKey,
    /// The digest of the result.
    pub digest: Digest,
    /// The archive's modules, as a hash of their keys: a pin is kept while they are declared. `None` in older
    /// files.
    pub unit: Option<ContentId>,
    /// The compiler; for messages, and to check archives that a cache returns to a machine without a compiler.
    pub toolchain: Option<ToolchainId>,
}

/// An error of a lock file that stops a build.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The lock file is missing.
    #[error("`{}` not found, and changes are not allowed\nhint: {}", path.display(), remedy(path))]
    Missing {
        /// The expected path.
        path: PathBuf,
    },
    /// The file is not a valid lock file.
    #[error("cannot read `{}`: {why}\nhint: {}", path.display(), remedy(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The file was written by a newer version of precast.
    #[error("cannot read `{}`: found version {found}, expected {}\nhint: update precast: a newer version wrote the \
             file", path.display(), text::VERSION)]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Reading or writing the file failed.
    #[error("cannot use `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The declarations differ from the lock file.
    #[error(
        "`{}` is out of date, and changes are not allowed:\n{}{}\nhint: {}{}",
        path.display(),
        version.as_ref().map_or_else(String::new, |version| format!("  it was written by {version}\n")),
        compare::list(changes),
        if version.is_some() { "build with that version, or " } else { "" },
        remedy(path)
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The differences; never empty.
        changes: Vec<Change>,
        /// The different version of precast that wrote the file, if that may be the cause.
        version: Option<OtherVersion>,
    },
    /// Archives differ from the pinned archives.
    #[error("archives do not match the pins in `{}`:\n{}\nhint: build with the compiler of the release, or pin \
             another release with `precast build --pin`", path.display(), lines.join("\n"))]
    Pinned {
        /// The file.
        path: PathBuf,
        /// A line for each archive.
        lines: Vec<String>,
    },
}

/// Returns the command that rewrites a lock file; for a manifest with another name, the command contains the name.
fn remedy(path: &Path) -> String {
    // Only the usual file name identifies the manifest.
    let is_of_manifest = path != Path::new(FILE) && path.extension().is_some_and(|it| it == "lock");
    let manifest =
        if is_of_manifest { format!(" {}", path.with_extension("toml").display()) } else { String::new() };
    format!(
        "run `precast update{manifest}` to update it; with a build script, run `PRECAST_LOCKED=update cargo build`"
    )
}

/// Hashes the keys of a unit's modules, in order.
fn unit_id<'k>(keys: impl Iterator<Item = &'k BuildKey>) -> ContentId {
    let text: String = keys.map(|key| format!("{key}\n")).collect();
    ContentId::of(text)
}

/// Returns the unit of a record.
fn unit_of(record: &Record) -> ContentId {
    unit_id(record.members.iter().map(|member| &member.key))
}

impl Lock {
    /// Returns the key of an entry, which covers its computation but not the generator's version or the metadata.
    #[must_use]
    pub fn entry_key(entry: &Entry) -> RecordId {
        Entry { recipe: String::new(), metadata: Metadata::default(), ..entry.clone() }.id()
    }

    /// Returns the lock of a plan, without pins.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let entries = plan.entries.iter().map(|entry| (entry.name.clone(), Self::entry_key(entry))).collect();
        let members = plan.units.iter().flat_map(|unit| unit.members());
        let modules = members.map(|(key, module)| (module.signature.clone(), *key)).collect();
        Self { generator: Some(GENERATOR.to_owned()), entries, modules, pins: BTreeSet::new() }
    }

    /// Returns the version of precast that wrote the file, if it is a different one.
    #[must_use]
    pub fn other_version(&self) -> Option<OtherVersion> {
        let Some(stated) = &self.generator else { return Some(OtherVersion { found: None }) };
        OtherVersion::of(stated)
    }

    /// Returns the lock of a plan and its changes from the present lock. Without changes, the present lock is returned.
    /// Otherwise the result keeps the pins whose modules are in the plan.
    #[must_use]
    pub fn following(present: &Self, plan: &Plan) -> (Self, Vec<Change>) {
        let mut new = Self::of(plan);
        let changes = present.changes(&new);
        if changes.is_empty() {
            return (present.clone(), changes);
        }
        new.pins = present.pins_of(plan).cloned().collect();
        (new, changes)
    }

    /// Returns the pins whose modules form a unit of the plan.
    pub fn pins_of(&self, plan: &Plan) -> impl Iterator<Item = &Pin> {
        let keys = |unit: &Unit| unit_id(unit.members().iter().map(|(key, _)| key));
        let units: BTreeSet<ContentId> = plan.units.iter().map(keys).collect();
        self.pins.iter().filter(move |pin| pin.unit.is_some_and(|unit| units.contains(&unit)))
    }

    /// Pins the archives of records.
    #[must_use]
    pub fn pinning<'r>(mut self, records: impl IntoIterator<Item = &'r Record>) -> Self {
        let pin = |record: &Record| Pin {
            target: record.target.clone(),
            isa: record.isa.clone(),
            action: record.action,
            digest: record.digest,
            unit: Some(unit_of(record)),
            toolchain: record.toolchain,
        };
        self.pins = records.into_iter().map(pin).collect();
        self
    }

    /// Reads the file; `None` if it does not exist.
    ///
    /// # Errors
    /// Fails if the file is not a valid lock file, or cannot be read.
    pub fn read(path: &Path) -> Result<Option<Self>, LockError> {
        let malformed = |why| LockError::Malformed { path: path.to_owned(), why };
        let bytes = match precast_store::file::read(path, precast_store::file::TEXT_LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(LockError::Io { path: path.to_owned(), source }),
        };
        let text = String::from_utf8(bytes).map_err(|_| malformed("it is not UTF-8".to_owned()))?;
        Self::parse(&text).map(Some).map_err(|error| match error {
            ParseLockError::Malformed(why) => malformed(why),
            ParseLockError::Newer(found) => LockError::Newer { path: path.to_owned(), found },
        })
    }

    /// Reads the file before it is rewritten: an invalid file counts as missing, and the reason is returned.
    ///
    /// # Errors
    /// Fails if a newer version of precast wrote the file, or if it cannot be read.
    pub fn read_to_replace(path: &Path) -> Result<(Option<Self>, Option<String>), LockError> {
        match Self::read(path) {
            Err(LockError::Malformed { why, .. }) => Ok((None, Some(why))),
            other => other.map(|lock| (lock, None)),
        }
    }

    /// Writes the file unless its content is unchanged. Returns whether it was written.
    ///
    /// # Errors
    /// Fails on an I/O error.
    pub fn write(&self, path: &Path) -> Result<bool, LockError> {
        let written = precast_store::whole::write_if_changed(path, self.to_string().as_bytes());
        written.map_err(|source| LockError::Io { path: path.to_owned(), source })
    }

    /// Checks that a plan matches the lock.
    ///
    /// # Errors
    /// Fails with the list of changes if it does not match.
    pub fn check(&self, plan: &Plan, path: &Path) -> Result<(), LockError> {
        let changes = self.changes(&Self::of(plan));
        if changes.is_empty() {
            return Ok(());
        }
        let version = self.other_version().filter(|_| changes.iter().any(Change::may_be_of_version));
        Err(LockError::Changed { path: path.to_owned(), changes, version })
    }
}
