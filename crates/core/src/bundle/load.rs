//! Loads one pack, and reads a whole bundle.

use std::sync::{Arc, Mutex, PoisonError};

use super::find::{PACK_AT, Row};
use super::write::index_rows;
use super::{Bundle, Seen};
use crate::event::{Event, Observer};
use crate::key::RecordId;
use crate::record::Record;
use crate::trace::outcome;

/// Says why a pack was not loaded. All are a miss to the caller.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleLoadError {
    /// The bundle has no such record, or has lost it.
    #[error("{name} has no record `{}`", record.short())]
    Missing {
        /// The bundle.
        name: String,
        /// The record.
        record: RecordId,
    },
    /// The bundle is of a static program, and this is another.
    #[error("the modules of record `{}` are linked into the program that {name} was made for", record.short())]
    Linked {
        /// The bundle.
        name: String,
        /// The record.
        record: RecordId,
    },
    /// The pack is damaged.
    #[error("{name} is damaged: the pack of record `{}` does not hash to its hash\n{}", record.short(), Bundle::HINT)]
    Damaged {
        /// The bundle.
        name: String,
        /// The record.
        record: RecordId,
    },
}

crate::debug_as_chain!(BundleLoadError);

impl Bundle {
    /// Gives the shared object of a record, verified.
    ///
    /// # Errors
    ///
    /// The record is not of this bundle, or its pack is damaged.
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
                self.damaged(&format!("pack of record `{}`", id.short()), "it does not hash to its hash");
                Err(BundleLoadError::Damaged { name: self.name.clone(), record: id })
            }
        }
    }

    /// Reads and verifies everything. Gives what it found; the observer is told too. Empty: the bundle is intact.
    #[must_use]
    pub fn verify(&self) -> Vec<Event> {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let (sink, observer) = (Arc::clone(&events), self.observer.clone());
        let mut listening = self.clone();
        listening.seen = Arc::new(Seen::new(self.head.pages));
        // Page hashes that are damaged are all that can be found then.
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
        // Of an empty bundle nobody else asks.
        self.hashes();
        let rows = self.all_rows(&self.head.rows);
        self.intact_pages(&self.head.programs);
        self.check_tables(&rows);
        for row in rows.into_iter().filter_map(Row::new) {
            if self.pack(&row).is_none() {
                self.damaged(&format!("pack of record `{}`", row.id.short()), "it does not hash to its hash");
            }
        }
    }

    /// Compares the tables with what they speak of: a row that leads elsewhere costs somebody a module.
    fn check_tables(&self, rows: &[&[u8]]) {
        // What these cannot give, they tell.
        let (records, entries, index) = (self.records(), self.entries(), self.all_rows(&self.head.index));
        let whole = records.len() == self.head.rows.count && index.len() == self.head.index.count;
        if whole && index_rows(records.iter()) != index {
            self.damaged("index", "it does not lead to the modules that the records have");
        }
        for (name, rows) in [("rows", rows), ("names", &self.all_rows(&self.head.names))] {
            if !rows.is_sorted_by(|a, b| a[..32] < b[..32]) {
                self.damaged(name, "they are not sorted");
            }
        }
        for entry in &entries {
            if self.find_entry(&entry.name).as_ref() != Some(entry) {
                self.damaged(&format!("entry `{}`", entry.name), "its name leads elsewhere");
            }
        }
    }

    fn pack(&self, row: &Row<'_>) -> Option<&[u8]> {
        self.hashed_blob(row.bytes, PACK_AT)
    }
}
