//! Writes a bundle: sorts the records and entries, lays out the tables, hashes the pages, and hashes the head.

use std::collections::{BTreeMap, BTreeSet};

use super::head::{
    FORMAT, GENERATOR_AT, GENERATOR_LIMIT, HASH_AT, INDEX, KINDS, MAGIC, NAMES, PROGRAMS, ROOT_AT, ROWS,
    SECTION, hash, hash_head,
};
use crate::key::{BuildKey, ContentId, RecordId};
use crate::record::{Entry, EntryNameError, ParseRecordError, Record, check_entry_name, documents_bytes};

/// The reason why a bundle cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteBundleError {
    /// A record contradicts itself.
    #[error("record `{}` is inconsistent", record.short())]
    Record {
        /// The record.
        record: RecordId,
        /// The contradiction.
        source: ParseRecordError,
    },
    /// A member has no document.
    #[error("missing document for member `{}` of record `{}`", key.short(), record.short())]
    NoDocument {
        /// The record.
        record: RecordId,
        /// The member.
        key: BuildKey,
    },
    /// A record was passed twice, with different shared objects.
    #[error("record `{}` has two different shared objects", record.short())]
    Conflict {
        /// The record.
        record: RecordId,
    },
    /// The name of an entry is invalid.
    #[error(transparent)]
    EntryName(#[from] EntryNameError),
    /// Two different entries have the same name.
    #[error("two different entries are named `{name}`")]
    EntryTwice {
        /// The name.
        name: String,
    },
    /// The generator's name is too long.
    #[error("the generator name has {found} bytes, expected at most {GENERATOR_LIMIT}")]
    Generator {
        /// Its length, in bytes.
        found: usize,
    },
    /// There are more records than a row number can address.
    #[error("found {found} records, expected at most 4294967295")]
    TooMany {
        /// The number of records.
        found: usize,
    },
}

/// Writes a bundle of `records`, each with its `unit.so`, and `entries`. Their order does not matter, and duplicates are
/// written once.
///
/// # Errors
///
/// A record lacks a document or contradicts itself, a name is invalid or used twice, or a limit of the format is exceeded.
pub fn write_bundle(
    records: &[(Record, Vec<u8>)],
    entries: &[Entry],
    generator: &str,
) -> Result<Vec<u8>, WriteBundleError> {
    if generator.len() > GENERATOR_LIMIT {
        return Err(WriteBundleError::Generator { found: generator.len() });
    }
    let records = sort_records(records)?;
    let entries = sort_entries(entries)?;
    u32::try_from(records.len()).map_err(|_| WriteBundleError::TooMany { found: records.len() })?;
    let index = index_rows(records.values().map(|item| item.of));
    let programs: Vec<u8> = entries.values().flat_map(|(program, _)| program).copied().collect();
    let pages =
        [(index.len(), INDEX), (records.len(), ROWS), (entries.len(), NAMES), (programs.len(), PROGRAMS)];
    let page_count: usize = pages.iter().map(|(count, (_, per_page))| count.div_ceil(*per_page)).sum();
    // The blobs begin after the head, the page hashes and the three tables.
    let tables: usize = pages[..3].iter().map(|(count, (row, _))| count * row).sum();
    let mut blobs = Blobs { base: head_bytes(generator) + 32 * page_count + tables, ..Blobs::default() };
    let mut rows: Vec<Vec<u8>> = records
        .iter()
        .map(|(id, item)| [id.as_bytes().as_slice(), &blobs.put(&item.record)].concat())
        .collect();
    let mut ends = vec![blobs.end()];
    for (row, item) in rows.iter_mut().zip(records.values()) {
        row.extend(blobs.put_hashed(&item.documents));
    }
    ends.push(blobs.end());
    for (row, item) in rows.iter_mut().zip(records.values()) {
        row.extend(blobs.put_hashed(item.pack));
    }
    ends.push(blobs.end());
    let mut names: Vec<Vec<u8>> = entries
        .iter()
        .map(|(name, (program, _))| [name.as_bytes().as_slice(), &blobs.put(program)].concat())
        .collect();
    ends.push(blobs.end());
    for (row, (_, declared)) in names.iter_mut().zip(entries.values()) {
        row.extend(blobs.put_hashed(declared));
    }
    ends.push(blobs.end());
    Ok(assemble(generator, [(index, INDEX), (rows, ROWS), (names, NAMES)], &programs, &blobs, &ends))
}

struct Item<'a> {
    of: &'a Record,
    record: Vec<u8>,
    documents: Vec<u8>,
    pack: &'a [u8],
}

fn sort_records(records: &[(Record, Vec<u8>)]) -> Result<BTreeMap<RecordId, Item<'_>>, WriteBundleError> {
    let mut sorted: BTreeMap<RecordId, Item<'_>> = BTreeMap::new();
    for (of, pack) in records {
        let record = of.to_bytes();
        let id = Record::id_of(&record);
        of.check().map_err(|source| WriteBundleError::Record { record: id, source })?;
        if let Some(member) = of.members.iter().find(|member| member.document.is_none()) {
            return Err(WriteBundleError::NoDocument { record: id, key: member.key });
        }
        let documents = documents_bytes(of).unwrap_or_default();
        match sorted.get(&id) {
            Some(item) if item.pack != pack || item.documents != documents => {
                return Err(WriteBundleError::Conflict { record: id });
            }
            Some(_) => {}
            None => drop(sorted.insert(id, Item { of, record, documents, pack })),
        }
    }
    Ok(sorted)
}

/// The parts of each entry: the program and the declared graph, by the hash of the name.
type Parts = BTreeMap<ContentId, (Vec<u8>, Vec<u8>)>;

fn sort_entries(entries: &[Entry]) -> Result<Parts, WriteBundleError> {
    let mut sorted = BTreeMap::new();
    for entry in entries {
        check_entry_name(&entry.name)?;
        let parts = entry.to_parts();
        let before = sorted.insert(ContentId::of(&entry.name), parts.clone());
        if before.is_some_and(|before| before != parts) {
            return Err(WriteBundleError::EntryTwice { name: entry.name.clone() });
        }
    }
    Ok(sorted)
}

/// Returns the rows of the index for records in this order.
pub(super) fn index_rows<'r>(records: impl Iterator<Item = &'r Record>) -> Vec<Vec<u8>> {
    let mut keys = BTreeSet::new();
    for (number, record) in records.enumerate() {
        for member in &record.members {
            let fingerprints = member.fingerprints.iter().map(|fingerprint| *fingerprint.as_bytes());
            for key in fingerprints.chain([*member.key.as_bytes()]) {
                keys.insert((key, number as u32, member.slot));
            }
        }
    }
    let row = |(key, number, slot): &([u8; 32], u32, u32)| {
        [&key[..], &number.to_le_bytes(), &slot.to_le_bytes()].concat()
    };
    keys.iter().map(row).collect()
}

/// The bytes after the tables.
#[derive(Default)]
struct Blobs {
    base: usize,
    bytes: Vec<u8>,
}

impl Blobs {
    fn end(&self) -> usize {
        self.base + self.bytes.len()
    }

    /// Appends bytes and returns their (offset, length).
    fn put(&mut self, bytes: &[u8]) -> Vec<u8> {
        let place = [number(self.end()), number(bytes.len())].concat();
        self.bytes.extend_from_slice(bytes);
        place
    }

    /// Appends bytes and returns their (offset, length, hash).
    fn put_hashed(&mut self, bytes: &[u8]) -> Vec<u8> {
        [self.put(bytes).as_slice(), &hash(bytes)].concat()
    }
}

/// Returns the length of the head, in bytes.
fn head_bytes(generator: &str) -> usize {
    GENERATOR_AT + generator.len() + SECTION * KINDS
}

fn number(value: usize) -> [u8; 8] {
    (value as u64).to_le_bytes()
}

type Rows = (Vec<Vec<u8>>, (usize, usize));

fn assemble(generator: &str, tables: [Rows; 3], programs: &[u8], blobs: &Blobs, ends: &[usize]) -> Vec<u8> {
    let pages = tables.iter().flat_map(|(rows, (_, per_page))| rows.chunks(*per_page));
    let pages = pages.map(|page| hash(&page.concat())).chain(programs.chunks(PROGRAMS.1).map(hash));
    let hashes: Vec<u8> = pages.flatten().collect();
    let mut at = head_bytes(generator);
    let mut sections = Vec::with_capacity(KINDS);
    let lengths = tables.iter().map(|(rows, (row, _))| rows.len() * row);
    for len in std::iter::once(hashes.len()).chain(lengths) {
        sections.push((at, len));
        at += len;
    }
    for end in ends {
        sections.push((at, end - at));
        at = *end;
    }
    let mut data = Vec::with_capacity(blobs.end());
    data.extend_from_slice(MAGIC);
    data.extend(FORMAT.to_le_bytes());
    data.extend(FORMAT.to_le_bytes());
    data.extend(number(blobs.end()));
    data.extend((generator.len() as u32).to_le_bytes());
    data.extend((sections.len() as u32).to_le_bytes());
    data.resize(ROOT_AT, 0);
    data.extend(hash(&hashes));
    data.extend_from_slice(generator.as_bytes());
    for (kind, (offset, len)) in (1_u32..).zip(sections) {
        data.extend(kind.to_le_bytes());
        data.extend(0_u32.to_le_bytes());
        data.extend(number(offset));
        data.extend(number(len));
    }
    let head = hash_head(&data);
    data[HASH_AT..ROOT_AT].copy_from_slice(&head);
    data.extend(hashes);
    data.extend(tables.into_iter().flat_map(|(rows, _)| rows.concat()));
    data.extend_from_slice(&blobs.bytes);
    data
}
