//! Looks up records and entries in a bundle. A look-up does no I/O and returns no error: damage is reported as an event and
//! counts as a miss.

use super::bytes::{hash, slice, u32_at, u64_at};
use super::{Bundle, Piece};
use crate::event::{Event, chain};
use crate::key::{BuildKey, ContentId, Fingerprint, KeyDocument, RecordId};
use crate::program::Outline;
use crate::record::{Entry, ParseRecordError, Record, set_documents};
use std::sync::{Arc, PoisonError};

/// A row of the table of records.
pub(super) struct Row<'a> {
    pub(super) id: RecordId,
    pub(super) bytes: &'a [u8],
}

/// Offsets, in a row of the records, of (offset, length) of the record, and of (offset, length, hash) of its documents and
/// its pack.
pub(super) const RECORD_AT: usize = 32;
pub(super) const DOCUMENTS_AT: usize = 48;
pub(super) const PACK_AT: usize = 96;

/// Offsets, in a row of the names, of (offset, length) of the program, and of (offset, length, hash) of the declared graph.
const PROGRAM_AT: usize = 32;
const DECLARED_AT: usize = 48;

impl<'a> Row<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        Some(Self { id: RecordId::from_bytes(*bytes.first_chunk()?), bytes })
    }
}

impl Bundle {
    /// Finds the records that have a module of this key, sorted by RecordId. Their documents are not filled in.
    #[must_use]
    pub fn find(&self, key: &BuildKey) -> Vec<Arc<Record>> {
        let found = self.indexed(key.as_bytes());
        found
            .into_iter()
            .filter(|(record, slot)| record.member(key).is_some_and(|m| m.slot == *slot))
            .map(|(r, _)| r)
            .collect()
    }

    /// Finds the records that have a module of this fingerprint, each with the module's key. Their documents are not filled
    /// in.
    #[must_use]
    pub fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Vec<(Arc<Record>, BuildKey)> {
        let found = self.indexed(fingerprint.as_bytes()).into_iter();
        let keyed = found.filter_map(|(record, slot)| {
            let member = record.member_by_fingerprint(fingerprint).filter(|member| member.slot == slot)?;
            let key = member.key;
            Some((record, key))
        });
        keyed.collect()
    }

    /// Finds the document of a key.
    #[must_use]
    pub fn document(&self, key: &BuildKey) -> Option<KeyDocument> {
        self.find_rows(&self.head.index, key.as_bytes()).into_iter().find_map(|row| {
            let row = self.row(&self.head.rows, u32_at(row, 32)? as usize)?;
            let mut record = self.read_record(&Row::new(row)?)?;
            self.fill_documents(&Row::new(row)?, &mut record);
            record.members.into_iter().find(|member| member.key == *key)?.document
        })
    }

    /// Returns every intact record with its documents, sorted by RecordId.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let rows = self.all_rows(&self.head.rows).into_iter().filter_map(Row::new);
        let records = rows.filter_map(|row| {
            let mut record = self.read_record(&row)?;
            self.fill_documents(&row, &mut record);
            Some(record)
        });
        records.collect()
    }

    /// Finds the entry of this name.
    #[must_use]
    pub fn find_entry(&self, name: &str) -> Option<Entry> {
        let rows = self.find_rows(&self.head.names, ContentId::of(name).as_bytes());
        let found = rows.into_iter().find_map(|row| self.read_entry(row));
        found.filter(|entry| entry.name == name)
    }

    /// Finds the program of the entry called `name`, whose hash is `id`. A loader reads no other part of an entry.
    pub(crate) fn find_program(&self, id: &ContentId, name: &str) -> Option<(Outline<'_>, Piece)> {
        let rows = self.find_rows(&self.head.names, id.as_bytes());
        let found = rows.into_iter().find_map(|row| Some((self.outline(row)?, program_place(row)?)));
        let (outline, (offset, len)) = found.filter(|(outline, _)| outline.name == name)?;
        Some((outline, Piece { data: self.data.clone(), range: offset..offset + len }))
    }

    /// Returns the name of every intact entry, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let rows = self.all_rows(&self.head.names).into_iter();
        let mut names: Vec<String> =
            rows.filter_map(|row| Some(self.outline(row)?.name.to_owned())).collect();
        names.sort_unstable();
        names
    }

    /// Returns every intact entry, sorted by name.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let rows = self.all_rows(&self.head.names).into_iter();
        let mut entries: Vec<Entry> = rows.filter_map(|row| self.read_entry(row)).collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries
    }

    fn indexed(&self, key: &[u8; 32]) -> Vec<(Arc<Record>, u32)> {
        let rows = self.find_rows(&self.head.index, key).into_iter();
        let records = rows.filter_map(|row| {
            let (number, slot) = (u32_at(row, 32)?, u32_at(row, 36)?);
            let row = self.row(&self.head.rows, number as usize)?;
            Some((self.record(number, &Row::new(row)?)?, slot))
        });
        records.collect()
    }

    /// Returns the record in a row. Each record is parsed only once, because a pack can have many modules.
    fn record(&self, number: u32, row: &Row<'_>) -> Option<Arc<Record>> {
        let records = || self.seen.records.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = records().get(&number) {
            return Some(Arc::clone(record));
        }
        let record = Arc::new(self.read_record(row)?);
        records().insert(number, Arc::clone(&record));
        Some(record)
    }

    fn read_record(&self, row: &Row<'_>) -> Option<Record> {
        let part = || format!("record `{}`", row.id.short());
        let bytes = self.blob(row.bytes, RECORD_AT).filter(|bytes| Record::id_of(bytes) == row.id);
        let Some(bytes) = bytes else {
            self.damaged(&part(), "hash mismatch");
            return None;
        };
        match Record::parse(bytes) {
            Ok(record) => Some(record),
            Err(error) => {
                self.unreadable(&part(), chain(&error));
                None
            }
        }
    }

    fn fill_documents(&self, row: &Row<'_>, record: &mut Record) {
        let part = || format!("documents of record `{}`", row.id.short());
        match self.hashed_blob(row.bytes, DOCUMENTS_AT) {
            None => self.damaged(&part(), "hash mismatch"),
            Some(bytes) => {
                if let Err(error) = set_documents(record, bytes) {
                    self.unreadable(&part(), chain(&error));
                }
            }
        }
    }

    /// Reads the entry in a row of the names.
    fn read_entry(&self, row: &[u8]) -> Option<Entry> {
        let program = self.program(row)?;
        let Some(declared) = self.hashed_blob(row, DECLARED_AT) else {
            self.damaged(&entry_part(row), "hash mismatch of the declaration");
            return None;
        };
        let mut entry = self.readable(row, Entry::of_parts(program, declared))?;
        entry.metadata = self.told_metadata(&entry.name)?;
        Some(entry)
    }

    fn outline(&self, row: &[u8]) -> Option<Outline<'_>> {
        self.readable(row, Outline::read(self.program(row)?))
    }

    /// Returns the bytes of the program in a row. If they are damaged, so is a page, and the damaged page is reported.
    fn program(&self, row: &[u8]) -> Option<&[u8]> {
        let (offset, len) = program_place(row)?;
        self.paged(&self.head.programs, offset, len)
    }

    /// Returns the parsed part of an entry, or reports why it cannot be read.
    fn readable<T>(&self, row: &[u8], read: Result<T, ParseRecordError>) -> Option<T> {
        read.map_err(|error| self.unreadable(&entry_part(row), chain(&error))).ok()
    }

    pub(super) fn unreadable(&self, part: &str, reason: String) {
        self.observer.tell(&Event::Unreadable { place: format!("{}, {part}", self.name), reason });
    }

    /// Returns the bytes at the (offset, length) stored at `at` in a row.
    fn blob(&self, row: &[u8], at: usize) -> Option<&[u8]> {
        slice(&self.data, u64_at(row, at)?, u64_at(row, at + 8)?)
    }

    /// Returns the bytes at the (offset, length, hash) stored at `at` in a row, if they match the hash.
    pub(super) fn hashed_blob(&self, row: &[u8], at: usize) -> Option<&[u8]> {
        self.blob(row, at).filter(|bytes| hash(bytes) == row[at + 16..at + 48])
    }
}

/// Returns offset and length of the program in a row.
fn program_place(row: &[u8]) -> Option<(usize, usize)> {
    Some((u64_at(row, PROGRAM_AT)?, u64_at(row, PROGRAM_AT + 8)?))
}

/// Names the entry in a row for messages.
fn entry_part(row: &[u8]) -> String {
    let digits: String = row[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("entry `{digits}`")
}
