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
    #[error("apply {apply}: no C code for op `{op}`: not in the library of C ops")]
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
        "apply {apply}: cannot link `{op}` into a module with other ops, because its C is user code\nhint: link each \
         of the graph's `segments`"
    )]
    Crowded {
        /// The position of the Apply.
        apply: usize,
        /// The op.
        op: String,
    },
    /// An op's C code treats a 16-bit float as an integer.
    #[error(
        "no C code for `{signature}`: the op uses NumPy's headers, where `{dtype}` is an integer\nhint: convert with \
         `npy_half_to_float` and set `f16_ok = true` (`COp::f16_ok`), or cast to f32 first"
    )]
    Half {
        /// The signature of the Apply.
        signature: String,
        /// The dtype, f16 or bf16.
        dtype: precast_graph::DType,
    },
    /// A graph that an op calls needs C++.
    #[error("`{op}` is C++, which loops and branches cannot contain")]
    CxxBody {
        /// The first op of the graph whose code is C++.
        op: String,
    },
    /// A user type has no C side.
    #[error(
        "no C code for values of type `{ty}`: unknown type `{name}`\nhint: add it with `Library::with_type`"
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
    #[error("an op and a type that it uses have different files named `{name}`\nhint: rename one of them")]
    SourceTwice {
        /// The logical name of the file.
        name: String,
    },
    /// An output is also an input, a constant or another output.
    #[error("output {output} would alias `{with}`\nhint: run the rewrite `copy_outputs` first")]
    AliasedOutput {
        /// The position of the output.
        output: usize,
        /// The variable that the output would alias.
        with: String,
    },
}
