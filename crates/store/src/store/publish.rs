//! Publishes an archive and its record: object → documents → record → pointers.

use super::batch::Batch;
use super::paths::RecordName;
use super::{FindError, Store, WriteError};
use crate::archive::{Archive, PackError, digest};
use crate::key::{BuildKey, Digest, RecordId};
use crate::record::{ParseRecordError, Record};

/// The result of a publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The archive's digest.
    pub digest: Digest,
    /// The record's hash.
    pub record: RecordId,
    /// Whether any file except pointers was written.
    pub fresh: bool,
}

/// The reason why a publish failed. Files written before the failure are complete and harmless.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The archive cannot be packed.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// The record describes another archive.
    #[error("the archive is `{}` of {found_size} bytes, expected `{}` of {expected_size} bytes from its record", found.short(), expected.short())]
    Mismatch {
        /// The digest of the archive.
        found: Digest,
        /// The length of the archive's tar, in bytes.
        found_size: u64,
        /// The digest in the record.
        expected: Digest,
        /// The size in the record, in bytes.
        expected_size: u64,
    },
    /// The record contradicts itself.
    #[error("the record is inconsistent")]
    Record(#[source] ParseRecordError),
    /// A member has no document.
    #[error("missing document for member `{}` of the record", key.short())]
    NoDocument {
        /// The member.
        key: BuildKey,
    },
    /// Existing files cannot be read.
    #[error("cannot search the store")]
    Find(#[from] FindError),
    /// The file system refused.
    #[error("cannot publish archive `{}`", digest.short())]
    Write {
        /// The archive.
        digest: Digest,
        /// The write error.
        source: WriteError,
    },
    /// The file system refused to sync the files of several archives.
    #[error("cannot write the published artifacts to disk")]
    Sync(#[source] WriteError),
}

/// An archive to publish, with its signatures and provenance from another store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(crate) archive: &'a Archive,
    pub(crate) record: &'a Record,
    /// Signatures of the record; appended to existing ones.
    pub(crate) signatures: &'a str,
    /// The builder's statement; an existing one is kept.
    pub(crate) provenance: Option<&'a str>,
}

/// An archive with its canonical tar and digest.
struct Packed<'a> {
    archive: &'a Archive,
    tar: Vec<u8>,
    digest: Digest,
}

impl<'a> Packed<'a> {
    fn of(archive: &'a Archive) -> Result<Self, PublishError> {
        let tar = archive.tar()?;
        Ok(Self { archive, digest: digest(&tar), tar })
    }
}

impl Store {
    /// Publishes `archive` under the keys and fingerprints of `record`. Every member must have its document.
    ///
    /// Existing files are verified instead of trusted, and a damaged object is replaced. Any number of writers and
    /// readers may run at the same time.
    ///
    /// # Errors
    ///
    /// The record and the archive do not match, or the file system refuses.
    pub fn publish(&self, archive: &Archive, record: &Record) -> Result<Published, PublishError> {
        let mut published = self.publish_all(&[(archive, record)]).map_err(|(_, error)| error)?;
        Ok(published.remove(0))
    }

    /// Publishes several archives with their records; the result is the same as from one [`Store::publish`] for each.
    ///
    /// # Errors
    ///
    /// Fails as [`Store::publish`], with the position of the failed item, or without a position if a sync fails for the
    /// whole batch. If the sync of the contents fails, nothing is published. After a failed rename or directory sync,
    /// some items may be.
    pub fn publish_all(
        &self,
        items: &[(&Archive, &Record)],
    ) -> Result<Vec<Published>, (Option<usize>, PublishError)> {
        let unsigned: Vec<_> = items.iter().map(|(archive, record)| (*archive, *record, "")).collect();
        self.publish_signed(&unsigned)
    }

    /// Publishes several archives with their records and available signatures, as [`Store::publish_all`]. Readers
    /// decide which signatures are valid.
    ///
    /// # Errors
    ///
    /// Fails as [`Store::publish_all`].
    pub fn publish_signed(
        &self,
        items: &[(&Archive, &Record, &str)],
    ) -> Result<Vec<Published>, (Option<usize>, PublishError)> {
        let item = |(archive, record, signatures)| Item { archive, record, signatures, provenance: None };
        self.publish_items(&items.iter().copied().map(item).collect::<Vec<_>>())
    }

    /// Publishes several archives with their signatures and provenance.
    pub(crate) fn publish_items(
        &self,
        items: &[Item<'_>],
    ) -> Result<Vec<Published>, (Option<usize>, PublishError)> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let _lease = self.lease();
        let mut batch = Batch::default();
        let mut published = Vec::new();
        let mut packed: Option<Packed<'_>> = None;
        for (at, item) in items.iter().enumerate() {
            batch.begin(at);
            let of = |error| (Some(at), error);
            // Consecutive records may share an archive, which is packed once.
            let packed = match packed.take().filter(|packed| std::ptr::eq(packed.archive, item.archive)) {
                Some(same) => packed.insert(same),
                None => packed.insert(Packed::of(item.archive).map_err(of)?),
            };
            published.push(self.publish_into(item, packed, &mut batch).map_err(of)?);
        }
        let records: Vec<&Record> = items.iter().map(|item| item.record).collect();
        let written = self.commit(batch).and_then(|()| self.set_current(&records));
        written.map_err(|(at, source)| match at.or((items.len() == 1).then_some(0)) {
            Some(at) => (Some(at), PublishError::Write { digest: items[at].record.digest, source }),
            None => (None, PublishError::Sync(source)),
        })?;
        Ok(published)
    }

    /// Adds one item to a batch.
    fn publish_into(
        &self,
        item: &Item<'_>,
        packed: &Packed<'_>,
        batch: &mut Batch,
    ) -> Result<Published, PublishError> {
        let Item { archive: _, record, signatures, provenance } = *item;
        let (digest, size) = (packed.digest, packed.tar.len() as u64);
        if (digest, size) != (record.digest, record.size) {
            return Err(PublishError::Mismatch {
                found: digest,
                found_size: size,
                expected: record.digest,
                expected_size: record.size,
            });
        }
        record.check().map_err(PublishError::Record)?;
        if let Some(member) = record.members.iter().find(|member| member.document.is_none()) {
            return Err(PublishError::NoDocument { key: member.key });
        }
        let settled = self.settle(Some(&packed.tar), record, batch)?;
        let name = RecordName { action: record.action, id: settled.record };
        let written = |source| PublishError::Write { digest, source };
        let path = self.paths.record(&name);
        self.add_signatures(&path, &record.to_bytes(), signatures, batch).map_err(written)?;
        if let Some(statement) = provenance {
            self.add_provenance(&name, statement, batch).map_err(written)?;
        }
        Ok(Published { digest, record: settled.record, fresh: settled.fresh })
    }
}
