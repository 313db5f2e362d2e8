//! Makes a record be found: the one function behind publishing, building and verifying.
//!
//! A reader needs object, record and pointers, a builder the documents too. They are put in the order object → documents →
//! record → pointers, so a writer that is killed, or a disk that is full, leaves any beginning of that; and any of them can be
//! lost later. So nothing is concluded from one that is there: each is looked at, and put where it is missing or damaged.
//! The root of an entry is the last of its own chain, which [`Store::put_entry`] goes through in the same way.

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

/// A record that readers find, and its archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reused {
    /// The archive.
    pub archive: Archive,
    /// Whether something was missing that a reader needs; it has been put back.
    pub healed: bool,
}

/// What was done for a record.
pub(super) struct Settled {
    pub(super) record: RecordId,
    /// Whether anything but pointers was put.
    pub(super) fresh: bool,
    /// Whether a pointer was put.
    pub(super) pointed: bool,
}

impl Store {
    /// Takes up a record that [`Store::find_action`] gave, and puts back whatever of it readers would miss. `None` when its
    /// archive is missing or damaged: it has to be made again. Documents that are lost are put back if the record has them.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or others can change what is in it; or something is missing, and cannot be written.
    pub fn reuse(&self, record: &Record) -> Result<Option<Reused>, PublishError> {
        let _lease = self.lease();
        let Some(archive) = self.load_whole(record)? else { return Ok(None) };
        let mut batch = Batch::default();
        let settled = self.settle(None, record, &mut batch)?;
        let written = |(_, source)| PublishError::Write { digest: record.digest, source };
        self.commit(batch).map_err(written)?;
        self.confirm(record);
        Ok(Some(Reused { archive, healed: settled.fresh || settled.pointed }))
    }

    /// Loads the archive of a record, and puts nothing back: what a store that cannot be written has. `None` when it is missing or
    /// damaged.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or others can change what is in it.
    pub fn load_whole(&self, record: &Record) -> Result<Option<Archive>, FindError> {
        match self.load(record) {
            Ok(archive) => Ok(Some(archive)),
            Err(LoadError::Damaged { .. } | LoadError::Missing { .. }) => Ok(None),
            Err(LoadError::Find(error)) => Err(error),
        }
    }

    /// Makes everything be there, with `batch`, that readers of `record` need; its object from the tar, or else it is known to
    /// be there.
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
        let pointers = self.missing_pointers(&name, record).map_err(|error| written(error.into()))?;
        batch.point(&pointers);
        Ok(Settled { record: name.id, fresh: fresh || is_new, pointed: !pointers.is_empty() })
    }

    /// Puts an object; several records of a batch may name it.
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

    /// Puts the documents that a record has. Those that are there and intact stay, even if their signatures are printed
    /// otherwise by now.
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

    /// Puts a file that is named by its content, unless it is there with these bytes. Tells whether it was put.
    pub(super) fn put_bytes(&self, path: &Path, bytes: &[u8], batch: &mut Batch) -> Result<bool, WriteError> {
        match self.read(path, bytes.len() as u64 + (1 << 20))? {
            Some(found) if found.bytes == bytes => {
                confirm_file(path);
                return Ok(false);
            }
            Some(_) => self.damaged(path, "other bytes than its name says"),
            None => {}
        }
        self.write(path, bytes, batch).map(|()| true)
    }

    /// Tells when the same action has given another archive before, in the same batch too.
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

    /// Puts the pointers of a record that are missing, and gives them.
    pub(super) fn put_pointers(
        &self,
        name: &RecordName,
        record: &Record,
    ) -> Result<Vec<PathBuf>, WriteError> {
        if self.missing_pointers(name, record)?.is_empty() {
            return Ok(Vec::new());
        }
        let _lease = self.lease();
        // A collector may have taken all of it meanwhile.
        let missing = match self.read_record(name)? {
            Some(_) => self.missing_pointers(name, record)?,
            None => Vec::new(),
        };
        let mut batch = Batch::default();
        batch.point(&missing);
        self.commit(batch).map_err(|(_, source)| source)?;
        Ok(missing)
    }

    fn missing_pointers(&self, name: &RecordName, record: &Record) -> Result<Vec<PathBuf>, FindError> {
        let mut missing = Vec::new();
        for key in pointer_keys(record) {
            let path = self.paths.pointers(&key).join(name.to_string());
            if !self.has_pointer(&path)? {
                missing.push(path);
            }
        }
        Ok(missing)
    }
}

/// Lists what a record is found by.
pub(super) fn pointer_keys(record: &Record) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for member in &record.members {
        keys.insert(member.key.to_string());
        keys.extend(member.fingerprints.iter().map(ToString::to_string));
    }
    keys
}
