//! Problems in declarations. All of them are collected before any is reported, so that one run shows every mistake.

use crate::place::SourceLocation;
use precast_graph::ParseDTypeError;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;

/// A mistake and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The place of the mistake.
    pub place: Box<SourceLocation>,
    /// The kind of mistake.
    pub kind: ProblemKind,
}

/// The kinds of mistakes in a declaration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is not valid TOML or does not match the schema: an unknown key, a missing key, a value of the wrong
    /// type.
    #[error("{message}")]
    Syntax {
        /// The parser's message.
        message: String,
    },
    /// An unknown dtype.
    #[error("{0}")]
    DType(ParseDTypeError),
    /// An empty list, which declares nothing.
    #[error("empty list")]
    Empty,
    /// A rank above the limit for tensors.
    #[error("found {found} dimensions, expected at most {most}")]
    Rank {
        /// The declared rank.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// More combinations than the limit for a build.
    #[error(
        "{} combinations of dtypes and ranks, expected at most {most} in total\nhint: list only the dtypes and ranks \
         that you need",
        found.map_or_else(|| "countless".to_owned(), |found| found.to_string())
    )]
    Combinations {
        /// The number declared so far; `None` if it overflows.
        found: Option<usize>,
        /// The limit.
        most: usize,
    },
    /// An op that the library does not contain.
    #[error("unknown op `{found}`{}", nearest.as_ref().map_or_else(String::new, |name| format!("; nearest `{name}`")))]
    UnknownOp {
        /// The unknown name.
        found: String,
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// Combinations that an op does not support; all of them in one message.
    #[error("{message}")]
    Unsupported {
        /// The op library's message.
        message: String,
    },
    /// Two different graphs with the same name.
    #[error("duplicate graph `{name}`, first declared at {first}")]
    DuplicateGraph {
        /// The name.
        name: String,
        /// The place of the first declaration.
        first: Box<SourceLocation>,
    },
    /// A name that is not valid for an entry.
    #[error("{message}")]
    Name {
        /// The reason.
        message: String,
    },
    /// An invalid value of `serve`.
    #[error("found `{found}`, expected `whole`, `groups` or `ops`")]
    Serve {
        /// The invalid word.
        found: String,
    },
    /// Neither or several of `file`, `json`, and `inputs` with `outputs`. A graph needs exactly one form.
    #[error("invalid graph: expected either `file`, or `json`, or `inputs` and `outputs`, found {found}")]
    GraphForm {
        /// The keys found, in words.
        found: String,
    },
    /// A graph that cannot be read.
    #[error("{message}")]
    Graph {
        /// The reason.
        message: String,
    },
    /// A graph that cannot be compiled to a module.
    #[error("cannot compile the graph: {message}")]
    Compile {
        /// The reason.
        message: String,
    },
    /// An external op that cannot be created.
    #[error("{message}")]
    External {
        /// The reason, with the place in the op's C files.
        message: String,
    },
    /// A letter of a type pattern without dtypes, or dtypes for a letter that no pattern contains.
    #[error("{problem}")]
    Dtypes {
        /// The reason, in words.
        problem: String,
    },
    /// A file that cannot be read.
    #[error("{message}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's message.
        message: String,
    },
    /// A target without any known ISA level.
    #[error(
        "unknown target `{found}`; supported: this machine's `{}`, and those of `x86_64` and `aarch64`",
        precast_compile::host_target()
    )]
    Target {
        /// The target.
        found: String,
    },
    /// An ISA level that is unknown, or that belongs to a different target.
    #[error("{message}")]
    Isa {
        /// The reason.
        message: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)
    }
}

impl Problem {
    pub(crate) fn new(place: SourceLocation, kind: ProblemKind) -> Self {
        Self { place: Box::new(place), kind }
    }
}

/// The error for invalid declarations: every problem found, in the order of the declarations.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclareError {
    /// The problems; never empty.
    pub problems: Vec<Problem>,
}

impl DeclareError {
    /// Returns an error with these problems, or `Ok` if the list is empty.
    pub(crate) fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }
}

impl fmt::Display for DeclareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.problems.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl Error for DeclareError {}
