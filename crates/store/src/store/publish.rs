//! Publishes an archive and its record: object → documents → record → pointers.

use std::collections::BTreeSet;
use std::path::Path;

use super::find::{FindError, read};
use super::layout::RecordName;
use super::write::{WriteError, create_parent, sync_dir, touch, write_file};
use super::{LoadError, Store};
use crate::archive::{Archive, PackError};
use precast_core::event::Event;
use crate::key::{BuildKey, Digest, RecordId};
use crate::record::{ParseRecordError, Record, documents_bytes};

/// What a publish did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The archive.
    pub digest: Digest,
    /// The record.
    pub record: RecordId,
    /// Whether anything had to be written, but for pointers.
    pub fresh: bool,
}

/// Says why nothing could be published. What had been written before is whole and harmless.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The archive cannot be packed.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// The record is about another archive.
    #[error("the archive is `{}` of {found_size} bytes, its record states `{}` of {expected_size}", found.short(), expected.short())]
    Mismatch {
        /// Digest of the archive.
        found: Digest,
        /// Length of its tar, in bytes.
        found_size: u64,
        /// Digest in the record.
        expected: Digest,
        /// Size in the record, in bytes.
        expected_size: u64,
    },
    /// The record contradicts itself.
    #[error("the record contradicts itself")]
    Record(#[source] ParseRecordError),
    /// A member has no document.
    #[error("member `{}` of the record has no document", key.short())]
    NoDocument {
        /// The member.
        key: BuildKey,
    },
    /// What is there cannot be read.
    #[error("cannot look at what the store has")]
    Find(#[from] FindError),
    /// An object that is there cannot be read.
    #[error("cannot verify the archive that the store has")]
    Load(#[source] LoadError),
    /// The file system refused.
    #[error("cannot publish archive `{}`", digest.short())]
    Write {
        /// The archive.
        digest: Digest,
        /// What was refused.
        source: WriteError,
    },
}

impl Store {
    /// Publishes `archive` under the keys and fingerprints of `record`. Every member must have its document.
    ///
    /// What is there already is verified, not believed: a damaged object is replaced. Safe against any number of other
    /// writers and readers.
    ///
    /// # Errors
    ///
    /// The record and the archive do not belong together, or the file system refuses.
    pub fn publish(&self, archive: &Archive, record: &Record) -> Result<Published, PublishError> {
        let digest = archive.digest()?;
        if (digest, archive.size()) != (record.digest, record.size) {
            return Err(PublishError::Mismatch {
                found: digest,
                found_size: archive.size(),
                expected: record.digest,
                expected_size: record.size,
            });
        }
        record.check().map_err(PublishError::Record)?;
        if let Some(member) = record.members.iter().find(|member| member.document.is_none()) {
            return Err(PublishError::NoDocument { key: member.key });
        }
        let mut fresh = self.put_object(archive, &digest)?;
        let written = |source| PublishError::Write { digest, source };
        let bytes = record.to_bytes();
        let name = RecordName { action: record.action, id: Record::id_of(&bytes) };
        let (path, beside) = (self.layout.record(&name), self.layout.documents(&name));
        create_parent(&path).map_err(written)?;
        // Documents that are there and intact stay, even if their signatures are printed otherwise by now.
        let documents_fresh = !self.fill_documents(&name, &mut record.clone())?;
        if documents_fresh {
            let documents = documents_bytes(record).unwrap_or_default();
            write_file(&self.layout.dir("tmp"), &beside, &documents, 0o444).map_err(written)?;
        }
        let record_fresh = self.put_bytes(&path, &bytes)?.map_err(written)?;
        if documents_fresh || record_fresh {
            sync_dir(&self.layout.records_of(&record.action)).map_err(written)?;
            fresh = true;
        }
        if record_fresh {
            self.compare_results(&name, record)?;
        }
        self.put_pointers(&name, record).map_err(written)?;
        Ok(Published { digest, record: name.id, fresh })
    }

    fn put_object(&self, archive: &Archive, digest: &Digest) -> Result<bool, PublishError> {
        match self.load_object(digest) {
            Ok(_) => return Ok(false),
            Err(LoadError::Missing { .. } | LoadError::Damaged { .. }) => {}
            Err(error) => return Err(PublishError::Load(error)),
        }
        let (_, frame) = archive.pack()?;
        let path = self.layout.object(digest);
        let put = || {
            create_parent(&path)?;
            write_file(&self.layout.dir("tmp"), &path, &frame, 0o444)?;
            path.parent().map_or(Ok(()), sync_dir)
        };
        put().map(|()| true).map_err(|source| PublishError::Write { digest: *digest, source })
    }

    /// Puts a small file, unless it is there with these bytes.
    pub(super) fn put_bytes(&self, path: &Path, bytes: &[u8]) -> Result<Result<bool, WriteError>, FindError> {
        let there = read(path, bytes.len() as u64 + (1 << 20));
        match there {
            Ok(Some(found)) if found == bytes => return Ok(Ok(false)),
            Ok(Some(_)) => self.damaged(path, "other bytes than its name says"),
            Ok(None) => {}
            Err(source) => return Err(FindError::Io { path: path.to_path_buf(), source }),
        }
        Ok(write_file(&self.layout.dir("tmp"), path, bytes, 0o444).map(|()| true))
    }

    /// Tells when the same action has given another archive before.
    fn compare_results(&self, name: &RecordName, record: &Record) -> Result<(), FindError> {
        let mut digests = Vec::new();
        for other in self.record_names(&name.action)?.iter().filter(|other| *other != name) {
            digests.extend(
                self.read_record(other)?.map(|other| other.digest).filter(|other| *other != record.digest),
            );
        }
        if !digests.is_empty() {
            digests.push(record.digest);
            self.observer.tell(&Event::NotReproducible { action: name.action, digests });
        }
        Ok(())
    }

    /// Puts the pointers of a record. The last directory is synced, which on a journalling file system commits them all.
    fn put_pointers(&self, name: &RecordName, record: &Record) -> Result<(), WriteError> {
        let mut last = None;
        for key in pointer_keys(record) {
            let directory = self.layout.pointers(&key);
            let path = directory.join(name.to_string());
            let fresh = match touch(&path) {
                Err(WriteError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                    super::write::create_dir(&directory)?;
                    touch(&path)?
                }
                other => other?,
            };
            if fresh {
                last = Some(directory);
            }
        }
        last.as_deref().map_or(Ok(()), sync_dir)
    }

    /// Puts the pointers that are missing and gives their places.
    pub(super) fn restore_pointers(&self, name: &RecordName, record: &Record) -> Vec<String> {
        let missing = |key: &String| !self.layout.pointers(key).join(name.to_string()).exists();
        let missing: Vec<String> = pointer_keys(record).into_iter().filter(missing).collect();
        if missing.is_empty() || self.put_pointers(name, record).is_err() {
            return Vec::new();
        }
        missing.iter().map(|key| self.layout.pointers(key).display().to_string()).collect()
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
