//! Errors of generating a module from a graph.

use precast_graph::BuildError;

/// The reason why a module cannot be generated from a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The graph is invalid.
    #[error("cannot generate code for an invalid graph")]
    Graph(#[from] BuildError),
    /// An op has no C side.
    #[error("apply {apply}: no C code for op `{op}`: it is not in the library of C ops")]
    NoC {
        /// The position of the Apply.
        apply: usize,
        /// The op.
        op: String,
    },
    /// An op has no C code for these types.
    #[error("no C code for `{signature}`: {problem}")]
    Unsupported {
        /// The signature of the Apply.
        signature: String,
        /// A description of the problem.
        problem: String,
    },
    /// Author-written C would share a translation unit with other ops.
    #[error(
        "apply {apply}: the C of `{op}` is its author's and shares no module\nhint: link each of the graph's `segments`"
    )]
    Crowded {
        /// The position of the Apply.
        apply: usize,
        /// The op.
        op: String,
    },
    /// An op's C code treats a 16-bit float as an integer.
    #[error(
        "no C code for `{signature}`: the op uses NumPy's headers, where `{dtype}` is an integer\nhint: let it convert with \
         `npy_half_to_float` and say `f16_ok = true` (`COp::f16_ok`), or cast to f32 before"
    )]
    Half {
        /// The signature of the Apply.
        signature: String,
        /// The dtype, f16 or bf16.
        dtype: precast_graph::DType,
    },
    /// A user type has no C side.
    #[error(
        "no C code for values of type `{ty}`: the library has no type `{name}`\nhint: add it by `Library::with_type`"
    )]
    NoType {
        /// The type.
        ty: String,
        /// The name of the type.
        name: String,
    },
    /// A run-time param cannot be passed to C code.
    #[error("param `{field}` of `{op}`: {problem}")]
    Param {
        /// The op.
        op: String,
        /// The field.
        field: String,
        /// A description of the problem.
        problem: String,
    },
    /// The C code of an external op does not fit the Apply.
    #[error("external op `{op}`")]
    External {
        /// The op.
        op: String,
        /// The cause.
        source: Box<crate::external::ExternalError>,
    },
    /// An op and a type of one module have different files with the same name.
    #[error(
        "an op and a type that it uses have different files called `{name}`\nhint: give one of them another name"
    )]
    SourceTwice {
        /// The logical name of the file.
        name: String,
    },
    /// An output is also an input, a constant or another output.
    #[error("output {output} would alias `{with}`; the copy_outputs rewrite must run first")]
    AliasedOutput {
        /// The position of the output.
        output: usize,
        /// The variable that the output would alias.
        with: String,
    },
}
