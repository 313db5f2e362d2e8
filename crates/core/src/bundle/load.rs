//! Loads one pack, and reads a whole bundle.

use std::sync::{Arc, Mutex, PoisonError};

use super::find::{PACK_AT, Row};
use super::write::index_rows;
use super::{Bundle, Seen};
use crate::event::{Event, Observer};
use crate::key::RecordId;
use crate::record::Record;
use crate::trace::outcome;

/// The reason why a pack was not loaded. Each is a miss for the caller.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleLoadError {
    /// The record is not in the bundle, or its row is damaged.
    #[error("{name} has no record `{}`", record.short())]
    Missing {
        /// The bundle.
        name: String,
        /// The record.
        record: RecordId,
    },
    /// The modules are linked into a static program, and this program is not that one.
    #[error("cannot load record `{}` of {name}: its modules are linked into another program", record.short())]
    Linked {
        /// The bundle.
        name: String,
        /// The record.
        record: RecordId,
    },
    /// The pack is corrupt.
    #[error("{name} is damaged: hash mismatch in the pack of record `{}`\n{}", record.short(), Bundle::HINT)]
    Damaged {
        /// The bundle.
        name: String,
        /// The record.
        record: RecordId,
    },
}

crate::debug_as_chain!(BundleLoadError);

impl Bundle {
    /// Returns the verified shared object of a record.
    ///
    /// # Errors
    ///
    /// The record is not in this bundle, its modules are linked into another program, or its pack is damaged.
    pub fn load(&self, record: &Record) -> Result<&[u8], BundleLoadError> {
        let span = crate::span!("verify", variant = record.isa.as_str(); bytes, outcome);
        let loaded = self.load_pack(record);
        span.record("bytes", loaded.as_ref().map_or(0, |bytes| bytes.len()) as u64);
        span.record("outcome", outcome(&loaded));
        loaded
    }

    fn load_pack(&self, record: &Record) -> Result<&[u8], BundleLoadError> {
        let id = record.id();
        let rows = self.find_rows(&self.head.rows, id.as_bytes());
        let Some(row) = rows.first() else {
            return Err(BundleLoadError::Missing { name: self.name.clone(), record: id });
        };
        match self.hashed_blob(row, PACK_AT) {
            Some([]) => Err(BundleLoadError::Linked { name: self.name.clone(), record: id }),
            Some(pack) => Ok(pack),
            None => {
                self.damaged(&format!("pack of record `{}`", id.short()), "hash mismatch");
                Err(BundleLoadError::Damaged { name: self.name.clone(), record: id })
            }
        }
    }

    /// Reads and verifies the whole bundle. Returns the events found and also passes them to the observer. An intact bundle
    /// has none.
    #[must_use]
    pub fn verify(&self) -> Vec<Event> {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let (sink, observer) = (Arc::clone(&events), self.observer.clone());
        let mut listening = self.clone();
        listening.seen = Arc::new(Seen::new(self.head.pages));
        // Damaged page hashes hide all other damage, so an observer that already got this event gets no new ones.
        let is_told = self.seen.hashes.get() == Some(&false);
        listening.observer = Observer::new(move |event| {
            if !is_told {
                observer.tell(event);
            }
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        });
        listening.read_all();
        if listening.seen.hashes.get() == Some(&false) {
            let _ = self.seen.hashes.set(false);
        }
        std::mem::take(&mut events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn read_all(&self) {
        // An empty bundle has no page whose look-up would check the page hashes.
        self.hashes();
        let rows = self.all_rows(&self.head.rows);
        self.intact_pages(&self.head.programs);
        self.check_tables(&rows);
        self.check_metadata();
        for row in rows.into_iter().filter_map(Row::new) {
            if self.pack(&row).is_none() {
                self.damaged(&format!("pack of record `{}`", row.id.short()), "hash mismatch");
            }
        }
    }

    /// Checks that every row of the tables leads to the right record or entry. A wrong row would hide a module.
    fn check_tables(&self, rows: &[&[u8]]) {
        // These calls report whatever they cannot read.
        let (records, entries, index) = (self.records(), self.entries(), self.all_rows(&self.head.index));
        let whole = records.len() == self.head.rows.count && index.len() == self.head.index.count;
        if whole && index_rows(records.iter()) != index {
            self.damaged("index", "does not match the modules of the records");
        }
        for (name, rows) in [("rows", rows), ("names", &self.all_rows(&self.head.names))] {
            if !rows.is_sorted_by(|a, b| a[..32] < b[..32]) {
                self.damaged(name, "not sorted");
            }
        }
        for entry in &entries {
            if self.find_entry(&entry.name).as_ref() != Some(entry) {
                self.damaged(&format!("entry `{}`", entry.name), "indexed under another name");
            }
        }
    }

    fn pack(&self, row: &Row<'_>) -> Option<&[u8]> {
        self.hashed_blob(row.bytes, PACK_AT)
    }
}
