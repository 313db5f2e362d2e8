//! Releases of a store: numbered sets of entries under a name, one of which is served.
//!
//! ```text
//! roots/deployed/<name>/<number>     lines `<RecordId> <entry>`, sorted by entry; never modified
//! roots/deployed/<name>/current      the number that is served; replaced by rename
//! ```
//! If a release of a name is served, its entries come from that release, whatever a build or an import published later.
//! Other entries come from `roots/entry`. A switch replaces one small file, so readers see all entries of one release or
//! all of the next. An open [`Store`] serves one state for its whole life.
//!
//! A damaged file is an error and stays in place: without it, readers would serve another release.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::write::WriteError;
use super::{FindError, ReleaseError, Store};
use crate::export::Release;
use crate::key::RecordId;
use crate::record::{Entry, check_entry_name};

/// An upper bound for the size of a list of entries, in bytes.
const LIMIT: u64 = 16 << 20;

/// The name of the file with the number of the served release.
const CURRENT: &str = "current";

/// The releases of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployed {
    /// The name.
    pub name: String,
    /// The recorded numbers, ascending.
    pub numbers: Vec<u64>,
    /// The number that is served, if any.
    pub current: Option<u64>,
}

/// The reason why a release was not recorded or switched to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// The store has no such release.
    #[error("the store has no release {release}; available: {known}")]
    Unknown {
        /// The release.
        release: String,
        /// The recorded releases of the name.
        known: String,
    },
    /// The store has a release of this number with other entries.
    #[error("release `{release}` already has other entries\nhint: use the next number")]
    Taken {
        /// The release.
        release: Release,
    },
    /// The store does not have an entry, or it has no valid name.
    #[error("the store has no entry `{name}`")]
    NoEntry {
        /// The entry.
        name: String,
    },
    /// A release without entries.
    #[error("a release needs an entry\nhint: build or import first")]
    Empty,
    /// An entry is served by a release of another name.
    #[error(
        "entry `{entry}` is served by release `{other}`\nhint: leave the entry out of one of the releases"
    )]
    Shared {
        /// The entry.
        entry: String,
        /// The other release.
        other: Release,
    },
    /// An entry or a module of the release is lost, damaged, or not signed by enough keys.
    #[error("cannot serve release `{release}`: {what}\nhint: import the release again")]
    Incomplete {
        /// The release.
        release: Release,
        /// The entry or module.
        what: String,
    },
    /// The store cannot be read.
    #[error("cannot read the store")]
    Find(#[from] FindError),
    /// Another import or switch is running.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// The file system refused.
    #[error("cannot write the release")]
    Write(#[from] WriteError),
}

/// The entries of a release: their names and graphs.
pub(crate) type Served = BTreeMap<String, RecordId>;

/// The served entries of an open store, read at the first lookup.
#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot(Arc<OnceLock<Served>>);

impl Store {
    /// Lists the recorded releases, by name.
    ///
    /// # Errors
    ///
    /// The file system refuses, or a file is damaged.
    pub fn deployed(&self) -> Result<Vec<Deployed>, FindError> {
        let names = self.names(&self.paths.deployed())?.into_iter();
        names.filter(|name| check_entry_name(name).is_ok()).map(|name| self.deployed_as(&name)).collect()
    }

    /// Returns the recorded releases of a name.
    fn deployed_as(&self, name: &str) -> Result<Deployed, FindError> {
        let directory = self.paths.deployed().join(name);
        let mut numbers: Vec<u64> = self.names(&directory)?.iter().filter_map(|name| number(name)).collect();
        numbers.sort_unstable();
        let path = directory.join(CURRENT);
        let current = match self.read(&path, LIMIT)? {
            None => None,
            Some(found) => {
                let text = String::from_utf8_lossy(&found.bytes).into_owned();
                Some(text.strip_suffix('\n').and_then(number).ok_or_else(|| damaged(&path))?)
            }
        };
        Ok(Deployed { name: name.to_owned(), numbers, current })
    }

    /// Returns the entries of a release; `None` if the store does not have it.
    pub(crate) fn entries_of(&self, release: &Release) -> Result<Option<Served>, FindError> {
        let path = self.path_of(release);
        let Some(found) = self.read(&path, LIMIT)? else { return Ok(None) };
        let text = String::from_utf8(found.bytes).map_err(|_| damaged(&path))?;
        let line = |line: &str| {
            let (id, name) = line.split_once(' ')?;
            Some((name.to_owned(), id.parse().ok()?))
        };
        let served: Option<Served> = text.lines().map(line).collect();
        served
            .filter(|served| render(served) == text && !served.is_empty())
            .map(Some)
            .ok_or_else(|| damaged(&path))
    }

    /// Returns the entries of all served releases. The first call reads them, later calls return the same.
    pub(super) fn served(&self) -> Result<&Served, FindError> {
        if let Some(served) = self.served.0.get() {
            return Ok(served);
        }
        let mut all = Served::new();
        for Deployed { name, .. } in self.deployed()? {
            all.extend(self.current_entries(&name)?);
        }
        Ok(self.served.0.get_or_init(|| all))
    }

    fn current_entries(&self, name: &str) -> Result<Served, FindError> {
        let mut before = None;
        loop {
            let Some(number) = self.deployed_as(name)?.current else { return Ok(Served::new()) };
            let release = Release { name: name.to_owned(), number };
            match self.entries_of(&release)? {
                Some(served) => return Ok(served),
                // A collector may have deleted the release after a switch.
                None if before != Some(number) => before = Some(number),
                None => return Err(damaged(&self.path_of(&release))),
            }
        }
    }

    /// Records entries as a release, by default all entries as the next number of the name. It is not served until
    /// [`Store::switch`].
    ///
    /// # Errors
    ///
    /// An entry does not exist, or the number is taken.
    pub fn record_release(
        &self,
        name: &str,
        number: Option<u64>,
        entries: &[String],
    ) -> Result<Release, DeployError> {
        check_entry_name(name).map_err(|_| DeployError::NoEntry { name: name.to_owned() })?;
        let names =
            if entries.is_empty() { self.names(&self.paths.entry_roots())? } else { entries.to_vec() };
        let mut served = Served::new();
        for name in names {
            let found = check_entry_name(&name).is_ok().then(|| self.rooted(&name)).transpose()?.flatten();
            let entry = found.ok_or_else(|| DeployError::NoEntry { name: name.clone() })?;
            served.insert(name, entry.id());
        }
        let _turn = self.importing(Some(&Release { name: name.to_owned(), number: 0 }))?;
        let last = self.deployed_as(name)?.numbers.last().map_or(0, |last| *last);
        let release = Release { name: name.to_owned(), number: number.unwrap_or(last + 1) };
        self.put_deployed(&release, &served)?;
        Ok(release)
    }

    /// Writes the entries of a release. The caller holds the lock of imports.
    pub(crate) fn put_deployed(&self, release: &Release, served: &Served) -> Result<(), DeployError> {
        if served.is_empty() {
            return Err(DeployError::Empty);
        }
        if self.check_deployed(release, served)? {
            return Ok(());
        }
        let _lease = self.lease();
        Ok(self.write_alone(&self.path_of(release), render(served).as_bytes())?)
    }

    /// Checks that the store has this release with these entries, or does not have it. Returns whether it has it.
    pub(crate) fn check_deployed(&self, release: &Release, served: &Served) -> Result<bool, DeployError> {
        match self.entries_of(release)? {
            Some(found) if found != *served => Err(DeployError::Taken { release: release.clone() }),
            found => Ok(found.is_some()),
        }
    }

    /// Serves a recorded release. Readers that open the store afterwards see its entries.
    ///
    /// # Errors
    ///
    /// The release does not exist, or an entry or a module of it is missing, damaged, or, under a keyring, not signed by
    /// enough keys.
    pub fn switch(&self, release: &Release) -> Result<(), DeployError> {
        let _turn = self.importing(Some(release))?;
        self.switch_alone(release)
    }

    /// Serves the release before the served one. Returns it.
    ///
    /// # Errors
    ///
    /// No release of the name is served, none is recorded before it, or as [`Store::switch`].
    pub fn rollback(&self, name: &str) -> Result<Release, DeployError> {
        let turn = Release { name: name.to_owned(), number: 0 };
        let _turn = self.importing(Some(&turn))?;
        let deployed = self.deployed_as(name)?;
        let before = |current: u64| deployed.numbers.iter().rev().find(|number| **number < current);
        let Some(number) = deployed.current.and_then(before) else {
            let release = format!("of `{name}` before the served one");
            return Err(DeployError::Unknown { release, known: known(&deployed) });
        };
        let release = Release { name: name.to_owned(), number: *number };
        self.switch_alone(&release)?;
        Ok(release)
    }

    fn switch_alone(&self, release: &Release) -> Result<(), DeployError> {
        let _lease = self.lease();
        let Some(served) = self.entries_of(release)? else {
            let known = known(&self.deployed_as(&release.name)?);
            return Err(DeployError::Unknown { release: format!("`{release}`"), known });
        };
        self.check_complete(release, &served)?;
        for other in self.deployed()?.into_iter().filter(|other| other.name != release.name) {
            let Some(number) = other.current else { continue };
            let other = Release { name: other.name, number };
            let theirs = self.entries_of(&other)?.unwrap_or_default();
            if let Some(entry) = served.keys().find(|name| theirs.contains_key(*name)) {
                return Err(DeployError::Shared { entry: entry.clone(), other });
            }
        }
        let path = self.paths.deployed().join(&release.name).join(CURRENT);
        Ok(self.write_alone(&path, format!("{}\n", release.number).as_bytes())?)
    }

    /// Checks that readers will find every entry and every module of a release.
    fn check_complete(&self, release: &Release, served: &Served) -> Result<(), DeployError> {
        let incomplete = |what: String| DeployError::Incomplete { release: release.clone(), what };
        for (name, id) in served {
            let entry: Entry = self
                .entry_of(name, id)?
                .ok_or_else(|| incomplete(format!("entry `{name}` is missing, damaged or not signed")))?;
            for step in &entry.program.steps {
                let mut found = false;
                for record in self.find(&step.key)? {
                    found |= self.holds(&record)?;
                }
                if !found {
                    let module = step.signatures.join("; ");
                    return Err(incomplete(format!("module `{module}` of entry `{name}` is missing")));
                }
            }
        }
        Ok(())
    }

    /// Returns the file of a release.
    pub(super) fn path_of(&self, release: &Release) -> PathBuf {
        self.paths.deployed().join(&release.name).join(release.number.to_string())
    }
}

/// Parses a number in its shortest form.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

fn render(served: &Served) -> String {
    let mut text = String::new();
    for (name, id) in served {
        let _ = writeln!(text, "{id} {name}");
    }
    text
}

fn known(deployed: &Deployed) -> String {
    match &deployed.numbers[..] {
        [] => "none".to_owned(),
        numbers => numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn damaged(path: &Path) -> FindError {
    let source = io::Error::new(io::ErrorKind::InvalidData, "not a valid release of the store");
    FindError::Io { path: path.to_owned(), source }
}
