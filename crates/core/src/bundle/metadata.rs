//! The metadata of a bundle. A look-up verifies the pages of one subject only, so large initial values cost other subjects
//! nothing.
//!
//! ```text
//! count u32
//! rows      48 each   content id of the subject's name | offset u64 | length u64     sorted
//! subjects            name str | metadata, in the order of the rows
//! ```

use super::bytes::{u32_at, u64_at};
use super::{Bundle, WriteBundleError};
use crate::event::chain;
use crate::key::ContentId;
use crate::metadata::{Metadata, Plan, PlanPort};
use crate::program::Port;
use crate::record::wire::{Kind, Reader, Writer};
use crate::record::{Entry, ParseRecordError, check_entry_name};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a row.
const ROW: usize = 48;

/// The reason why the metadata of a subject cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleMetadataError {
    /// The bytes are damaged.
    #[error(
        "{bundle} is damaged: the metadata of {} does not match its hash\n{}",
        subject(name),
        Bundle::HINT
    )]
    Damaged {
        /// The bundle.
        bundle: String,
        /// The subject.
        name: String,
    },
    /// The bytes are intact, but they are not metadata.
    #[error("cannot read the metadata of {} in {bundle}", subject(name))]
    Unreadable {
        /// The bundle.
        bundle: String,
        /// The subject.
        name: String,
        /// The reason.
        source: ParseRecordError,
    },
}

/// Names a subject in messages. The name of the bundle itself is empty.
fn subject(name: &str) -> String {
    if name.is_empty() { "the bundle".to_owned() } else { format!("`{name}`") }
}

impl Bundle {
    /// Returns the metadata of an entry, of a function of several entries, or of the bundle, whose name is empty. It is empty
    /// if the bundle states nothing.
    ///
    /// # Errors
    ///
    /// The metadata is damaged, or another version of precast wrote it.
    pub fn metadata(&self, name: &str) -> Result<Metadata, BundleMetadataError> {
        let damaged = || BundleMetadataError::Damaged { bundle: self.name.clone(), name: name.to_owned() };
        let (rows, id) = (self.metadata_rows().ok_or_else(damaged)?, ContentId::of(name));
        let Ok(at) = rows.binary_search_by(|row| row[..32].cmp(id.as_bytes())) else {
            return Ok(Metadata::default());
        };
        let bytes = self.subject(&rows[at]).ok_or_else(damaged)?;
        let read = |bytes| {
            let mut reader = Reader::within(Kind::Metadata, bytes);
            // A subject of another name has no metadata for this one.
            if reader.text()? == name { Metadata::parse(reader.rest()) } else { Ok(Metadata::default()) }
        };
        read(bytes).map_err(|source| BundleMetadataError::Unreadable {
            bundle: self.name.clone(),
            name: name.to_owned(),
            source,
        })
    }

    /// Returns the names of all subjects with readable metadata, sorted. The name of the bundle itself is empty.
    #[must_use]
    pub fn described(&self) -> Vec<String> {
        let name = |row: &[u8; ROW]| Reader::within(Kind::Metadata, self.subject(row)?).str().ok();
        let rows = self.metadata_rows().unwrap_or_default().iter();
        let mut names: Vec<String> = rows.filter_map(name).collect();
        names.sort_unstable();
        names
    }

    /// Returns the metadata of every subject that is not an entry, by name.
    #[must_use]
    pub fn functions(&self) -> BTreeMap<String, Metadata> {
        let entries = self.names();
        let others = self.described().into_iter().filter(|name| entries.binary_search(name).is_err());
        others.filter_map(|name| Some((name.clone(), self.told_metadata(&name)?))).collect()
    }

    /// Returns the metadata of a subject, or reports why it cannot be read.
    pub(super) fn told_metadata(&self, name: &str) -> Option<Metadata> {
        let part = || format!("metadata of `{name}`");
        match self.metadata(name) {
            Ok(metadata) => return Some(metadata),
            Err(BundleMetadataError::Damaged { .. }) => self.damaged(&part(), "hash mismatch"),
            Err(BundleMetadataError::Unreadable { source, .. }) => self.unreadable(&part(), chain(&source)),
        }
        None
    }

    /// Checks that every row leads to readable metadata of its subject.
    pub(super) fn check_metadata(&self) {
        let (rows, names) = (self.metadata_rows(), self.described());
        let ids: BTreeSet<ContentId> = names.iter().map(ContentId::of).collect();
        let lead = |rows: &[[u8; ROW]]| {
            rows.iter().map(|row| &row[..32]).eq(ids.iter().map(|id| &id.as_bytes()[..]))
        };
        if !rows.is_some_and(lead) {
            self.damaged("metadata", "its rows do not lead to its subjects");
        }
        for name in names {
            self.told_metadata(&name);
        }
    }

    /// Returns the verified rows. They are empty without metadata; `None` if they are damaged.
    fn metadata_rows(&self) -> Option<&[[u8; ROW]]> {
        let Some((offset, len)) = self.head.metadata else { return Some(&[]) };
        let count = u32_at(self.paged(&self.head.programs, offset, 4)?, 0)? as usize;
        let bytes = ROW.checked_mul(count).filter(|bytes| *bytes <= len.saturating_sub(4))?;
        Some(self.paged(&self.head.programs, offset + 4, bytes)?.as_chunks().0)
    }

    /// Returns the verified bytes of the subject in a row.
    fn subject(&self, row: &[u8]) -> Option<&[u8]> {
        self.paged(&self.head.programs, u64_at(row, 32)?, u64_at(row, 40)?)
    }
}

/// Returns the valid metadata of all subjects by name.
pub(super) fn collect(
    entries: &[Entry],
    functions: &BTreeMap<String, Metadata>,
) -> Result<BTreeMap<String, Metadata>, WriteBundleError> {
    let mut subjects: BTreeMap<String, Metadata> = BTreeMap::new();
    for Entry { name, metadata, program, .. } in entries {
        let ports = |ports: &[Port]| ports.iter().map(|port| port.name.clone()).collect();
        check(name, metadata, &ports(&program.inputs), &ports(&program.outputs))?;
        let before = subjects.insert(name.clone(), metadata.clone());
        if before.is_some_and(|before| before != *metadata) {
            return Err(WriteBundleError::EntryTwice { name: name.clone() });
        }
    }
    let stated = functions.iter().filter(|(_, metadata)| !metadata.is_empty());
    for (name, metadata) in stated.clone() {
        check_function(name, metadata, &subjects)?;
    }
    subjects.extend(stated.map(|(name, metadata)| (name.clone(), metadata.clone())));
    Ok(subjects)
}

/// Checks the metadata of a function of several entries, or of the bundle.
fn check_function(
    name: &str,
    metadata: &Metadata,
    entries: &BTreeMap<String, Metadata>,
) -> Result<(), WriteBundleError> {
    let plan = match &metadata.plan {
        Some(plan) => plan,
        None if name.is_empty() => &Plan::default(),
        None => return Err(WriteBundleError::Subject { name: name.to_owned() }),
    };
    if !name.is_empty() {
        check_entry_name(name)?;
    }
    if entries.contains_key(name) {
        return Err(WriteBundleError::FunctionIsEntry { name: name.to_owned() });
    }
    if let Some(entry) = plan.entries().find(|called| !entries.contains_key(*called)) {
        return Err(WriteBundleError::PlanEntry { name: name.to_owned(), entry: entry.to_owned() });
    }
    let ports = |ports: &[PlanPort]| ports.iter().map(|port| port.name.clone()).collect();
    check(name, metadata, &ports(&plan.inputs), &ports(&plan.outputs))
}

/// Checks metadata that describes a function with these inputs and outputs.
fn check(
    name: &str,
    metadata: &Metadata,
    inputs: &BTreeSet<String>,
    outputs: &BTreeSet<String>,
) -> Result<(), WriteBundleError> {
    let checked = metadata.check().and_then(|()| metadata.check_ports(inputs, outputs));
    checked.map_err(|source| WriteBundleError::Metadata { name: name.to_owned(), source })
}

/// Renders the section of metadata that begins at `offset` in the file. Empty metadata is left out; a section without rows
/// has no bytes.
pub(super) fn section(offset: usize, metadata: &BTreeMap<String, Metadata>) -> Vec<u8> {
    let stated = metadata.iter().filter(|(_, metadata)| !metadata.is_empty());
    let subjects: BTreeMap<ContentId, Vec<u8>> = stated
        .map(|(name, metadata)| {
            let mut writer = Writer::within();
            writer.str(name);
            (ContentId::of(name), [writer.finish(), metadata.to_bytes()].concat())
        })
        .collect();
    if subjects.is_empty() {
        return Vec::new();
    }
    let mut rows = (subjects.len() as u32).to_le_bytes().to_vec();
    let mut at = offset + 4 + ROW * subjects.len();
    for (name, subject) in &subjects {
        rows.extend_from_slice(name.as_bytes());
        rows.extend((at as u64).to_le_bytes());
        rows.extend((subject.len() as u64).to_le_bytes());
        at += subject.len();
    }
    rows.extend(subjects.into_values().flatten());
    rows
}
