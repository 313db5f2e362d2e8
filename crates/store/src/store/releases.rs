//! Remembers imported releases: `roots/release/<name>` contains the latest release of a name ([`crate::export`]).
//!
//! This prevents a rollback to an older signed release. An unreadable file is therefore not a miss like other damage:
//! it stays in place, and is an error until a person resolves it. Files with names that no release can have, such as an
//! editor's, are ignored.
//!
//! The import of a release locks `roots` exclusively; any other import shares the lock. Otherwise, two concurrent
//! imports could record the later release while names refer to entries of the earlier one. A stopped import blocks
//! other imports for up to [`PATIENCE`], because half of its entries are in place. A killed import does not block.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use super::lease::{Lock, Share, lock};
use super::write::WriteError;
use super::{FindError, Store};
use crate::export::Release;
use crate::record::check_entry_name;
use crate::trust::{self, PathCheck, quoted};

/// An upper bound for the size of a release file, in bytes.
const LIMIT: u64 = 1024;

/// The time for which an import waits for another.
const PATIENCE: Duration = Duration::from_secs(120);

/// The reason why the imported releases cannot be read or recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// A file has invalid content.
    #[error(
        "cannot read the last imported release of `{name}` from `{}`\nhint: run `rm -rf {}` and import the last \
         release again; until then, an earlier release could be imported",
        path.display(), quoted(path)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The name of the release.
        name: String,
    },
    /// Another file exists in place of the directory of releases.
    #[error(
        "`{}` is not a directory, so the last imported releases are unknown\nhint: run `rm {}` and import the last \
         releases again; until then, earlier releases could be imported",
        path.display(), quoted(path)
    )]
    NoDirectory {
        /// The path of the other file.
        path: PathBuf,
    },
    /// Another import does not finish.
    #[error("another import into `{}` is running\nhint: import again when it has finished; resume or end it if it is \
             stopped", path.display())]
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
    /// Returns whether the remembered releases are damaged, so that a retry does not help.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::NoDirectory { .. })
    }
}

impl Store {
    /// Returns the latest imported release of each name.
    ///
    /// # Errors
    ///
    /// The file system refuses, or a remembered release is damaged.
    pub fn releases(&self) -> Result<Vec<Release>, ReleaseError> {
        self.remembers()?;
        let names = self.names(&self.paths.releases())?.into_iter();
        names.filter_map(|name| self.find_release(&name).transpose()).collect()
    }

    /// Finds the latest imported release of a name.
    ///
    /// # Errors
    ///
    /// Fails as [`Store::releases`], for this name only.
    pub fn find_release(&self, name: &str) -> Result<Option<Release>, ReleaseError> {
        if check_entry_name(name).is_err() {
            return Ok(None);
        }
        self.remembers()?;
        let path = self.paths.releases().join(name);
        let found = match trust::open_file(&path, self.protection) {
            // Another reader has quarantined the file, or it was deleted in the meantime.
            Ok(PathCheck::Missing) => return Ok(None),
            Ok(PathCheck::Irregular) => None,
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

    /// Checks that no other file exists in place of a directory of releases; otherwise, its releases would seem to be
    /// missing.
    fn remembers(&self) -> Result<(), ReleaseError> {
        for path in [self.paths.dir("roots"), self.paths.releases()] {
            if self.judged(&path, trust::look(&path, self.protection))?.is_some_and(|found| !found.is_dir()) {
                return Err(ReleaseError::NoDirectory { path });
            }
        }
        Ok(())
    }

    /// Waits for the lock on imports: exclusive for a release, shared otherwise. The lock is held until dropped.
    pub(crate) fn importing(&self, of: Option<&Release>) -> Result<Importing, ReleaseError> {
        let share = if of.is_some() { Share::Alone } else { Share::Others };
        let lock = lock(&self.paths.dir("roots"), share, PATIENCE);
        if lock.busy {
            Err(ReleaseError::Busy { path: self.paths.root.clone() })
        } else {
            Ok(Importing(lock))
        }
    }

    /// Records a release, unless the same or a later one is recorded.
    pub(crate) fn put_release(&self, release: &Release, _: &Importing) -> Result<(), ReleaseError> {
        let _lease = self.lease();
        if self.find_release(&release.name)?.is_some_and(|known| known.number >= release.number) {
            return Ok(());
        }
        let path = self.paths.releases().join(&release.name);
        Ok(self.write_alone(&path, format!("{release}\n").as_bytes())?)
    }
}

/// The right to import, held until dropped.
#[derive(Debug)]
pub(crate) struct Importing(#[allow(dead_code, reason = "what it does is to be held")] Lock);
