//! Why an external op cannot be made.

use super::section::Section;
use precast_graph::ParseTypeError;
use std::fmt;

/// A line of an op's own file, under its logical name: `vector_times_vector/vector_times_vector.c:12`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Logical name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Why an external op cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExternalError {
    /// A name that cannot be an op's.
    #[error("`{found}` cannot name an op: expected letters, digits and `_`, a letter first")]
    Name {
        /// The name.
        found: String,
    },
    /// A function in C that cannot be the op's reference.
    #[error("{place}: {problem}")]
    Reference {
        /// Where.
        place: SourceLine,
        /// What is wrong with it, in words.
        problem: String,
    },
    /// A name that cannot be a file's.
    #[error(
        "`{found}` cannot name a file of an op: expected a relative path that does not lead out of its directory"
    )]
    FileName {
        /// The name.
        found: String,
    },
    /// One name for two files.
    #[error("two files of the op are called `{name}`")]
    FileTwice {
        /// The name.
        name: String,
    },
    /// A tag that there is not.
    #[error("{place}: unknown section `{found}`{}", suggestion(nearest.as_deref()))]
    UnknownSection {
        /// Where.
        place: SourceLine,
        /// The tag.
        found: String,
        /// A tag that was perhaps meant.
        nearest: Option<String>,
    },
    /// Text that belongs to no section.
    #[error("{place}: `{found}` stands before the first `#section`")]
    BeforeSection {
        /// Where.
        place: SourceLine,
        /// The line.
        found: String,
    },
    /// A file without sections.
    #[error("{file}: no `#section` in it\nhint: begin each part with `#section <tag>`; tags: {}", tags())]
    NoSection {
        /// Logical name of the file.
        file: String,
    },
    /// The marks that came before `#section`.
    #[error(
        "{place}: `{found}` is the old form of a section\nhint: write `#section support_code` or \
         `#section support_code_apply`"
    )]
    OldStyle {
        /// Where.
        place: SourceLine,
        /// The mark.
        found: String,
    },
    /// Nothing to run.
    #[error("`{op}` has neither a section `code` nor a function to call\nhint: name the function in `func`")]
    NoCode {
        /// The op.
        op: String,
    },
    /// Two things to run.
    #[error("{place}: a section `code` beside `func`, which writes that code itself")]
    CodeAndFunc {
        /// Where the section is.
        place: SourceLine,
    },
    /// A function that cannot be called so.
    #[error("function `{found}` is neither a name nor `APPLY_SPECIFIC(name)`")]
    FuncForm {
        /// What was given.
        found: String,
    },
    /// A function that no section has.
    #[error("`{op}` calls `{func}`, which no section defines{}", suggestion(nearest.as_deref()))]
    FuncMissing {
        /// The op.
        op: String,
        /// The function.
        func: String,
        /// One that was perhaps meant.
        nearest: Option<String>,
    },
    /// A function with too many parameters, or too few.
    #[error("{place}: `{func}` has {found} parameter(s), but is called with {expected}: {call}")]
    FuncArity {
        /// Where it is defined.
        place: SourceLine,
        /// The function.
        func: String,
        /// Its parameters.
        found: usize,
        /// The arguments.
        expected: usize,
        /// The call in words.
        call: String,
    },
    /// A function whose result says nothing.
    #[error("{place}: `{func}` returns void, expected int: 0 for success")]
    FuncVoid {
        /// Where it is defined.
        place: SourceLine,
        /// The function.
        func: String,
    },
    /// A macro where it is not defined.
    #[error("{place}: {problem}")]
    Macro {
        /// Where.
        place: SourceLine,
        /// What is wrong, in words.
        problem: String,
    },
    /// A brace without the other.
    #[error("{place}: `{found}` has no counterpart in its section")]
    Brace {
        /// Where.
        place: SourceLine,
        /// The brace.
        found: &'static str,
    },
    /// A comment without an end.
    #[error("{place}: the comment that begins here is not closed\nhint: end it with `*/` in its own section")]
    Comment {
        /// Where it begins.
        place: SourceLine,
    },
    /// A jump over the clean-up.
    #[error(
        "{place}: `return` in section `{section}` would skip what is given back behind it\nhint: in place of an error's \
         return insert `FAIL`; put what needs others into a function"
    )]
    Return {
        /// Where.
        place: SourceLine,
        /// The section.
        section: &'static str,
    },
    /// An include that leaves the op's own files.
    #[error(
        "{place}: `#include` of `{name}` leads out of the op's directory\nhint: put the file beside the op's own, or \
         name its directory in `header_dirs`"
    )]
    Include {
        /// Where.
        place: SourceLine,
        /// The header.
        name: String,
    },
    /// A pattern that cannot be read.
    #[error("type pattern `{text}`: {problem}")]
    Pattern {
        /// The pattern.
        text: String,
        /// What is wrong, in words.
        problem: String,
    },
    /// A pattern whose type cannot be read.
    #[error("type pattern `{text}`")]
    PatternType {
        /// The pattern.
        text: String,
        /// What is wrong with the type.
        source: ParseTypeError,
    },
    /// A param whose value does not fit its type.
    #[error("param `{param}`: {problem}")]
    Param {
        /// The param.
        param: String,
        /// What is wrong, in words.
        problem: String,
    },
    /// A setting that contradicts another, or makes no sense.
    #[error("`{key}` {problem}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// What is wrong, in words.
        problem: String,
    },
}

fn tags() -> String {
    Section::ALL.map(Section::tag).join(", ")
}

pub(super) fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |known| format!("; nearest `{known}`"))
}
