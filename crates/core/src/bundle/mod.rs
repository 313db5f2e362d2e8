//! A bundle: a store in one file, embedded in a program or deployed beside it.
//!
//! Opening a bundle reads only the head, whatever the size of the file. The first look-up verifies the page hashes against
//! the root, which a signature of the head covers. Each look-up then verifies the pages and the record that it reads, and a
//! load verifies one shared object. So no byte is used that the root does not cover, and damage affects only the items in
//! the damaged place.
//!
//! Programs are stored in pages, so that the programs of many entries are hashed in large pieces. The declared graphs are
//! stored separately, because no loader reads them. A bundle is never modified: a new one replaces it, or another layer is
//! put before it. A file is read into memory completely, since a file that other users can write must not be mapped.
//! Numbers are little-endian and read byte by byte, so `include_bytes!` needs no alignment.
//!
//! # Layout
//!
//! ```text
//! 0    magic "precastb"                8
//! 8    version              u32        format version of the file
//! 12   min_reader           u32        lowest format version that a reader must support
//! 16   total length         u64
//! 24   generator length     u32
//! 28   number of sections   u32
//! 32   head hash            32         over bytes 0..32 and 64..end of the head; covers the whole bundle
//! 64   root                 32         hash of the page hashes
//! 96   generator            …          UTF-8
//!      sections             24 each    kind u32 | flags u32 | offset u64 | length u64; end of the head
//!   1  page hashes          32 a page  of the index, the rows, the names and the programs, in this order
//!   2  index                64 a page  key or fingerprint 32 | row u32 | slot u32            sorted
//!   3  rows                 16 a page  RecordId 32 | record (offset, length)                 sorted
//!                                      | documents (offset, length, hash) | pack (offset, length, hash)
//!   4  names                32 a page  hash of the name 32 | program (offset, length)        sorted
//!                                      | declared (offset, length, hash)
//!   5  records              each hashes to its RecordId
//!   6  documents            the key documents of a record
//!   7  packs                the unit.so of a record, raw; empty if it is linked into the program
//!   8  programs             8192 a page  the bytes of each entry up to the end of its program
//!   9  declared             the remaining bytes of each entry: the declared graph and the recipe
//!  10  metadata             optional; the end of the programs, so that its pages are under the root
//! ```
//! A reader skips a section of unknown kind if bit 0 of its flags is set, and otherwise rejects the bundle.
//!
//! The same records, shared objects and entries give the same bytes, whatever their order.

mod bytes;
mod data;
mod find;
mod head;
mod load;
mod metadata;
mod open;
mod signed;
mod table;
mod write;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::event::{Event, Observer};
use crate::record::Record;
use data::Data;
pub(crate) use data::Piece;
use head::Head;

pub use head::FORMAT;
pub use load::BundleLoadError;
pub use metadata::BundleMetadataError;
pub use open::{OpenBundleError, has_generator};
pub use signed::BundleSignatureError;
pub use write::{Contents, WriteBundleError, write_bundle};

/// An open bundle. Safe to share between threads.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// The name in messages.
    name: String,
    data: Data,
    head: Head,
    seen: Arc<Seen>,
    observer: Observer,
}

/// The parts that have been verified. One check is enough, since other processes cannot write to a bundle in memory.
#[derive(Debug)]
struct Seen {
    /// Whether the page hashes match the root, once checked.
    hashes: OnceLock<bool>,
    /// One bit for each page.
    pages: Vec<AtomicU64>,
    /// Parsed records, by row number.
    records: Mutex<BTreeMap<u32, Arc<Record>>>,
}

impl Seen {
    /// Returns the state before any of `pages` pages is verified.
    fn new(pages: usize) -> Self {
        let pages = (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { hashes: OnceLock::new(), pages, records: Mutex::default() }
    }

    /// Returns whether a page is intact. Calls `verify` unless the page has already been verified.
    fn is_intact(&self, page: usize, verify: impl FnOnce() -> bool) -> bool {
        let (Some(word), bit) = (self.pages.get(page / 64), 1 << (page % 64)) else { return false };
        if word.load(Ordering::Relaxed) & bit != 0 {
            return true;
        }
        let is_intact = verify();
        if is_intact {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        is_intact
    }
}

impl Bundle {
    /// Returns the `generator` that was passed to [`write_bundle`].
    #[must_use]
    pub fn generator(&self) -> &str {
        &self.head.generator
    }

    /// Returns the name in messages: `the embedded bundle`, or the path.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes of the whole bundle, which are the signed content.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// Returns the hash of the head. It identifies the bytes of the bundle, because it covers the hashes of all parts.
    #[must_use]
    pub fn head_hash(&self) -> &[u8] {
        &self.data[head::HASH_AT..head::ROOT_AT]
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.rows.count
    }

    /// Returns the number of entries, with those that cannot be read.
    pub(crate) fn entry_count(&self) -> usize {
        self.head.names.count
    }

    /// Returns whether the bundle has no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Passes every [`Event`] to `observer` from now on. It replaces the previous observer.
    #[must_use]
    pub fn on_event(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.observer = Observer::new(observer);
        self
    }

    fn damaged(&self, part: &str, reason: impl Into<String>) {
        let place = format!("{}, {part}", self.name);
        self.observer.tell(&Event::Damaged { place, reason: reason.into(), quarantined: None });
    }
}
