//! What can be wrong with a document.

use crate::ParseDTypeError;
use crate::ParseTypeError;
use crate::build_error::BuildError;
use crate::make_node_error::MakeNodeError;
use crate::nearest::suggestion;
use precast_core::names::NameError;

/// Why a document is not a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseJsonError {
    /// Not JSON, or too deeply nested.
    #[error("the graph is not JSON")]
    Syntax(#[source] serde_json::Error),
    /// Not a graph document at all.
    #[error(
        "the document has no usable version in `precast_graph`; expected {known}\n\
         hint: a graph document begins with `{{\"precast_graph\": 1, …`",
        known = super::VERSION
    )]
    NoVersion(#[source] serde_json::Error),
    /// A version that this program does not know.
    #[error(
        "`{place}precast_graph` is version {found}; this program reads version {known}\n\
         hint: the graph was written by another version of precast; update this program",
        known = super::VERSION
    )]
    Version {
        /// Where; empty for the document itself.
        place: String,
        /// The version.
        found: u64,
    },
    /// A field is missing, unknown, or of the wrong kind.
    #[error("at `{place}`")]
    Field {
        /// Where.
        place: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// More operations than anyone compiles.
    #[error("`{place}applies` has {found} operations, expected at most {limit}")]
    Long {
        /// The way to the graph; empty for the document itself.
        place: String,
        /// How many there are.
        found: usize,
        /// The most that is read.
        limit: usize,
    },
    /// A type cannot be read.
    #[error("at `{place}`")]
    Type {
        /// Where.
        place: String,
        /// What is wrong.
        source: ParseTypeError,
    },
    /// Text that cannot be the name of an input, an output or a variable.
    #[error("at `{place}`")]
    Name {
        /// Where.
        place: String,
        /// What is wrong.
        source: NameError,
    },
    /// An id, or the name of an output, that is there twice.
    #[error("at `{place}`: duplicate name `{name}`, already that of `{first}`")]
    Duplicate {
        /// The second place.
        place: String,
        /// The name.
        name: String,
        /// The first place.
        first: String,
    },
    /// A reference to nothing.
    #[error("at `{place}`: no variable has the id `{found}`{}", suggestion(nearest.as_deref()))]
    Dangling {
        /// Where.
        place: String,
        /// The id.
        found: String,
        /// An id that was perhaps meant.
        nearest: Option<String>,
    },
    /// An Apply that needs its own result.
    #[error("at `{place}`: cycle through `{id}`: {chain}")]
    Cycle {
        /// Where.
        place: String,
        /// The id whose use closes the cycle.
        id: String,
        /// The applies of the cycle, in words.
        chain: String,
    },
    /// An Apply that stands before one that it needs.
    #[error(
        "at `{place}`: `{id}` is made later, by `{maker}`; an apply uses only what stands before it\n\
         hint: move the apply behind the ones it needs"
    )]
    Order {
        /// Where.
        place: String,
        /// The id.
        id: String,
        /// The Apply that makes it.
        maker: String,
    },
    /// An op that the library does not have.
    #[error("at `{place}`: unknown op `{found}`{}", suggestion(nearest.as_deref()))]
    UnknownOp {
        /// Where.
        place: String,
        /// The name.
        found: String,
        /// A name that was perhaps meant.
        nearest: Option<String>,
    },
    /// A dtype in a prop that is not one.
    #[error("at `{place}`")]
    DType {
        /// Where.
        place: String,
        /// What is wrong.
        source: ParseDTypeError,
    },
    /// Props that an op refuses, or types that it does not take.
    #[error("at `{place}`")]
    MakeNode {
        /// Where.
        place: String,
        /// What the op says.
        source: MakeNodeError,
    },
    /// A declared type that is not what the op gives.
    #[error("at `{place}`: declared type `{found}`, but `{op}` gives `{expected}`")]
    ResultType {
        /// Where.
        place: String,
        /// The op.
        op: String,
        /// The declared type.
        found: String,
        /// What the op derives.
        expected: String,
    },
    /// Another number of results than the op gives.
    #[error("at `{place}`: {found} output(s) declared, but `{op}` gives {expected}")]
    ResultCount {
        /// Where.
        place: String,
        /// The op.
        op: String,
        /// How many are declared.
        found: usize,
        /// How many there are.
        expected: usize,
    },
    /// A constant whose type, shape and elements do not fit each other.
    #[error("at `{place}`: {problem}")]
    Constant {
        /// Where.
        place: String,
        /// What does not fit, in words.
        problem: String,
    },
    /// A graph that computes nothing.
    #[error("at `{place}`")]
    Build {
        /// Where.
        place: String,
        /// What is wrong.
        source: BuildError,
    },
}
