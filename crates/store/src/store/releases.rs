//! Releases that were imported: `roots/release/<name>` has the latest of a name ([`crate::export`]).
//!
//! They keep what was signed once from coming back, so one that cannot be read is no miss as other damage is: it stays where it is,
//! and is an error until somebody says what it was. Files that no release has the name of, an editor's say, are none. Who imports a
//! release has the lock on `roots` alone for as long, and who imports anything else shares it: of two releases at once the later would
//! be remembered, and the entries of the earlier be meant. One that is stopped in the middle of it lets others wait, for [`PATIENCE`], as it
//! has half of its entries there; one that is killed does not.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use super::lease::{Lock, Share, lock};
use super::write::WriteError;
use super::{FindError, Store};
use crate::export::Release;
use crate::record::check_entry_name;
use crate::trust::{self, Found, quoted};

/// No release comes near this size, in bytes.
const LIMIT: u64 = 1024;

/// How long an import waits for another.
const PATIENCE: Duration = Duration::from_secs(120);

/// Says why it is not known, or not remembered, which releases were imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// A file does not say which release it remembers.
    #[error(
        "`{}` does not say which release of `{name}` was imported last\nhint: `rm -rf {}`, and import the last one again; before that an earlier one may come back",
        path.display(), quoted(path)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The name of what is released.
        name: String,
    },
    /// Something stands in the place of the directory that remembers all of them.
    #[error(
        "`{}` is no directory, so it does not say which releases were imported\nhint: `rm {}`, and import the last ones again; before that earlier ones may come back",
        path.display(), quoted(path)
    )]
    NoDirectory {
        /// What stands there.
        path: PathBuf,
    },
    /// Another import does not end.
    #[error("another import into `{}` goes on\nhint: import again when it is done; one that is stopped has to be continued, or ended", path.display())]
    Busy {
        /// The store.
        path: PathBuf,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The file system refused.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ReleaseError {
    /// Whether what the store remembers is damaged, so that trying again does not help.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::NoDirectory { .. })
    }
}

impl Store {
    /// The releases that were imported, the latest of each name.
    ///
    /// # Errors
    ///
    /// The file system refuses, or it is not said which release is remembered.
    pub fn releases(&self) -> Result<Vec<Release>, ReleaseError> {
        self.remembers()?;
        let names = self.names(&self.paths.releases())?.into_iter();
        names.filter_map(|name| self.find_release(&name).transpose()).collect()
    }

    /// Finds the release of a name that was imported last.
    ///
    /// # Errors
    ///
    /// As [`Store::releases`], of this name alone.
    pub fn find_release(&self, name: &str) -> Result<Option<Release>, ReleaseError> {
        if check_entry_name(name).is_err() {
            return Ok(None);
        }
        self.remembers()?;
        let path = self.paths.releases().join(name);
        let found = match trust::open_file(&path) {
            // A reader elsewhere has put it away, or it was deleted meanwhile.
            Ok(Found::Missing) => return Ok(None),
            Ok(Found::Other) => None,
            found => self.judged(&path, found)?,
        };
        let mut bytes = Vec::new();
        if let Some((file, _)) = found {
            let read = file.take(LIMIT).read_to_end(&mut bytes);
            read.map_err(|source| FindError::Io { path: path.clone(), source })?;
        }
        let release = Release::parse(&bytes).ok().filter(|release| release.name == name);
        release.map(Some).ok_or_else(|| ReleaseError::Damaged { path, name: name.to_owned() })
    }

    /// Checks that nothing stands in the place of a directory, whatever was there before: it would read as if there had been no
    /// release.
    fn remembers(&self) -> Result<(), ReleaseError> {
        for path in [self.paths.dir("roots"), self.paths.releases()] {
            if self.judged(&path, trust::look(&path))?.is_some_and(|found| !found.is_dir()) {
                return Err(ReleaseError::NoDirectory { path });
            }
        }
        Ok(())
    }

    /// Waits until nobody imports a release, and to import one until nobody imports anything; it stays so until it is dropped.
    pub(crate) fn importing(&self, of: Option<&Release>) -> Result<Importing, ReleaseError> {
        let share = if of.is_some() { Share::Alone } else { Share::Others };
        let lock = lock(&self.paths.dir("roots"), share, PATIENCE);
        if lock.busy {
            Err(ReleaseError::Busy { path: self.paths.root.clone() })
        } else {
            Ok(Importing(lock))
        }
    }

    /// Remembers a release, unless a later one is there.
    pub(crate) fn put_release(&self, release: &Release, _: &Importing) -> Result<(), ReleaseError> {
        let _lease = self.lease();
        if self.find_release(&release.name)?.is_some_and(|known| known.number >= release.number) {
            return Ok(());
        }
        let path = self.paths.releases().join(&release.name);
        Ok(self.write_alone(&path, format!("{release}\n").as_bytes())?)
    }
}

/// The right to import, until it is dropped.
#[derive(Debug)]
pub(crate) struct Importing(#[allow(dead_code, reason = "what it does is to be held")] Lock);
