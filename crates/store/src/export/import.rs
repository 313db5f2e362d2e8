//! Imports an export into a store. Everything is verified as untrusted data before the first byte is written.

use std::sync::Arc;

use super::{Export, Release, SIGNED};
use crate::archive::{Archive, Limits, UnpackError};
use crate::key::Digest;
use crate::keyring::{SIGNATURES_LIMIT, Unsigned};
use crate::record::{Entry, ParseRecordError, Record, set_documents};
use crate::store::{DeployError, FindError, Item, PublishError, PutEntryError, ReleaseError, Served, Store};

/// The number of records that are published together.
const BATCH: usize = 64;

/// The maximum number of unpacked archive bytes in memory before their records are published.
const IN_MEMORY: u64 = 256 << 20;

/// The digest of a record's archive, the record's name and its bytes.
type Named<'a> = (Digest, &'a str, &'a [u8]);

/// The result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// The number of records in the export.
    pub records: usize,
    /// The number of records that were missing or incomplete in the store.
    pub fresh: usize,
    /// The number of entries in the export. Each name now refers to its entry from the export.
    pub entries: usize,
}

/// A builder's statement about a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated<'a> {
    /// The name of the statement's member.
    pub member: String,
    /// The record.
    pub record: Record,
    /// The record's archive; records can share one.
    pub archive: Arc<Archive>,
    /// The statement.
    pub statement: &'a [u8],
}

/// The reason why an import failed. Records imported before the failure are complete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A record, an entry or documents cannot be parsed.
    #[error("cannot import `{member}`")]
    Parse {
        /// The member.
        member: String,
        /// The parse error.
        source: ParseRecordError,
    },
    /// An archive is invalid or too large.
    #[error("cannot import `objects/{digest}`")]
    Unpack {
        /// The archive's digest.
        digest: String,
        /// The error from unpacking.
        source: UnpackError,
    },
    /// Members do not match each other.
    #[error("cannot import `{member}`: {why}")]
    Member {
        /// The member.
        member: String,
        /// The mismatch.
        why: &'static str,
    },
    /// The store has a later release, or the export does not state its release.
    #[error("the store has release {current} of `{name}`, found {} in the export\nhint: import a later release, use \
             an empty store, or pass `--older`", found.as_ref().map_or_else(|| "none".to_owned(), |found| format!("release {found}")))]
    Rollback {
        /// The name.
        name: String,
        /// The release that the store has.
        current: u64,
        /// The release of the export, if it states one.
        found: Option<Release>,
    },
    /// A store that is read under the keyring would not serve the content of the export.
    #[error(
        "{count} of {total} records and entries would not be used under the keyring; {name} is not {unsigned}\nhint: \
             export it again with `precast export --key`, or sign the export with `precast sign`, which signs its \
             records and entries too"
    )]
    Unserved {
        /// The number of records and entries without enough signatures.
        count: usize,
        /// The number of records and entries.
        total: usize,
        /// The first of them.
        name: String,
        /// Its missing signatures.
        unsigned: Box<Unsigned>,
    },
    /// The store has a release of this number with other entries.
    #[error("cannot record the release")]
    Deploy(#[from] DeployError),
    /// The store cannot be read.
    #[error("cannot read the store")]
    Find(#[from] FindError),
    /// The store cannot read its imported releases, or cannot record this one.
    #[error("cannot check whether a later release was imported")]
    Release(#[from] ReleaseError),
    /// A record contradicts itself or its archive, or the file system refuses.
    #[error("cannot import a record")]
    Publish(#[from] PublishError),
    /// An entry's name is invalid, or the file system refuses.
    #[error("cannot import an entry")]
    Entry(#[from] PutEntryError),
}

impl Export {
    /// Verifies the whole export without writing anything.
    ///
    /// # Errors
    ///
    /// A member is invalid.
    pub fn verify(&self) -> Result<Imported, ImportError> {
        let mut found = Imported::default();
        let mut checked: Option<(Digest, u64)> = None;
        for (digest, id, bytes) in self.by_archive()? {
            let record = self.record(id, bytes)?;
            let size = match checked.filter(|(known, _)| *known == digest) {
                Some((_, size)) => size,
                None => self.object(id, &digest, Archive::measure)?,
            };
            checked = Some((digest, size));
            if record.size != size {
                let member = format!("records/{id}");
                return Err(ImportError::Member { member, why: "size mismatch" });
            }
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

    /// Returns each builder statement with its member name, record and archive. The caller checks that the statement
    /// describes them.
    ///
    /// # Errors
    ///
    /// Fails as [`Export::verify`].
    pub fn statements(&self) -> impl Iterator<Item = Result<Stated<'_>, ImportError>> {
        let mut unpacked = None;
        let stated = self.by_archive().and_then(|records| {
            for (id, _) in self.below("provenance") {
                if !self.0.members.contains_key(&format!("records/{id}")) {
                    let member = format!("provenance/{id}");
                    return Err(ImportError::Member { member, why: "missing record" });
                }
            }
            Ok(records)
        });
        let (records, error) = match stated {
            Ok(records) => (records, None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        let of_record = move |(_, id, bytes): Named<'_>| {
            let member = format!("provenance/{id}");
            let statement = self.0.get(&member)?;
            let record = self.record(id, bytes).and_then(|record| {
                let archive = self.archive(id, &record.digest, &mut unpacked)?;
                Ok(Stated { member, record, archive, statement })
            });
            Some(record)
        };
        error.into_iter().chain(records.into_iter().filter_map(of_record))
    }

    /// Checks that the store has no later release. A store with any release rejects exports that state none.
    ///
    /// # Errors
    ///
    /// The store has a later release, or cannot be read.
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

    /// Imports everything into a store, records first. Each entry name then refers to the entry of this export.
    ///
    /// # Errors
    ///
    /// A member is invalid or the store has a later release (both before anything is written), or the file system
    /// refuses.
    pub fn import(&self, store: &Store) -> Result<Imported, ImportError> {
        self.put(store, |store| self.check_release(store))
    }

    /// Imports as [`Export::import`], even if the store has a later release. The store still remembers the later
    /// release.
    ///
    /// # Errors
    ///
    /// Fails as [`Export::import`].
    pub fn import_older(&self, store: &Store) -> Result<Imported, ImportError> {
        self.put(store, |_| Ok(()))
    }

    fn put(
        &self,
        store: &Store,
        check: impl FnOnce(&Store) -> Result<(), ImportError>,
    ) -> Result<Imported, ImportError> {
        // Everything is verified first, so that an invalid record in the middle cannot cause a partial import.
        self.verify()?;
        let release = self.release().unwrap_or_default();
        let importing = store.importing(release.as_ref())?;
        check(store)?;
        let _session = store.begin();
        let entries: Vec<(Entry, String)> = self
            .below("entries")
            .map(|(id, bytes)| Ok((entry(id, bytes)?, self.signatures_of(id)?)))
            .collect::<Result<_, ImportError>>()?;
        let served: Served = entries.iter().map(|(entry, _)| (entry.name.clone(), entry.id())).collect();
        // The release is recorded first: an interrupted import can be repeated, and an earlier release is already
        // rejected.
        if let Some(release) = &release {
            store.check_deployed(release, &served)?;
            store.put_release(release, &importing)?;
        }
        let mut imported = Imported::default();
        (imported.records, imported.fresh) = self.put_records(store)?;
        let entries: Vec<(&Entry, &str)> =
            entries.iter().map(|(entry, signatures)| (entry, signatures.as_str())).collect();
        store.put_entries(&entries)?;
        if let Some(release) = release.as_ref().filter(|_| !served.is_empty()) {
            store.put_deployed(release, &served)?;
        }
        imported.entries = entries.len();
        Ok(imported)
    }

    /// Publishes all records with their signatures and statements. Returns the number of records, and how many were new
    /// or damaged.
    fn put_records(&self, store: &Store) -> Result<(usize, usize), ImportError> {
        let records = self.by_archive()?;
        let (mut batch, mut bytes, mut fresh) = (Vec::new(), 0, 0);
        let mut unpacked: Option<(Digest, Arc<Archive>)> = None;
        for (digest, id, record) in &records {
            let is_new = unpacked.as_ref().is_none_or(|(last, _)| last != digest);
            let archive = self.archive(id, digest, &mut unpacked)?;
            let more = if is_new { archive.size() } else { 0 };
            if batch.len() == BATCH || (!batch.is_empty() && bytes + more > IN_MEMORY) {
                fresh += publish(store, &std::mem::take(&mut batch))?;
                bytes = 0;
            }
            bytes += more;
            let provenance = self.0.get(&format!("provenance/{id}"));
            batch.push(Import {
                archive,
                record: self.record(id, record)?,
                signatures: self.signatures_of(id)?,
                provenance: provenance.map(|text| String::from_utf8_lossy(text).into_owned()),
            });
        }
        Ok((records.len(), fresh + publish(store, &batch)?))
    }

    /// Returns the records with their archives' digests, sorted by digest so that each archive is unpacked once.
    fn by_archive(&self) -> Result<Vec<Named<'_>>, ImportError> {
        let digest = |(id, bytes)| {
            let record = Record::parse(bytes)
                .map_err(|source| ImportError::Parse { member: format!("records/{id}"), source })?;
            Ok((record.digest, id, bytes))
        };
        let mut records = self.below("records").map(digest).collect::<Result<Vec<_>, ImportError>>()?;
        records.sort();
        Ok(records)
    }

    pub(super) fn record(&self, id: &str, bytes: &[u8]) -> Result<Record, ImportError> {
        let member = || format!("records/{id}");
        let wrong = |why| ImportError::Member { member: member(), why };
        let mut record =
            Record::parse(bytes).map_err(|source| ImportError::Parse { member: member(), source })?;
        if Record::id_of(bytes).to_string() != id {
            return Err(wrong("hash mismatch"));
        }
        let documents = self.0.get(&format!("documents/{id}")).ok_or_else(|| wrong("missing documents"))?;
        set_documents(&mut record, documents)
            .map_err(|source| ImportError::Parse { member: format!("documents/{id}"), source })?;
        record.check().map_err(|source| ImportError::Parse { member: member(), source })?;
        if record.members.iter().any(|member| member.document.is_none()) {
            return Err(wrong("missing document"));
        }
        Ok(record)
    }

    /// Returns the archive of a record; reuses the last unpacked archive if it is the same.
    fn archive(
        &self,
        id: &str,
        digest: &Digest,
        last: &mut Option<(Digest, Arc<Archive>)>,
    ) -> Result<Arc<Archive>, ImportError> {
        if let Some((_, archive)) = last.as_ref().filter(|(found, _)| found == digest) {
            return Ok(Arc::clone(archive));
        }
        // The last archive is freed first, unless a batch still holds it.
        *last = None;
        let archive = Arc::new(self.object(id, digest, Archive::unpack)?);
        *last = Some((*digest, Arc::clone(&archive)));
        Ok(archive)
    }

    /// Reads a record's archive with `read` and checks its digest.
    fn object<T>(
        &self,
        id: &str,
        digest: &Digest,
        read: impl FnOnce(&[u8], &Limits) -> Result<(Digest, T), UnpackError>,
    ) -> Result<T, ImportError> {
        let member = format!("objects/{digest}");
        let Some(frame) = self.0.get(&member) else {
            let member = format!("records/{id}");
            return Err(ImportError::Member { member, why: "missing archive" });
        };
        let refused = |source| ImportError::Unpack { digest: digest.to_string(), source };
        let (found, content) = read(frame, &Limits::default()).map_err(refused)?;
        if found == *digest {
            return Ok(content);
        }
        Err(ImportError::Member { member, why: "hash mismatch" })
    }

    /// Returns the signatures of a record or an entry.
    pub(super) fn signatures_of(&self, id: &str) -> Result<String, ImportError> {
        let member = format!("{SIGNED}{id}");
        let text = self.0.get(&member).unwrap_or_default();
        if text.len() as u64 > SIGNATURES_LIMIT {
            return Err(ImportError::Member { member, why: "too long for signatures" });
        }
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

/// A record to be published.
struct Import {
    archive: Arc<Archive>,
    record: Record,
    signatures: String,
    provenance: Option<String>,
}

/// Publishes records. Returns the number that were new or damaged.
fn publish(store: &Store, batch: &[Import]) -> Result<usize, ImportError> {
    let items = batch.iter().map(|import| Item {
        archive: &import.archive,
        record: &import.record,
        signatures: &import.signatures,
        provenance: import.provenance.as_deref(),
    });
    let published = store.publish_items(&items.collect::<Vec<_>>()).map_err(|(_, error)| error)?;
    Ok(published.iter().filter(|published| published.fresh).count())
}

/// Reads an entry and checks its name.
pub(super) fn entry(id: &str, bytes: &[u8]) -> Result<Entry, ImportError> {
    let member = || format!("entries/{id}");
    let entry = Entry::parse(bytes).map_err(|source| ImportError::Parse { member: member(), source })?;
    if entry.id().to_string() == id {
        return Ok(entry);
    }
    Err(ImportError::Member { member: member(), why: "hash mismatch" })
}
