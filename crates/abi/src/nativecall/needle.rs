//! The search key of a table: one or more 64-bit words.

use super::grammar::MAX_BYTES;

/// The number of words stored inline, so that creating a call's key needs no allocation and few writes.
const IN_PLACE: usize = 7;

/// The length of the longest text whose words fit inline, in either encoding.
pub(super) const IN_PLACE_BYTES: usize = 7 * IN_PLACE;

/// The maximum number of words of a needle: the words of the longest signature.
pub(super) const MAX_WORDS: usize = chunk_count(MAX_BYTES, 1);

/// The words of a signature in one of the encodings. Their number is odd, and none is 0.
#[derive(Debug, Clone)]
pub(super) struct Needle {
    in_place: [u64; IN_PLACE],
    len: usize,
    /// All words, if they do not fit inline.
    more: Vec<u64>,
}

/// Writes the words of a text into zeroed words and returns their number.
pub(super) type Encode = fn(&[u8], &mut [u64]) -> usize;

impl Needle {
    /// Creates a needle from words that fit inline.
    pub(super) const fn new(in_place: [u64; IN_PLACE], len: usize) -> Self {
        Self { in_place, len, more: Vec::new() }
    }

    /// Creates the needle of a canonical text.
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

    /// Returns the words in order.
    #[inline]
    pub(super) const fn words(&self) -> &[u64] {
        if self.more.is_empty() { self.in_place.split_at(self.len).0 } else { self.more.as_slice() }
    }
}

/// Returns the number of chunks that hold `len` units and at least one unit for the end. The first chunk has room for 8
/// bytes of units (`8 * a_byte`); later ones have one byte less. The result is odd, so that the chunks and the 8 bytes
/// of a function fill 16-byte entries.
pub(super) const fn chunk_count(len: usize, a_byte: usize) -> usize {
    let more = (len + 1).saturating_sub(8 * a_byte);
    (1 + more.div_ceil(7 * a_byte)) | 1
}
