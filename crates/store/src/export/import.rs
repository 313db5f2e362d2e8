//! Puts an export into a store. Everything is verified as if its publisher were a stranger, before the first byte is written.

use super::{Export, Release};
use crate::archive::{Archive, Limits, UnpackError};
use crate::key::Digest;
use crate::keyring::SIGNATURES_LIMIT;
use crate::record::{Entry, ParseRecordError, Record, set_documents};
use crate::store::{PublishError, PutEntryError, PutSignatureError, ReleaseError, Store};

/// How many records are published at once.
const BATCH: usize = 64;

/// What an import brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// How many records there are in the export.
    pub records: usize,
    /// How many of them the store had not, or not whole.
    pub fresh: usize,
    /// How many entries there are in the export; each name means its entry now.
    pub entries: usize,
}

/// Says why an export was not imported. What was imported before is whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A record, an entry or documents are none.
    #[error("cannot import `{member}`")]
    Parse {
        /// The member.
        member: String,
        /// What is wrong.
        source: ParseRecordError,
    },
    /// An archive is none, or too large.
    #[error("cannot import `objects/{digest}`")]
    Unpack {
        /// Its name.
        digest: String,
        /// What is wrong.
        source: UnpackError,
    },
    /// Members do not belong together.
    #[error("cannot import `{member}`: {why}")]
    Member {
        /// The member.
        member: String,
        /// What is wrong.
        why: &'static str,
    },
    /// The store has a later release, or the export does not say which it is.
    #[error("the store has release {current} of `{name}`, and this is {}\nhint: a later one may take its place; this one in an empty store, or with `--older`", found.as_ref().map_or_else(|| "none".to_owned(), |found| format!("release {found}")))]
    Rollback {
        /// The name.
        name: String,
        /// The release that the store has.
        current: u64,
        /// What is imported, if it says so.
        found: Option<Release>,
    },
    /// The store cannot say which releases were imported, or cannot remember this one.
    #[error("cannot tell whether a later release was imported")]
    Release(#[from] ReleaseError),
    /// A record contradicts itself or its archive, or the file system refuses.
    #[error("cannot import a record")]
    Publish(#[from] PublishError),
    /// An entry's name is refused, or the file system refuses.
    #[error("cannot import an entry")]
    Entry(#[from] PutEntryError),
    /// The file system refuses signatures.
    #[error("cannot import signatures")]
    Signature(#[from] PutSignatureError),
}

impl Export {
    /// Verifies everything, and writes nothing.
    ///
    /// # Errors
    ///
    /// Something in it is not what it should be.
    pub fn verify(&self) -> Result<Imported, ImportError> {
        let mut found = Imported::default();
        for (id, bytes) in self.below("records") {
            self.record(id, bytes)?;
            found.records += 1;
        }
        for (id, bytes) in self.below("entries") {
            entry(id, bytes)?;
            found.entries += 1;
        }
        Ok(found)
    }

    /// Checks that a store has no later release. One that has any takes nothing that is none.
    ///
    /// # Errors
    ///
    /// It has, or cannot be read.
    pub fn check_release(&self, store: &Store) -> Result<(), ImportError> {
        let found = self.release().unwrap_or_default();
        let known = store.releases()?;
        let later = known.into_iter().find(|known| {
            found.as_ref().is_none_or(|found| known.name == found.name && known.number > found.number)
        });
        match later {
            Some(Release { name, number }) => Err(ImportError::Rollback { name, current: number, found }),
            None => Ok(()),
        }
    }

    /// Puts everything into a store, records first. A name that means another entry there means this one afterwards.
    ///
    /// # Errors
    ///
    /// Something in it is not what it should be, in which case nothing was written; or the file system refuses.
    pub fn import(&self, store: &Store) -> Result<Imported, ImportError> {
        // All of it first for itself: a strange record in the middle is no half import.
        self.verify()?;
        let _session = store.begin();
        // First of all: what is interrupted can be imported again, and nothing earlier any more.
        if let Some(release) = self.release().unwrap_or_default() {
            store.put_release(&release)?;
        }
        let mut imported = Imported::default();
        let entries =
            self.below("entries").map(|(id, bytes)| entry(id, bytes)).collect::<Result<Vec<_>, _>>()?;
        let records: Vec<(&str, &[u8])> = self.below("records").collect();
        for batch in records.chunks(BATCH) {
            let parsed =
                batch.iter().map(|(id, bytes)| self.record(id, bytes)).collect::<Result<Vec<_>, _>>()?;
            let items: Vec<_> = parsed.iter().map(|(record, archive)| (archive, record)).collect();
            let published = store.publish_all(&items).map_err(|(_, error)| error)?;
            imported.fresh += published.iter().filter(|published| published.fresh).count();
            imported.records += published.len();
            for ((id, _), (record, _)) in batch.iter().zip(&parsed) {
                self.import_signatures(store, id, || store.signed_of(record))?;
                if let Some(statement) = self.0.get(&format!("provenance/{id}")) {
                    let statement = String::from_utf8_lossy(statement);
                    store.put_provenance(record, &statement).map_err(PutSignatureError::from)?;
                }
            }
        }
        for entry in &entries {
            let id = store.put_entry(entry)?.to_string();
            self.import_signatures(store, &id, || store.signed_entry(entry))?;
            imported.entries += 1;
        }
        Ok(imported)
    }

    fn record(&self, id: &str, bytes: &[u8]) -> Result<(Record, Archive), ImportError> {
        let member = || format!("records/{id}");
        let wrong = |why| ImportError::Member { member: member(), why };
        let mut record =
            Record::parse(bytes).map_err(|source| ImportError::Parse { member: member(), source })?;
        if Record::id_of(bytes).to_string() != id {
            return Err(wrong("it does not hash to its name"));
        }
        let documents =
            self.0.get(&format!("documents/{id}")).ok_or_else(|| wrong("its documents are missing"))?;
        set_documents(&mut record, documents)
            .map_err(|source| ImportError::Parse { member: format!("documents/{id}"), source })?;
        let archive =
            self.archive(&record.digest).transpose().ok_or_else(|| wrong("its archive is missing"))??;
        Ok((record, archive))
    }

    fn archive(&self, digest: &Digest) -> Result<Option<Archive>, ImportError> {
        let Some(frame) = self.0.get(&format!("objects/{digest}")) else { return Ok(None) };
        let refused = |source| ImportError::Unpack { digest: digest.to_string(), source };
        let (found, archive) = Archive::unpack(frame, &Limits::default()).map_err(refused)?;
        if found == *digest {
            return Ok(Some(archive));
        }
        let member = format!("objects/{digest}");
        Err(ImportError::Member { member, why: "it does not hash to its name" })
    }

    fn import_signatures(
        &self,
        store: &Store,
        id: &str,
        of: impl FnOnce() -> Result<crate::store::Signed, crate::store::FindError>,
    ) -> Result<(), ImportError> {
        let Some(text) = self.0.get(&format!("signatures/{id}")) else { return Ok(()) };
        if text.len() as u64 > SIGNATURES_LIMIT {
            let member = format!("signatures/{id}");
            return Err(ImportError::Member { member, why: "it is longer than signatures are" });
        }
        let signed = of().map_err(PutSignatureError::from)?;
        Ok(store.put_signatures(&signed, &String::from_utf8_lossy(text))?)
    }
}

fn entry(id: &str, bytes: &[u8]) -> Result<Entry, ImportError> {
    let member = || format!("entries/{id}");
    let entry = Entry::parse(bytes).map_err(|source| ImportError::Parse { member: member(), source })?;
    if entry.id().to_string() == id {
        return Ok(entry);
    }
    Err(ImportError::Member { member: member(), why: "it does not hash to its name" })
}
