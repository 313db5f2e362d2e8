//! Why no module can be made of a graph.

use precast_graph::BuildError;

/// Why no module can be made of a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The graph itself is not valid.
    #[error("cannot generate code for an invalid graph")]
    Graph(#[from] BuildError),
    /// An op without a C side.
    #[error("apply {apply}: no C code for op `{op}`: it is not in the library of C ops")]
    NoC {
        /// Position of the Apply.
        apply: usize,
        /// The op.
        op: String,
    },
    /// An op that has no C for these types.
    #[error("no C code for `{signature}`: {problem}")]
    Unsupported {
        /// The Apply.
        signature: String,
        /// What is missing, in words.
        problem: String,
    },
    /// C of an author that would share a translation unit with other ops.
    #[error(
        "apply {apply}: the C of `{op}` is its author's and shares no module\nhint: link each of the graph's `segments`"
    )]
    Crowded {
        /// Position of the Apply.
        apply: usize,
        /// The op.
        op: String,
    },
    /// An op whose C sees a 16-bit float as an integer.
    #[error(
        "no C code for `{signature}`: the op uses NumPy's headers, where `{dtype}` is an integer\nhint: let it convert with \
         `npy_half_to_float` and say `f16_ok = true` (`COp::f16_ok`), or cast to f32 before"
    )]
    Half {
        /// The Apply.
        signature: String,
        /// The dtype, f16 or bf16.
        dtype: precast_graph::DType,
    },
    /// A user type without a C side.
    #[error(
        "no C code for values of type `{ty}`: the library has no type `{name}`\nhint: add it by `Library::with_type`"
    )]
    NoType {
        /// The type.
        ty: String,
        /// Its name.
        name: String,
    },
    /// A run-time param that cannot be given to C code.
    #[error("param `{field}` of `{op}`: {problem}")]
    Param {
        /// The op.
        op: String,
        /// The field.
        field: String,
        /// What is wrong, in words.
        problem: String,
    },
    /// An external op whose C does not fit the Apply.
    #[error("external op `{op}`")]
    External {
        /// The op.
        op: String,
        /// What is wrong.
        source: Box<crate::external::ExternalError>,
    },
    /// An op and a type of one module that bring different files of one name.
    #[error(
        "an op and a type that it uses have different files called `{name}`\nhint: give one of them another name"
    )]
    SourceTwice {
        /// Logical name of the file.
        name: String,
    },
    /// An output that is an input, a constant or another output.
    #[error("output {output} would alias `{with}`; the copy_outputs rewrite must run first")]
    AliasedOutput {
        /// Position of the output.
        output: usize,
        /// What it is.
        with: String,
    },
}
