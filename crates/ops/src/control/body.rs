//! A graph that an op calls.

use crate::registry::Ops;
use crate::rewrite::lower;
use precast_core::native::ErrorKind;
use precast_graph::{
    Array, BuildError, FunctionGraph, InterpretError, MakeNodeError, PerformError, Prop, Pullback, Type,
    encode, interpret,
};
use std::sync::{Arc, OnceLock};

/// A graph that an op calls. Its inputs are all that it reads: it has no constants.
#[derive(Debug, Clone)]
pub struct Body {
    graph: Arc<FunctionGraph>,
    lowered: Arc<FunctionGraph>,
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.graph == other.graph
    }
}

impl Body {
    /// Creates a body.
    ///
    /// # Errors
    /// A graph with constants or without outputs, or one that breaks the memory rules.
    pub fn new(graph: &FunctionGraph) -> Result<Self, BuildError> {
        if graph.constants().next().is_some() {
            return Err(Pullback::error("a graph that an op calls has constants; make them inputs"));
        }
        let graph = encode::order(graph);
        let lowered = lower(&graph)?;
        Ok(Self { graph: Arc::new(graph), lowered: Arc::new(lowered) })
    }

    /// Reads a body from a prop.
    pub(super) fn from_prop(op: &str, name: &str, prop: Option<&Prop>) -> Result<Self, MakeNodeError> {
        let Some(Prop::Graph(graph)) = prop else {
            return Err(MakeNodeError::prop(op, name, "is missing, expected a graph"));
        };
        Self::new(graph).map_err(|error| match error {
            BuildError::MakeNode(error) => error,
            other => MakeNodeError::prop(op, name, other.to_string()),
        })
    }

    /// Returns the graph as it was built.
    #[must_use]
    pub fn graph(&self) -> &Arc<FunctionGraph> {
        &self.graph
    }

    /// Returns the graph that the C code is generated from.
    #[must_use]
    pub fn lowered(&self) -> &FunctionGraph {
        &self.lowered
    }

    /// Returns the types of the inputs.
    pub(crate) fn inputs(&self) -> Vec<Type> {
        self.graph.inputs().iter().map(|input| self.graph.ty(*input).clone()).collect()
    }

    /// Returns the types of the outputs.
    pub(crate) fn outputs(&self) -> Vec<Type> {
        self.graph.outputs().iter().map(|output| self.graph.ty(*output).clone()).collect()
    }

    /// Evaluates the graph. `place` describes the call in errors of the ops.
    pub(super) fn perform(
        &self,
        op: &str,
        inputs: &[Array],
        place: impl Fn() -> String,
    ) -> Result<Vec<Array>, PerformError> {
        interpret(&self.graph, inputs).map_err(|error| match error {
            InterpretError::Perform { source: PerformError::Value { op, kind, problem }, .. } => {
                PerformError::Value { op, kind, problem: problem + &place() }
            }
            InterpretError::Perform { source, .. } => source,
            other => PerformError::of_kind(op, ErrorKind::Value, other.to_string()),
        })
    }

    /// Returns an ID of the C code of all ops; `None` if the code of an op is not part of this crate.
    pub(super) fn content_id(&self) -> Option<String> {
        static LIBRARY: OnceLock<Ops> = OnceLock::new();
        let library = LIBRARY.get_or_init(Ops::standard);
        if self.lowered.variables().iter().any(|variable| variable.ty.as_user().is_some()) {
            return None;
        }
        let ids = self.lowered.applies().iter().map(|apply| library.c().c_op(&*apply.op)?.content_id());
        Some(ids.collect::<Option<Vec<String>>>()?.join(","))
    }
}

/// Checks that a graph admits the values of an input: the same kind, dtype and rank, and no other fixed extent.
pub(super) fn expect_type(
    op: &str,
    input: usize,
    found: &Type,
    expected: &Type,
) -> Result<(), MakeNodeError> {
    if admits(expected, found) {
        return Ok(());
    }
    let (op, found, expected) = (op.to_owned(), found.to_string(), format!("`{expected}`"));
    Err(MakeNodeError::Input { op, input, found, expected })
}

/// Returns whether all values of the type `found` are values of the type `expected`.
pub(crate) fn admits(expected: &Type, found: &Type) -> bool {
    match (expected, found) {
        (Type::Tensor(expected), Type::Tensor(found)) => {
            expected.dtype == found.dtype
                && expected.shape.len() == found.shape.len()
                && expected
                    .shape
                    .iter()
                    .zip(&found.shape)
                    .all(|(expected, found)| *expected == precast_graph::Extent::Unknown || expected == found)
        }
        (expected, found) => expected == found,
    }
}
