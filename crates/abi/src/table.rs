//! CEP 1000 dispatch tables: immutable lists of signatures and pointers, scanned without a lock.
//!
//! A [`Table`] never changes. A [`TableCell`] publishes one through an atomic pointer: readers follow it and scan, writers
//! put a longer copy in its place; a replaced table is kept until the cell is dropped, so a reader never waits and never
//! sees freed memory. Tables are small (a handful of signatures for one op), and so is what is kept.

use crate::signature::Signature;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// An immutable dispatch table; each entry is a signature and a 64-bit payload, an address as a rule.
#[derive(Debug, Default)]
pub struct Table {
    /// 16 bytes each: chunk and chunk, or last chunk and payload.
    pairs: Box<[(u64, u64)]>,
}

impl Table {
    /// A table of these entries, scanned in this order: put what is called most often first.
    #[must_use]
    pub fn new(entries: &[(Signature, u64)]) -> Self {
        let mut words = Vec::new();
        for (signature, payload) in entries {
            words.extend_from_slice(signature.chunks());
            words.push(*payload);
        }
        let pairs = words.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        Self { pairs }
    }

    /// The payload of a signature.
    #[must_use]
    pub fn find(&self, needle: &Signature) -> Option<u64> {
        let chunks = needle.chunks();
        // An odd number of chunks fills this many pairs, the last one half.
        let width = chunks.len().div_ceil(2);
        let mut at = 0;
        while let Some(entry) = self.pairs.get(at..at + width) {
            if entry[0].0 == chunks[0] && Self::same(entry, chunks) {
                return Some(entry[width - 1].1);
            }
            at += 1;
        }
        None
    }

    fn same(entry: &[(u64, u64)], chunks: &[u64]) -> bool {
        let words = entry.iter().flat_map(|(a, b)| [*a, *b]);
        words.zip(chunks).all(|(word, chunk)| word == *chunk)
    }

    /// Number of 16-byte steps a full scan takes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

/// Where the current table of a callable is published.
#[derive(Debug)]
pub struct TableCell {
    current: AtomicPtr<Table>,
    /// Replaced tables: a reader may still be scanning one. Boxed so that growing the list does not move them.
    #[expect(clippy::vec_box, reason = "readers hold addresses of the tables")]
    retired: Mutex<Vec<Box<Table>>>,
}

impl Default for TableCell {
    fn default() -> Self {
        Self {
            current: AtomicPtr::new(Box::into_raw(Box::new(Table::default()))),
            retired: Mutex::new(Vec::new()),
        }
    }
}

impl TableCell {
    /// The table as it is now.
    #[must_use]
    pub fn table(&self) -> &Table {
        let table = self.current.load(Ordering::Acquire);
        // SAFETY: the pointer came from `Box::into_raw` and is freed only when the cell is dropped, which the borrow
        // of `self` rules out; a table is never written after it was published.
        unsafe { &*table }
    }

    /// Puts another table in place of the current one.
    pub fn publish(&self, table: Table) {
        let fresh = Box::into_raw(Box::new(table));
        // The lock orders writers; readers do not take it.
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.current.swap(fresh, Ordering::AcqRel);
        // SAFETY: `old` came from `Box::into_raw`, and the swap took it out of reach of later readers and writers.
        retired.push(unsafe { Box::from_raw(old) });
    }
}

impl Drop for TableCell {
    fn drop(&mut self) {
        let current = *self.current.get_mut();
        // SAFETY: the pointer came from `Box::into_raw`, and nobody else can reach the cell any more.
        drop(unsafe { Box::from_raw(current) });
    }
}
