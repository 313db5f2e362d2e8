//! Tables of signatures and functions that are read without a lock while others add to them.
//!
//! # Layout
//! A table is a row of entries that ends with a word of 0. New entries are put *before* the old ones, and publishing them
//! is storing the new beginning into one atomic pointer. So what a reader has is never written again, an old beginning
//! is a valid table of its own, and the newest entry of a signature is the one that is found:
//! ```text
//!            ┌ published
//! [ free … ] [entry 3] [entry 2] [entry 1] [0]
//!                      └ what a slower reader still has
//! ```
//! When the room in front is used up, the entries move to memory twice as large. The old memory is kept until the cell is
//! dropped, since a reader may be scanning it: all that is retired is smaller than what is in use.
//!
//! C reads the same: [`TableCell`] begins with the pointer (`pc_native_cell`), and `pc_native_find` scans what it points to.
//!
//! # Why a scan ends in bounds
//! A word is compared only if all words of the needle before it were equal, and no word of a needle is 0: the first is no
//! NUL, number 0 or NULL, later ones begin with the mark of continued chunks. So a scan never passes the final 0. Words from
//! elsewhere are checked to have that 0 and whole entries before it ([`Table::check`]).

use super::encoding::{Encoding, Key, Text, Verbatim};
use super::needle::MAX_WORDS;
use super::signature::Signature;
use super::words::Word;
use std::marker::PhantomData;

/// A table as it was at one moment.
pub struct Table<'a, E: Encoding = Text> {
    pub(super) start: *const Word,
    pub(super) of: PhantomData<(&'a [u64], E)>,
}

/// Words that are no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("damaged table of signatures: no valid entry and no end at word {at}")]
pub struct DamagedTableError {
    /// Position of the word.
    pub at: usize,
}

impl<E: Encoding> Table<'_, E> {
    /// The payload of a signature: the address of its function, as a rule.
    #[must_use]
    #[inline]
    pub fn find(&self, key: &Key<E>) -> Option<u64> {
        let words = key.words();
        let mut at = 0;
        loop {
            let first = self.word(at);
            if first == words[0] && self.goes_on(at, words) {
                // The payload is the last word of the entry; where the layout has a label, that is before it.
                return Some(self.word(at + words.len() + E::STEP - 2));
            }
            if first == 0 {
                return None;
            }
            at += E::STEP;
        }
    }

    /// The payload of a signature whose key is this one word, for callers that keep no more of it.
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

    /// Whether the words after the first are those from `at` on.
    #[inline]
    fn goes_on(&self, at: usize, words: &[u64]) -> bool {
        (1..words.len()).all(|next| self.word(at + next) == words[next])
    }

    #[inline]
    fn word(&self, at: usize) -> u64 {
        // SAFETY: the module's text says why each scan stays before the final 0 of the table.
        let word = unsafe { self.start.add(at) };
        // SAFETY: the lifetime keeps the memory, which was written before the beginning was published, and never after.
        unsafe { Word::get(word) }
    }
}

impl<'a, E: Verbatim> Table<'a, E> {
    /// A table in memory of C.
    ///
    /// # Safety
    /// `words` is the beginning of a valid table (`pc_native_check_table`) that stays unchanged for `'a`.
    #[must_use]
    pub unsafe fn from_raw(words: *const u64) -> Self {
        Self { start: words.cast(), of: PhantomData }
    }

    /// A table in words from elsewhere.
    ///
    /// # Errors
    /// Words that hold an entry that is none, or that do not end with 0.
    pub fn check(words: &'a [u64]) -> Result<Self, DamagedTableError> {
        let mut at = 0;
        while words.get(at) != Some(&0) {
            let key = words.get(at..).and_then(key_words::<E>);
            let len = key.filter(|key| E::decode(key).is_some()).ok_or(DamagedTableError { at })?.len();
            at += len + 1;
        }
        Ok(Self { start: words.as_ptr().cast(), of: PhantomData })
    }

    /// The signatures and payloads, newest first.
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

/// The words of the key with which an entry begins, if the entry is there to its payload.
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

// SAFETY: a published table is only read; its words are numbers.
unsafe impl<E: Encoding> Send for Table<'_, E> {}
// SAFETY: as for `Send`.
unsafe impl<E: Encoding> Sync for Table<'_, E> {}

impl<E: Encoding> Clone for Table<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Encoding> Copy for Table<'_, E> {}
