//! Shares action results between builds, by ActionKey, in addition to their stores.
//!
//! A cache is not trusted: its results are parsed and verified here before a build uses them. They are then published
//! like compiled modules. A cache failure never fails a build.

use crate::archive::{Archive, CARRIED, Limits, UnpackError};
use crate::key::{ActionKey, Digest};
use crate::keyring::{Keyring, Unsigned};
use crate::record::{ParseRecordError, Record, documents_bytes, set_documents};

/// A cache of action results, shared between builds.
pub trait ActionCache {
    /// Looks up results, in the order of `actions`; `None` if a result is missing or unusable.
    fn find(&self, actions: &[ActionKey]) -> Vec<Option<CachedAction>>;

    /// Uploads results to the cache.
    fn put(&self, results: &[CachedAction]);
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedAction {
    /// The record of the action, with its documents.
    pub record: Record,
    /// The files that the action produced.
    pub archive: Archive,
    /// Signatures of the record, in minisign's format; may be empty.
    pub signatures: String,
}

/// The result of an action as unverified bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CachedBytes {
    /// The record.
    pub record: Vec<u8>,
    /// The documents of the record's members.
    pub documents: Vec<u8>,
    /// The compressed archive.
    pub object: Vec<u8>,
    /// Signatures of the record; may be empty.
    pub signatures: Vec<u8>,
}

/// The reason why cached bytes are not a valid result of an action.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CachedActionError {
    /// The record or its documents cannot be parsed.
    #[error("cannot parse its record")]
    Record(#[from] ParseRecordError),
    /// The archive is invalid or too large.
    #[error("cannot unpack its archive")]
    Unpack(#[from] UnpackError),
    /// The record belongs to another action.
    #[error("its record belongs to action `{}`", found.short())]
    Action {
        /// The action in the record.
        found: ActionKey,
    },
    /// The record belongs to another archive.
    #[error("its archive is `{}`, expected `{}` from its record", found.short(), expected.short())]
    Digest {
        /// The archive's digest.
        found: Digest,
        /// The digest in the record.
        expected: Digest,
    },
    /// Too few trusted keys signed the record.
    #[error("not {0}")]
    Unsigned(Box<Unsigned>),
}

impl CachedBytes {
    /// Returns the maximum size of the compressed archive in bytes, as implied by the record. The record must be about
    /// `action`, and be signed if there is a keyring. Callers need not fetch more bytes than this.
    ///
    /// # Errors
    ///
    /// The record is invalid, is about another action, or is not signed.
    pub fn archive_limit(
        &self,
        action: &ActionKey,
        keyring: Option<&Keyring>,
    ) -> Result<u64, CachedActionError> {
        Ok(Limits::stated(self.believed(action, keyring)?.size).frame())
    }

    fn believed(&self, action: &ActionKey, keyring: Option<&Keyring>) -> Result<Record, CachedActionError> {
        if let Some(keyring) = keyring {
            let signatures = String::from_utf8_lossy(&self.signatures);
            keyring.check(&self.record, &signatures).map_err(CachedActionError::Unsigned)?;
        }
        let record = Record::parse(&self.record)?;
        if record.action != *action {
            return Err(CachedActionError::Action { found: record.action });
        }
        Ok(record)
    }
}

impl CachedAction {
    /// Renders the result as bytes; `None` if a member has no document or the archive cannot be packed.
    #[must_use]
    pub fn to_bytes(&self) -> Option<CachedBytes> {
        Some(CachedBytes {
            record: self.record.to_bytes(),
            documents: documents_bytes(&self.record)?,
            object: self.archive.pack_at(CARRIED).ok()?.1,
            signatures: self.signatures.clone().into_bytes(),
        })
    }

    /// Parses and verifies a cached result. Checks everything that [`Store::publish`](crate::Store::publish) requires,
    /// and the signatures if there is a keyring.
    ///
    /// # Errors
    ///
    /// The bytes are not a valid result of `action`.
    pub fn verify(
        bytes: &CachedBytes,
        action: &ActionKey,
        keyring: Option<&Keyring>,
    ) -> Result<Self, CachedActionError> {
        let signatures = String::from_utf8_lossy(&bytes.signatures).into_owned();
        let mut record = bytes.believed(action, keyring)?;
        set_documents(&mut record, &bytes.documents)?;
        record.check()?;
        let (found, archive) = Archive::unpack(&bytes.object, &Limits::stated(record.size))?;
        let expected = record.digest;
        if (found, archive.size()) != (expected, record.size) {
            return Err(CachedActionError::Digest { found, expected });
        }
        Ok(Self { record, archive, signatures })
    }
}
