//! Pushes a store's contents to a sink: objects before records, records before the pointers to them.
//!
//! The order is that of a publish, so an interrupted push is harmless: a file is always written before the files that
//! refer to it. Existing files in the sink are not trusted: they are read, and replaced if their content is wrong.

use std::collections::BTreeSet;

use super::at_once::at_once;
use super::{Item, RecordName, RemoteError, Sink, Wanted};
use crate::archive::{Archive, CARRIED, Limits};
use crate::export::ExportError;
use crate::keyring::merged;
use crate::record::{Entry, Record, documents_bytes};
use crate::store::{LoadError, Store, generation};

/// The number of records that are read before they are pushed.
const TOGETHER: usize = 256;

/// The result of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pushed {
    /// The number of requested records that are now in the sink.
    pub records: usize,
    /// The number of requested entries that are now in the sink.
    pub entries: usize,
    /// The number of files sent.
    pub sent: usize,
    /// The total length of the sent files, in bytes.
    pub bytes: u64,
}

/// The reason why a push failed. Items pushed before the failure are complete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// The store lacks a requested item, or the item is damaged.
    #[error("cannot read the artifacts to push from the store")]
    Store(#[from] ExportError),
    /// The sink refuses an item.
    #[error("cannot push")]
    Remote(#[from] RemoteError),
}

impl Store {
    /// Pushes the named entries and the records that they call; without names, the whole store.
    ///
    /// # Errors
    ///
    /// An entry does not exist, a pushed item is lost or damaged, or the sink refuses an item.
    pub fn push(&self, sink: &dyn Sink, names: Option<&BTreeSet<String>>) -> Result<Pushed, PushError> {
        let (entries, mut wanted) = self.chosen(names)?;
        let mut all = Pushed::default();
        match sink.check() {
            Err(RemoteError::NoStore { .. }) => {
                let mut push = Push { sink, pushed: Pushed::default() };
                push.put(&Item::Store, crate::store::STORE_FILE.as_bytes(), |_| true)?;
                all.add(&push.pushed);
            }
            checked => checked?,
        }
        let mut some = Vec::new();
        for record in self.records() {
            let record = record.map_err(ExportError::from)?;
            let is_wanted = record.members.iter().any(|member| wanted.contains_key(&member.key));
            if (names.is_none() || is_wanted) && !self.is_superseded(&record).map_err(ExportError::from)? {
                record.members.iter().for_each(|member| drop(wanted.remove(&member.key)));
                some.push(record);
            }
            if some.len() == TOGETHER {
                each(sink, &std::mem::take(&mut some), &mut all, |push, record| push.record(self, record))?;
            }
        }
        each(sink, &some, &mut all, |push, record| push.record(self, record))?;
        if let Some((_, (name, signature))) = wanted.into_iter().next() {
            return Err(ExportError::MissingModule { name, signature }.into());
        }
        each(sink, &entries, &mut all, |push, entry| push.entry(self, entry))?;
        Ok(all)
    }
}

/// Pushes several items concurrently.
fn each<T: Sync>(
    sink: &dyn Sink,
    items: &[T],
    all: &mut Pushed,
    put: impl Fn(&mut Push<'_>, &T) -> Result<(), PushError> + Sync,
) -> Result<(), PushError> {
    let (pushed, ended) = at_once(items, |item| {
        let mut push = Push { sink, pushed: Pushed::default() };
        put(&mut push, item).map(|()| push.pushed)
    });
    pushed.iter().for_each(|pushed| all.add(pushed));
    ended
}

impl Pushed {
    fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.entries += other.entries;
        self.sent += other.sent;
        self.bytes += other.bytes;
    }
}

struct Push<'s> {
    sink: &'s dyn Sink,
    pushed: Pushed,
}

impl Push<'_> {
    fn record(&mut self, store: &Store, record: &Record) -> Result<(), PushError> {
        let signature = || record.members.first().map(|member| member.signature.clone()).unwrap_or_default();
        let lost = |source: LoadError| ExportError::Load { signature: signature(), source };
        let archive = store.load(record).map_err(lost)?;
        let documents =
            documents_bytes(record).ok_or_else(|| ExportError::Undocumented { signature: signature() })?;
        let signed = store.signed_of(record).map_err(ExportError::from)?;
        let name = RecordName { action: record.action, id: Record::id_of(&signed.bytes) };
        let (_, frame) = archive.pack_at(CARRIED).map_err(ExportError::from)?;
        let is_archive = |found: &[u8]| {
            Archive::check(found, &Limits::default()).is_ok_and(|(digest, ())| digest == record.digest)
        };
        self.put(&Item::Object(record.digest), &frame, is_archive)?;
        let are_documents = |found: &[u8]| crate::record::set_documents(&mut record.clone(), found).is_ok();
        self.put(&Item::Documents(name), &documents, are_documents)?;
        // The signatures are written first, so that readers never find the record without them.
        self.signatures(&Item::RecordSignatures(name), &signed.signatures)?;
        self.put(&Item::Record(name), &signed.bytes, |found| found == signed.bytes)?;
        if let Some(statement) = store.find_provenance(record).map_err(ExportError::from)? {
            self.put(&Item::Provenance(name), statement.as_bytes(), |_| true)?;
        }
        for member in &record.members {
            let fingerprints =
                member.fingerprints.iter().map(|fingerprint| Wanted::Fingerprint(*fingerprint));
            for wanted in fingerprints.chain([Wanted::Key(member.key)]) {
                self.put(&Item::Pointer(wanted, name), b"", <[u8]>::is_empty)?;
            }
            if let Some(generation) = &record.generation {
                let current = Item::Current(member.key, record.target.clone());
                self.replace(&current, generation::text(generation).as_bytes())?;
            }
        }
        self.pushed.records += 1;
        Ok(())
    }

    fn entry(&mut self, store: &Store, entry: &Entry) -> Result<(), PushError> {
        let signed = store.signed_entry(entry).map_err(ExportError::from)?;
        let id = entry.id();
        self.signatures(&Item::EntrySignatures(id), &signed.signatures)?;
        self.put(&Item::Entry(id), &signed.bytes, |found| found == signed.bytes)?;
        self.replace(&Item::Root(entry.name.clone()), format!("{id}\n").as_bytes())?;
        self.pushed.entries += 1;
        Ok(())
    }

    /// Writes a file whose content changes.
    fn replace(&mut self, item: &Item, bytes: &[u8]) -> Result<(), RemoteError> {
        if self.sink.get(item, item.limit())?.is_none_or(|found| found != bytes) {
            self.sink.put(item, bytes)?;
            self.sent(bytes);
        }
        Ok(())
    }

    /// Writes a file with a fixed content; an existing file stays if its content passes `is_it`.
    fn put(&mut self, item: &Item, bytes: &[u8], is_it: impl Fn(&[u8]) -> bool) -> Result<(), RemoteError> {
        if !self.sink.put_new(item, bytes)? {
            if self.found(item)?.is_some_and(|found| is_it(&found)) {
                return Ok(());
            }
            self.sink.put(item, bytes)?;
        }
        self.sent(bytes);
        Ok(())
    }

    /// Adds signatures to the existing ones.
    fn signatures(&mut self, item: &Item, signatures: &str) -> Result<(), RemoteError> {
        if signatures.is_empty() || self.sink.put_new(item, signatures.as_bytes())? {
            return Ok(());
        }
        let found = self.found(item)?;
        let found = String::from_utf8_lossy(&found.unwrap_or_default()).into_owned();
        let all = merged(&found, signatures, None);
        if all != found {
            self.sink.put(item, all.as_bytes())?;
            self.sent(all.as_bytes());
        }
        Ok(())
    }

    /// Returns the existing item; `None` if it is missing, too long or damaged.
    fn found(&self, item: &Item) -> Result<Option<Vec<u8>>, RemoteError> {
        match self.sink.get(item, item.limit()) {
            Err(error) if error.is_of_item() => Ok(None),
            found => found,
        }
    }

    fn sent(&mut self, bytes: &[u8]) {
        self.pushed.sent += 1;
        self.pushed.bytes += bytes.len() as u64;
    }
}
