//! A sorted table of fixed-size rows in pages, each page with its own hash.
//!
//! A look-up is a binary search over the first keys of the pages, and then over the rows of one page. The first search
//! reads unverified keys, so its result is checked. The page found must be intact and begin at or before the key. The pages
//! after it are read until an intact one goes beyond the key. If that check fails, every page is read and damaged pages are
//! skipped. So a damaged page can hide its own keys, but no keys of other pages.

use super::Bundle;
use super::bytes::{hash, slice};
use std::hint::select_unpredictable;

/// A table of a bundle. The offset and length have been checked against the file.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) name: &'static str,
    offset: usize,
    pub(super) count: usize,
    row: usize,
    per_page: usize,
    first_page: usize,
}

impl Table {
    /// Creates the table of a section. Returns `None` if the section is not a whole number of rows.
    pub(super) fn new(
        name: &'static str,
        (offset, len): (usize, usize),
        (row, per_page): (usize, usize),
        first_page: usize,
    ) -> Option<Self> {
        len.is_multiple_of(row).then(|| Self { name, offset, count: len / row, row, per_page, first_page })
    }

    pub(super) fn pages(&self) -> usize {
        self.count.div_ceil(self.per_page)
    }

    /// Returns the number of the page after the last page of this table, counted over all tables.
    pub(super) fn end_page(&self) -> usize {
        self.first_page + self.pages()
    }
}

type Key = [u8; 32];

/// Returns the key at the start of a row as numbers that have the same order as its bytes. Comparing the bytes would cost a
/// call.
fn numbers(row: &[u8]) -> [u64; 4] {
    let (words, _) = row.as_chunks();
    words.first_chunk().map_or([0; 4], |words: &[[u8; 8]; 4]| words.map(u64::from_be_bytes))
}

/// Returns how many of `count` sorted items come before the wanted one.
fn partition(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        // The keys are hashes, so branch prediction cannot work.
        (low, high) = select_unpredictable(is_before(middle), (middle + 1, high), (low, middle));
    }
    low
}

impl Bundle {
    /// Returns the unverified bytes of a page.
    fn raw_page(&self, table: &Table, page: usize) -> Option<&[u8]> {
        let start = page * table.per_page;
        let rows = table.per_page.min(table.count.checked_sub(start)?);
        slice(&self.data, table.offset + start * table.row, rows * table.row)
    }

    /// Returns the page hashes if they match the root. The first failure is reported.
    pub(super) fn hashes(&self) -> Option<&[u8]> {
        let hashes = slice(&self.data, self.head.hashes, 32 * self.head.pages)?;
        let is_intact = self.seen.hashes.get().copied().unwrap_or_else(|| {
            let is_intact = hash(hashes) == self.head.root;
            if self.seen.hashes.set(is_intact).is_ok() && !is_intact {
                self.damaged("page hashes", "root hash mismatch");
            }
            is_intact
        });
        is_intact.then_some(hashes)
    }

    /// Returns the bytes of a page if they match the page hash, which the root covers.
    fn page(&self, table: &Table, page: usize) -> Option<&[u8]> {
        let (bytes, number) = (self.raw_page(table, page)?, table.first_page + page);
        let expected = slice(self.hashes()?, 32 * number, 32)?;
        self.seen.is_intact(number, || hash(bytes) == expected).then_some(bytes)
    }

    /// Finds all rows that begin with a key.
    pub(super) fn find_rows(&self, table: &Table, key: &Key) -> Vec<&[u8]> {
        self.search(table, key).unwrap_or_else(|| {
            let rows = self.all_rows(table);
            rows.into_iter().filter(|row| row.starts_with(key)).collect()
        })
    }

    /// Searches without reading the whole table. Returns `None` if a damaged page is in the way.
    fn search(&self, table: &Table, key: &Key) -> Option<Vec<&[u8]>> {
        let (key, wanted) = (key.as_slice(), numbers(key));
        let begins_before = |page| self.raw_page(table, page).is_some_and(|bytes| numbers(bytes) < wanted);
        let start = partition(table.pages(), begins_before).saturating_sub(1);
        let mut found = Vec::new();
        for number in start..table.pages() {
            let page = self.page(table, number)?;
            if number == start && start > 0 && &page[..32] >= key {
                return None;
            }
            let mut rows = page.chunks_exact(table.row);
            let before = partition(rows.len(), |at| numbers(&page[at * table.row..]) < wanted);
            found.extend(rows.clone().skip(before).take_while(|row| row.starts_with(key)));
            if rows.next_back().is_some_and(|row| &row[..32] > key) {
                break;
            }
        }
        Some(found)
    }

    /// Returns the rows of all intact pages, and reports damaged pages.
    pub(super) fn all_rows(&self, table: &Table) -> Vec<&[u8]> {
        self.intact_pages(table).into_iter().flat_map(|page| page.chunks_exact(table.row)).collect()
    }

    /// Returns all intact pages, and reports damaged pages.
    pub(super) fn intact_pages(&self, table: &Table) -> Vec<&[u8]> {
        (0..table.pages()).filter_map(|number| self.told_page(table, number)).collect()
    }

    /// Returns a page, or reports that it is damaged.
    fn told_page(&self, table: &Table, number: usize) -> Option<&[u8]> {
        let page = self.page(table, number);
        if page.is_none() && self.hashes().is_some() {
            self.damaged(&format!("page {number} of the {}", table.name), "hash mismatch");
        }
        page
    }

    /// Returns the bytes at (offset, length) in a table of bytes, if the pages that they touch are intact.
    pub(super) fn paged(&self, table: &Table, offset: usize, len: usize) -> Option<&[u8]> {
        let start = offset.checked_sub(table.offset)?;
        let end = start.checked_add(len).filter(|end| *end <= table.count)?;
        let mut pages = start / table.per_page..end.div_ceil(table.per_page);
        pages.all(|number| self.told_page(table, number).is_some()).then(|| slice(&self.data, offset, len))?
    }

    /// Returns one row by its number.
    pub(super) fn row(&self, table: &Table, number: usize) -> Option<&[u8]> {
        let (page, row) = (number / table.per_page, number % table.per_page);
        if number >= table.count {
            return None;
        }
        slice(self.told_page(table, page)?, row * table.row, table.row)
    }
}
