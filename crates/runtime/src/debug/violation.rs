//! What an op did against its contract.

use precast_graph::{Array, FunctionGraph};
use std::fmt;

/// A rule that was broken. The name is what people look up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ViolationKind {
    /// The result is not that of `perform`, or one of them refuses what the other accepts.
    DiffersFromPerform,
    /// The result of the graph as it is served is not that of its Applies one by one.
    DiffersFromServed,
    /// Two runs on the same inputs have different results.
    NotDeterministic,
    /// The result depends on how an input lies in memory.
    DependsOnLayout,
    /// The result depends on what the output cell held before the call.
    DependsOnOutput,
    /// An element of an output was never written.
    UnwrittenOutput,
    /// An output cell is empty after a run that succeeded.
    NoOutput,
    /// An output has another dtype, rank or extents than its declared type, or a bool that is neither 0 nor 1.
    WrongType,
    /// An input was changed, and no destroy_map says so.
    InputChanged,
    /// An output lies in the memory of an input, and no view_map or destroy_map says so.
    OutputAliasesInput,
    /// Two outputs lie in the same memory.
    OutputsAlias,
    /// A tensor that is read-only was written to.
    WritesReadOnly,
    /// Memory beside an operand was read or written.
    OutOfBounds,
    /// Memory was used after it had been given back.
    UseAfterFree,
    /// A reference was taken and not given back, or given back too often.
    ReferenceCount,
    /// Memory was never given back.
    Leak,
    /// The locale of the process, or who handles a signal, was changed.
    ChangesProcess,
    /// The code failed without saying why.
    FailsWithoutError,
    /// The process was ended by a signal.
    Crashed,
    /// The code did not come to an end.
    Hangs,
}

impl ViolationKind {
    /// All of them.
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

    /// Its name, as in messages: `InputChanged`.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    /// The kind of a name.
    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A rule that an Apply broke, and what repeats it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{kind}: apply {apply}, `{signature}`: {detail} ({trial})")]
#[non_exhaustive]
pub struct Violation {
    /// Which rule.
    pub kind: ViolationKind,
    /// Name of the op.
    pub op: String,
    /// The Apply, printed.
    pub signature: String,
    /// Position of the Apply in the graph that was checked.
    pub apply: usize,
    /// What was seen.
    pub detail: String,
    /// How inputs and outputs lay in memory: `inputs strided, output null`.
    pub trial: String,
    /// A graph of this Apply alone.
    pub graph: FunctionGraph,
    /// The inputs of that graph on which it happened.
    pub inputs: Vec<Array>,
}

/// What was found out about one Apply.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checked {
    /// The Apply, printed.
    pub signature: String,
    /// Its position in the graph.
    pub apply: usize,
    /// Whether there is a `perform` to compare with. Ops declared in C only have none: their first result stands for it.
    pub has_reference: bool,
    /// On how many sets of inputs it ran.
    pub accepted: usize,
    /// How many sets of inputs it refused with an error, as it may.
    pub refused: usize,
    /// Why it was not checked, if it was not.
    pub skipped: Option<String>,
    /// The rules that it broke, each kind once.
    pub violations: Vec<Violation>,
}

/// What was found out about the Applies of a graph.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Findings {
    /// Each Apply that was looked at.
    pub applies: Vec<Checked>,
}

impl Findings {
    /// All violations, in the order of Applies.
    pub fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.applies.iter().flat_map(|checked| &checked.violations)
    }

    /// The findings, unless a rule was broken: for tests.
    ///
    /// # Errors
    /// The first violation.
    pub fn into_result(self) -> Result<Self, Box<Violation>> {
        let first = self.violations().next().cloned();
        first.map_or(Ok(self), |violation| Err(Box::new(violation)))
    }
}
