//! How everything reaches the disk: what belongs together is written without names, put on the disk at once, and only then
//! gets its names.
//!
//! ```text
//! each: object, documents, record ─▶ files without a name, not synced      pointers ─▶ noted
//! then: sync ─▶ renames, in the order of a publish ─▶ pointers ─▶ sync
//! ```
//! A file is on the disk before it has its name, so after a crash a name means a whole file. Two syncs of the file system serve
//! one publish as well as a thousand: each file's own sync and each directory's would commit the journal nine times for one.
//! One file alone, a signature say, is synced by itself, so as not to wait for what others write.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::write::{WriteError, sync_all, touch};
use super::{PublishError, Published, Store};
use crate::archive::Archive;
use crate::record::Record;
use crate::whole::{Closed, Whole};

/// What is written and waits for its name.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// A directory of the file system, opened before anything was written.
    disk: Option<fs_err::File>,
    files: Vec<(Closed, PathBuf)>,
    pointers: Vec<PathBuf>,
}

impl Batch {
    /// Adds pointers, which get their names after all files.
    pub(super) fn point(&mut self, pointers: &[PathBuf]) {
        self.pointers.extend_from_slice(pointers);
    }
}

impl Store {
    /// Publishes several archives with their records, as [`Store::publish`] each of them.
    ///
    /// # Errors
    ///
    /// As [`Store::publish`], with the position of the one that was refused; nothing is published then. When the names are
    /// refused, some may be.
    pub fn publish_all(
        &self,
        items: &[(&Archive, &Record)],
    ) -> Result<Vec<Published>, (usize, PublishError)> {
        let Some((_, Record { digest, .. })) = items.first() else { return Ok(Vec::new()) };
        let _lease = self.lease();
        let mut batch = Batch::default();
        let mut published = Vec::new();
        for (at, (archive, record)) in items.iter().enumerate() {
            published.push(self.publish_into(archive, record, &mut batch).map_err(|error| (at, error))?);
        }
        let written = |source| (0, PublishError::Write { digest: *digest, source });
        self.commit(batch).map_err(written)?;
        Ok(published)
    }

    /// Writes a file that gets its name with the others of a batch.
    pub(super) fn write(&self, path: &Path, bytes: &[u8], batch: &mut Batch) -> Result<(), WriteError> {
        let tmp = self.paths.dir("tmp");
        let refused = |source| WriteError::new(&tmp, source);
        if batch.disk.is_none() {
            batch.disk = Some(fs_err::File::open(&tmp).map_err(refused)?);
        }
        let mut file = Whole::with_mode(&tmp, 0o444).map_err(refused)?;
        file.write_all(bytes).map_err(|source| WriteError::new(path, source))?;
        batch.files.push((file.close(), path.to_owned()));
        Ok(())
    }

    /// Gives everything its name, durably.
    pub(super) fn commit(&self, Batch { disk, files, pointers }: Batch) -> Result<(), WriteError> {
        if files.is_empty() && pointers.is_empty() {
            return Ok(());
        }
        let tmp = self.paths.dir("tmp");
        let open = || fs_err::File::open(&tmp).map_err(|source| WriteError::new(&tmp, source));
        let disk = disk.map_or_else(open, Ok)?;
        sync_all(&disk, &files.iter().map(|(file, _)| file.path()).collect())?;
        let mut changed = BTreeSet::new();
        for (file, target) in files {
            changed.extend(self.make_parent(&target)?);
            file.rename(&target).map_err(|source| WriteError::new(&target, source))?;
        }
        for pointer in &pointers {
            changed.extend(self.make_parent(pointer)?);
            touch(pointer)?;
        }
        sync_all(&disk, &changed.iter().map(PathBuf::as_path).collect())
    }

    /// Writes one file, durably.
    pub(super) fn write_alone(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        let mut batch = Batch::default();
        self.write(path, bytes, &mut batch)?;
        self.commit(batch)
    }

    /// Makes the directory of a file; gives it, and the one above it if it is new.
    fn make_parent(&self, path: &Path) -> Result<Vec<PathBuf>, WriteError> {
        let Some(parent) = path.parent() else { return Ok(Vec::new()) };
        let above = if self.make_dir(parent)? { parent.parent() } else { None };
        Ok(above.into_iter().chain([parent]).map(Path::to_owned).collect())
    }
}
