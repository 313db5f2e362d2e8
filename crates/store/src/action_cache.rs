//! What builds share beside their stores: the results of actions, by their ActionKeys.
//!
//! A cache is somebody else's: what it gives is taken apart and verified here before a build sees it, and is published as what
//! was compiled is. That a cache cannot be used is never a build's failure.

use crate::archive::{Archive, CARRIED, Limits, UnpackError};
use crate::key::{ActionKey, Digest};
use crate::keyring::{Keyring, Unsigned};
use crate::record::{ParseRecordError, Record, documents_bytes, set_documents};

/// Where results of actions are found by whoever wants the same.
pub trait ActionCache {
    /// Finds results, in the order of the actions; `None` where there is none, or none that can be used.
    fn find(&self, actions: &[ActionKey]) -> Vec<Option<CachedAction>>;

    /// Gives results to others.
    fn put(&self, results: &[CachedAction]);
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedAction {
    /// The statement about it, with its documents.
    pub record: Record,
    /// The files.
    pub archive: Archive,
    /// Signatures of the record, in minisign's form; may be empty.
    pub signatures: String,
}

/// The result of an action as bytes, which nobody vouches for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CachedBytes {
    /// The record.
    pub record: Vec<u8>,
    /// The documents of its members.
    pub documents: Vec<u8>,
    /// The archive in its frame.
    pub object: Vec<u8>,
    /// Signatures of the record; may be empty.
    pub signatures: Vec<u8>,
}

/// Says why bytes are no result of an action.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CachedActionError {
    /// The record or its documents are none.
    #[error("its record cannot be read")]
    Record(#[from] ParseRecordError),
    /// The archive is none, or too large.
    #[error("its archive cannot be read")]
    Unpack(#[from] UnpackError),
    /// The record is about another action.
    #[error("its record is about action `{}`", found.short())]
    Action {
        /// That action.
        found: ActionKey,
    },
    /// The record is about another archive.
    #[error("its archive is `{}`, and its record states `{}`", found.short(), expected.short())]
    Digest {
        /// The archive's.
        found: Digest,
        /// The record's.
        expected: Digest,
    },
    /// Signatures are asked for, and too few are there.
    #[error("it is not {0}")]
    Unsigned(Box<Unsigned>),
}

impl CachedBytes {
    /// Gives the most bytes that the archive's frame may have, by a record that is about this action and, where there is a
    /// keyring, signed: what is longer need not be asked for.
    ///
    /// # Errors
    ///
    /// The record is none, about another action, or not signed.
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
    /// Renders it; `None` where a member has no document, or the archive cannot be packed.
    #[must_use]
    pub fn to_bytes(&self) -> Option<CachedBytes> {
        Some(CachedBytes {
            record: self.record.to_bytes(),
            documents: documents_bytes(&self.record)?,
            object: self.archive.pack_at(CARRIED).ok()?.1,
            signatures: self.signatures.clone().into_bytes(),
        })
    }

    /// Takes it apart and verifies it: everything that [`Store::publish`](crate::Store::publish) asks for, and, where there is a
    /// keyring, signatures that count.
    ///
    /// # Errors
    ///
    /// It is no result of this action.
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
