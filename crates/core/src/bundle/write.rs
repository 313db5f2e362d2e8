//! Writes a bundle: sorts the records and entries, lays out the tables, hashes the pages, and hashes the head.

use std::collections::{BTreeMap, BTreeSet};

use super::bytes::hash;
use super::head::{
    FORMAT, GENERATOR_AT, GENERATOR_LIMIT, HASH_AT, INDEX, KINDS, MAGIC, METADATA, NAMES, OPTIONAL, PROGRAMS,
    ROOT_AT, ROWS, SECTION, WITH_METADATA, hash_head,
};
use super::metadata;
use crate::key::{BuildKey, ContentId, RecordId};
use crate::metadata::{Metadata, MetadataError};
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
    /// The metadata of an entry, of a function or of the bundle is invalid.
    #[error("the metadata of `{name}` is invalid")]
    Metadata {
        /// The entry or the function; empty for the bundle.
        name: String,
        /// The defect.
        source: MetadataError,
    },
    /// Metadata describes a name that is neither an entry nor a function.
    #[error("metadata describes `{name}`, which is neither an entry nor a function with a plan")]
    Subject {
        /// The name.
        name: String,
    },
    /// A function of several entries has the name of an entry.
    #[error("`{name}` is an entry and a function of several entries")]
    FunctionIsEntry {
        /// The name.
        name: String,
    },
    /// A plan calls an entry that the bundle does not have.
    #[error("the plan of `{name}` calls entry `{entry}`, which is not in the bundle")]
    PlanEntry {
        /// The function.
        name: String,
        /// The missing entry.
        entry: String,
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

/// The contents of a bundle. The order of records and entries does not matter, and duplicates are written once.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    /// The records, each with its `unit.so`.
    pub records: &'a [(Record, Vec<u8>)],
    /// The named graphs, with their metadata.
    pub entries: &'a [Entry],
    /// The metadata of functions of several entries, by name, and of the bundle itself, whose name is empty.
    pub functions: &'a BTreeMap<String, Metadata>,
    /// The name and version of the writer.
    pub generator: &'a str,
}

/// Writes a bundle of `records` and `entries`; see [`Contents::write`].
///
/// # Errors
///
/// As [`Contents::write`].
pub fn write_bundle(
    records: &[(Record, Vec<u8>)],
    entries: &[Entry],
    generator: &str,
) -> Result<Vec<u8>, WriteBundleError> {
    Contents { records, entries, functions: &BTreeMap::new(), generator }.write()
}

impl Contents<'_> {
    /// Writes the bundle.
    ///
    /// # Errors
    ///
    /// A record lacks a document or contradicts itself, a name is invalid or used twice, metadata is invalid, or a limit of
    /// the format is exceeded.
    pub fn write(&self) -> Result<Vec<u8>, WriteBundleError> {
        write(self)
    }
}

fn write(contents: &Contents<'_>) -> Result<Vec<u8>, WriteBundleError> {
    let Contents { records, entries, functions, generator } = *contents;
    if generator.len() > GENERATOR_LIMIT {
        return Err(WriteBundleError::Generator { found: generator.len() });
    }
    let records = sort_records(records)?;
    let described = metadata::collect(entries, functions)?;
    let entries = sort_entries(entries)?;
    u32::try_from(records.len()).map_err(|_| WriteBundleError::TooMany { found: records.len() })?;
    let index = index_rows(records.values().map(|item| item.of));
    // The length of the metadata does not depend on its place.
    let metadata_len = metadata::section(0, &described).len();
    let programs_len = entries.values().map(|(program, _)| program.len()).sum::<usize>() + metadata_len;
    let pages =
        [(index.len(), INDEX), (records.len(), ROWS), (entries.len(), NAMES), (programs_len, PROGRAMS)];
    let page_count: usize = pages.iter().map(|(count, (_, per_page))| count.div_ceil(*per_page)).sum();
    // The blobs begin after the head, the page hashes and the three tables.
    let tables: usize = pages[..3].iter().map(|(count, (row, _))| count * row).sum();
    let base = head_bytes(generator, metadata_len) + 32 * page_count + tables;
    let mut blobs = Blobs { base, ..Blobs::default() };
    let mut rows: Vec<Vec<u8>> = records
        .iter()
        .map(|(id, item)| [id.as_bytes().as_slice(), &blobs.put(&item.record)].concat())
        .collect();
    let records_end = blobs.end();
    for (row, item) in rows.iter_mut().zip(records.values()) {
        row.extend(blobs.put_hashed(&item.documents));
    }
    let documents_end = blobs.end();
    for (row, item) in rows.iter_mut().zip(records.values()) {
        row.extend(blobs.put_hashed(item.pack));
    }
    let packs_end = blobs.end();
    let mut names: Vec<Vec<u8>> = entries
        .iter()
        .map(|(name, (program, _))| [name.as_bytes().as_slice(), &blobs.put(program)].concat())
        .collect();
    let section = metadata::section(blobs.end(), &described);
    blobs.put(&section);
    let programs_end = blobs.end();
    for (row, (_, declared)) in names.iter_mut().zip(entries.values()) {
        row.extend(blobs.put_hashed(declared));
    }
    let ends = [records_end, documents_end, packs_end, programs_end, blobs.end()];
    let tables = [(index, INDEX), (rows, ROWS), (names, NAMES)];
    Ok(assemble(generator, tables, &blobs, &ends, metadata_len))
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
fn head_bytes(generator: &str, metadata_len: usize) -> usize {
    GENERATOR_AT + generator.len() + SECTION * (KINDS + usize::from(metadata_len > 0))
}

fn number(value: usize) -> [u8; 8] {
    (value as u64).to_le_bytes()
}

type Rows = (Vec<Vec<u8>>, (usize, usize));

/// Joins the parts of the file. `ends` are those of the records and of the sections after them.
fn assemble(
    generator: &str,
    tables: [Rows; 3],
    blobs: &Blobs,
    ends: &[usize; 5],
    metadata_len: usize,
) -> Vec<u8> {
    let [_, _, packs_end, programs_end, _] = *ends;
    let programs = &blobs.bytes[packs_end - blobs.base..programs_end - blobs.base];
    let pages = tables.iter().flat_map(|(rows, (_, per_page))| rows.chunks(*per_page));
    let pages = pages.map(|page| hash(&page.concat())).chain(programs.chunks(PROGRAMS.1).map(hash));
    let hashes: Vec<u8> = pages.flatten().collect();
    let mut at = head_bytes(generator, metadata_len);
    let mut sections = Vec::with_capacity(KINDS + 1);
    let lengths = tables.iter().map(|(rows, (row, _))| rows.len() * row);
    let lengths = std::iter::once(hashes.len()).chain(lengths);
    let tables_and_blobs = lengths.chain(ends.iter().scan(blobs.base, |start, end| {
        let len = end - *start;
        *start = *end;
        Some(len)
    }));
    for (kind, len) in (1_u32..).zip(tables_and_blobs) {
        sections.push((kind, 0, at, len));
        at += len;
    }
    if metadata_len > 0 {
        sections.push((METADATA, OPTIONAL, programs_end - metadata_len, metadata_len));
    }
    let format = if metadata_len > 0 { WITH_METADATA } else { FORMAT };
    let mut data = head(generator, format, blobs.end(), &hash(&hashes), &sections);
    data.extend(hashes);
    data.extend(tables.into_iter().flat_map(|(rows, _)| rows.concat()));
    data.extend_from_slice(&blobs.bytes);
    data
}

/// Renders the head. A section is (kind, flags, offset, length).
fn head(
    generator: &str,
    format: u32,
    len: usize,
    root: &[u8; 32],
    sections: &[(u32, u32, usize, usize)],
) -> Vec<u8> {
    let mut data = MAGIC.to_vec();
    data.extend(format.to_le_bytes());
    data.extend(FORMAT.to_le_bytes());
    data.extend(number(len));
    data.extend((generator.len() as u32).to_le_bytes());
    data.extend((sections.len() as u32).to_le_bytes());
    data.resize(ROOT_AT, 0);
    data.extend(root);
    data.extend_from_slice(generator.as_bytes());
    for (kind, flags, offset, len) in sections {
        data.extend(kind.to_le_bytes());
        data.extend(flags.to_le_bytes());
        data.extend(number(*offset));
        data.extend(number(*len));
    }
    let hash = hash_head(&data);
    data[HASH_AT..ROOT_AT].copy_from_slice(&hash);
    data
}
