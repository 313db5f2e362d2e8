//! What a table is searched for: one or more 64-bit words.

use super::grammar::MAX_BYTES;

/// Words that are kept in place, so that a call's key is made without allocating and without writing much.
const IN_PLACE: usize = 7;

/// Longest text whose words fit in place, in either encoding.
pub(super) const IN_PLACE_BYTES: usize = 7 * IN_PLACE;

/// Most words of a needle: those of the longest signature.
pub(super) const MAX_WORDS: usize = chunk_count(MAX_BYTES, 1);

/// The words of a signature in one of the encodings; their number is odd, none is 0.
#[derive(Debug, Clone)]
pub(super) struct Needle {
    in_place: [u64; IN_PLACE],
    len: usize,
    /// All of them, when there are more.
    more: Vec<u64>,
}

/// Writes the words of a text into zeroed ones; gives their number.
pub(super) type Encode = fn(&[u8], &mut [u64]) -> usize;

impl Needle {
    /// Words that fit in place.
    pub(super) const fn new(in_place: [u64; IN_PLACE], len: usize) -> Self {
        Self { in_place, len, more: Vec::new() }
    }

    /// One word.
    #[cfg(feature = "registry")]
    pub(super) const fn one(word: u64) -> Self {
        let mut in_place = [0; IN_PLACE];
        in_place[0] = word;
        Self::new(in_place, 1)
    }

    /// The words of a canonical text.
    pub(super) fn of(text: &[u8], encode: Encode) -> Self {
        let mut in_place = [0; IN_PLACE];
        if text.len() <= IN_PLACE_BYTES {
            let len = encode(text, &mut in_place);
            return Self::new(in_place, len);
        }
        let mut words = [0; MAX_WORDS];
        let len = encode(text, &mut words);
        Self { in_place, len, more: words[..len].to_vec() }
    }

    /// The words, first first.
    #[inline]
    pub(super) const fn words(&self) -> &[u64] {
        if self.more.is_empty() { self.in_place.split_at(self.len).0 } else { self.more.as_slice() }
    }
}

/// How many chunks hold `len` units and at least one unit that ends them: the first has `8 * a_byte` units, those after it a
/// byte less. Odd, so that chunks and the 8 bytes of a function fill 16-byte entries.
pub(super) const fn chunk_count(len: usize, a_byte: usize) -> usize {
    let more = (len + 1).saturating_sub(8 * a_byte);
    (1 + more.div_ceil(7 * a_byte)) | 1
}
