//! The grammar of canonical signatures, as one recognizer that also runs at compile time.
//!
//! ```text
//! signature = field* ")" field* [ "!c" | "!s" | "!p" ] [ "~" ]
//! field     = number | "g" | "Zg" | "P" | "O" | "&" field | "T{" field+ "}" | "X{" signature "}" | "#" [ rank ] number
//! number    = one of ? b B h H i I q Q e E f d, or Zf, Zd
//! rank      = 0 … 32, without leading zeros
//! ```
//! `precast/nativecall.h` has the same recognizer in C (`pc_native_check`) with the same error numbers. A test runs
//! both on the same texts.

use crate::tensor::MAX_NDIM;

/// The maximum number of bytes of a signature (`PC_NATIVE_MAX_BYTES`).
pub const MAX_BYTES: usize = 255;

/// The maximum nesting depth of pointers, structs and function pointers (`PC_NATIVE_MAX_DEPTH`).
pub const MAX_DEPTH: usize = 8;

/// The reason why a text is not a canonical signature (`pc_native_problem`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[repr(i32)]
pub enum Problem {
    /// More than [`MAX_BYTES`].
    #[error("more than {MAX_BYTES} bytes")]
    Long = 1,
    /// The text ends before the `)`.
    #[error("expected `)` between arguments and results")]
    Closing = 2,
    /// A character that cannot start a field or end a signature.
    #[error("invalid code")]
    Code = 3,
    /// A field is incomplete: `&)`, `Z`, `T{i`.
    #[error("incomplete field")]
    Unfinished = 4,
    /// `T{}`.
    #[error("struct without fields")]
    Empty = 5,
    /// More than [`MAX_DEPTH`] levels.
    #[error("more than {MAX_DEPTH} levels of nesting")]
    Depth = 6,
    /// The rank of a tensor is above 32 or has a leading zero.
    #[error("invalid tensor rank: expected 0 to {MAX_NDIM}")]
    Rank = 7,
    /// The element type of a tensor is not a number.
    #[error("invalid tensor element type")]
    Element = 8,
    /// `!` without `c`, `s` or `p`.
    #[error("expected `c`, `s` or `p` after `!`")]
    Errors = 9,
}

/// A problem and the byte offset where it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) at: usize,
    pub(super) problem: Problem,
}

/// The `?` operator for `const fn`.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(refusal) => return Err(refusal),
        }
    };
}

/// Checks that all of `text` is one canonical signature.
pub(super) const fn check(text: &[u8]) -> Result<(), Refusal> {
    if text.len() > MAX_BYTES {
        return refuse(MAX_BYTES, Problem::Long);
    }
    let end = attempt!(signature(text, 0, 0));
    if end < text.len() { refuse(end, Problem::Code) } else { Ok(()) }
}

/// Returns the byte at an offset; 0, which is not a code, after the end.
pub(super) const fn byte(text: &[u8], at: usize) -> u8 {
    if at < text.len() { text[at] } else { 0 }
}

/// Returns whether a code is an element type or a one-letter scalar type.
pub(super) const fn is_number(code: u8) -> bool {
    matches!(code, b'?' | b'b' | b'B' | b'h' | b'H' | b'i' | b'I' | b'q' | b'Q' | b'e' | b'E' | b'f' | b'd')
}

const fn refuse<T>(at: usize, problem: Problem) -> Result<T, Refusal> {
    Err(Refusal { at, problem })
}

/// Returns the end of the signature that starts at `at`.
const fn signature(text: &[u8], at: usize, depth: usize) -> Result<usize, Refusal> {
    let closing = attempt!(fields(text, at, depth));
    if closing >= text.len() {
        return refuse(closing, Problem::Closing);
    }
    if text[closing] != b')' {
        return refuse(closing, Problem::Code);
    }
    let mut end = attempt!(fields(text, closing + 1, depth));
    if byte(text, end) == b'!' {
        if !matches!(byte(text, end + 1), b'c' | b's' | b'p') {
            return refuse(end + 1, Problem::Errors);
        }
        end += 2;
    }
    if byte(text, end) == b'~' {
        end += 1;
    }
    Ok(end)
}

/// Returns the end of a sequence of fields.
const fn fields(text: &[u8], mut at: usize, depth: usize) -> Result<usize, Refusal> {
    while begins_field(byte(text, at)) {
        at = attempt!(field(text, at, depth));
    }
    Ok(at)
}

const fn begins_field(code: u8) -> bool {
    is_number(code) || matches!(code, b'g' | b'Z' | b'P' | b'O' | b'&' | b'T' | b'X' | b'#')
}

/// Returns the end of the field that starts at `at`.
const fn field(text: &[u8], at: usize, depth: usize) -> Result<usize, Refusal> {
    if depth >= MAX_DEPTH && matches!(text[at], b'&' | b'T' | b'X') {
        return refuse(at, Problem::Depth);
    }
    let next = at + 1;
    match text[at] {
        b'&' if begins_field(byte(text, next)) => field(text, next, depth + 1),
        b'T' if byte(text, next) == b'{' => structure(text, next + 1, depth + 1),
        b'X' if byte(text, next) == b'{' => {
            let end = attempt!(signature(text, next + 1, depth + 1));
            brace(text, end)
        }
        b'Z' if matches!(byte(text, next), b'f' | b'd' | b'g') => Ok(next + 1),
        b'&' | b'T' | b'X' | b'Z' => refuse(next, Problem::Unfinished),
        b'#' => tensor(text, next),
        _ => Ok(next),
    }
}

const fn structure(text: &[u8], at: usize, depth: usize) -> Result<usize, Refusal> {
    let end = attempt!(fields(text, at, depth));
    if end == at && byte(text, at) == b'}' {
        return refuse(at, Problem::Empty);
    }
    brace(text, end)
}

const fn brace(text: &[u8], at: usize) -> Result<usize, Refusal> {
    if byte(text, at) == b'}' { Ok(at + 1) } else { refuse(at, Problem::Unfinished) }
}

/// Returns the end of a tensor field, given the offset after the `#`.
const fn tensor(text: &[u8], at: usize) -> Result<usize, Refusal> {
    let (mut element, mut rank) = (at, 0);
    while byte(text, element).is_ascii_digit() {
        if rank == 0 && element > at {
            return refuse(at, Problem::Rank); // a leading zero
        }
        rank = 10 * rank + (text[element] - b'0') as usize;
        element += 1;
        if rank > MAX_NDIM {
            return refuse(at, Problem::Rank);
        }
    }
    match (byte(text, element), byte(text, element + 1)) {
        (b'Z', b'f' | b'd') => Ok(element + 2),
        (code, _) if is_number(code) => Ok(element + 1),
        _ => refuse(element, Problem::Element),
    }
}
