//! Releases that were imported: `roots/release/<name>` has the latest of a name ([`crate::export`]).

use super::write::WriteError;
use super::{FindError, Store};
use crate::export::Release;

/// No release comes near this size, in bytes.
const LIMIT: u64 = 1024;

impl Store {
    /// The releases that were imported, the latest of each name. What cannot be read is told as damage.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn releases(&self) -> Result<Vec<Release>, FindError> {
        let directory = self.paths.releases();
        let mut releases = Vec::new();
        for name in self.names(&directory)? {
            let path = directory.join(&name);
            let Some(found) = self.read(&path, LIMIT)? else { continue };
            match Release::parse(&found.bytes) {
                Ok(release) if release.name == name => releases.push(release),
                _ => self.damaged(&path, "not a release of its name"),
            }
        }
        Ok(releases)
    }

    /// Remembers a release, unless a later one is there.
    pub(crate) fn put_release(&self, release: &Release) -> Result<(), WriteError> {
        let _lease = self.lease();
        let is_later = |known: &Release| known.name == release.name && known.number >= release.number;
        if self.releases()?.iter().any(is_later) {
            return Ok(());
        }
        let path = self.paths.releases().join(&release.name);
        self.write_alone(&path, format!("{release}\n").as_bytes())
    }
}
