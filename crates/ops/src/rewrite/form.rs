//! The forms of a graph from which modules are generated. The build and the lookup must choose the same form, or the
//! keys differ.

use super::passes::Passes;
use super::{COPY_OUTPUTS, COPY_OVERWRITTEN, NORMALISE, run, unfused};
use precast_graph::{BuildError, FunctionGraph};

/// The rewritten form of a graph from which modules are generated.
///
/// | form | passes | keys of |
/// |---|---|---|
/// | [`Declared`](Self::Declared) | copies and numbering only | combinations of ops; debug mode |
/// | [`Lowered`](Self::Lowered) | all | segments and groups: whole graphs, entries, JIT |
/// | [`General`](Self::General) | all but `small_graphs` | graphs that modules of other extents serve |
/// | [`Preserving`](Self::Preserving) | all but `inplace` | graphs that modules of declared ops serve |
/// | [`Unfused`](Self::Unfused) | all, then groups are taken apart | graphs that are declared to be served op by op |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The declared graph, except for its numbering, and for copies of outputs and overwritten inputs.
    Declared,
    /// The form for whole-graph modules.
    Lowered,
    /// Like [`Form::Lowered`], but without ops for known extents.
    General,
    /// Like [`Form::Lowered`], but without in-place ops.
    Preserving,
    /// Like [`Form::General`], with every fused Apply expanded to its parts.
    Unfused,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 5] =
        [Self::Declared, Self::Lowered, Self::General, Self::Preserving, Self::Unfused];

    /// Rewrites a graph to this form, with the given passes and the passes that modules rely on.
    ///
    /// # Errors
    /// A graph that breaks the memory rules. Other errors do not occur in practice, because the ops already accepted
    /// the same types.
    pub fn of(self, graph: &FunctionGraph, passes: &Passes) -> Result<FunctionGraph, BuildError> {
        match self {
            Self::Declared => run(graph, &[COPY_OUTPUTS, COPY_OVERWRITTEN, NORMALISE]),
            Self::Lowered => run(graph, &passes.with_needed()),
            Self::General => run(graph, &passes.without("small_graphs").with_needed()),
            Self::Preserving => run(graph, &passes.without("inplace").with_needed()),
            Self::Unfused => Ok(unfused(&Self::General.of(graph, passes)?)?.0),
        }
    }
}
