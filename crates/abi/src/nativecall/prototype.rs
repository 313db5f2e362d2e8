//! A parsed signature as a tree; its [`Display`](fmt::Display) prints the canonical text.

use super::grammar::{byte, is_number};
use std::fmt;

/// The arguments and results of a function, and its calling conventions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prototype {
    /// The arguments in order.
    pub arguments: Vec<Field>,
    /// The results: none, the single result of a C function, or several. Several results require [`Errors::Status`] in
    /// C.
    pub results: Vec<Field>,
    /// The way the function reports failures.
    pub errors: Errors,
    /// Whether a thread may call it without holding Python's GIL.
    pub nogil: bool,
}

/// The way a function reports failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Errors {
    /// The function cannot fail.
    None,
    /// `!c`: in the error slot of a `pc_context *` that follows the arguments. The context must have a host.
    Context,
    /// `!s`: it returns an `int`, 0 for success, and writes its results through pointers that follow the arguments.
    Status,
    /// `!p`: through Python's error indicator, which must be checked after every call.
    Python,
}

/// The type of an argument, a result or a member of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// A number, which may also be the element type of a tensor.
    Number(Number),
    /// `g`, a C `long double`.
    LongDouble,
    /// `Zg`, a C `long double _Complex`.
    ComplexLongDouble,
    /// `P`, a pointer to an unknown type.
    Address,
    /// `O`, a Python object.
    Object,
    /// `&`, a pointer to a field.
    Pointer(Box<Self>),
    /// `T{…}`, a C struct with C's alignment.
    Struct(Vec<Self>),
    /// `X{…}`, a pointer to a function.
    Function(Box<Prototype>),
    /// `#`, a `pc_tensor *`; the array extension.
    Tensor {
        /// The number of dimensions; `None` means any.
        rank: Option<u8>,
        /// The element type.
        element: Number,
    },
}

/// A number type, identified by its PEP 3118 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    is_complex: bool,
    code: u8,
}

impl Number {
    /// Returns the number type of a code: `d`, `Zf`, …
    #[must_use]
    pub const fn from_code(code: &str) -> Option<Self> {
        match code.as_bytes() {
            [code] if is_number(*code) => Some(Self { is_complex: false, code: *code }),
            [b'Z', code @ (b'f' | b'd')] => Some(Self { is_complex: true, code: *code }),
            _ => None,
        }
    }

    /// Returns whether the type is complex.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        self.is_complex
    }

    /// Returns the letter of the type, or of the parts of a complex type.
    #[must_use]
    pub const fn letter(self) -> char {
        self.code as char
    }
}

impl Prototype {
    /// Parses a canonical text; `None` if it is not canonical.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let prototype = reader.prototype()?;
        (reader.at == text.len()).then_some(prototype)
    }
}

/// A position in a text.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// Skips `code` if it comes next.
    fn skip(&mut self, code: u8) -> bool {
        let there = byte(self.text, self.at) == code;
        self.at += usize::from(there);
        there
    }

    fn prototype(&mut self) -> Option<Prototype> {
        let arguments = self.fields_until(|code| code == b')')?;
        self.skip(b')');
        let results = self.fields_until(|code| matches!(code, 0 | b'!' | b'~' | b'}'))?;
        let errors = match self.skip(b'!').then(|| byte(self.text, self.at)) {
            None => Errors::None,
            Some(b'c') => Errors::Context,
            Some(b's') => Errors::Status,
            Some(_) => Errors::Python,
        };
        self.at += usize::from(errors != Errors::None);
        Some(Prototype { arguments, results, errors, nogil: self.skip(b'~') })
    }

    fn fields_until(&mut self, is_end: impl Fn(u8) -> bool) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        while !is_end(byte(self.text, self.at)) {
            fields.push(self.field()?);
        }
        Some(fields)
    }

    fn field(&mut self) -> Option<Field> {
        let code = byte(self.text, self.at);
        if is_number(code) || (code == b'Z' && byte(self.text, self.at + 1) != b'g') {
            return self.number().map(Field::Number);
        }
        self.at += 1;
        Some(match code {
            b'g' => Field::LongDouble,
            b'Z' if self.skip(b'g') => Field::ComplexLongDouble,
            b'P' => Field::Address,
            b'O' => Field::Object,
            b'&' => Field::Pointer(Box::new(self.field()?)),
            b'T' if self.skip(b'{') => {
                let fields = self.fields_until(|code| code == b'}')?;
                self.skip(b'}');
                Field::Struct(fields)
            }
            b'X' if self.skip(b'{') => {
                let prototype = self.prototype()?;
                self.skip(b'}');
                Field::Function(Box::new(prototype))
            }
            b'#' => Field::Tensor { rank: self.rank(), element: self.number()? },
            _ => return None,
        })
    }

    fn number(&mut self) -> Option<Number> {
        let is_complex = self.skip(b'Z');
        let code = byte(self.text, self.at);
        self.at += 1;
        is_number(code).then_some(Number { is_complex, code })
    }

    fn rank(&mut self) -> Option<u8> {
        let mut rank = None;
        while byte(self.text, self.at).is_ascii_digit() {
            rank = Some(rank.unwrap_or(0) * 10 + (self.text[self.at] - b'0'));
            self.at += 1;
        }
        rank
    }
}

impl fmt::Display for Prototype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.arguments.iter().try_for_each(|field| field.fmt(f))?;
        f.write_str(")")?;
        self.results.iter().try_for_each(|field| field.fmt(f))?;
        f.write_str(match self.errors {
            Errors::None => "",
            Errors::Context => "!c",
            Errors::Status => "!s",
            Errors::Python => "!p",
        })?;
        f.write_str(if self.nogil { "~" } else { "" })
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::LongDouble => f.write_str("g"),
            Self::ComplexLongDouble => f.write_str("Zg"),
            Self::Address => f.write_str("P"),
            Self::Object => f.write_str("O"),
            Self::Pointer(to) => write!(f, "&{to}"),
            Self::Struct(fields) => {
                f.write_str("T{")?;
                fields.iter().try_for_each(|field| field.fmt(f))?;
                f.write_str("}")
            }
            Self::Function(prototype) => write!(f, "X{{{prototype}}}"),
            Self::Tensor { rank: Some(rank), element } => write!(f, "#{rank}{element}"),
            Self::Tensor { rank: None, element } => write!(f, "#{element}"),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_complex { "Z" } else { "" }, self.letter())
    }
}
