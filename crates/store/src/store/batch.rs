//! Many publishes with one sync: what a large build writes is put on the disk at once, and only then gets its names.
//!
//! ```text
//! each: object, documents, record ─▶ files without a name, not synced      pointers ─▶ noted
//! then: one sync of the file system ─▶ renames, in the order of a publish ─▶ pointers ─▶ one sync
//! ```
//! A file is synced before it has its name, as in a publish of its own, so after a crash a name still means a whole file. A batch
//! costs two syncs of the file system in place of six syncs a unit, which differ most where the disk is busy.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::write::{WriteError, sync_all, touch};
use super::{PublishError, Published, Store};
use crate::archive::Archive;
use crate::record::Record;
use crate::whole::{Closed, Whole};

/// The least number of units for which a batch is made.
const LEAST: usize = 4;

/// What is written and waits for its name.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) files: Vec<(Closed, PathBuf)>,
    pub(super) pointers: Vec<PathBuf>,
}

impl Store {
    /// Publishes several archives with their records, as [`Store::publish`] each of them.
    ///
    /// # Errors
    ///
    /// As [`Store::publish`], with the position of the one that was refused. Others may have been published by then.
    pub fn publish_all(
        &self,
        items: &[(&Archive, &Record)],
    ) -> Result<Vec<Published>, (usize, PublishError)> {
        if items.len() < LEAST {
            let publish = |(at, (archive, record)): (usize, &(&Archive, &Record))| {
                self.publish(archive, record).map_err(|error| (at, error))
            };
            return items.iter().enumerate().map(publish).collect();
        }
        let _lease = self.lease();
        let batch: Arc<Mutex<Batch>> = Arc::default();
        let writer = Self { batch: Some(Arc::clone(&batch)), ..self.clone() };
        let mut published = Vec::new();
        for (at, (archive, record)) in items.iter().enumerate() {
            published.push(writer.publish_leased(archive, record).map_err(|error| (at, error))?);
        }
        let batch = std::mem::take(&mut *batch.lock().unwrap_or_else(PoisonError::into_inner));
        let digest = items[0].1.digest;
        self.commit(batch).map_err(|source| (0, PublishError::Write { digest, source }))?;
        Ok(published)
    }

    /// Gives everything its name.
    fn commit(&self, Batch { files, pointers }: Batch) -> Result<(), WriteError> {
        if files.is_empty() && pointers.is_empty() {
            return Ok(());
        }
        let tmp = self.paths.dir("tmp");
        if !files.is_empty() {
            sync_all(&tmp)?;
        }
        for (file, target) in files {
            self.make_parent(&target)?;
            file.rename(&target).map_err(|source| WriteError::new(&target, source))?;
        }
        for pointer in &pointers {
            pointer.parent().map_or(Ok(false), |directory| self.make_dir(directory))?;
            touch(pointer)?;
        }
        sync_all(&tmp)
    }

    /// Keeps a file for the end of the batch, if there is one.
    pub(super) fn defer(&self, path: &Path, bytes: &[u8]) -> Option<Result<(), WriteError>> {
        let batch = self.batch.as_ref()?;
        let refused = |source| WriteError::new(path, source);
        Some((|| {
            let mut file = Whole::with_mode(&self.paths.dir("tmp"), 0o444).map_err(refused)?;
            std::io::Write::write_all(&mut file, bytes).map_err(refused)?;
            batch.lock().unwrap_or_else(PoisonError::into_inner).files.push((file.close(), path.to_owned()));
            Ok(())
        })())
    }

    /// Keeps pointers for the end of the batch, if there is one. Tells whether there is.
    pub(super) fn defer_pointers(&self, pointers: &[PathBuf]) -> bool {
        let Some(batch) = &self.batch else { return false };
        batch.lock().unwrap_or_else(PoisonError::into_inner).pointers.extend_from_slice(pointers);
        true
    }
}
