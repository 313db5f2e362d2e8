//! What a table is searched for: one or more 64-bit words.

use super::grammar::MAX_BYTES;

/// Most words of a needle: those of the longest signature.
pub(super) const MAX_WORDS: usize = chunk_count(MAX_BYTES, 1);

/// The words of a signature in one of the encodings; their number is odd, the first is never 0.
#[derive(Debug, Clone, Copy)]
pub struct Needle {
    words: [u64; MAX_WORDS],
    len: usize,
}

impl Needle {
    pub(super) const fn new(words: [u64; MAX_WORDS], len: usize) -> Self {
        Self { words, len }
    }

    /// A needle of one word.
    pub(super) const fn one(word: u64) -> Self {
        let mut words = [0; MAX_WORDS];
        words[0] = word;
        Self { words, len: 1 }
    }

    /// The words, first first.
    #[must_use]
    #[inline]
    pub const fn words(&self) -> &[u64] {
        self.words.split_at(self.len).0
    }
}

impl PartialEq for Needle {
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
    }
}

impl Eq for Needle {}

/// How many chunks hold `len` units and at least one unit that ends them: the first has `8 * a_byte` units, those after it a
/// byte less. Odd, so that chunks and the 8 bytes of a function fill 16-byte entries.
pub(super) const fn chunk_count(len: usize, a_byte: usize) -> usize {
    let more = (len + 1).saturating_sub(8 * a_byte);
    (1 + more.div_ceil(7 * a_byte)) | 1
}
