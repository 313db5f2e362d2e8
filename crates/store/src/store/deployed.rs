//! Releases of a store: numbered sets of entries under a name, one of which is served.
//!
//! ```text
//! roots/deployed/<name>/<number>     lines `<RecordId> <entry>`, sorted by entry; never modified
//! roots/deployed/<name>/current      the number that is served, then those served before it; replaced by rename
//! ```
//! Numbers served before are lower than the served one, and descending: a switch to a lower number removes all higher
//! ones, as does a rollback. So a rollback never serves a release that was rolled back from.
//!
//! If a release of a name is served, its entries come from that release, whatever a build or an import published later.
//! Other entries come from `roots/entry`. A switch replaces one small file, so readers see all entries of one release or
//! all of the next. An open [`Store`] serves one state for its whole life.
//!
//! A damaged file is an error and stays in place: without it, readers would serve another release. A switch replaces a
//! damaged `current`, and recording a release again replaces its damaged list.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::access::DamagedRelease;
use super::{DeployError, FindError, Store};
use crate::export::Release;
use crate::key::RecordId;
use crate::record::check_entry_name;

/// An upper bound for the size of a list of entries, in bytes.
const LIMIT: u64 = 16 << 20;

/// The name of the file with the number of the served release.
const CURRENT: &str = "current";

/// The largest number of remembered releases that were served before.
const HISTORY: usize = 64;

/// The releases of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployed {
    /// The name.
    pub name: String,
    /// The recorded numbers, ascending.
    pub numbers: Vec<u64>,
    /// The number that is served, if any.
    pub current: Option<u64>,
    /// The lower numbers that were served before, the last one first, without those that were rolled back from.
    pub before: Vec<u64>,
}

impl Deployed {
    /// Returns the number that a rollback serves: the one served before, or, if none was, the next lower one.
    #[must_use]
    pub fn rollback(&self) -> Option<u64> {
        match self.before.is_empty() {
            false => self.kept(),
            true => {
                let current = self.current?;
                self.numbers.iter().rev().copied().find(|number| *number < current)
            }
        }
    }

    /// Returns the number that was served before and is still recorded.
    pub(super) fn kept(&self) -> Option<u64> {
        self.before.iter().copied().find(|number| self.numbers.contains(number))
    }

    /// Renders the file `current` after a switch to `number`.
    fn switched(&self, number: u64) -> String {
        let served = self.current.iter().chain(&self.before).filter(|earlier| **earlier < number);
        std::iter::once(&number).chain(served.take(HISTORY)).map(|number| format!("{number}\n")).collect()
    }
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
        self.deployed_names()?.iter().map(|name| self.deployed_as(name)).collect()
    }

    /// Returns the names of releases.
    fn deployed_names(&self) -> Result<Vec<String>, FindError> {
        let names = self.names(&self.paths.deployed())?.into_iter();
        Ok(names.filter(|name| check_entry_name(name).is_ok()).collect())
    }

    /// Returns the recorded numbers of a name, ascending.
    fn numbers_of(&self, name: &str) -> Result<Vec<u64>, FindError> {
        let names = self.names(&self.paths.deployed().join(name))?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| number(name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Returns the recorded releases of a name.
    fn deployed_as(&self, name: &str) -> Result<Deployed, FindError> {
        let numbers = self.numbers_of(name)?;
        let path = self.path_of_current(name);
        let mut served = match self.read(&path, LIMIT)? {
            None => Vec::new(),
            Some(found) => match parse_current(&found.bytes) {
                Some(served) => served,
                None => return Err(damaged_current(path, name, &numbers)),
            },
        };
        let current = (!served.is_empty()).then(|| served.remove(0));
        Ok(Deployed { name: name.to_owned(), numbers, current, before: served })
    }

    /// Returns the entries of a release; `None` if the store does not have it.
    pub(crate) fn entries_of(&self, release: &Release) -> Result<Option<Served>, FindError> {
        let path = self.path_of(release);
        let Some(found) = self.read(&path, LIMIT)? else { return Ok(None) };
        let damaged = || damaged(path.clone(), release);
        let text = String::from_utf8(found.bytes).map_err(|_| damaged())?;
        let line = |line: &str| {
            let (id, name) = line.split_once(' ')?;
            Some((name.to_owned(), id.parse().ok()?))
        };
        let served: Option<Served> = text.lines().map(line).collect();
        served.filter(|served| render(served) == text && !served.is_empty()).map(Some).ok_or_else(damaged)
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

    /// Returns the entries of the served release of a name; none if no release is served.
    pub(super) fn current_entries(&self, name: &str) -> Result<Served, FindError> {
        let mut before = None;
        loop {
            let Some(number) = self.deployed_as(name)?.current else { return Ok(Served::new()) };
            let release = Release { name: name.to_owned(), number };
            match self.entries_of(&release)? {
                Some(served) => return Ok(served),
                // A collector may have deleted the release after a switch.
                None if before != Some(number) => before = Some(number),
                None => return Err(damaged(self.path_of(&release), &release)),
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
        self.record(name, number, entries, |_, _| Ok(()))
    }

    /// Records a release as [`Store::record_release`], and serves it. Nothing is recorded if it cannot be served.
    ///
    /// # Errors
    ///
    /// Fails as [`Store::record_release`] and [`Store::switch`].
    pub fn serve_release(
        &self,
        name: &str,
        number: Option<u64>,
        entries: &[String],
    ) -> Result<Release, DeployError> {
        let release = self.record(name, number, entries, |release, served| {
            self.check_complete(release, served)?;
            self.check_unshared(release, served)
        })?;
        self.switch(&release)?;
        Ok(release)
    }

    fn record(
        &self,
        name: &str,
        number: Option<u64>,
        entries: &[String],
        check: impl FnOnce(&Release, &Served) -> Result<(), DeployError>,
    ) -> Result<Release, DeployError> {
        check_entry_name(name).map_err(|_| DeployError::NoEntry { name: name.to_owned() })?;
        let names =
            if entries.is_empty() { self.names(&self.paths.entry_roots())? } else { entries.to_vec() };
        // An entry that lacks signatures is reported as such, and not as missing.
        let all = Self { keyring: None, ..self.clone() };
        let mut served = Served::new();
        for name in names {
            let found = check_entry_name(&name).is_ok().then(|| all.rooted(&name)).transpose()?.flatten();
            let entry = found.ok_or_else(|| DeployError::NoEntry { name: name.clone() })?;
            let signed = all.signed_entry(&entry)?;
            if let Some(unsigned) = self.unsigned(&signed) {
                return Err(DeployError::UnsignedEntry { what: signed.name, unsigned });
            }
            served.insert(name, entry.id());
        }
        let _turn = self.importing(Some(&Release { name: name.to_owned(), number: 0 }))?;
        let last = self.numbers_of(name)?.last().map_or(0, |last| *last);
        let number = number.or_else(|| last.checked_add(1));
        let number = number.ok_or_else(|| DeployError::NoNumber { name: name.to_owned() })?;
        let release = Release { name: name.to_owned(), number };
        check(&release, &served)?;
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

    /// Checks that the store has this release with these entries, or does not have it or only a damaged list of it.
    /// Returns whether it has it.
    pub(crate) fn check_deployed(&self, release: &Release, served: &Served) -> Result<bool, DeployError> {
        match self.entries_of(release) {
            Ok(Some(found)) if found != *served => Err(DeployError::Taken { release: release.clone() }),
            Err(error) if error.is_damage() => Ok(false),
            found => Ok(found?.is_some()),
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

    /// Serves the release that was served before the served one, or, if none was, the one with the next lower number.
    /// Returns it.
    ///
    /// # Errors
    ///
    /// No release of the name is served, none was before it, or as [`Store::switch`].
    pub fn rollback(&self, name: &str) -> Result<Release, DeployError> {
        let turn = Release { name: name.to_owned(), number: 0 };
        let _turn = self.importing(Some(&turn))?;
        let deployed = self.deployed_as(name)?;
        let Some(number) = deployed.rollback() else {
            let others = deployed.numbers.iter().rev().copied();
            let other = others.into_iter().find(|number| Some(*number) != deployed.current);
            let other = other.map(|number| Release { name: name.to_owned(), number });
            return Err(DeployError::NoEarlier {
                name: name.to_owned(),
                known: known(&deployed.numbers),
                other,
            });
        };
        let release = Release { name: name.to_owned(), number };
        self.switch_alone(&release)?;
        Ok(release)
    }

    fn switch_alone(&self, release: &Release) -> Result<(), DeployError> {
        let _lease = self.lease();
        let Some(served) = self.entries_of(release)? else {
            let known = known(&self.numbers_of(&release.name)?);
            return Err(DeployError::Unknown { release: release.clone(), known });
        };
        self.check_complete(release, &served)?;
        self.check_unshared(release, &served)?;
        let deployed = match self.deployed_as(&release.name) {
            // The releases that were served before are unknown.
            Err(error) if error.is_damage() => Deployed {
                name: release.name.clone(),
                numbers: Vec::new(),
                current: None,
                before: Vec::new(),
            },
            found => found?,
        };
        let text = deployed.switched(release.number);
        Ok(self.write_alone(&self.path_of_current(&release.name), text.as_bytes())?)
    }

    /// Checks that no release of another name serves an entry of a release.
    pub(crate) fn check_unshared(&self, release: &Release, served: &Served) -> Result<(), DeployError> {
        for name in self.deployed_names()?.into_iter().filter(|name| *name != release.name) {
            let Some(number) = self.deployed_as(&name)?.current else { continue };
            let other = Release { name, number };
            let theirs = self.entries_of(&other)?.unwrap_or_default();
            if let Some(entry) = served.keys().find(|name| theirs.contains_key(*name)) {
                return Err(DeployError::Shared { entry: entry.clone(), other });
            }
        }
        Ok(())
    }

    /// Returns the file of a release.
    pub(super) fn path_of(&self, release: &Release) -> PathBuf {
        self.paths.deployed().join(&release.name).join(release.number.to_string())
    }

    /// Returns the file with the number of the served release.
    fn path_of_current(&self, name: &str) -> PathBuf {
        self.paths.deployed().join(name).join(CURRENT)
    }
}

/// Parses a number in its shortest form.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// Parses the file `current`: descending numbers, at least one.
fn parse_current(bytes: &[u8]) -> Option<Vec<u64>> {
    let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let numbers: Vec<u64> = text.split('\n').map(number).collect::<Option<_>>()?;
    numbers.is_sorted_by(|earlier, later| earlier > later).then_some(numbers)
}

fn render(served: &Served) -> String {
    let mut text = String::new();
    for (name, id) in served {
        let _ = writeln!(text, "{id} {name}");
    }
    text
}

fn known(numbers: &[u64]) -> String {
    match numbers {
        [] => "none".to_owned(),
        numbers => numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the error for a list of the entries of a release.
fn damaged(path: PathBuf, release: &Release) -> FindError {
    Box::new(DamagedRelease {
        path,
        expected: format!("the entries of release `{release}`"),
        hint: format!(
            "import release `{release}` again, or serve another one: `precast release list` shows them, `precast release \
             switch NAME=NUMBER` serves one"
        ),
    })
    .into()
}

/// Returns the error for the file with the number of the served release.
fn damaged_current(path: PathBuf, name: &str, numbers: &[u64]) -> FindError {
    let last = numbers.last().map_or_else(|| "NUMBER".to_owned(), u64::to_string);
    Box::new(DamagedRelease {
        path,
        expected: format!("the number of the served release of `{name}`"),
        hint: format!(
            "serve a release again, such as `precast release switch {name}={last}`; available: {}",
            known(numbers)
        ),
    })
    .into()
}
