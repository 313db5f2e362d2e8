//! CEP 1000 signatures: canonical strings, and their form in a dispatch table.
//!
//! A signature is `arguments ) results` in PEP 3118 codes, without blanks or names: `"id)d"` is `double f(int, double)`,
//! `"&d&d)&d"` takes two tensors of f64 and gives one.
//!
//! # Layout
//! In a table the string is cut into 8-byte chunks. All but the first begin with `-`, so a scan in 16-byte steps never
//! takes the middle of a long signature for the start of a short one; the end is filled with NUL. A signature has an odd
//! number of chunks, so that with the 8-byte pointer an entry is a multiple of 16 bytes:
//! ```text
//! "id)d"            [id)d\0\0\0\0] [pointer]
//! "&d&d&d&d)&d"     [&d&d&d&d] [-)&d\0\0\0\0] [-\0\0\0\0\0\0\0] [pointer]
//! ```
//! # Source
//! CEP 1000, "Native dispatch through callables", approach 2 (Seljebotn, cython-devel, April 2012).

/// Bytes of a chunk.
const CHUNK: usize = 8;

/// Chunks that are kept in place: signatures of up to 50 characters.
const IN_PLACE: usize = 7;

/// A signature cut into chunks, ready to be compared 64 bits at a time. Short ones are made without allocating.
#[derive(Debug, Clone)]
pub struct Signature {
    in_place: [u64; IN_PLACE],
    len: usize,
    /// All chunks, when there are more.
    more: Vec<u64>,
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        self.chunks() == other.chunks()
    }
}

impl Eq for Signature {}

/// Text that is not a canonical CEP 1000 signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a canonical CEP 1000 signature: {problem}")]
pub struct ParseSignatureError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl Signature {
    /// Cuts a canonical string into chunks.
    ///
    /// # Errors
    /// Text without exactly one `)`, with blanks, NUL, `-` or anything but printable ASCII.
    pub fn parse(text: &str) -> Result<Self, ParseSignatureError> {
        let wrong = |problem| Err(ParseSignatureError { text: text.to_owned(), problem });
        // One pass without a branch: dispatch does this for each call.
        let (mut closing, mut plain) = (0_usize, true);
        for byte in text.bytes() {
            closing += usize::from(byte == b')');
            plain &= byte.is_ascii_graphic() & (byte != b'-');
        }
        if closing != 1 {
            return wrong("expected one `)` between arguments and results");
        }
        if !plain {
            return wrong("only printable ASCII without blanks and `-` is allowed");
        }
        let bytes = text.as_bytes();
        let (first, rest) = bytes.split_at(bytes.len().min(CHUNK));
        let mut signature = Self { in_place: [0; IN_PLACE], len: 0, more: Vec::new() };
        signature.push(chunk(&[], first));
        rest.chunks(CHUNK - 1).for_each(|part| signature.push(chunk(b"-", part)));
        if signature.len.is_multiple_of(2) {
            signature.push(chunk(b"-", &[]));
        }
        Ok(signature)
    }

    fn push(&mut self, chunk: u64) {
        if let Some(place) = self.in_place.get_mut(self.len) {
            *place = chunk;
        } else {
            if self.more.is_empty() {
                self.more.extend_from_slice(&self.in_place);
            }
            self.more.push(chunk);
        }
        self.len += 1;
    }

    /// The chunks, first first; their number is odd.
    #[must_use]
    pub fn chunks(&self) -> &[u64] {
        if self.more.is_empty() { &self.in_place[..self.len] } else { &self.more }
    }

    /// The canonical string.
    #[must_use]
    pub fn render(&self) -> String {
        let mut bytes = Vec::new();
        for (position, chunk) in self.chunks().iter().enumerate() {
            let chunk = chunk.to_ne_bytes();
            bytes.extend_from_slice(if position == 0 { &chunk } else { &chunk[1..] });
        }
        bytes.into_iter().take_while(|b| *b != 0).map(char::from).collect()
    }
}

/// A chunk of `head` and `part`, filled with NUL; in the byte order of memory, so that C can compare it too.
fn chunk(head: &[u8], part: &[u8]) -> u64 {
    let mut bytes = [0; CHUNK];
    bytes[..head.len()].copy_from_slice(head);
    bytes[head.len()..head.len() + part.len()].copy_from_slice(part);
    u64::from_ne_bytes(bytes)
}
