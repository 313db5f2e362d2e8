//! Restores everything that makes a record findable. Publishing, building and verifying all use this code.
//!
//! A reader needs the object, the record and the pointers; a builder also needs the documents. They are written in the
//! order object → documents → record → pointers. A killed writer or a full disk therefore leaves a prefix of this
//! sequence, and any file can be lost later. Since one existing file proves nothing about the next, each is checked,
//! and written if it is missing or damaged. The root of an entry is the end of a similar sequence in
//! [`Store::put_entry`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::batch::Batch;
use super::find::confirm_file;
use super::paths::RecordName;
use super::write::WriteError;
use super::{FindError, LoadError, PublishError, Store};
use crate::archive::{Archive, compress};
use crate::event::Event;
use crate::key::{Digest, RecordId};
use crate::record::{Record, documents_bytes};

/// A reusable record's archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reused {
    /// The archive.
    pub archive: Archive,
    /// Whether something that readers need was missing and has been restored.
    pub healed: bool,
}

/// The changes made for a record.
pub(super) struct Settled {
    pub(super) record: RecordId,
    /// Whether any file except pointers was written.
    pub(super) fresh: bool,
    /// Whether a pointer was written.
    pub(super) pointed: bool,
}

impl Store {
    /// Reuses a record from [`Store::find_action`], and restores every file that readers would miss. `None` if its
    /// archive is missing or damaged and must be rebuilt. Lost documents are restored if `record` contains them.
    ///
    /// # Errors
    ///
    /// The store cannot be read, other users can change its files, or a missing file cannot be written.
    pub fn reuse(&self, record: &Record) -> Result<Option<Reused>, PublishError> {
        let _lease = self.lease();
        let Some(archive) = self.load_whole(record)? else { return Ok(None) };
        let mut batch = Batch::default();
        let settled = self.settle(None, record, &mut batch)?;
        let written = |source| PublishError::Write { digest: record.digest, source };
        self.commit(batch).map_err(|(_, source)| written(source))?;
        self.set_current(&[record]).map_err(|(_, source)| written(source))?;
        self.confirm(record);
        Ok(Some(Reused { archive, healed: settled.fresh || settled.pointed }))
    }

    /// Loads the archive of a record without restoring anything, for read-only stores. `None` if it is missing or
    /// damaged.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or other users can change its files.
    pub fn load_whole(&self, record: &Record) -> Result<Option<Archive>, FindError> {
        match self.load(record) {
            Ok(archive) => Ok(Some(archive)),
            Err(LoadError::Damaged { .. } | LoadError::Missing { .. }) => Ok(None),
            Err(LoadError::Find(error)) => Err(error),
        }
    }

    /// Adds everything to `batch` that readers of `record` need and that is missing. `tar` is the content of its
    /// object; without it, the object is known to exist.
    pub(super) fn settle(
        &self,
        tar: Option<&[u8]>,
        record: &Record,
        batch: &mut Batch,
    ) -> Result<Settled, PublishError> {
        let written = |source| PublishError::Write { digest: record.digest, source };
        let mut fresh = match tar {
            Some(tar) => self.put_object(tar, &record.digest, batch)?,
            None => false,
        };
        let bytes = record.to_bytes();
        let name = RecordName { action: record.action, id: Record::id_of(&bytes) };
        fresh |= self.put_documents(&name, record, batch).map_err(written)?;
        let is_new = self.put_bytes(&self.paths.record(&name), &bytes, batch).map_err(written)?;
        if is_new {
            self.compare_results(&name, record, batch)?;
        }
        let pointers = self.lost_pointers(&name, record).map_err(|error| written(error.into()))?;
        batch.point(&pointers);
        Ok(Settled { record: name.id, fresh: fresh || is_new, pointed: !pointers.is_empty() })
    }

    /// Adds an object to a batch; several records of the batch may share it.
    fn put_object(&self, tar: &[u8], digest: &Digest, batch: &mut Batch) -> Result<bool, PublishError> {
        if !batch.objects.insert(*digest) {
            return Ok(false);
        }
        match self.told(digest, self.read_object(digest, Archive::check)) {
            Ok(()) => {
                confirm_file(&self.paths.object(digest));
                return Ok(false);
            }
            Err(LoadError::Missing { .. } | LoadError::Damaged { .. }) => {}
            Err(LoadError::Find(error)) => return Err(error.into()),
        }
        let put = self.write(&self.paths.object(digest), &compress(tar)?, batch);
        put.map(|()| true).map_err(|source| PublishError::Write { digest: *digest, source })
    }

    /// Adds a record's documents to a batch. Existing intact documents are kept, even if their printed signatures are
    /// outdated.
    fn put_documents(
        &self,
        name: &RecordName,
        record: &Record,
        batch: &mut Batch,
    ) -> Result<bool, WriteError> {
        let Some(documents) = documents_bytes(record) else { return Ok(false) };
        if self.fill_documents(name, &mut record.clone())? {
            return Ok(false);
        }
        self.write(&self.paths.documents(name), &documents, batch).map(|()| true)
    }

    /// Adds a content-addressed file to a batch, unless it exists with these bytes. Returns whether it was added.
    pub(super) fn put_bytes(&self, path: &Path, bytes: &[u8], batch: &mut Batch) -> Result<bool, WriteError> {
        match self.read(path, bytes.len() as u64 + (1 << 20))? {
            Some(found) if found.bytes == bytes => {
                confirm_file(path);
                return Ok(false);
            }
            Some(_) => self.damaged(path, "hash mismatch"),
            None => {}
        }
        self.write(path, bytes, batch).map(|()| true)
    }

    /// Reports an event if the same action produced another archive before, or in the same batch.
    fn compare_results(
        &self,
        name: &RecordName,
        record: &Record,
        batch: &mut Batch,
    ) -> Result<(), FindError> {
        let mut digests = Vec::new();
        for other in self.record_names(&name.action)?.iter().filter(|other| *other != name) {
            digests.extend(self.read_record(other)?.map(|other| other.digest));
        }
        let together = batch.results.entry(name.action).or_default();
        digests.extend(together.iter().copied());
        digests.retain(|other| *other != record.digest);
        together.push(record.digest);
        if !digests.is_empty() {
            digests.push(record.digest);
            self.observer.tell(&Event::NotReproducible { action: name.action, digests });
        }
        Ok(())
    }

    /// Writes the lost pointers of a record and returns them.
    pub(super) fn put_pointers(
        &self,
        name: &RecordName,
        record: &Record,
    ) -> Result<Vec<PathBuf>, WriteError> {
        if self.lost_pointers(name, record)?.is_empty() {
            return Ok(Vec::new());
        }
        let _lease = self.lease();
        // A collector may have removed the whole record in the meantime.
        let missing = match self.read_record(name)? {
            Some(_) => self.lost_pointers(name, record)?,
            None => Vec::new(),
        };
        let mut batch = Batch::default();
        batch.point(&missing);
        self.commit(batch).map_err(|(_, source)| source)?;
        Ok(missing)
    }

    fn lost_pointers(&self, name: &RecordName, record: &Record) -> Result<Vec<PathBuf>, FindError> {
        let mut lost = Vec::new();
        for key in pointer_keys(record) {
            let path = self.paths.pointers(&key).join(name.to_string());
            if !self.has_pointer(&path)? {
                lost.push(path);
            }
        }
        Ok(lost)
    }
}

/// Returns the keys and fingerprints by which a record is found.
pub(super) fn pointer_keys(record: &Record) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for member in &record.members {
        keys.insert(member.key.to_string());
        keys.extend(member.fingerprints.iter().map(ToString::to_string));
    }
    keys
}
