//! Approach 2 of CEP 1000: the signature text itself, split into 8-byte chunks.
//!
//! # Layout
//! All chunks after the first start with `-`. So a scan in 16-byte steps never mistakes the middle of a long signature
//! for the start of a short one. The text ends with a NUL, like C strings, and is padded with NULs. The number of
//! chunks is odd, so that an entry, with the 8 bytes of the function, is a multiple of 16 bytes:
//! ```text
//! "id)d~"           [id)d~\0\0\0] [function]
//! "dddddd)d"        [dddddd)d] [-\0\0\0\0\0\0\0] [-\0\0\0\0\0\0\0] [function]
//! "iiiidddiiidd)d"  [iiiidddi] [-iidd)d\0] [-\0\0\0\0\0\0\0] [function]
//! ```
//! The NUL is required even without C strings. Otherwise a text of 8 bytes would match the first chunk of a longer
//! text, and the second chunk would be called as a function. With it, no encoding is a prefix of another.
//!
//! # Source
//! CEP 1000, "Native dispatch through callables", approach 2 (Seljebotn, cython-devel, April 2012), which does not
//! specify the end of the text.

use super::needle::chunk_count;

/// The first byte of each chunk after the first.
const CONTINUED: u8 = b'-';

/// Writes the chunks of a text in memory byte order, so that C compares them as it reads them.
pub(super) const fn encode(text: &[u8], words: &mut [u64]) -> usize {
    let len = chunk_count(text.len(), 1);
    let mut position = 0;
    while position < len {
        words[position] = chunk(text, position);
        position += 1;
    }
    len
}

const fn chunk(text: &[u8], position: usize) -> u64 {
    let (mut place, mut at) = if position == 0 { (0, 0) } else { (1, 7 * position + 1) };
    let mut bytes = [0; 8];
    if position > 0 {
        bytes[0] = CONTINUED;
    }
    while place < 8 && at < text.len() {
        bytes[place] = text[at];
        place += 1;
        at += 1;
    }
    u64::from_ne_bytes(bytes)
}

/// Returns whether the text ends in this word.
pub(super) fn is_last(word: u64) -> bool {
    word.to_ne_bytes().contains(&0)
}

/// Returns the text bytes in the words of one entry.
pub(super) fn decode(words: &[u64]) -> Vec<u8> {
    let mut text = Vec::new();
    for (position, word) in words.iter().enumerate() {
        text.extend_from_slice(&word.to_ne_bytes()[usize::from(position > 0)..]);
    }
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text.truncate(end);
    text
}
