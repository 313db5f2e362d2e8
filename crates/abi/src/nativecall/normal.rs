//! Maps other spellings of signatures to the canonical one.
//!
//! PEP 3118 has several spellings for one C type, but tables compare bytes. So signatures written by people or by other
//! tools go through [`Signature::normalize`] once, which applies these rules:
//!
//! | written | becomes | reason |
//! |---|---|---|
//! | blanks, `@` | nothing | native sizes and alignment are the default |
//! | `:name:` after a field, a user type's too | nothing | types are compared, not names: `&d:price:` is `&d` |
//! | `<` or `>`, the host's | nothing; `l`, `L` are then 4 bytes | NumPy describes its buffers like this |
//! | `l`, `L`, `n`, `N`, `c` | the code with their size and sign on this host | both names mean the same C type |
//! | `3d` | `ddd` | a count repeats the field |
//! | `idf`, no `)` | `df)i` | the compact spelling starts with the result |
//! | `->` | `)` | PEP 3118 writes results of function pointers this way; `-` marks continued chunks |
//! | `X{}` | `P` | a pointer to an unknown function |
//!
//! All other non-canonical text is rejected: the opposite byte order, `^` and `=` (no C struct has that layout), bits,
//! padding, strings, UCS characters, shapes in parentheses, bare words.

use super::grammar::{MAX_BYTES, MAX_DEPTH, byte};
use super::signature::{ParseSignatureError, Signature};
use std::ffi::c_char;

/// An error: no rule maps the text to a signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid signature `{text}`: parse error at byte {at}")]
pub struct NormalizeError {
    /// The text.
    pub text: String,
    /// The byte offset where parsing stopped.
    pub at: usize,
}

impl Signature {
    /// Maps a PEP 3118-like text to its canonical signature, by the rules of the module `normal`.
    ///
    /// # Errors
    /// Fails if no rule maps the text.
    ///
    /// # Examples
    /// ```
    /// use precast_abi::nativecall::Signature;
    /// assert_eq!(Signature::normalize("idf").unwrap().as_str(), "df)i");
    /// assert_eq!(Signature::normalize("&d:price: 2i) d").unwrap().as_str(), "&dii)d");
    /// ```
    pub fn normalize(text: &str) -> Result<Self, NormalizeError> {
        let mut reader = Reader { text: text.as_bytes(), at: 0, is_marked: false };
        let failed = |at| NormalizeError { text: text.to_owned(), at };
        let canonical = reader.signature(0).filter(|_| reader.peek() == 0 && reader.at >= text.len());
        let canonical = canonical.ok_or_else(|| failed(reader.at.min(text.len())))?;
        Self::parse(&canonical).map_err(|ParseSignatureError { .. }| failed(0))
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether a byte order was given, which also selects standard sizes.
    is_marked: bool,
}

impl Reader<'_> {
    /// Returns the next significant byte.
    fn peek(&mut self) -> u8 {
        while matches!(byte(self.text, self.at), b' ' | b'\t' | b'\n' | b'@') {
            self.at += 1;
        }
        byte(self.text, self.at)
    }

    fn skip(&mut self, code: &str) -> bool {
        self.peek();
        let there = self.text[self.at.min(self.text.len())..].starts_with(code.as_bytes());
        self.at += if there { code.len() } else { 0 };
        there
    }

    fn signature(&mut self, depth: usize) -> Option<String> {
        let arguments = self.fields(depth)?;
        if self.skip(")") || self.skip("->") {
            let mut text = arguments.concat() + ")" + &self.fields(depth)?.concat();
            for annotation in ["!c", "!s", "!p", "~"] {
                if self.skip(annotation) {
                    text += annotation;
                }
            }
            return Some(text);
        }
        let (result, arguments) = arguments.split_first()?;
        Some(arguments.concat() + ")" + result)
    }

    /// Reads a sequence of fields; fails if the text exceeds the maximum length of a signature.
    fn fields(&mut self, depth: usize) -> Option<Vec<String>> {
        let mut fields: Vec<String> = Vec::new();
        let mut bytes = 0;
        while !matches!(self.peek(), 0 | b')' | b'-' | b'!' | b'~' | b'}') {
            let count = self.count()?;
            let field = self.field(depth)?;
            self.name()?;
            bytes += count * field.len();
            if bytes > MAX_BYTES {
                return None;
            }
            fields.extend(std::iter::repeat_n(field, count));
        }
        Some(fields)
    }

    /// Reads the repeat count of the next field.
    fn count(&mut self) -> Option<usize> {
        self.peek();
        let digits = self.digits();
        if digits.is_empty() { Some(1) } else { digits.parse().ok().filter(|n| (1..=MAX_BYTES).contains(n)) }
    }

    fn digits(&mut self) -> String {
        let rest = &self.text[self.at.min(self.text.len())..];
        let digits: String = rest.iter().take_while(|b| b.is_ascii_digit()).map(|b| char::from(*b)).collect();
        self.at += digits.len();
        digits
    }

    /// Skips the name of the preceding field.
    fn name(&mut self) -> Option<()> {
        if self.skip(":") {
            self.at += self.text[self.at..].iter().position(|b| *b == b':')? + 1;
        }
        Some(())
    }

    fn field(&mut self, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let code = self.peek();
        self.at += usize::from(code != 0);
        Some(match code {
            b'<' | b'>' if (code == b'<') == cfg!(target_endian = "little") => {
                self.is_marked = true;
                self.field(depth + 1)?
            }
            b'&' => format!("&{}", self.field(depth + 1)?),
            b'Z' => format!("Z{}", self.field(depth + 1)?),
            b'#' => format!("#{}{}", self.digits(), self.field(depth + 1)?),
            // An explicit byte order means a packed struct, which is not a C struct.
            b'T' if !self.is_marked && self.skip("{") => {
                let fields = self.fields(depth + 1)?;
                (self.skip("}") && !self.is_marked).then(|| format!("T{{{}}}", fields.concat()))?
            }
            b'X' if self.skip("{") => {
                if self.skip("}") {
                    return Some("P".to_owned());
                }
                let signature = self.signature(depth + 1)?;
                self.skip("}").then(|| format!("X{{{signature}}}"))?
            }
            _ => char::from(self.canonical(code)?).to_string(),
        })
    }

    /// Returns the canonical letter of a number, an address or an object.
    fn canonical(&self, code: u8) -> Option<u8> {
        let (signed, unsigned) = match size_of::<std::ffi::c_long>() {
            8 if !self.is_marked => (b'q', b'Q'),
            _ => (b'i', b'I'),
        };
        let is_wide = size_of::<usize>() == 8;
        Some(match code {
            b'?' | b'b' | b'B' | b'h' | b'H' | b'i' | b'I' | b'q' | b'Q' => code,
            b'e' | b'E' | b'f' | b'd' | b'g' | b'P' | b'O' => code,
            b'l' => signed,
            b'L' => unsigned,
            b'n' if !self.is_marked => {
                if is_wide {
                    b'q'
                } else {
                    b'i'
                }
            }
            b'N' if !self.is_marked => {
                if is_wide {
                    b'Q'
                } else {
                    b'I'
                }
            }
            b'c' => {
                if c_char::MIN == 0 {
                    b'B'
                } else {
                    b'b'
                }
            }
            _ => return None,
        })
    }
}
