//! What can be wrong with declarations. All of it is found before anything is said, so that one run shows every mistake.

use crate::place::Place;
use precast_graph::ParseDTypeError;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;

/// One mistake and where it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Where.
    pub place: Box<Place>,
    /// What.
    pub kind: ProblemKind,
}

/// What is wrong with a declaration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// Not TOML, or not of the schema: an unknown key, a missing one, a value of another kind.
    #[error("{message}")]
    Syntax {
        /// What the parser said.
        message: String,
    },
    /// A dtype that there is not.
    #[error("{0}")]
    DType(ParseDTypeError),
    /// A list with nothing in it declares nothing.
    #[error("the list is empty")]
    Empty,
    /// More dimensions than a tensor can have.
    #[error("found {found} dimensions, expected at most {most}")]
    Rank {
        /// What was declared.
        found: usize,
        /// What there can be.
        most: usize,
    },
    /// More combinations than anyone compiles.
    #[error(
        "{} combinations of dtypes and ranks, expected at most {most} in all\nhint: list the dtypes and ranks that are used",
        found.map_or_else(|| "countless".to_owned(), |found| found.to_string())
    )]
    Combinations {
        /// What is declared up to here; nothing if it is more than can be counted.
        found: Option<usize>,
        /// What there can be.
        most: usize,
    },
    /// An op that the library does not have.
    #[error("unknown op `{found}`{}", nearest.as_ref().map_or_else(String::new, |name| format!("; nearest `{name}`")))]
    UnknownOp {
        /// The name.
        found: String,
        /// A name that was perhaps meant.
        nearest: Option<String>,
    },
    /// Combinations that an op does not support, all of them.
    #[error("{message}")]
    Unsupported {
        /// What the op library said.
        message: String,
    },
    /// Two different graphs of one name.
    #[error("duplicate graph `{name}`: another one is declared at {first}")]
    DuplicateGraph {
        /// The name.
        name: String,
        /// Where it was declared first.
        first: Box<Place>,
    },
    /// A name that cannot be that of an entry.
    #[error("{message}")]
    Name {
        /// What is wrong with it.
        message: String,
    },
    /// A word that says nothing about what is compiled for a graph.
    #[error("found `{found}`, expected `whole`, `groups` or `ops`")]
    Serve {
        /// The word.
        found: String,
    },
    /// A graph needs either `file`, or `json`, or `inputs` and `outputs`.
    #[error("a graph has either `file`, or `json`, or `inputs` and `outputs`; found {found}")]
    GraphForm {
        /// What there is, in words.
        found: String,
    },
    /// A graph that cannot be read.
    #[error("{message}")]
    Graph {
        /// What is wrong with it.
        message: String,
    },
    /// A graph that no module can be made of.
    #[error("cannot compile the graph: {message}")]
    Compile {
        /// What is wrong with it.
        message: String,
    },
    /// An external op that cannot be made.
    #[error("{message}")]
    External {
        /// What is wrong with it, with the place in its C files.
        message: String,
    },
    /// A letter of a type pattern that stands for no dtype, or a dtype list for a letter that no pattern has.
    #[error("{problem}")]
    Dtypes {
        /// What is wrong, in words.
        problem: String,
    },
    /// A file that cannot be read.
    #[error("{message}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
    /// A target that nothing is compiled for.
    #[error(
        "unknown target `{found}`; those of `x86_64` and `aarch64` are known, `{}` is this machine's",
        precast_compile::host_target()
    )]
    Target {
        /// The target.
        found: String,
    },
    /// An ISA level that there is not, or not for this target.
    #[error("{message}")]
    Isa {
        /// What is wrong with it.
        message: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)
    }
}

impl Problem {
    pub(crate) fn new(place: Place, kind: ProblemKind) -> Self {
        Self { place: Box::new(place), kind }
    }
}

/// Says what is wrong with declarations: every problem that was found, in the order of the declarations.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclareError {
    /// The problems; never empty.
    pub problems: Vec<Problem>,
}

impl DeclareError {
    /// Gives the error of these problems, if there are any.
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
