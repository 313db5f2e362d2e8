//! Tables of signatures and functions that are read without a lock while other threads add entries.
//!
//! # Layout
//! A table is a sequence of entries that ends with a zero word. New entries are placed *before* the old ones, and a
//! store of the new start to one atomic pointer publishes them. So published words are never written again, an old
//! start remains a valid table, and a lookup finds the newest entry of a signature:
//! ```text
//!            ┌ published
//! [ free … ] [entry 3] [entry 2] [entry 1] [0]
//!                      └ start held by a slower reader
//! ```
//! When the free space is used up, the entries move to an allocation twice as large. The old memory is kept until the
//! cell is dropped, since a reader may still be scanning it. All retired memory together is smaller than the memory in
//! use.
//!
//! C reads the same memory: [`TableCell`] starts with the pointer (`pc_native_cell`), and `pc_native_find` scans from
//! there.
//!
//! # Why a scan stays in bounds
//! A word is compared only if all previous words of the needle matched, and no word of a needle is 0. The first word is
//! never a NUL text, number 0 or NULL, and later words start with the mark of continued chunks. So a scan never passes
//! the final 0. For words from other sources, [`Table::check`] verifies that whole entries and that 0 are present.

use super::encoding::{Encoding, Key, Text, Verbatim};
use super::needle::MAX_WORDS;
use super::signature::Signature;
use super::words::Word;
use std::marker::PhantomData;

/// A snapshot of a table.
pub struct Table<'a, E: Encoding = Text> {
    pub(super) start: *const Word,
    pub(super) of: PhantomData<(&'a [u64], E)>,
}

/// An error: the words are not a valid table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("damaged signature table: neither a valid entry nor the end at word {at}")]
pub struct DamagedTableError {
    /// The position of the word.
    pub at: usize,
}

impl<E: Encoding> Table<'_, E> {
    /// Returns the payload of a signature, usually the address of its function.
    #[must_use]
    #[inline]
    pub fn find(&self, key: &Key<E>) -> Option<u64> {
        let words = key.words();
        let mut at = 0;
        loop {
            let first = self.word(at);
            if first == words[0] && self.goes_on(at, words) {
                // The payload is the last word of the entry; a label, if the layout has one, precedes it.
                return Some(self.word(at + words.len() + E::STEP - 2));
            }
            if first == 0 {
                return None;
            }
            at += E::STEP;
        }
    }

    /// Returns the payload of a signature whose key is this single word, for callers that store only the word.
    #[must_use]
    #[inline]
    pub fn find_word(&self, word: u64) -> Option<u64> {
        let mut at = 0;
        loop {
            let first = self.word(at);
            if first == word && word != 0 {
                return Some(self.word(at + E::STEP - 1));
            }
            if first == 0 {
                return None;
            }
            at += E::STEP;
        }
    }

    /// Returns whether the table continues with all words after the first of `words`, given the entry at `at`.
    #[inline]
    fn goes_on(&self, at: usize, words: &[u64]) -> bool {
        (1..words.len()).all(|next| self.word(at + next) == words[next])
    }

    #[inline]
    fn word(&self, at: usize) -> u64 {
        // SAFETY: the module documentation explains why a scan stays before the final 0 of the table.
        let word = unsafe { self.start.add(at) };
        // SAFETY: the lifetime keeps the memory alive. It was written before the start was published, and never after.
        unsafe { Word::get(word) }
    }
}

impl<'a, E: Verbatim> Table<'a, E> {
    /// Creates a table over memory owned by C.
    ///
    /// # Safety
    /// `words` must be the start of a valid table (`pc_native_check_table`) that does not change during `'a`.
    #[must_use]
    pub unsafe fn from_raw(words: *const u64) -> Self {
        Self { start: words.cast(), of: PhantomData }
    }

    /// Creates a table over untrusted words after checking them.
    ///
    /// # Errors
    /// Fails if the words contain an invalid entry or do not end with 0.
    pub fn check(words: &'a [u64]) -> Result<Self, DamagedTableError> {
        let mut at = 0;
        while words.get(at) != Some(&0) {
            let key = words.get(at..).and_then(key_words::<E>);
            let len = key.filter(|key| E::decode(key).is_some()).ok_or(DamagedTableError { at })?.len();
            at += len + 1;
        }
        Ok(Self { start: words.as_ptr().cast(), of: PhantomData })
    }

    /// Returns the signatures and payloads, newest first.
    pub fn entries(self) -> impl Iterator<Item = (Signature, u64)> + use<'a, E> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (mut words, mut len) = (Vec::new(), 0);
            while self.word(at) != 0 && key_words::<E>(&words).is_none() {
                words.push(self.word(at + len));
                len += 1;
            }
            let signature = E::decode(key_words::<E>(&words)?)?;
            at += len;
            Some((signature, words[len - 1]))
        })
    }
}

/// Returns the key words at the start of an entry, if the entry is complete including its payload.
fn key_words<E: Verbatim>(words: &[u64]) -> Option<&[u64]> {
    let last = words.iter().take(MAX_WORDS).position(|word| E::is_last(*word))?;
    let key = words.get(..(last + 1) | 1)?;
    (words.len() > key.len()).then_some(key)
}

impl<E: Encoding> std::fmt::Debug for Table<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("start", &self.start).finish()
    }
}

// SAFETY: a published table is only read, and its words are plain numbers.
unsafe impl<E: Encoding> Send for Table<'_, E> {}
// SAFETY: as for `Send`.
unsafe impl<E: Encoding> Sync for Table<'_, E> {}

impl<E: Encoding> Clone for Table<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Encoding> Copy for Table<'_, E> {}
