//! Publishes an archive and its record: object → documents → record → pointers.

use super::batch::Batch;
use super::{FindError, Store, WriteError};
use crate::archive::{Archive, PackError};
use crate::key::{BuildKey, Digest, RecordId};
use crate::record::{ParseRecordError, Record};

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
        let mut published = self.publish_all(&[(archive, record)]).map_err(|(_, error)| error)?;
        Ok(published.remove(0))
    }

    /// Publishes, with a batch.
    pub(super) fn publish_into(
        &self,
        archive: &Archive,
        record: &Record,
        batch: &mut Batch,
    ) -> Result<Published, PublishError> {
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
        let settled = self.settle(Some(archive), record, batch)?;
        Ok(Published { digest, record: settled.record, fresh: settled.fresh })
    }
}
