//! A C tokenizer that keeps line numbers. It supports as much of the preprocessor as is needed to find misplaced names,
//! to count parameters and to detect the language. It handles comments, literals and continued lines, but does not
//! expand macros.

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// One character of punctuation; `::` and `->` count as one token.
    Mark,
    /// A number, a string or a character.
    Literal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    /// Its byte offset in the text.
    pub(crate) at: usize,
    /// Its line in the text, counting from 0.
    pub(crate) line: u32,
    /// Whether it is part of a preprocessor directive, including continued lines.
    pub(crate) directive: bool,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Literal && self.text == text
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Comment<'t> {
    /// Its text, including the delimiters.
    pub(crate) text: &'t str,
    /// Its byte offset in the text.
    pub(crate) at: usize,
    /// The line in the text where it starts, counting from 0.
    pub(crate) line: u32,
}

impl Comment<'_> {
    /// Returns whether the comment is terminated.
    pub(crate) fn is_closed(&self) -> bool {
        self.text.starts_with("//") || (self.text.len() >= 4 && self.text.ends_with("*/"))
    }
}

/// Returns the name at the start of the operand of an `#include`, and whether it is in quotes instead of brackets.
#[must_use]
pub fn header_name(operand: &str) -> Option<(bool, &str)> {
    let between =
        |open: char, close: char| operand.strip_prefix(open)?.split_once(close).map(|(name, _)| name);
    match between('"', '"') {
        Some(name) => Some((true, name)),
        None => between('<', '>').map(|name| (false, name)),
    }
}

/// Returns the tokens of a text, in order.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    scan(text).0
}

/// Returns the tokens and the comments of a text, each in order.
pub(crate) fn scan(text: &str) -> (Vec<Token<'_>>, Vec<Comment<'_>>) {
    // A byte order mark is not part of the text.
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (found, comments) = (Vec::new(), Vec::new());
    let mut scanner = Scanner { text, at, line: 0, fresh: true, directive: false, found, comments };
    while scanner.at < text.len() {
        scanner.step();
    }
    (scanner.found, scanner.comments)
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    /// Whether only whitespace precedes `at` on its line.
    fresh: bool,
    directive: bool,
    found: Vec<Token<'t>>,
    comments: Vec<Comment<'t>>,
}

impl<'t> Scanner<'t> {
    fn step(&mut self) {
        let rest = &self.text[self.at..];
        let first = rest.as_bytes()[0];
        match first {
            b'\n' => {
                (self.fresh, self.directive) = (true, false);
                self.skip(1);
            }
            b'\\' if rest.starts_with("\\\n") => self.skip(2),
            b'\\' if rest.starts_with("\\\r\n") => self.skip(3),
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.skip(1),
            b'/' if rest.starts_with("//") => self.comment(line_comment(rest)),
            b'/' if rest.starts_with("/*") => {
                self.comment(rest[2..].find("*/").map_or(rest.len(), |end| end + 4));
            }
            b'"' | b'\'' => self.take(Kind::Literal, literal(rest)),
            b'0'..=b'9' => self.take(Kind::Literal, span(rest, |c| c == '.')),
            _ if first == b'_' || first.is_ascii_alphabetic() || first >= 0x80 => self.word(rest),
            _ => {
                self.directive |= first == b'#' && self.fresh;
                let long = rest.starts_with("::") || rest.starts_with("->");
                self.take(Kind::Mark, if long { 2 } else { 1 });
            }
        }
    }

    fn comment(&mut self, len: usize) {
        let text = &self.text[self.at..self.at + len];
        self.comments.push(Comment { text, at: self.at, line: self.line });
        self.skip(len);
    }

    fn word(&mut self, rest: &str) {
        let len = span(rest, |_| false);
        let quote = rest.as_bytes().get(len);
        if quote == Some(&b'"') && matches!(&rest[..len], "R" | "LR" | "uR" | "UR" | "u8R") {
            return self.take(Kind::Literal, raw_literal(rest, len));
        }
        self.take(Kind::Word, len);
    }

    fn take(&mut self, kind: Kind, len: usize) {
        let text = &self.text[self.at..self.at + len];
        self.found.push(Token { kind, text, at: self.at, line: self.line, directive: self.directive });
        self.fresh = false;
        self.skip(len);
    }

    fn skip(&mut self, len: usize) {
        let lines = self.text[self.at..self.at + len].matches('\n').count();
        self.line += u32::try_from(lines).unwrap_or(u32::MAX);
        self.at += len;
    }
}

/// Returns the length of the name at the start of `text`.
fn span(text: &str, also: fn(char) -> bool) -> usize {
    let part = |c: char| c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii() || also(c);
    text.find(|c| !part(c)).unwrap_or(text.len())
}

/// Returns the length of a line comment, including continued lines.
fn line_comment(text: &str) -> usize {
    let ends = |at: &usize| !text[..*at].trim_end_matches('\r').ends_with('\\');
    text.match_indices('\n').map(|(at, _)| at).find(ends).unwrap_or(text.len())
}

/// Returns the length in bytes of the string or character literal at the start of `text`. An unclosed literal ends with
/// its line.
#[must_use]
pub fn literal(text: &str) -> usize {
    let quote = text.as_bytes()[0];
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the end of the raw literal `R"mark( … )mark"`; `quote` is the position of the first quote.
fn raw_literal(text: &str, quote: usize) -> usize {
    let Some(open) = text[quote..].find('(') else { return text.len() };
    let close = format!("){}\"", &text[quote + 1..quote + open]);
    text[quote + open..].find(&close).map_or(text.len(), |at| quote + open + at + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(&str, u32)> {
        tokens(text).into_iter().filter(|t| t.kind == Kind::Word).map(|t| (t.text, t.line)).collect()
    }

    #[test]
    fn comments_and_literals_contain_no_words() {
        let text = "a /* b\n c */ d // e \\\n f\ng \"h\\\"i\" 'j' R\"x(k)\" l)x\" m";
        assert_eq!(words(text), [("a", 0), ("d", 1), ("g", 3), ("m", 3)]);
    }

    #[test]
    fn directive_continues_on_continued_lines() {
        let text = "#define A b \\\n c\n d # e";
        let found: Vec<bool> = tokens(text).iter().map(|t| t.directive).collect();
        assert_eq!(found, [true, true, true, true, true, false, false, false]);
    }

    #[test]
    fn unterminated_text_does_not_hang() {
        for text in ["/*", "\"\\", "'", "R\"(", "R\"", "//\\", "1.5e", "\\", "é"] {
            let _ = tokens(text);
        }
    }
}
