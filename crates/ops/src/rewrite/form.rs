//! The forms of a graph that modules are made of: who compiles and who looks up must choose the same one, or keys differ.

use super::passes::Passes;
use super::{COPY_OUTPUTS, COPY_OVERWRITTEN, NORMALISE, run, unfused};
use precast_graph::{BuildError, FunctionGraph};

/// What is made of a graph before modules are made of that.
///
/// | form | passes | who keys by it |
/// |---|---|---|
/// | [`Declared`](Self::Declared) | copies and numbering only | combinations of ops; debug mode |
/// | [`Lowered`](Self::Lowered) | all | segments and groups: whole graphs, entries, JIT |
/// | [`Preserving`](Self::Preserving) | all but `inplace` | graphs that modules of declared ops serve |
/// | [`Unfused`](Self::Unfused) | all, then groups are taken apart | graphs that are declared to be served op by op |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As it was declared, but for its numbering, copies of outputs and of what is overwritten.
    Declared,
    /// As whole-graph modules are made of it.
    Lowered,
    /// As [`Form::Lowered`], but no op becomes the form of it that overwrites an input.
    Preserving,
    /// As [`Form::Lowered`], with every fused Apply replaced by what it was fused of.
    Unfused,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 4] = [Self::Declared, Self::Lowered, Self::Preserving, Self::Unfused];

    /// Gives a graph this form, by a choice of passes and by those that modules rely on.
    ///
    /// # Errors
    /// A graph that breaks a contract of memory; otherwise none in practice: the ops accepted the same types before.
    pub fn of(self, graph: &FunctionGraph, passes: &Passes) -> Result<FunctionGraph, BuildError> {
        match self {
            Self::Declared => run(graph, &[COPY_OUTPUTS, COPY_OVERWRITTEN, NORMALISE]),
            Self::Lowered => run(graph, &passes.with_needed()),
            Self::Preserving => run(graph, &passes.without("inplace").with_needed()),
            Self::Unfused => Ok(unfused(&Self::Lowered.of(graph, passes)?)?.0),
        }
    }
}
