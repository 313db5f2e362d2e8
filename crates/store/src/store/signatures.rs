//! Stores signatures beside records and entries. A reader with a keyring requires them before it trusts a record or an
//! entry.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::batch::Batch;
use super::lease::{Lock, Share, lock};
use super::paths::{Paths, RecordName};
use super::write::WriteError;
use super::{FindError, Store};
use crate::event::Event;
use crate::keyring::{Key, Keyring, KeyringError, SIGNATURES_LIMIT, merged, with_signature};
use crate::record::{Entry, Record};

/// A signed item: a record or an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The name for messages.
    pub name: String,
    /// The signed bytes.
    pub bytes: Vec<u8>,
    /// The existing signatures.
    pub signatures: String,
    path: PathBuf,
}

/// The reason why a signature was not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutSignatureError {
    /// The signature is invalid or not by this key.
    #[error(transparent)]
    Signature(#[from] KeyringError),
    /// Existing signatures cannot be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The file system refused.
    #[error("cannot write a signature")]
    Write(#[from] WriteError),
}

/// The time for which a signer waits for a concurrent signer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns the directory that a signer locks: `records` or `entries`. One lock covers all shards, so signers cannot
/// deadlock.
fn signed_below(of: &Path) -> &Path {
    of.ancestors().nth(2).unwrap_or(of)
}

/// Waits for the signers' lock. Without it, two concurrent signers of one file could lose a signature.
fn signers_turn(of: &Path) -> Result<Lock, WriteError> {
    let directory = signed_below(of);
    let turn = lock(directory, Share::Alone, PATIENCE);
    if turn.busy {
        return Err(WriteError::new(directory, std::io::ErrorKind::WouldBlock.into()));
    }
    Ok(turn)
}

/// Returns the name of a record for messages.
pub(crate) fn name_of_record(record: &Record) -> String {
    let first = record.members.first().map(|member| member.signature.as_str()).unwrap_or_default();
    format!("`{first}` for {}", record.isa)
}

/// Returns the name of an entry for messages.
pub(crate) fn name_of_entry(entry: &Entry) -> String {
    format!("entry `{}`", entry.name)
}

impl Store {
    /// Restricts reads to items signed by enough keys of `keyring`. Any other item is reported as an event and counts
    /// as a miss.
    #[must_use]
    pub fn trusting(self, keyring: Arc<Keyring>) -> Self {
        Self { keyring: Some(keyring), ..self }
    }

    /// Returns all signed items, records first, for signing or verification.
    pub fn signed(&self) -> impl Iterator<Item = Result<Signed, FindError>> + '_ {
        let all = Self { keyring: None, ..self.clone() };
        let records = self
            .named_records()
            .map(move |item| item.and_then(|(name, record)| self.signed_record(&name, &record)));
        let entries = match all.all_entries() {
            Ok(entries) => entries.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        };
        records.chain(entries.into_iter().map(move |entry| entry.and_then(|entry| self.signed_entry(&entry))))
    }

    /// Returns the signed bytes and signatures of a record.
    ///
    /// # Errors
    ///
    /// The record's signatures cannot be read.
    pub fn signed_of(&self, record: &Record) -> Result<Signed, FindError> {
        self.signed_record(&RecordName::of(record), record)
    }

    /// Returns the signed bytes and signatures of an entry.
    ///
    /// # Errors
    ///
    /// The entry's signatures cannot be read.
    pub fn signed_entry(&self, entry: &Entry) -> Result<Signed, FindError> {
        let bytes = entry.to_bytes();
        let path = self.paths.entry(&Record::id_of(&bytes));
        let signatures = self.read_signatures(&path)?;
        Ok(Signed { name: name_of_entry(entry), bytes, signatures, path })
    }

    fn signed_record(&self, name: &RecordName, record: &Record) -> Result<Signed, FindError> {
        let path = self.paths.record(name);
        let signatures = self.read_signatures(&path)?;
        Ok(Signed { name: name_of_record(record), bytes: record.to_bytes(), signatures, path })
    }

    /// Stores a signature by `key` beside its item, replacing an older signature by the same key.
    ///
    /// # Errors
    ///
    /// The signature is invalid, or the file system refuses.
    pub fn put_signature(&self, of: &Signed, key: &Key, signature: &str) -> Result<(), PutSignatureError> {
        let _lease = self.lease();
        let _turn = signers_turn(&of.path)?;
        let present = self.read_signatures(&of.path)?;
        let text = with_signature(&of.bytes, key, &present, signature)?;
        if text == present {
            return Ok(());
        }
        Ok(self.write_alone(&Paths::signatures(&of.path), text.as_bytes())?)
    }

    /// Appends fetched or imported signatures to the existing ones, without duplicates, in a batch. Readers decide
    /// which of them are valid.
    pub(super) fn add_signatures(
        &self,
        of: &Path,
        content: &[u8],
        signatures: &str,
        batch: &mut Batch,
    ) -> Result<(), WriteError> {
        if signatures.is_empty() {
            return Ok(());
        }
        // The lock is held until the batch has named its files.
        if !batch.turns.contains_key(signed_below(of)) {
            batch.turns.insert(signed_below(of).to_owned(), signers_turn(of)?);
        }
        let present = self.read_signatures(of)?;
        let text = merged(&present, signatures, self.keyring.as_deref().map(|keyring| (keyring, content)));
        if text == present {
            return Ok(());
        }
        self.write(&Paths::signatures(of), text.as_bytes(), batch)
    }

    /// Returns the stored signatures of the bytes of a record or an entry.
    pub(crate) fn signatures_of_bytes(&self, bytes: &[u8]) -> Result<String, FindError> {
        match Record::parse(bytes) {
            Ok(record) => self.read_signatures(&self.paths.record(&RecordName::of(&record))),
            Err(_) => self.read_signatures(&self.paths.entry(&Record::id_of(bytes))),
        }
    }

    fn read_signatures(&self, of: &Path) -> Result<String, FindError> {
        let found = self.read(&Paths::signatures(of), SIGNATURES_LIMIT + 1)?;
        // A file that is too long counts as empty: otherwise, the cut-off point would decide which signatures are
        // valid.
        let found = found.filter(|found| found.bytes.len() as u64 <= SIGNATURES_LIMIT);
        Ok(found.map(|found| String::from_utf8_lossy(&found.bytes).into_owned()).unwrap_or_default())
    }

    /// Returns whether enough keys signed the bytes of a file; `true` without a keyring.
    pub(super) fn is_signed(&self, path: &Path, bytes: &[u8]) -> Result<bool, FindError> {
        let Some(keyring) = &self.keyring else { return Ok(true) };
        let Err(unsigned) = keyring.check(bytes, &self.read_signatures(path)?) else { return Ok(true) };
        let (place, reason, cause) = (path.display().to_string(), unsigned.to_string(), unsigned.cause);
        self.observer.tell(&Event::Unsigned { place, reason, cause });
        Ok(false)
    }
}
