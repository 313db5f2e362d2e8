//! Releases that were imported: `roots/release/<name>` has the latest of a name ([`crate::export`]).
//!
//! They keep what was signed once from coming back, so one that cannot be read is no miss as other damage is: it stays where it is,
//! and is an error until somebody says what it was.

use std::io::Read as _;
use std::path::PathBuf;

use super::write::WriteError;
use super::{FindError, Store};
use crate::export::Release;
use crate::trust::{self, Found, quoted};

/// No release comes near this size, in bytes.
const LIMIT: u64 = 1024;

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
    /// The store cannot be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The file system refused.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Store {
    /// The releases that were imported, the latest of each name.
    ///
    /// # Errors
    ///
    /// The file system refuses, or a file does not say which release it remembers.
    pub fn releases(&self) -> Result<Vec<Release>, ReleaseError> {
        let directory = self.paths.releases();
        let mut releases = Vec::new();
        for name in self.names(&directory)? {
            let path = directory.join(&name);
            let found = match trust::open_file(&path) {
                // A reader elsewhere has put it away, or it was deleted meanwhile.
                Ok(Found::Missing) => continue,
                Ok(Found::Other) => None,
                found => self.judged(&path, found)?,
            };
            let mut bytes = Vec::new();
            if let Some((file, _)) = found {
                let read = file.take(LIMIT).read_to_end(&mut bytes);
                read.map_err(|source| FindError::Io { path: path.clone(), source })?;
            }
            let release = Release::parse(&bytes).ok().filter(|release| release.name == name);
            releases.push(release.ok_or(ReleaseError::Damaged { path, name })?);
        }
        Ok(releases)
    }

    /// Remembers a release, unless a later one is there.
    pub(crate) fn put_release(&self, release: &Release) -> Result<(), ReleaseError> {
        let _lease = self.lease();
        let is_later = |known: &Release| known.name == release.name && known.number >= release.number;
        if self.releases()?.iter().any(is_later) {
            return Ok(());
        }
        let path = self.paths.releases().join(&release.name);
        Ok(self.write_alone(&path, format!("{release}\n").as_bytes())?)
    }
}
