//! Splits Rust text into code and string literals, line by line; comments are dropped.
//!
//! This is enough of the lexer to distinguish the word `unsafe` from a comment about it. Literals leave `""` or `'
//! '` in the code, so braces in the code are braces of the program.

use std::iter::Peekable;
use std::str::Chars;

/// A line of a source file.
#[derive(Default, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The code, without comments and without the contents of literals.
    pub(super) code: String,
    /// The string literals that begin on this line, with escapes as written.
    pub(super) literals: Vec<String>,
}

/// Splits a source file.
pub(super) fn lex(text: &str) -> Vec<Line> {
    let mut lexer = Lexer { rest: text.chars().peekable(), lines: vec![Line::default()] };
    while let Some(next) = lexer.take() {
        match next {
            '/' if lexer.peek() == Some('/') => lexer.skip_line_comment(),
            '/' if lexer.peek() == Some('*') => lexer.skip_block_comment(),
            '"' => lexer.string(),
            'r' if matches!(lexer.peek(), Some('"' | '#')) && !lexer.in_word() => lexer.raw_string(),
            '\'' => lexer.quote(),
            other => lexer.code(other),
        }
    }
    lexer.lines
}

struct Lexer<'a> {
    rest: Peekable<Chars<'a>>,
    lines: Vec<Line>,
}

impl Lexer<'_> {
    /// Returns the next character; a newline starts a new line.
    fn take(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        if next == '\n' {
            self.lines.push(Line::default());
        }
        Some(next)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    fn code(&mut self, next: char) {
        if next != '\n' {
            self.line().code.push(next);
        }
    }

    fn line(&mut self) -> &mut Line {
        if self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    /// Returns whether the code ends inside a word that continues (`br"…"` and `cr"…"` do not).
    fn in_word(&mut self) -> bool {
        let code = self.line().code.as_str();
        let word = code.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        !matches!(word, "" | "b" | "c")
    }

    fn skip_line_comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.take();
        }
    }

    fn skip_block_comment(&mut self) {
        let (mut depth, mut last) = (1, self.take());
        while depth > 0 {
            let Some(next) = self.take() else { return };
            match (last, next) {
                (Some('*'), '/') => (depth, last) = (depth - 1, None),
                (Some('/'), '*') => (depth, last) = (depth + 1, None),
                _ => last = Some(next),
            }
        }
    }

    fn string(&mut self) {
        let first = self.lines.len() - 1;
        let mut literal = String::new();
        while let Some(next) = self.take().filter(|c| *c != '"') {
            literal.push(next);
            if next == '\\' {
                literal.extend(self.take());
            }
        }
        self.literal(first, literal);
    }

    /// Reads the text after an `r`: a raw string, or a raw identifier.
    fn raw_string(&mut self) {
        let first = self.lines.len() - 1;
        let mut hashes = 0;
        while self.peek() == Some('#') {
            self.take();
            hashes += 1;
        }
        if self.peek() != Some('"') {
            self.line().code.push('r');
            return;
        }
        self.take();
        let end = format!("\"{}", "#".repeat(hashes));
        let mut literal = String::new();
        while !literal.ends_with(&end) {
            let Some(next) = self.take() else { break };
            literal.push(next);
        }
        let inside = literal.strip_suffix(&end).unwrap_or(&literal).to_owned();
        self.literal(first, inside);
    }

    fn literal(&mut self, first: usize, literal: String) {
        self.lines[first].literals.push(literal);
        self.line().code.push_str("\"\"");
    }

    /// Reads the text after a `'`: the rest of a character, or a lifetime.
    fn quote(&mut self) {
        let mut ahead = self.rest.clone();
        let (first, second) = (ahead.next(), ahead.next());
        if first != Some('\\') && second != Some('\'') {
            self.line().code.push('\'');
            return;
        }
        if self.take() == Some('\\') {
            self.take();
        }
        while self.take().is_some_and(|c| c != '\'') {}
        self.line().code.push_str("' '");
    }
}

#[cfg(test)]
mod tests {
    use super::lex;

    fn code(text: &str) -> String {
        lex(text).iter().map(|line| line.code.as_str()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn lexer_drops_comments() {
        assert_eq!(code("a // unsafe\nb /* { /* } */ \n */ c"), "a \nb \n c");
    }

    #[test]
    fn lexer_keeps_only_quotes_of_literals() {
        assert_eq!(code(r#"f("{ \" }", b"{", '{', '\'', '"')"#), r#"f("", b"", ' ', ' ', ' ')"#);
        assert_eq!(code("f(r#\"a \" {\"#, br\"{\", r#type)"), "f(\"\", b\"\", rtype)");
    }

    #[test]
    fn lifetimes_are_code() {
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
    }

    #[test]
    fn literal_belongs_to_its_first_line() {
        let lines = lex("f(\n\"one\ntwo\")");
        assert_eq!(lines[1].literals, ["one\ntwo"]);
        assert_eq!(lines.len(), 3);
    }
}
