//! Errors in the declaration or the files of an external op.

use super::section::Section;
use precast_graph::ParseTypeError;
use std::fmt;

/// A line of an op's own file, by its logical name: `vector_times_vector/vector_times_vector.c:12`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The logical name of the file.
    pub file: String,
    /// The line number, starting at 1.
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The reason why an external op is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExternalError {
    /// The op has an invalid name.
    #[error("invalid op name `{found}`: expected letters, digits and `_`, beginning with a letter")]
    Name {
        /// The name.
        found: String,
    },
    /// A C function cannot be used as the op's reference.
    #[error("{place}: {problem}")]
    Reference {
        /// The location.
        place: SourceLine,
        /// A description of the problem.
        problem: String,
    },
    /// A file has an invalid name.
    #[error("invalid file name `{found}` of an op: expected a relative path inside its directory")]
    FileName {
        /// The name.
        found: String,
    },
    /// Two files have the same name.
    #[error("two files of the op are named `{name}`")]
    FileTwice {
        /// The name.
        name: String,
    },
    /// A section tag is unknown.
    #[error("{place}: unknown section `{found}`{}", suggestion(nearest.as_deref()))]
    UnknownSection {
        /// The location.
        place: SourceLine,
        /// The tag.
        found: String,
        /// The most similar known tag.
        nearest: Option<String>,
    },
    /// Text precedes the first section.
    #[error("{place}: `{found}` precedes the first `#section`")]
    BeforeSection {
        /// The location.
        place: SourceLine,
        /// The text of the line.
        found: String,
    },
    /// A file has no sections.
    #[error("{file}: missing `#section`\nhint: begin each part with `#section <tag>`; tags: {}", tags())]
    NoSection {
        /// The logical name of the file.
        file: String,
    },
    /// A section uses the old markers that preceded `#section`.
    #[error(
        "{place}: `{found}` is an obsolete section name\nhint: write `#section support_code` or `#section \
         support_code_apply`"
    )]
    OldStyle {
        /// The location.
        place: SourceLine,
        /// The marker.
        found: String,
    },
    /// The op has no code to run.
    #[error(
        "`{op}` has neither a section `code` nor a function to call\nhint: set `func` to the name of the function"
    )]
    NoCode {
        /// The op.
        op: String,
    },
    /// The op has both a section `code` and a function to call.
    #[error("{place}: found both a section `code` and `func`, expected one of them")]
    CodeAndFunc {
        /// The location of the section.
        place: SourceLine,
    },
    /// The function to call has an invalid form.
    #[error("invalid function `{found}`: expected a name or `APPLY_SPECIFIC(name)`")]
    FuncForm {
        /// The given text.
        found: String,
    },
    /// No section defines the function.
    #[error("`{op}` calls `{func}`, which is not defined in any section{}", suggestion(nearest.as_deref()))]
    FuncMissing {
        /// The op.
        op: String,
        /// The function.
        func: String,
        /// The most similar defined function.
        nearest: Option<String>,
    },
    /// The function has the wrong number of parameters.
    #[error("{place}: `{func}` has {found} parameter(s), expected {expected}: {call}")]
    FuncArity {
        /// The location of its definition.
        place: SourceLine,
        /// The function.
        func: String,
        /// The number of its parameters.
        found: usize,
        /// The number of arguments.
        expected: usize,
        /// A description of the call.
        call: String,
    },
    /// The function returns `void`, so it cannot report failures.
    #[error("{place}: `{func}` returns void, expected int (0 for success)")]
    FuncVoid {
        /// The location of its definition.
        place: SourceLine,
        /// The function.
        func: String,
    },
    /// A macro is used where it is not defined.
    #[error("{place}: {problem}")]
    Macro {
        /// The location.
        place: SourceLine,
        /// A description of the problem.
        problem: String,
    },
    /// A brace is unmatched.
    #[error("{place}: unbalanced `{found}` in its section")]
    Brace {
        /// The location.
        place: SourceLine,
        /// The brace.
        found: &'static str,
    },
    /// A comment is not closed.
    #[error("{place}: unterminated comment\nhint: end it with `*/` in the same section")]
    Comment {
        /// The location of its start.
        place: SourceLine,
    },
    /// A `return` would skip the clean-up.
    #[error(
        "{place}: `return` in section `{section}` would skip the cleanup code\nhint: use `FAIL` to return an error, \
         or move the code into a function"
    )]
    Return {
        /// The location.
        place: SourceLine,
        /// The section.
        section: &'static str,
    },
    /// An include refers to a file outside the op's directory.
    #[error(
        "{place}: `#include` of `{name}` leaves the op's directory\nhint: move the file into the op's directory, or \
         add its directory to `header_dirs`"
    )]
    Include {
        /// The location.
        place: SourceLine,
        /// The header.
        name: String,
    },
    /// A type pattern is invalid.
    #[error("invalid type pattern `{text}`: {problem}")]
    Pattern {
        /// The pattern.
        text: String,
        /// A description of the problem.
        problem: String,
    },
    /// The type in a pattern is invalid.
    #[error("invalid type pattern `{text}`")]
    PatternType {
        /// The pattern.
        text: String,
        /// The error of parsing the type.
        source: ParseTypeError,
    },
    /// The value of a param does not fit its type.
    #[error("param `{param}`: {problem}")]
    Param {
        /// The param.
        param: String,
        /// A description of the problem.
        problem: String,
    },
    /// A setting is invalid or contradicts another one.
    #[error("`{key}` {problem}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// A description of the problem.
        problem: String,
    },
}

fn tags() -> String {
    Section::ALL.map(Section::tag).join(", ")
}

pub(super) fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |known| format!("; nearest `{known}`"))
}
