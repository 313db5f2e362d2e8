//! Edits of real values: the kinds of damage done by people, disks and attackers.

use bolero::TypeGenerator;

/// Numbers near which lengths and counts go wrong.
const NUMBERS: [u64; 12] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_fff0,
    u64::MAX,
];

/// One of the real values, and its edits.
#[derive(Debug, Clone, TypeGenerator)]
pub(crate) struct Case {
    seed: u8,
    #[generator(bolero::generator::produce::<Vec<Edit>>().with().len(0_usize..4))]
    edits: Vec<Edit>,
}

/// An edit. Offsets are taken modulo the length.
#[derive(Debug, Clone, TypeGenerator)]
enum Edit {
    Flip {
        at: u32,
        bit: u8,
    },
    Byte {
        at: u32,
        value: u8,
    },
    /// A number of four or eight bytes, little-endian.
    Number {
        at: u32,
        number: u8,
        is_wide: bool,
    },
    Cut {
        at: u32,
    },
    Remove {
        at: u32,
        length: u8,
    },
    Insert {
        at: u32,
        bytes: [u8; 3],
    },
    Repeat {
        at: u32,
        length: u8,
        times: u8,
    },
    /// A piece of the same or another real value.
    Splice {
        at: u32,
        seed: u8,
        from: u32,
        length: u16,
    },
    /// A word of another real value, between blanks or punctuation, that replaces a word.
    Word {
        at: u32,
        seed: u8,
        from: u32,
    },
}

impl Case {
    /// Chooses which of `count` values is edited.
    pub(crate) fn choose(&self, count: usize) -> usize {
        usize::from(self.seed) % count
    }

    /// Returns the chosen seed with the edits applied.
    pub(crate) fn edit(&self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.choose(seeds.len())].clone();
        for edit in &self.edits {
            edit.apply(&mut bytes, seeds);
        }
        bytes
    }
}

fn place(at: u32, bytes: &[u8]) -> usize {
    at as usize % (bytes.len() + 1)
}

fn word(at: usize, bytes: &[u8]) -> std::ops::Range<usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = bytes[..at].iter().rposition(|byte| !is_part(byte)).map_or(0, |before| before + 1);
    let end = bytes[at..].iter().position(|byte| !is_part(byte)).map_or(bytes.len(), |after| at + after);
    start..end
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let piece = |from: usize, length: usize, of: &[u8]| of[from..of.len().min(from + length)].to_vec();
        let other = |seed: u8| &seeds[usize::from(seed) % seeds.len()];
        match *self {
            Self::Flip { at, bit } => {
                let at = place(at, bytes);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << (bit % 8));
            }
            Self::Byte { at, value } => {
                let at = place(at, bytes);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte = value);
            }
            Self::Number { at, number, is_wide } => {
                let number = NUMBERS[usize::from(number) % NUMBERS.len()].to_le_bytes();
                let (at, width) = (place(at, bytes), if is_wide { 8 } else { 4 });
                let end = bytes.len().min(at + width);
                bytes.splice(at..end, number[..width].iter().copied());
            }
            Self::Cut { at } => bytes.truncate(place(at, bytes)),
            Self::Remove { at, length } => {
                let at = place(at, bytes);
                bytes.drain(at..bytes.len().min(at + usize::from(length)));
            }
            Self::Insert { at, bytes: new } => {
                let at = place(at, bytes);
                bytes.splice(at..at, new);
            }
            Self::Repeat { at, length, times } => {
                let at = place(at, bytes);
                let piece = piece(at, usize::from(length), bytes).repeat(usize::from(times));
                bytes.splice(at..at, piece);
            }
            Self::Splice { at, seed, from, length } => {
                let (at, other) = (place(at, bytes), other(seed));
                let piece = piece(place(from, other), usize::from(length), other);
                let end = bytes.len().min(at + piece.len());
                bytes.splice(at..end, piece);
            }
            Self::Word { at, seed, from } => {
                let (old, other) = (word(place(at, bytes), bytes), other(seed));
                let new = other[word(place(from, other), other)].to_vec();
                bytes.splice(old, new);
            }
        }
    }
}
