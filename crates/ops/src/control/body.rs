//! A graph that an op calls.

use super::{Branch, CustomGradient, Scan};
use crate::declared::of;
use crate::registry::Ops;
use crate::rewrite::lower;
use precast_core::native::ErrorKind;
use precast_graph::{
    Array, BuildError, Extent, FunctionGraph, InterpretError, MakeNodeError, Op, PerformError, Prop, Type,
    encode, interpret,
};
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// A graph that an op calls. Its inputs are all that it reads: it has no constants.
#[derive(Debug, Clone)]
pub struct Body {
    graph: Arc<FunctionGraph>,
    lowered: Arc<FunctionGraph>,
    /// The number of graphs that call each other, this one included.
    depth: usize,
}

/// The maximum number of graphs that call each other. Readers of JSON limit the depth of nesting.
const MAX_DEPTH: usize = 20;

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
            let problem = "a graph that an op calls has constants; make them inputs".to_owned();
            return Err(MakeNodeError::Value { op: "scan".to_owned(), problem }.into());
        }
        let graph = encode::order(graph);
        let depth = 1 + graph.applies().iter().map(|apply| depth(&*apply.op)).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            let problem = format!("loops, branches and rules are nested more than {MAX_DEPTH} deep");
            return Err(MakeNodeError::Value { op: "scan".to_owned(), problem }.into());
        }
        let lowered = lower(&graph)?;
        Ok(Self { graph: Arc::new(graph), lowered: Arc::new(lowered), depth })
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

    /// Returns the extents of the inputs that the graph relies on; `None` if all are unknown.
    pub(super) fn extents(&self) -> Option<Vec<Vec<Extent>>> {
        let extents: Vec<Vec<Extent>> = self.inputs().iter().map(|ty| ty.shape().to_vec()).collect();
        extents.iter().flatten().any(|extent| *extent != Extent::Unknown).then_some(extents)
    }

    /// Checks the extents that the graph relies on, as the C code does.
    pub(super) fn check(&self, op: &str, first: usize, inputs: &[&Array]) -> Result<(), PerformError> {
        self.extents().map_or(Ok(()), |extents| check_extents(op, first, inputs, &extents, |_| false))
    }

    /// Evaluates the graph. `place` describes the call in errors of the ops.
    pub(super) fn perform(
        &self,
        op: &str,
        inputs: &[Array],
        place: impl Fn() -> String,
    ) -> Result<Vec<Array>, PerformError> {
        perform(&self.graph, op, inputs, place)
    }

    /// Returns an ID of the C code of all ops; `None` if the code of an op is not part of this crate.
    pub(super) fn content_id(&self) -> Option<String> {
        content_id(&self.lowered)
    }
}

/// Evaluates a graph for an op. `place` describes the call in errors of the ops.
pub(super) fn perform(
    graph: &FunctionGraph,
    op: &str,
    inputs: &[Array],
    place: impl Fn() -> String,
) -> Result<Vec<Array>, PerformError> {
    interpret(graph, inputs).map_err(|error| match error {
        InterpretError::Perform { source: PerformError::Value { op, kind, problem }, .. } => {
            PerformError::Value { op, kind, problem: problem + &place() }
        }
        InterpretError::Perform { source, .. } => source,
        other => PerformError::of_kind(op, ErrorKind::Value, other.to_string()),
    })
}

/// Returns the ops of this crate.
pub(super) fn library() -> &'static Ops {
    static LIBRARY: OnceLock<Ops> = OnceLock::new();
    LIBRARY.get_or_init(Ops::standard)
}

/// Returns an ID of the C code of all ops of a graph; `None` if the code of an op is not part of this crate.
pub(super) fn content_id(graph: &FunctionGraph) -> Option<String> {
    let library = library();
    if graph.variables().iter().any(|variable| variable.ty.as_user().is_some()) {
        return None;
    }
    let ids = graph.applies().iter().map(|apply| library.c().c_op(&*apply.op)?.content_id());
    Some(ids.collect::<Option<Vec<String>>>()?.join(","))
}

/// Checks the extents of the inputs of a body, as the C code does. A sequence has a dimension before those of a row.
pub(super) fn check_extents(
    op: &str,
    first: usize,
    inputs: &[&Array],
    extents: &[Vec<Extent>],
    is_sequence: impl Fn(usize) -> bool,
) -> Result<(), PerformError> {
    for (position, (own, array)) in extents.iter().zip(inputs).enumerate() {
        let skipped = usize::from(is_sequence(position));
        for (d, (expected, found)) in own.iter().zip(&array.shape()[skipped..]).enumerate() {
            if let Extent::Fixed(n) = expected
                && *n != *found as u64
            {
                let (input, d) = (first + position, d + skipped);
                let problem =
                    format!("{op}: dimension {d} of input {input} has extent {found}, expected {n}");
                return Err(PerformError::value(op, problem));
            }
        }
    }
    Ok(())
}

/// Returns extents of inputs as C: for each input its rank and its extents, -1 for an unknown one. A sequence has a
/// dimension before those of a row.
pub(super) fn extents_table(extents: &[Vec<Extent>], is_sequence: impl Fn(usize) -> bool) -> String {
    let mut table = Vec::new();
    for (position, own) in extents.iter().enumerate() {
        let is_sequence = is_sequence(position);
        table.push((own.len() + usize::from(is_sequence)).to_string());
        table.extend(is_sequence.then(|| "-1".to_owned()));
        table.extend(own.iter().map(|extent| match extent {
            Extent::Fixed(n) => n.to_string(),
            Extent::Unknown => "-1".to_owned(),
        }));
    }
    table.join(", ")
}

/// Returns the depth of the graphs that an op calls.
fn depth(op: &dyn Op) -> usize {
    let any: &dyn Any = op;
    let of_scan = any.downcast_ref::<Scan>().map(|op| op.body.depth);
    let of_branches =
        any.downcast_ref::<Branch>().and_then(|op| op.branches.iter().map(|body| body.depth).max());
    let of_rule = any.downcast_ref::<CustomGradient>().map(|op| op.rule.depth);
    of_scan.or(of_branches).or(of_rule).unwrap_or(0)
}

/// Checks that a graph may admit the values of an input: the same kind, dtype and rank, and no other fixed extent.
/// Rewrites forget extents, so an unknown one is valid; [`Body::extents`] checks it at run time.
pub(super) fn expect_type(
    op: &str,
    input: usize,
    found: &Type,
    expected: &Type,
) -> Result<(), MakeNodeError> {
    let extents = || found.shape().iter().zip(expected.shape());
    let differ = |(found, expected): (&Extent, &Extent)| {
        found != expected && *found != Extent::Unknown && *expected != Extent::Unknown
    };
    if found.without_extents() == expected.without_extents() && !extents().any(differ) {
        return Ok(());
    }
    let (op, found, expected) = (op.to_owned(), found.to_string(), format!("`{expected}`"));
    Err(MakeNodeError::Input { op, input, found, expected })
}

/// Returns the narrowest type that admits two tensor types; `None` if they differ in dtype or rank.
pub(crate) fn meet(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (Type::Tensor(a), Type::Tensor(b)) if a.dtype == b.dtype && a.shape.len() == b.shape.len() => {
            let extent = |(a, b): (&Extent, &Extent)| if a == b { *a } else { Extent::Unknown };
            Some(of(a.dtype, a.shape.iter().zip(&b.shape).map(extent).collect()))
        }
        _ => None,
    }
}
