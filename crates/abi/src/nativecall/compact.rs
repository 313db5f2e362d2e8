//! The compact encoding that CEP 1000 proposes: 4 bits for frequent symbols, 8 bits for the rest.
//!
//! # Layout
//! A text is a sequence of symbols. The eleven symbols of [`SHORT`] take one nibble, 1 to 11. The symbols of [`LONG`]
//! take two nibbles, of which the first is 12 to 15. No symbol contains a nibble 0, which ends the text. A chunk is a
//! 64-bit number with its first nibble in the highest bits. All chunks after the first start with the byte 255, which
//! is not a symbol. So one comparison covers up to 15 nibbles:
//! ```text
//! "dd)d~"          0x2212_a000_0000_0000
//! "#1f#1f)#1f~"    0xdfdf_1dfa_0000_0000        (24 bytes as text)
//! ```
//! As in the text encoding, the number of chunks is odd and the end marker is always present.

use super::needle::chunk_count;

/// The symbols of one nibble, numbered from 1.
pub const SHORT: [&str; 11] = [")", "d", "f", "i", "q", "&", "#", "1", "2", "~", "O"];

/// The symbols of one byte, numbered from 0xC1; numbers that contain a nibble 0 are skipped.
pub const LONG: [&str; 32] = [
    "?", "b", "B", "h", "H", "I", "Q", "e", "E", "g", "P", "0", "3", "4", "5", "6", "7", "8", "9", "}", "T{",
    "X{", "Zf", "Zd", "Zg", "!c", "!s", "!p", "#1d", "#1f", "#2d", "#2f",
];

/// The first byte of each chunk after the first.
const CONTINUED: u64 = 0xFF << 56;

/// Writes the chunks of a canonical text into zeroed words.
pub(super) const fn encode(text: &[u8], words: &mut [u64]) -> usize {
    let (mut at, mut nibbles) = (0, 0);
    while at < text.len() {
        let (symbol, len) = symbol(text, at);
        if symbol > 0xC0 {
            put(words, nibbles, symbol >> 4);
            nibbles += 1;
        }
        put(words, nibbles, symbol & 0xF);
        nibbles += 1;
        at += len;
    }
    let len = chunk_count(nibbles, 2);
    let mut position = 1;
    while position < len {
        words[position] |= CONTINUED;
        position += 1;
    }
    len
}

const fn put(words: &mut [u64], nibble: usize, value: u8) {
    let (word, place) =
        if nibble < 16 { (0, nibble) } else { (1 + (nibble - 16) / 14, 2 + (nibble - 16) % 14) };
    words[word] |= (value as u64) << (60 - 4 * place);
}

/// Returns the number of the symbol at a position of a canonical text, and its length in bytes.
const fn symbol(text: &[u8], at: usize) -> (u8, usize) {
    let mut number = SEVERAL;
    while number < LONG.len() && matches!(text[at], b'#' | b'T' | b'X' | b'Z' | b'!') {
        if is_at(LONG[number], text, at) {
            return (long(number), LONG[number].len());
        }
        number += 1;
    }
    (ONE[text[at] as usize], 1)
}

/// The position in [`LONG`] where symbols of several letters start.
const SEVERAL: usize = 20;

/// The number of each one-letter symbol, indexed by letter.
const ONE: [u8; 256] = {
    let (mut numbers, mut number) = ([0; 256], 0);
    while number < SEVERAL {
        if number < SHORT.len() {
            numbers[SHORT[number].as_bytes()[0] as usize] = number as u8 + 1;
        }
        numbers[LONG[number].as_bytes()[0] as usize] = long(number);
        number += 1;
    }
    numbers
};

/// Returns the number of a symbol of [`LONG`].
const fn long(position: usize) -> u8 {
    (0xC1 + position + position / 15) as u8
}

const fn is_at(symbol: &str, text: &[u8], at: usize) -> bool {
    let symbol = symbol.as_bytes();
    let mut place = 0;
    while place < symbol.len() {
        if at + place >= text.len() || text[at + place] != symbol[place] {
            return false;
        }
        place += 1;
    }
    true
}

/// Returns whether the text ends in this word.
pub(super) fn is_last(word: u64) -> bool {
    (0..16).any(|place| (word >> (4 * place)) & 0xF == 0)
}

/// Returns the text bytes in the words of one entry. Numbers without a symbol decode to `\u{fffd}`.
pub(super) fn decode(words: &[u64]) -> Vec<u8> {
    let nibbles = words.iter().enumerate().flat_map(|(position, word)| {
        let from = if position == 0 { 0 } else { 2 };
        (from..16).map(move |place| (word >> (60 - 4 * place)) as usize & 0xF)
    });
    let (mut nibbles, mut text) = (nibbles, Vec::new());
    while let Some(nibble) = nibbles.next().filter(|nibble| *nibble > 0) {
        let symbol = match nibble {
            12.. => LONG.get(((nibble - 12) * 15 + nibbles.next().unwrap_or(0)).wrapping_sub(1)),
            _ => SHORT.get(nibble - 1),
        };
        text.extend_from_slice(symbol.unwrap_or(&"\u{fffd}").as_bytes());
    }
    text
}
