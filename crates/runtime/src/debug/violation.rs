//! Violations of an op's contract.

use precast_graph::{Array, FunctionGraph};
use std::fmt;

/// The rules of the contract. Messages contain the variant's name, which users look up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ViolationKind {
    /// The result differs from that of `perform`, or only one of them accepts the inputs.
    DiffersFromPerform,
    /// The result of the served graph differs from that of its Applies run one by one.
    DiffersFromServed,
    /// Two runs on the same inputs have different results.
    NotDeterministic,
    /// The result depends on the memory layout of an input.
    DependsOnLayout,
    /// The result depends on the previous content of the output cell.
    DependsOnOutput,
    /// An element of an output was never written.
    UnwrittenOutput,
    /// An output cell is empty after a successful run.
    NoOutput,
    /// An output does not have the dtype, rank or extents of its declared type, or a bool is neither 0 nor 1.
    WrongType,
    /// An input was changed without a destroy_map.
    InputChanged,
    /// An output shares memory with an input without a view_map or destroy_map.
    OutputAliasesInput,
    /// Two outputs share memory.
    OutputsAlias,
    /// A read-only tensor was written.
    WritesReadOnly,
    /// Memory outside of an operand was read or written.
    OutOfBounds,
    /// Memory was used after it was freed.
    UseAfterFree,
    /// A reference count is wrong: a reference was leaked, or released too often.
    ReferenceCount,
    /// Memory was not freed.
    Leak,
    /// The process's locale or a signal handler was changed.
    ChangesProcess,
    /// The code failed without setting an error.
    FailsWithoutError,
    /// A signal ended the process.
    Crashed,
    /// The code did not finish within the time limit.
    Hangs,
}

impl ViolationKind {
    /// All rules.
    pub const ALL: [Self; 20] = [
        Self::DiffersFromPerform,
        Self::DiffersFromServed,
        Self::NotDeterministic,
        Self::DependsOnLayout,
        Self::DependsOnOutput,
        Self::UnwrittenOutput,
        Self::NoOutput,
        Self::WrongType,
        Self::InputChanged,
        Self::OutputAliasesInput,
        Self::OutputsAlias,
        Self::WritesReadOnly,
        Self::OutOfBounds,
        Self::UseAfterFree,
        Self::ReferenceCount,
        Self::Leak,
        Self::ChangesProcess,
        Self::FailsWithoutError,
        Self::Crashed,
        Self::Hangs,
    ];

    /// Returns the rule's name, as in messages: `InputChanged`.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    /// Returns the rule with a name.
    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A violation of a rule by an Apply, with the data to reproduce it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{kind}: apply {apply}, `{signature}`: {detail} ({trial})")]
#[non_exhaustive]
pub struct Violation {
    /// The violated rule.
    pub kind: ViolationKind,
    /// The name of the op.
    pub op: String,
    /// The Apply's signature.
    pub signature: String,
    /// The position of the Apply in the checked graph.
    pub apply: usize,
    /// The observation.
    pub detail: String,
    /// The memory layouts of inputs and outputs: `inputs strided, output null`.
    pub trial: String,
    /// A graph of only this Apply.
    pub graph: FunctionGraph,
    /// The inputs of that graph that cause the violation.
    pub inputs: Vec<Array>,
}

/// The findings about one Apply.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checked {
    /// The Apply's signature.
    pub signature: String,
    /// The position in the graph.
    pub apply: usize,
    /// Whether a `perform` exists to compare with. Ops declared in C only have none; their first result is used
    /// instead.
    pub has_reference: bool,
    /// The number of accepted sets of inputs.
    pub accepted: usize,
    /// The number of sets of inputs that the op rejected with an error, which is allowed.
    pub refused: usize,
    /// The reason why the Apply was not checked, if it was skipped.
    pub skipped: Option<String>,
    /// The violations, at most one of each kind.
    pub violations: Vec<Violation>,
}

/// The findings about the Applies of a graph.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Findings {
    /// Each Apply that was considered.
    pub applies: Vec<Checked>,
}

impl Findings {
    /// Returns all violations, in the order of Applies.
    pub fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.applies.iter().flat_map(|checked| &checked.violations)
    }

    /// Returns the findings if no rule was violated; useful in tests.
    ///
    /// # Errors
    /// Returns the first violation.
    pub fn into_result(self) -> Result<Self, Box<Violation>> {
        let first = self.violations().next().cloned();
        first.map_or(Ok(self), |violation| Err(Box::new(violation)))
    }
}
