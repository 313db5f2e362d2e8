//! Maps compiler errors back to the module and the op that they concern.
//!
//! A unit knows the module and the Apply of each of its lines ([`Origins`]). An error in a header is traced back with
//! the context that the compiler prints: `In file included from`, `in expansion of macro`, `inlined from`. For text
//! after a `#line` directive, the compiler reports the author's file and line; these directives are parsed to find the
//! line in the unit.

use crate::foreign;
use precast_codegen::{Origins, Unit};

/// A compiler error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file: `unit.c`, `unit.cc`, or a logical name under `include/`.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// The compiler's message.
    pub message: String,
    /// The text of the line, if it is in the unit.
    pub source: Option<String>,
    /// The signature of the module.
    pub module: Option<String>,
    /// The signature of the op.
    pub op: Option<String>,
    /// A hint, if available.
    pub hint: Option<String>,
}

/// Finds locations in a unit's text.
pub(crate) struct Locator<'a> {
    unit: &'a Unit,
    file: &'a str,
    lines: Vec<&'a str>,
    origins: &'a Origins,
    /// Lines after a `#line` directive.
    foreign: Vec<Foreign<'a>>,
}

/// Lines of the unit that the compiler attributes to another file.
struct Foreign<'a> {
    file: &'a str,
    /// The number of the first line in that file.
    line: usize,
    /// The indices of the lines in the unit, counting from 0.
    indices: std::ops::Range<usize>,
}

impl<'a> Locator<'a> {
    /// Creates a locator for a unit with the text `text`, compiled under the name `file`.
    pub(crate) fn new(unit: &'a Unit, file: &'a str, text: &'a str, origins: &'a Origins) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let foreign = foreign(file, &lines);
        Self { unit, file, lines, origins, foreign }
    }

    /// Returns the line of the unit, counting from 1, for a location that the compiler reports.
    fn line_of(&self, file: &str, line: usize) -> Option<usize> {
        if file == self.file {
            return Some(line);
        }
        self.foreign.iter().filter(|foreign| foreign.file == file).find_map(|foreign| {
            let index = foreign.indices.start + line.checked_sub(foreign.line)?;
            foreign.indices.contains(&index).then_some(index + 1)
        })
    }

    /// Returns the module and the op of a line, counted from 1.
    fn place(&self, line: usize) -> (Option<String>, Option<String>) {
        let Some((member, apply)) = self.origins.find(line) else { return (None, None) };
        let module = &self.unit.members()[member].1;
        // If there is only one op, text shared by Applies belongs to it.
        let apply = apply.or((module.ops.len() == 1).then_some(0));
        (Some(module.signature.clone()), apply.and_then(|apply| module.ops.get(apply).cloned()))
    }

    /// Returns the location of the first line that contains these words, in the author's file or else in the unit:
    /// `op/f.c:3`.
    pub(crate) fn find_words(&self, words: &str) -> Option<String> {
        let index = self.lines.iter().position(|line| line.contains(words))?;
        let own = self.foreign.iter().find(|foreign| foreign.indices.contains(&index));
        Some(match own {
            Some(foreign) => format!("{}:{}", foreign.file, foreign.line + index - foreign.indices.start),
            None => format!("{}:{}", self.file, index + 1),
        })
    }

    /// Returns the op, or else the module, whose text contains a symbol as a whole word.
    pub(crate) fn find_symbol(&self, symbol: &str) -> Option<String> {
        let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let names = |line: &str| {
            line.match_indices(symbol).any(|(at, _)| {
                let bytes = line.as_bytes();
                !word(at.checked_sub(1).and_then(|at| bytes.get(at))) && !word(bytes.get(at + symbol.len()))
            })
        };
        let line = self.lines.iter().position(|line| names(line))?;
        let (module, op) = self.place(line + 1);
        op.or(module)
    }

    /// Parses the errors from the compiler's output.
    pub(crate) fn diagnostics(&self, words: &str) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = Vec::new();
        // The line of the unit in the context before an error: `from unit.c:3:`.
        let mut trail: Option<usize> = None;
        for text in words.lines() {
            let Some((file, line, column, severity, message)) = split(text) else {
                let mention = self.mention(text);
                trail = mention.or(trail);
                // The context may also follow the error: `unit.c:9:1: note: in expansion of macro`.
                continue;
            };
            if matches!(severity, "error" | "fatal error") {
                let in_unit = self.line_of(file, line);
                let at = in_unit.or(trail);
                let (module, op) = at.map_or((None, None), |line| self.place(line));
                let source =
                    in_unit.map(|line| self.lines.get(line.saturating_sub(1)).map(|line| (*line).to_owned()));
                let hint = foreign::hint(self.unit, message);
                let message = message.to_owned();
                found.push(Diagnostic {
                    file: file.to_owned(),
                    line,
                    column,
                    message,
                    source: source.flatten(),
                    module,
                    op,
                    hint,
                });
                trail = None;
            } else if let Some(line) = self.line_of(file, line)
                && severity == "note"
                && let Some(last) =
                    found.last_mut().filter(|last| last.file != self.file && last.op.is_none())
            {
                (last.module, last.op) = self.place(line);
            }
        }
        found
    }

    fn mention(&self, text: &str) -> Option<usize> {
        let (_, rest) = text.split_once("from ")?;
        let (file, rest) = rest.split_once(':')?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        self.line_of(file, digits.parse().ok()?)
    }
}

/// Parses the `#line` directives.
fn foreign<'a>(unit: &str, lines: &[&'a str]) -> Vec<Foreign<'a>> {
    let mut found: Vec<Foreign<'a>> = Vec::new();
    for (index, text) in lines.iter().enumerate() {
        let Some(rest) = text.strip_prefix("#line ") else { continue };
        let Some((number, file)) = rest.split_once(' ') else { continue };
        let Ok(line) = number.parse() else { continue };
        if let Some(last) = found.last_mut() {
            last.indices.end = last.indices.end.min(index);
        }
        found.push(Foreign { file: file.trim().trim_matches('"'), line, indices: index + 1..lines.len() });
    }
    found.retain(|foreign| foreign.file != unit);
    found
}

/// Splits `file:line:column: severity: message`.
fn split(text: &str) -> Option<(&str, usize, usize, &str, &str)> {
    let mut parts = text.splitn(4, ':');
    let (file, line, column, rest) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let (severity, message) = rest.trim_start().split_once(": ")?;
    let known = matches!(severity, "error" | "fatal error" | "warning" | "note");
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    known.then(|| (file.strip_prefix("include/").unwrap_or(file), line, column, severity, message))
}

/// The maximum number of errors in a message.
const SHOWN: usize = 3;

/// Renders the message of [`CompileError::Rejected`](crate::CompileError::Rejected).
pub(crate) fn render(compiler: &str, diagnostics: &[Diagnostic], words: &str) -> String {
    let Some(first) = diagnostics.first() else {
        let words = words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no message");
        return format!("{compiler} rejected the unit: {words}");
    };
    let mut text = match &first.module {
        Some(module) => format!("{compiler} rejected `{module}`"),
        None => format!("{compiler} rejected the unit"),
    };
    for Diagnostic { file, line, column, message, source, module, op, hint } in diagnostics.iter().take(SHOWN)
    {
        text.push_str(&format!("\n  {file}:{line}:{column}: {message}"));
        if let Some(op) = op.as_ref().filter(|op| module.as_ref() != Some(op)) {
            text.push_str(&format!("\n    in `{op}`"));
        }
        if let Some(source) = source {
            text.push_str(&format!("\n    | {}", source.trim()));
        }
        if let Some(hint) = hint {
            text.push_str(&format!("\n    hint: {hint}"));
        }
    }
    if diagnostics.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", diagnostics.len() - SHOWN));
    }
    text
}
