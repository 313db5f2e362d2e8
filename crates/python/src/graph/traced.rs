//! Python functions as arguments of calls, such as the step of `scan`.
//!
//! ```text
//! call("scan", [step, …]) ─▶ arena ─▶ the library calls the function with operands ─▶ no trace for their types: fails
//!           ▲                                                                                  │ asks
//!           └── stores the trace ◀── result ◀── Python function ◀── placeholders of the types ◀┘
//! ```
//! The library decides which types the arguments have. It may call a function again with other types, for example if a
//! carry begins as `0` and becomes a float. A trace is replayed in the graph that the library passes. Nodes that existed
//! before the trace are *captured*: they are sources of the call. Nodes that the function created are computed in its
//! body only, so the function of a branch that is not selected computes nothing.

use super::convert;
use super::node::{Node, Origin, Value};
use super::replay::{Replay, ReplayError};
use crate::error;
use precast_graph::{BuildError, Extent, Function, FunctionGraph, MakeNodeError, Operand, Type};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// An argument of a function, as the library passes it.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    Array { ty: Type, is_weak: bool },
    List(Vec<Self>),
    Plain(Operand),
}

/// The recorded calls of a Python function.
#[derive(Debug)]
pub(crate) struct Traced {
    /// The library function that calls it.
    caller: String,
    traces: Traces,
    /// The arguments of a call without a trace.
    missing: Mutex<Option<Vec<Argument>>>,
}

/// A list that only grows, so that references to its traces stay valid.
#[derive(Debug, Default)]
struct Traces(OnceLock<Box<(Trace, Self)>>);

/// The recorded call of a function for some types.
#[derive(Debug)]
struct Trace {
    arguments: Vec<Argument>,
    parameters: Vec<Arc<Node>>,
    result: Value,
    /// The nodes that the function uses but did not create.
    captured: Vec<Arc<Node>>,
}

impl Argument {
    fn of(graph: &FunctionGraph, operand: &Operand) -> Self {
        match operand {
            Operand::Var(variable) => Self::Array { ty: graph.ty(*variable).clone(), is_weak: false },
            Operand::Weak(variable) => Self::Array { ty: graph.ty(*variable).clone(), is_weak: true },
            Operand::List(items) => Self::List(items.iter().map(|item| Self::of(graph, item)).collect()),
            other => Self::Plain(other.clone()),
        }
    }

    /// Returns whether a trace for this argument is valid for another one.
    fn admits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array { ty, .. }, Self::Array { ty: other, .. }) => admits(ty, other),
            (Self::List(items), Self::List(others)) => all_admit(items, others),
            // NaN equals NaN here.
            (Self::Plain(own), Self::Plain(other)) => {
                own == other || format!("{own:?}") == format!("{other:?}")
            }
            _ => false,
        }
    }

    /// Returns the value to pass to the Python function, and appends the placeholders in it.
    fn python<'py>(
        &self,
        py: Python<'py>,
        caller: &str,
        parameters: &mut Vec<Arc<Node>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Array { ty, is_weak } => {
                let (function, ty, is_weak) = (caller.to_owned(), ty.clone(), *is_weak);
                let node = Node::new(Origin::Parameter { function, ty, is_weak });
                parameters.push(Arc::clone(&node));
                super::call::wrap(py, node)
            }
            Self::List(items) => {
                let items = items.iter().map(|item| item.python(py, caller, parameters));
                Ok(PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any())
            }
            Self::Plain(operand) => convert::given(py, &Node::new(Origin::Constant(false.into())), operand),
        }
    }

    /// Binds placeholders to operands.
    fn bind(
        &self,
        operand: &Operand,
        parameters: &mut std::slice::Iter<'_, Arc<Node>>,
        known: &mut HashMap<u64, Operand>,
    ) {
        match (self, operand) {
            (Self::Array { .. }, operand) => {
                known.extend(parameters.next().map(|node| (node.id, operand.clone())));
            }
            (Self::List(items), Operand::List(operands)) => {
                items.iter().zip(operands).for_each(|(item, operand)| item.bind(operand, parameters, known));
            }
            _ => {}
        }
    }
}

/// Returns whether all values of the type `other` are values of the type `ty`.
fn admits(ty: &Type, other: &Type) -> bool {
    if ty == other {
        return true;
    }
    let (Type::Tensor(own), Type::Tensor(other)) = (ty, other) else { return false };
    let mut extents = own.shape.iter().zip(&other.shape);
    own.dtype == other.dtype
        && own.shape.len() == other.shape.len()
        && extents.all(|(own, other)| *own == Extent::Unknown || own == other)
}

fn all_admit(arguments: &[Argument], others: &[Argument]) -> bool {
    arguments.len() == others.len() && arguments.iter().zip(others).all(|(own, other)| own.admits(other))
}

impl Traces {
    fn iter(&self) -> impl Iterator<Item = &Trace> {
        std::iter::successors(self.0.get(), |node| node.1.0.get()).map(|node| &node.0)
    }

    fn push(&self, trace: Trace) {
        let mut end = self;
        while let Some(next) = end.0.get() {
            end = &next.1;
        }
        // Another thread cannot add a trace: only the call that creates the node does.
        let _ = end.0.set(Box::new((trace, Self::default())));
    }
}

impl Traced {
    pub(crate) fn new(caller: &str) -> Self {
        Self { caller: caller.to_owned(), traces: Traces::default(), missing: Mutex::default() }
    }

    /// Appends the nodes that the function captures.
    pub(crate) fn captured<'a>(&'a self, found: &mut Vec<&'a Arc<Node>>) {
        self.traces.iter().for_each(|trace| found.extend(&trace.captured));
    }

    /// Moves the nodes out.
    pub(crate) fn drain(self, found: &mut Vec<Arc<Node>>) {
        let mut next = self.traces.0;
        while let Some(node) = next.take() {
            let (trace, rest) = *node;
            found.extend(trace.captured);
            found.extend(trace.parameters);
            trace.result.drain(found);
            next = rest.0;
        }
    }

    /// Returns the function that replays the traces. `known` returns the operands of captured nodes.
    pub(crate) fn function(self: &Arc<Self>, known: impl Fn(u64) -> Option<Operand>) -> Function {
        let mut captured = Vec::new();
        self.captured(&mut captured);
        let captured = captured.into_iter().filter_map(|node| Some((node.id, known(node.id)?)));
        let (captured, traced) = (captured.collect::<HashMap<u64, Operand>>(), Arc::clone(self));
        Function::new(move |graph, _, args| traced.replay(graph, captured.clone(), args))
    }

    fn replay(
        &self,
        graph: &mut FunctionGraph,
        mut known: HashMap<u64, Operand>,
        args: &[Operand],
    ) -> Result<Operand, BuildError> {
        let found: Vec<Argument> = args.iter().map(|operand| Argument::of(graph, operand)).collect();
        let Some(trace) = self.traces.iter().find(|trace| all_admit(&trace.arguments, &found)) else {
            *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            return Err(self.error("the function was called with arguments of other types".to_owned()));
        };
        let mut parameters = trace.parameters.iter();
        for (argument, operand) in trace.arguments.iter().zip(args) {
            argument.bind(operand, &mut parameters, &mut known);
        }
        let mut replay = Replay::inside(std::mem::take(graph), known);
        let result = replay.result(&trace.result);
        *graph = replay.graph;
        result.map_err(|error| match error {
            ReplayError::Call { source, .. } | ReplayError::Graph(source) => source,
            other => self.error(other.to_string()),
        })
    }

    fn error(&self, problem: String) -> BuildError {
        MakeNodeError::Value { op: self.caller.clone(), problem }.into()
    }

    /// Returns the arguments of a call without a trace, if there is one.
    pub(crate) fn take_missing(&self) -> Option<Vec<Argument>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Calls the Python function with placeholders for arguments, and records the result.
    pub(crate) fn trace(&self, callable: &Bound<'_, PyAny>, arguments: Vec<Argument>) -> PyResult<()> {
        let (py, start) = (callable.py(), Node::next_id());
        let mut parameters = Vec::new();
        let values = arguments.iter().map(|argument| argument.python(py, &self.caller, &mut parameters));
        let values = PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?;
        let result = convert::value(&callable.call1(values)?).map_err(|cause| {
            let text =
                format!("`{}`: the result of the function: {}", self.caller, error::shown(cause.value(py)));
            let raised = error::graph_type(py, &text);
            raised.set_cause(py, Some(cause));
            raised
        })?;
        let captured = captured(&result, start);
        self.traces.push(Trace { arguments, parameters, result, captured });
        Ok(())
    }
}

/// Returns the nodes that a result depends on and that existed before `start`. Inputs are always captured.
fn captured(result: &Value, start: u64) -> Vec<Arc<Node>> {
    let (mut pending, mut seen, mut found) = (Vec::new(), BTreeSet::new(), Vec::new());
    result.nodes(&mut pending);
    while let Some(node) = pending.pop() {
        if !seen.insert(node.id) {
            continue;
        }
        if node.id < start || matches!(node.origin, Origin::Input { .. }) {
            found.push(Arc::clone(node));
        } else {
            pending.extend(node.sources());
        }
    }
    found
}
