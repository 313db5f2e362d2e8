//! `precast.lock`: what a declared set stands for, the same on every machine and with every compiler.
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
//! A line an item, sorted, so that a review shows what changed. An entry's key covers its interface, its program and the graph
//! as it was declared; a module's is its BuildKey. So an edited op, a changed graph and a generator that writes other C are
//! seen before anything is compiled. *Pins* are for releases: where some are for a target, no other archive is used there
//! (`pins.rs`), so another compiler is refused too. The *generator* is for messages: it says which version of precast wrote the
//! lines, and another one that would write the same leaves it as it is.

mod compare;
mod pins;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use precast_codegen::Unit;
use precast_ops::{GENERATOR, OtherVersion};
use precast_store::key::ContentId;
use precast_store::{ActionKey, BuildKey, Digest, Entry, Record, RecordId, ToolchainId};

use crate::plan::Plan;
use text::ParseLockError;

pub use compare::Change;

/// What the file is called, beside the manifest.
pub const FILE: &str = "precast.lock";

/// What a declared set stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    /// The version of precast that wrote the lines, as bundles state it; `None` where a version wrote them that did not say so.
    pub generator: Option<String>,
    /// Named graphs: name → key.
    pub entries: BTreeMap<String, RecordId>,
    /// Modules: signature and key.
    pub modules: BTreeSet<(String, BuildKey)>,
    /// Archives of a release.
    pub pins: BTreeSet<Pin>,
}

/// An archive that no other may take the place of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pin {
    /// The target.
    pub target: String,
    /// The ISA level.
    pub isa: String,
    /// How it was made.
    pub action: ActionKey,
    /// What came out.
    pub digest: Digest,
    /// Which modules it has, as a hash of their keys: a pin stays as long as they are declared. `None` in files of before.
    pub unit: Option<ContentId>,
    /// The compiler: what a cache gives without it has to be made by this one; and for messages.
    pub toolchain: Option<ToolchainId>,
}

/// Says why a lock file does not let a build go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// There is none.
    #[error("there is no `{}`, and nothing may change\nhint: {}", path.display(), remedy(path))]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// It is no lock file.
    #[error("cannot read `{}`: {why}\nhint: {}", path.display(), remedy(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A newer precast wrote it.
    #[error("cannot read `{}`: it has version {found}, expected {}\nhint: a newer precast wrote it; update this one", path.display(), text::VERSION)]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file system refused.
    #[error("cannot use `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What is declared is not what is locked.
    #[error(
        "`{}` would change, and nothing may:\n{}{}\nhint: {}{}",
        path.display(),
        version.as_ref().map_or_else(String::new, |version| format!("  it was made by {version}\n")),
        compare::list(changes),
        if version.is_some() { "build with the version that made it; or " } else { "" },
        remedy(path)
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// In what they differ; never empty.
        changes: Vec<Change>,
        /// The other version of precast that made the file, where that may be why.
        version: Option<OtherVersion>,
    },
    /// Archives are not those of the release.
    #[error("`{}` pins other archives:\n{}\nhint: build with the compiler of the release; or, for another release, `precast build --pin`", path.display(), lines.join("\n"))]
    Pinned {
        /// The file.
        path: PathBuf,
        /// Each archive.
        lines: Vec<String>,
    },
}

/// What writes a lock file anew: that of a manifest of another name needs the name.
fn remedy(path: &Path) -> String {
    // Only the usual name says which manifest it is of.
    let is_of_manifest = path != Path::new(FILE) && path.extension().is_some_and(|it| it == "lock");
    let manifest =
        if is_of_manifest { format!(" {}", path.with_extension("toml").display()) } else { String::new() };
    format!(
        "`precast update{manifest}` writes it anew; in a package with a build script `PRECAST_LOCKED=update cargo build` does"
    )
}

/// Hashes the keys of the modules of a unit, in their order.
fn unit_id<'k>(keys: impl Iterator<Item = &'k BuildKey>) -> ContentId {
    let text: String = keys.map(|key| format!("{key}\n")).collect();
    ContentId::of(text)
}

/// The unit that a record is about.
fn unit_of(record: &Record) -> ContentId {
    unit_id(record.members.iter().map(|member| &member.key))
}

impl Lock {
    /// The key of an entry: what it computes and how, whoever generated it.
    #[must_use]
    pub fn entry_key(entry: &Entry) -> RecordId {
        Entry { recipe: String::new(), ..entry.clone() }.id()
    }

    /// Says what a plan stands for; nothing is pinned.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let entries = plan.entries.iter().map(|entry| (entry.name.clone(), Self::entry_key(entry))).collect();
        let members = plan.units.iter().flat_map(|unit| unit.members());
        let modules = members.map(|(key, module)| (module.signature.clone(), *key)).collect();
        Self { generator: Some(GENERATOR.to_owned()), entries, modules, pins: BTreeSet::new() }
    }

    /// The version of precast that made it, if that is another one.
    #[must_use]
    pub fn other_version(&self) -> Option<OtherVersion> {
        let Some(stated) = &self.generator else { return Some(OtherVersion { found: None }) };
        OtherVersion::of(stated)
    }

    /// Says what a plan stands for, with those pins of the lock file that is there whose modules the plan has; and gives what
    /// changes.
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

    /// The pins whose modules are units of a plan.
    pub fn pins_of(&self, plan: &Plan) -> impl Iterator<Item = &Pin> {
        let keys = |unit: &Unit| unit_id(unit.members().iter().map(|(key, _)| key));
        let units: BTreeSet<ContentId> = plan.units.iter().map(keys).collect();
        self.pins.iter().filter(move |pin| pin.unit.is_some_and(|unit| units.contains(&unit)))
    }

    /// Pins archives, by their records.
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

    /// Reads the file; `None` where there is none.
    ///
    /// # Errors
    /// It is no lock file, or cannot be read.
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

    /// Reads the file that is about to be written anew: one that is broken counts as none, and the reason is given with it.
    ///
    /// # Errors
    /// A newer precast wrote it, or it cannot be read.
    pub fn read_to_replace(path: &Path) -> Result<(Option<Self>, Option<String>), LockError> {
        match Self::read(path) {
            Err(LockError::Malformed { why, .. }) => Ok((None, Some(why))),
            other => other.map(|lock| (lock, None)),
        }
    }

    /// Writes the file, unless it says this already. Tells whether it did not.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn write(&self, path: &Path) -> Result<bool, LockError> {
        let written = precast_store::whole::write_if_changed(path, self.to_string().as_bytes());
        written.map_err(|source| LockError::Io { path: path.to_owned(), source })
    }

    /// Checks that a plan is what is locked.
    ///
    /// # Errors
    /// It is not: the error lists what would change.
    pub fn check(&self, plan: &Plan, path: &Path) -> Result<(), LockError> {
        let changes = self.changes(&Self::of(plan));
        if changes.is_empty() {
            return Ok(());
        }
        let version = self.other_version().filter(|_| changes.iter().any(Change::may_be_of_version));
        Err(LockError::Changed { path: path.to_owned(), changes, version })
    }
}
