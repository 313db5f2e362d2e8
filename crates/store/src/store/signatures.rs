//! Signatures of records and entries, beside them: what a reader with a keyring asks for before it believes a mapping.

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

/// Something that is signed: a record, or an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// What people call it.
    pub name: String,
    /// What is signed.
    pub bytes: Vec<u8>,
    /// The signatures that are there.
    pub signatures: String,
    path: PathBuf,
}

/// Says why a signature was not put.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutSignatureError {
    /// It is none of this key.
    #[error(transparent)]
    Signature(#[from] KeyringError),
    /// What is there cannot be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The file system refused.
    #[error("cannot put a signature")]
    Write(#[from] WriteError),
}

/// How long one who signs waits for another who signs the same.
const PATIENCE: Duration = Duration::from_secs(120);

/// The directory that who signs a file has alone: `records` or `entries`, one for all shards, so that nobody waits in a circle.
fn signed_below(of: &Path) -> &Path {
    of.ancestors().nth(2).unwrap_or(of)
}

/// Waits for the turn to put signatures: two who sign the same at once both want to be there in the end.
fn signers_turn(of: &Path) -> Result<Lock, WriteError> {
    let directory = signed_below(of);
    let turn = lock(directory, Share::Alone, PATIENCE);
    if turn.busy {
        return Err(WriteError::new(directory, std::io::ErrorKind::WouldBlock.into()));
    }
    Ok(turn)
}

impl Store {
    /// Lets readers find only what enough keys of `keyring` have signed. The rest is told as an event, and is a miss.
    #[must_use]
    pub fn trusting(self, keyring: Arc<Keyring>) -> Self {
        Self { keyring: Some(keyring), ..self }
    }

    /// Gives everything that is signed, records first: what signers sign and verifiers verify.
    pub fn signed(&self) -> impl Iterator<Item = Result<Signed, FindError>> + '_ {
        let all = Self { keyring: None, ..self.clone() };
        let records = self
            .named_records()
            .map(move |item| item.and_then(|(name, record)| self.signed_record(&name, &record)));
        let entries = match all.entries() {
            Ok(entries) => entries.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        };
        records.chain(entries.into_iter().map(move |entry| entry.and_then(|entry| self.signed_entry(&entry))))
    }

    /// Gives what is signed of a record.
    ///
    /// # Errors
    ///
    /// Its signatures cannot be read.
    pub fn signed_of(&self, record: &Record) -> Result<Signed, FindError> {
        self.signed_record(&RecordName { action: record.action, id: record.id() }, record)
    }

    /// Gives what is signed of an entry.
    ///
    /// # Errors
    ///
    /// Its signatures cannot be read.
    pub fn signed_entry(&self, entry: &Entry) -> Result<Signed, FindError> {
        let bytes = entry.to_bytes();
        let path = self.paths.entry(&Record::id_of(&bytes));
        let signatures = self.read_signatures(&path)?;
        Ok(Signed { name: format!("entry `{}`", entry.name), bytes, signatures, path })
    }

    fn signed_record(&self, name: &RecordName, record: &Record) -> Result<Signed, FindError> {
        let path = self.paths.record(name);
        let first = record.members.first().map(|member| member.signature.clone()).unwrap_or_default();
        let signatures = self.read_signatures(&path)?;
        Ok(Signed {
            name: format!("`{first}` for {}", record.isa),
            bytes: record.to_bytes(),
            signatures,
            path,
        })
    }

    /// Puts a signature by `key` beside what it is about, in place of an older one by the same key.
    ///
    /// # Errors
    ///
    /// It is none, or the file system refuses.
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

    /// Puts signatures that came from elsewhere behind those that are there, each once, with a batch. Whether they count is for
    /// readers to say.
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
        // Until its files have their names.
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

    fn read_signatures(&self, of: &Path) -> Result<String, FindError> {
        let found = self.read(&Paths::signatures(of), SIGNATURES_LIMIT + 1)?;
        // What is longer is none: where it was cut would decide who counts.
        let found = found.filter(|found| found.bytes.len() as u64 <= SIGNATURES_LIMIT);
        Ok(found.map(|found| String::from_utf8_lossy(&found.bytes).into_owned()).unwrap_or_default())
    }

    /// Tells whether enough keys have signed the bytes of a file, if anybody asks for that.
    pub(super) fn is_signed(&self, path: &Path, bytes: &[u8]) -> Result<bool, FindError> {
        let Some(keyring) = &self.keyring else { return Ok(true) };
        let Err(unsigned) = keyring.check(bytes, &self.read_signatures(path)?) else { return Ok(true) };
        let place = path.display().to_string();
        self.observer.tell(&Event::Unsigned { place, reason: unsigned.to_string() });
        Ok(false)
    }
}
