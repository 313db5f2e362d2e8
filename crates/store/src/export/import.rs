//! Puts an export into a store. Everything is verified as if its publisher were a stranger, before the first byte is written.

use super::{Export, Release};
use crate::archive::{Archive, Limits, UnpackError};
use crate::key::Digest;
use crate::keyring::SIGNATURES_LIMIT;
use crate::record::{Entry, ParseRecordError, Record, set_documents};
use crate::store::{Item, PublishError, PutEntryError, ReleaseError, Store};

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

/// What a builder has stated of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated<'a> {
    /// The member that has the statement.
    pub member: String,
    /// The record.
    pub record: Record,
    /// Its archive.
    pub archive: Archive,
    /// The statement.
    pub statement: &'a [u8],
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
        for (id, _) in self.below("signatures") {
            self.signatures_of(id)?;
        }
        Ok(found)
    }

    /// Gives what is stated of records: the member's name, the record with its archive, and the statement. Whether it is about
    /// them is for those to say who know its form.
    ///
    /// # Errors
    ///
    /// As [`Export::verify`].
    pub fn statements(&self) -> impl Iterator<Item = Result<Stated<'_>, ImportError>> {
        self.below("provenance").map(|(id, statement)| {
            let name = format!("records/{id}");
            let member = || format!("provenance/{id}");
            let none = || ImportError::Member { member: member(), why: "its record is missing" };
            let (record, archive) = self.record(id, self.0.get(&name).ok_or_else(none)?)?;
            Ok(Stated { member: member(), record, archive, statement })
        })
    }

    /// Checks that a store has no later release. One that has any takes nothing that is none.
    ///
    /// # Errors
    ///
    /// It has, or cannot be read.
    pub fn check_release(&self, store: &Store) -> Result<(), ImportError> {
        let found = self.release().unwrap_or_default();
        let known = match &found {
            Some(found) => store.find_release(&found.name)?.filter(|known| known.number > found.number),
            None => store.releases()?.into_iter().next(),
        };
        match known {
            Some(Release { name, number }) => Err(ImportError::Rollback { name, current: number, found }),
            None => Ok(()),
        }
    }

    /// Puts everything into a store, records first. A name that means another entry there means this one afterwards.
    ///
    /// # Errors
    ///
    /// Something in it is not what it should be, or the store has a later release, and nothing was written; or the file system
    /// refuses.
    pub fn import(&self, store: &Store) -> Result<Imported, ImportError> {
        self.put(store, |store| self.check_release(store))
    }

    /// Imports as [`Export::import`], into a store that has a later release too, which it goes on to remember.
    ///
    /// # Errors
    ///
    /// As [`Export::import`].
    pub fn import_older(&self, store: &Store) -> Result<Imported, ImportError> {
        self.put(store, |_| Ok(()))
    }

    fn put(
        &self,
        store: &Store,
        check: impl FnOnce(&Store) -> Result<(), ImportError>,
    ) -> Result<Imported, ImportError> {
        // All of it first for itself: a strange record in the middle is no half import.
        self.verify()?;
        let release = self.release().unwrap_or_default();
        let importing = store.importing(release.as_ref())?;
        check(store)?;
        let _session = store.begin();
        // First of all: what is interrupted can be imported again, and nothing earlier any more.
        if let Some(release) = &release {
            store.put_release(release, &importing)?;
        }
        let mut imported = Imported::default();
        let records: Vec<(&str, &[u8])> = self.below("records").collect();
        for batch in records.chunks(BATCH) {
            imported.records += batch.len();
            imported.fresh += self.put_records(store, batch)?;
        }
        let entries: Vec<(Entry, String)> = self
            .below("entries")
            .map(|(id, bytes)| Ok((entry(id, bytes)?, self.signatures_of(id)?)))
            .collect::<Result<_, ImportError>>()?;
        let entries: Vec<(&Entry, &str)> =
            entries.iter().map(|(entry, signatures)| (entry, signatures.as_str())).collect();
        store.put_entries(&entries)?;
        imported.entries = entries.len();
        Ok(imported)
    }

    /// Puts records, with what stands beside them; gives how many the store had not, or not whole.
    fn put_records(&self, store: &Store, batch: &[(&str, &[u8])]) -> Result<usize, ImportError> {
        let read = |(id, bytes): &(&str, &[u8])| {
            let statement = self.0.get(&format!("provenance/{id}")).map(String::from_utf8_lossy);
            Ok((self.record(id, bytes)?, self.signatures_of(id)?, statement))
        };
        let read = batch.iter().map(read).collect::<Result<Vec<_>, ImportError>>()?;
        let items = read.iter().map(|((record, archive), signatures, statement)| Item {
            archive,
            record,
            signatures,
            provenance: statement.as_deref(),
        });
        let published = store.publish_items(&items.collect::<Vec<_>>()).map_err(|(_, error)| error)?;
        Ok(published.iter().filter(|published| published.fresh).count())
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

    /// The signatures of a record or an entry.
    fn signatures_of(&self, id: &str) -> Result<String, ImportError> {
        let member = format!("signatures/{id}");
        let text = self.0.get(&member).unwrap_or_default();
        if text.len() as u64 > SIGNATURES_LIMIT {
            return Err(ImportError::Member { member, why: "it is longer than signatures are" });
        }
        Ok(String::from_utf8_lossy(text).into_owned())
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
