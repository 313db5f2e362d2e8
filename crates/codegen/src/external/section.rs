//! Splits C files into sections. `#section <tag>` starts a section; text before the first tag is an error.
//!
//! ```c
//! #section support_code
//! static int helper(int x) { return x + 1; }
//! #section code
//! *OUTPUT_0 = helper(INPUT_0);
//! ```
//! A tag may occur several times, in one file or in several. Its parts are concatenated in the order of the text, and
//! files in the order given. Tags inside comments are ignored.

use super::error::{ExternalError, SourceLine};
use crate::tokens::{Comment, scan};
use precast_graph::nearest;
use std::collections::BTreeSet;

/// The location of a piece of C code in the generated module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    InitCode,
    InitCodeApply,
    InitCodeStruct,
    SupportCode,
    SupportCodeApply,
    SupportCodeStruct,
    CleanupCodeStruct,
    Code,
    CodeCleanup,
}

impl Section {
    pub(super) const ALL: [Self; 9] = [
        Self::InitCode,
        Self::InitCodeApply,
        Self::InitCodeStruct,
        Self::SupportCode,
        Self::SupportCodeApply,
        Self::SupportCodeStruct,
        Self::CleanupCodeStruct,
        Self::Code,
        Self::CodeCleanup,
    ];

    pub(super) const fn tag(self) -> &'static str {
        match self {
            Self::InitCode => "init_code",
            Self::InitCodeApply => "init_code_apply",
            Self::InitCodeStruct => "init_code_struct",
            Self::SupportCode => "support_code",
            Self::SupportCodeApply => "support_code_apply",
            Self::SupportCodeStruct => "support_code_struct",
            Self::CleanupCodeStruct => "cleanup_code_struct",
            Self::Code => "code",
            Self::CodeCleanup => "code_cleanup",
        }
    }
}

/// A part of a section: the text between two tags of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) section: Section,
    /// The logical name of the file.
    pub(super) file: String,
    /// The line of the file where the text starts, counting from 1.
    pub(super) line: u32,
    pub(super) text: String,
}

impl Part {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the location of a line of the text, counting from 0.
    pub(super) fn place(&self, line: u32) -> SourceLine {
        SourceLine { file: self.file.clone(), line: self.line + line }
    }
}

/// Splits a file with the logical name `file` into its parts.
pub(super) fn split(file: &str, text: &str) -> Result<Vec<Part>, ExternalError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let commented = commented_lines(file, text)?;
    let mut parts: Vec<Part> = Vec::new();
    for (line, content) in (1_u32..).zip(text.split_inclusive('\n')) {
        let place = || SourceLine { file: file.to_owned(), line };
        if let Some(tag) = tag(content).filter(|_| !commented.contains(&line)) {
            let section = section(tag, place)?;
            parts.push(Part { section, file: file.to_owned(), line: line + 1, text: String::new() });
        } else if is_old_style(content) {
            return Err(ExternalError::OldStyle { place: place(), found: content.trim().to_owned() });
        } else if let Some(part) = parts.last_mut() {
            part.text.push_str(content);
        } else if !content.trim().is_empty() {
            // If the file has no tags at all, report that instead.
            if !text.lines().any(|line| tag(line).is_some() || is_old_style(line)) {
                break;
            }
            return Err(ExternalError::BeforeSection { place: place(), found: content.trim().to_owned() });
        }
    }
    if parts.is_empty() {
        return Err(ExternalError::NoSection { file: file.to_owned() });
    }
    Ok(parts)
}

/// Returns the lines, counting from 1, that start inside a comment or a literal.
fn commented_lines(file: &str, text: &str) -> Result<BTreeSet<u32>, ExternalError> {
    let (tokens, comments) = scan(text);
    if let Some(open) = comments.iter().find(|comment| is_open(comment)) {
        let place = SourceLine { file: file.to_owned(), line: open.line + 1 };
        return Err(ExternalError::Comment { place });
    }
    let spans = comments.iter().map(|comment| (comment.line, comment.text));
    let spans = spans.chain(tokens.iter().map(|token| (token.line, token.text)));
    let lines = |(first, text): (u32, &str)| {
        let more = u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX);
        first + 2..first.saturating_add(more).saturating_add(2)
    };
    Ok(spans.flat_map(lines).collect())
}

/// Returns whether a comment is unclosed. A comment that contains a tag and then opens another comment also counts,
/// since its author probably forgot to close it.
fn is_open(comment: &Comment<'_>) -> bool {
    let mut lines = comment.text.lines().skip(1);
    !comment.is_closed()
        || lines.by_ref().any(|line| tag(line).is_some()) && lines.any(|line| line.contains("/*"))
}

/// Returns the tag after `#section`, if the line has one.
fn tag(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('#')?.trim_start().strip_prefix("section")?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

fn section(tag: &str, place: impl Fn() -> SourceLine) -> Result<Section, ExternalError> {
    let known = Section::ALL.into_iter();
    known.clone().find(|section| section.tag() == tag).ok_or_else(|| ExternalError::UnknownSection {
        place: place(),
        nearest: nearest(tag, known.map(Section::tag)).map(str::to_owned),
        found: tag.to_owned(),
    })
}

/// Returns whether a line has a marker of Theano's first external ops: `THEANO_APPLY_CODE_SECTION`, later with other
/// prefixes.
fn is_old_style(line: &str) -> bool {
    let Some(front) = line.trim().strip_suffix("_CODE_SECTION") else { return false };
    let name = front.strip_suffix("_APPLY").or_else(|| front.strip_suffix("_SUPPORT"));
    name.is_some_and(|name| ["THEANO", "AESARA", "PYTENSOR"].contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        split("op/f.c", text).unwrap_err().to_string()
    }

    #[test]
    fn parts_keep_their_lines_and_their_order() {
        let parts =
            split("op/f.c", "\n#section code\na\nb\n #  section support_code \r\nc\n#section code\nd")
                .unwrap();
        let found: Vec<_> = parts.iter().map(|p| (p.section, p.line, p.text.as_str())).collect();
        let expected =
            [(Section::Code, 3, "a\nb\n"), (Section::SupportCode, 6, "c\n"), (Section::Code, 8, "d")];
        assert_eq!(found, expected);
    }

    #[test]
    fn byte_order_mark_is_not_text() {
        let parts = split("op/f.c", "\u{feff}#section code\nä\n").unwrap();
        assert_eq!((parts[0].line, parts[0].text.as_str()), (2, "ä\n"));
    }

    #[test]
    fn tag_in_comment_or_literal_is_ignored() {
        let text = "#section code\na\n/* b\n#section support_code\n#section nonsense\n */\n// c \\\n#section code\n\
                    R\"(\n#section code\n)\" d\n#section support_code\ne\n";
        let parts = split("op/f.c", text).unwrap();
        let found: Vec<_> = parts.iter().map(|p| (p.section, p.line)).collect();
        assert_eq!(found, [(Section::Code, 2), (Section::SupportCode, 13)]);
    }

    #[test]
    fn unclosed_comment_is_reported_with_its_line() {
        for text in [
            "#section code\na\n/* b\n",
            "#section code\na\n/* b /\n#section support_code\nc\n",
            "#section code\na\n/* b\n#section support_code\nc\n/* d */\n",
        ] {
            match split("op/f.c", text) {
                Err(ExternalError::Comment { place }) => {
                    assert_eq!((&*place.file, place.line), ("op/f.c", 3));
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn mistakes_are_reported_with_file_and_line() {
        assert_eq!(
            problem("#section code\n#section support_cod\n"),
            "op/f.c:2: unknown section `support_cod`; nearest `support_code`"
        );
        assert!(problem("#section\n").starts_with("op/f.c:1: unknown section ``"));
        assert!(problem("#section code extra\n").starts_with("op/f.c:1: unknown section `code extra`"));
        assert_eq!(
            problem("\n\nint x;\n#section code\n"),
            "op/f.c:3: `int x;` precedes the first `#section`"
        );
        assert!(problem("int x;\n").starts_with("op/f.c: missing `#section`"));
        assert!(problem("").starts_with("op/f.c: missing `#section`"));
        assert!(
            problem("\nTHEANO_SUPPORT_CODE_SECTION\n").starts_with("op/f.c:2: `THEANO_SUPPORT_CODE_SECTION`")
        );
    }
}
