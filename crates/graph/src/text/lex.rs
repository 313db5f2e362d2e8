//! Tokens of the text form.

use super::error::ParseTextError;
use super::position::Position;
use num_bigint::BigInt;

/// Python keywords, which are not valid names here, even if the text form does not use them.
const KEYWORDS: [&str; 17] = [
    "True", "False", "None", "and", "or", "not", "if", "else", "in", "is", "lambda", "for", "while", "def",
    "return", "import", "del",
];

/// The maximum number of digits of an integer, as in Python.
const MAX_DIGITS: usize = 4300;

/// Operators and separators, longest first, so that `**` is not read as two tokens.
const SIGNS: [&str; 32] = [
    "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "@", "&", "|",
    "^", "~", "(", ")", "[", "]", ",", ":", "=", ";", ".", "?", "\n",
];

/// A token. `Sign` covers every operator, bracket and separator, including the line break.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    /// The digits, including `_`.
    Int(&'t str),
    Float(f64),
    /// The imaginary part of a complex number, as in `2j`.
    Imaginary(f64),
    Text(&'t str),
    Sign(&'static str),
    End,
}

impl Token<'_> {
    /// Describes the token in words, for messages.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Int(digits) => format!("`{}`", excerpt(digits)),
            Self::Float(value) => format!("`{value}`"),
            Self::Imaginary(value) => format!("`{value}j`"),
            Self::Text(text) => format!("text {text:?}"),
            Self::Sign("\n") => "the end of the line".to_owned(),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// A token and the byte offset where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spanned<'t> {
    pub(super) token: Token<'t>,
    pub(super) offset: usize,
}

/// Returns whether a text is a valid name of an input or an output.
pub(super) fn is_name(text: &str) -> bool {
    let first = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    first && text.chars().all(is_name_part) && !KEYWORDS.contains(&text)
}

pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits a text into tokens; the last one is [`Token::End`].
pub(super) fn lex(text: &str, output: Option<usize>) -> Result<Vec<Spanned<'_>>, ParseTextError> {
    let mut tokens = Vec::new();
    let (mut offset, mut open) = (0, 0_usize);
    while let Some(c) = text[offset..].chars().next() {
        let rest = &text[offset..];
        let (token, length) = if c == '#' {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if c.is_whitespace() && c != '\n' {
            (None, c.len_utf8())
        } else {
            read(rest).map(|(token, length)| (Some(token), length)).map_err(|wrong| {
                let place = Box::new(Position::new(output, text, offset));
                match wrong {
                    Some((length, expected)) => {
                        ParseTextError::Literal { place, found: excerpt(&rest[..length]), expected }
                    }
                    None => ParseTextError::Character { place, found: c },
                }
            })?
        };
        match token {
            Some(Token::Sign("(" | "[")) => open += 1,
            Some(Token::Sign(")" | "]")) => open = open.saturating_sub(1),
            _ => {}
        }
        let inside = open > 0 && token == Some(Token::Sign("\n"));
        tokens.extend(token.filter(|_| !inside).map(|token| Spanned { token, offset }));
        offset += length;
    }
    tokens.push(Spanned { token: Token::End, offset });
    Ok(tokens)
}

/// An invalid literal: its length in bytes and a description of the expected literal. `None` if no token starts here.
type Wrong = Option<(usize, &'static str)>;

fn read(rest: &str) -> Result<(Token<'_>, usize), Wrong> {
    let first = rest.chars().next().ok_or(None)?;
    let digit_after_dot =
        rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if first.is_ascii_digit() || digit_after_dot {
        return number(rest);
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
        return Ok((Token::Name(&rest[..length]), length));
    }
    if first == '"' || first == '\'' {
        let end = rest[1..].find([first, '\n']).map(|end| end + 1);
        let closed = end.filter(|end| rest[*end..].starts_with(first));
        let closed = closed.ok_or(Some((end.unwrap_or(rest.len()), "a terminated string")))?;
        return Ok((Token::Text(&rest[1..closed]), closed + 1));
    }
    let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign)).ok_or(None)?;
    Ok((Token::Sign(sign), sign.len()))
}

/// Reads all characters that could belong to a number, then checks the whole, so that `1x` and `1.2.3` are errors.
fn number(rest: &str) -> Result<(Token<'_>, usize), Wrong> {
    let (mut previous, radix) = (' ', radix(rest));
    let mut length = rest.len();
    for (position, c) in rest.char_indices() {
        let exponent_sign = radix.is_none() && matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
        if !(is_name_part(c) || c == '.' || exponent_sign) {
            length = position;
            break;
        }
        previous = c;
    }
    let literal = &rest[..length];
    let plain = literal.replace('_', "");
    let grouped = literal.trim_end_matches(['j', 'J']).split('_').all(|part| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        !literal.contains('_') || digit(part.chars().next()) && digit(part.chars().last())
    });
    if radix.is_some() {
        return match integer(literal) {
            Some(_) => Ok((Token::Int(literal), length)),
            None => Err(Some((length, "a number"))),
        };
    }
    if plain.bytes().all(|b| b.is_ascii_digit()) && grouped {
        if plain.len() > 1 && plain.starts_with('0') && plain.bytes().any(|b| b != b'0') {
            return Err(Some((length, "an integer without leading zeros")));
        }
        if plain.len() > MAX_DIGITS {
            return Err(Some((length, "an integer of at most 4300 digits")));
        }
        return Ok((Token::Int(literal), length));
    }
    let (plain, imaginary) =
        plain.strip_suffix(['j', 'J']).map_or((plain.as_str(), false), |part| (part, true));
    let shaped = plain.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    let value = plain.parse::<f64>().ok().filter(|_| shaped && grouped).ok_or(Some((length, "a number")))?;
    if value.is_infinite() {
        return Err(Some((length, "a number that fits f64")));
    }
    Ok((if imaginary { Token::Imaginary(value) } else { Token::Float(value) }, length))
}

/// Returns the base that a prefix names.
fn radix(literal: &str) -> Option<u32> {
    match literal.get(..2)? {
        "0x" | "0X" => Some(16),
        "0o" | "0O" => Some(8),
        "0b" | "0B" => Some(2),
        _ => None,
    }
}

/// Returns the value of an integer literal, in the base that its prefix names.
pub(super) fn integer(literal: &str) -> Option<BigInt> {
    let Some(radix) = radix(literal) else { return literal.replace('_', "").parse().ok() };
    // A `_` may follow the prefix, and may stand between digits.
    let digits = literal[2..].strip_prefix('_').unwrap_or(&literal[2..]);
    let grouped = digits.split('_').all(|part| !part.is_empty());
    let value = BigInt::parse_bytes(digits.replace('_', "").as_bytes(), radix);
    value.filter(|_| grouped && digits.len() <= MAX_DIGITS && !digits.contains(['+', '-']))
}

/// Returns the beginning of a literal, for messages.
fn excerpt(literal: &str) -> String {
    if literal.chars().count() <= 40 {
        return literal.to_owned();
    }
    literal.chars().take(40).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::{Token, integer, lex};

    fn tokens(text: &str) -> Vec<Token<'_>> {
        lex(text, None).unwrap().into_iter().map(|spanned| spanned.token).collect()
    }

    #[test]
    fn numbers_parse_like_python() {
        use Token::{End, Float, Imaginary, Int, Name, Sign};
        assert_eq!(
            tokens("1_000 1e-3 .5 1. 00"),
            [Int("1_000"), Float(1e-3), Float(0.5), Float(1.0), Int("00"), End]
        );
        assert_eq!(tokens("1-3"), [Int("1"), Sign("-"), Int("3"), End]);
        assert_eq!(tokens("2j 1_0.5J"), [Imaginary(2.0), Imaginary(10.5), End]);
        assert_eq!(integer("1_0").map(|n| n.to_string()).as_deref(), Some("10"));
        for (text, value) in
            [("0x1F", 31), ("0X_ff", 255), ("0b1_01", 5), ("0o17", 15), ("0x0", 0), ("0B0", 0)]
        {
            assert_eq!(tokens(text), [Int(text), End]);
            assert_eq!(integer(text), Some(value.into()));
        }
        assert_eq!(integer(&format!("0x{}", "f".repeat(32))).map(|n| n.bits()), Some(128));
        assert_eq!(tokens("0xe-1"), [Int("0xe"), Sign("-"), Int("1"), End]);
        assert_eq!(tokens("1e3-e"), [Float(1e3), Sign("-"), Name("e"), End]);
    }

    #[test]
    fn near_numbers_are_rejected_whole() {
        for text in [
            "1x", "0x1g", "0x", "0b2", "0o8", "0x_", "0x1__f", "0x1f_", "0x1.5", "1.2.3", "1e", "1e+",
            "1__0", "1_", "1_.5", "007", "1e999", "2jj", "0x1j",
        ] {
            let message = lex(text, None).unwrap_err().to_string();
            assert!(message.contains(&format!("`{text}` is not")), "{message}");
        }
    }

    #[test]
    fn line_breaks_inside_brackets_are_spaces() {
        assert_eq!(tokens("f(\nx)\n# note\n").len(), 7);
    }

    #[test]
    fn lexer_prefers_longer_operators() {
        assert_eq!(tokens("a**b//c<=d>>e"), tokens("a ** b // c <= d >> e"));
        assert_ne!(tokens("a**b"), tokens("a* *b"));
    }
}
