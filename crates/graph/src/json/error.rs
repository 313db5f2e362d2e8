//! Errors found while a JSON document is read.

use crate::ParseDTypeError;
use crate::ParseTypeError;
use crate::build_error::BuildError;
use crate::make_node_error::MakeNodeError;
use crate::nearest::suggestion;
use precast_core::names::NameError;

/// Why a document is not a valid graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseJsonError {
    /// The text is not JSON, or is nested too deeply.
    #[error("the graph is not JSON")]
    Syntax(#[source] serde_json::Error),
    /// The document is not a graph document.
    #[error(
        "missing or invalid version in `precast_graph`, expected {known}\nhint: begin a graph document with \
         `{{\"precast_graph\": 1, …`",
        known = super::VERSION
    )]
    NoVersion(#[source] serde_json::Error),
    /// The document has a version that this program does not support.
    #[error(
        "`{place}precast_graph` is version {found}, expected {known}\nhint: update this program: another version of \
         precast wrote the graph",
        known = super::VERSION
    )]
    Version {
        /// The path to the graph; empty for the document itself.
        place: String,
        /// The version of the document.
        found: u64,
    },
    /// A field is missing, unknown, or of the wrong kind.
    #[error("at `{place}`")]
    Field {
        /// The path in the document.
        place: String,
        /// The error of the JSON reader.
        source: serde_json::Error,
    },
    /// The graph has too many operations.
    #[error("`{place}applies` has {found} operations, expected at most {limit}")]
    Long {
        /// The path to the graph; empty for the document itself.
        place: String,
        /// The number of operations.
        found: usize,
        /// The maximum.
        limit: usize,
    },
    /// Invalid type.
    #[error("at `{place}`")]
    Type {
        /// The path in the document.
        place: String,
        /// Why the type is invalid.
        source: ParseTypeError,
    },
    /// Text that is not a valid name for an input, an output or a variable.
    #[error("at `{place}`")]
    Name {
        /// The path in the document.
        place: String,
        /// Why the name is invalid.
        source: NameError,
    },
    /// An id or an output name occurs twice.
    #[error("at `{place}`: duplicate name `{name}`, already used by `{first}`")]
    Duplicate {
        /// The path of the second occurrence.
        place: String,
        /// The name.
        name: String,
        /// The path of the first occurrence.
        first: String,
    },
    /// A reference to an unknown id.
    #[error("at `{place}`: unknown variable id `{found}`{}", suggestion(nearest.as_deref()))]
    Dangling {
        /// The path in the document.
        place: String,
        /// The id.
        found: String,
        /// The most similar known id.
        nearest: Option<String>,
    },
    /// An Apply needs its own result.
    #[error("at `{place}`: cycle through `{id}`: {chain}")]
    Cycle {
        /// The path in the document.
        place: String,
        /// The id whose use closes the cycle.
        id: String,
        /// A description of the applies in the cycle.
        chain: String,
    },
    /// An Apply comes before another Apply that it needs.
    #[error(
        "at `{place}`: `{id}` is used before `{maker}` computes it\nhint: move the apply after the applies whose \
         results it uses"
    )]
    Order {
        /// The path in the document.
        place: String,
        /// The id.
        id: String,
        /// The Apply that produces it.
        maker: String,
    },
    /// The library has no op with this name.
    #[error("at `{place}`: unknown op `{found}`{}", suggestion(nearest.as_deref()))]
    UnknownOp {
        /// The path in the document.
        place: String,
        /// The name.
        found: String,
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// A prop contains an invalid dtype.
    #[error("at `{place}`")]
    DType {
        /// The path in the document.
        place: String,
        /// Why the dtype is invalid.
        source: ParseDTypeError,
    },
    /// The op rejects its props or input types.
    #[error("at `{place}`")]
    MakeNode {
        /// The path in the document.
        place: String,
        /// The error of the op.
        source: MakeNodeError,
    },
    /// A declared type contradicts the type that the op derives.
    #[error("at `{place}`: declared type `{found}`, but `{op}` returns `{expected}`")]
    ResultType {
        /// The path in the document.
        place: String,
        /// The op.
        op: String,
        /// The declared type.
        found: String,
        /// The type that the op derives.
        expected: String,
    },
    /// The number of declared results differs from the number of the op's outputs.
    #[error("at `{place}`: {found} output(s) declared, but `{op}` returns {expected}")]
    ResultCount {
        /// The path in the document.
        place: String,
        /// The op.
        op: String,
        /// The number of declared results.
        found: usize,
        /// The number of outputs of the op.
        expected: usize,
    },
    /// The type, shape and elements of a constant contradict each other.
    #[error("at `{place}`: {problem}")]
    Constant {
        /// The path in the document.
        place: String,
        /// A description of the mismatch.
        problem: String,
    },
    /// The graph cannot be built, e.g. because it has no outputs.
    #[error("at `{place}`")]
    Build {
        /// The path in the document.
        place: String,
        /// The error of the graph.
        source: BuildError,
    },
}
