//! Converts nodes to a graph of `precast-graph` by repeating each call, in order.
//!
//! ```text
//! Replay::of(inputs)   the graph of a function: only the nodes that its outputs need
//! arena()              the graph in which calls are tried when they are written: types, and errors at the right line
//! ```
//! Functions inspect the origin of their arguments (`set_subtensor(x[1:], y)`). So a call is tried in a graph with its
//! sources, not on variables of their types. An arena that has grown too large is replaced by an empty one, and the
//! nodes still needed are replayed.

use super::node::{Node, Origin, Value};
use crate::own::op::OwnOp;
use precast_graph::{
    BuildError, DeclaredType, FunctionGraph, Keywords, MakeNodeError, OpLibrary as _, Operand, Props, Type,
};
use precast_ops::Ops;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The number of variables, and of bytes of constants, that may be added to the arena. An arena is full when it holds
/// this plus twice its initial content.
const ROOM: (usize, usize) = (4096, 16 << 20);

/// The reason why nodes cannot be converted to a graph.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("`{function}`")]
    Call { function: String, source: BuildError },
    #[error("unknown function `{name}`{}", near(name))]
    Unknown { name: String },
    #[error(transparent)]
    Graph(#[from] BuildError),
    #[error("missing input `{name}: {ty}`: the outputs depend on it")]
    Unbound { name: String, ty: DeclaredType },
    #[error("`{what}` is not an array")]
    NoArray { what: String },
    #[error(
        "an argument of a function of `{function}` is used outside of the function\nhint: return it as a carry or a row"
    )]
    Leaked { function: String },
}

fn near(name: &str) -> String {
    let names = ops().names();
    precast_graph::nearest(name, names.iter().map(String::as_str))
        .map(|near| format!("\nhint: the nearest is `{near}`"))
        .unwrap_or_default()
}

/// Returns the op library. Ops that are written in Python are part of it through their C code: they are
/// applied as values, never by name.
pub(crate) fn ops() -> &'static Ops {
    static OPS: LazyLock<Ops> = LazyLock::new(|| {
        let nameless =
            |_: &Props| Err::<OwnOp, _>(MakeNodeError::prop("own_op", "class", "belongs to another process"));
        Ops::standard().with("own_op", nameless).unwrap_or_default()
    });
    &OPS
}

/// A graph under construction, and the operands of its nodes.
#[derive(Default)]
pub(crate) struct Replay {
    pub(crate) graph: FunctionGraph,
    known: HashMap<u64, Operand>,
    /// Whether unknown inputs are added automatically.
    is_open: bool,
    /// The number of variables and of bytes of constants at the start.
    begun: (usize, usize),
    /// The number of bytes of constants.
    bytes: usize,
}

/// Locks the graph in which calls are tried. No Python code may run while it is locked: another thread may hold the
/// GIL while it waits for the lock.
pub(crate) fn arena() -> MutexGuard<'static, Replay> {
    static ARENA: LazyLock<Mutex<Replay>> = LazyLock::new(Mutex::default);
    let lock = || ARENA.lock().unwrap_or_else(PoisonError::into_inner);
    let mut arena = lock();
    if !arena.is_open || arena.is_full() {
        let old = std::mem::replace(&mut *arena, Replay { is_open: true, ..Replay::default() });
        drop(arena);
        // Dropping the old graph drops ops that are written in Python, which may run Python code.
        drop(old);
        arena = lock();
    }
    arena
}

impl Replay {
    /// Creates a graph with these inputs, which may be any variables.
    pub(crate) fn of(inputs: &[(String, DeclaredType, Arc<Node>)]) -> Result<Self, ReplayError> {
        let mut replay = Self::default();
        for (name, ty, node) in inputs {
            let variable = replay.graph.declare_input(name, ty.clone())?;
            replay.known.insert(node.id, Operand::Var(variable));
        }
        Ok(replay)
    }

    /// Continues a graph, with the operands of some nodes.
    pub(crate) fn inside(graph: FunctionGraph, known: HashMap<u64, Operand>) -> Self {
        Self { graph, known, ..Self::default() }
    }

    fn is_full(&self) -> bool {
        let (variables, bytes) = self.begun;
        self.graph.variables().len() > 2 * variables + ROOM.0 || self.bytes > 2 * bytes + ROOM.1
    }

    /// Returns the operand of a node in this graph.
    pub(crate) fn operand(&mut self, node: &Arc<Node>) -> Result<Operand, ReplayError> {
        if let Some(known) = self.known.get(&node.id) {
            return Ok(known.clone());
        }
        let is_new = self.known.is_empty();
        let mut pending = vec![node];
        while let Some(node) = pending.last().copied() {
            let missing = node.sources().into_iter().filter(|source| !self.known.contains_key(&source.id));
            let before = pending.len();
            pending.extend(missing);
            if pending.len() > before {
                continue;
            }
            pending.pop();
            if !self.known.contains_key(&node.id) {
                let operand = self.make(node)?;
                self.known.insert(node.id, operand);
            }
        }
        if is_new {
            self.begun = (self.graph.variables().len(), self.bytes);
        }
        let made = self.known.get(&node.id).cloned();
        made.ok_or_else(|| ReplayError::NoArray { what: "variable".to_owned() })
    }

    /// Returns the operand of a value, and adds its nodes.
    pub(crate) fn result(&mut self, value: &Value) -> Result<Operand, ReplayError> {
        let mut nodes = Vec::new();
        value.nodes(&mut nodes);
        for node in nodes {
            self.operand(node)?;
        }
        Ok(self.value(value))
    }

    /// Returns the type of a node, or `None` if it is not an array.
    pub(crate) fn ty(&mut self, node: &Arc<Node>) -> Result<Option<Type>, ReplayError> {
        Ok(match self.operand(node)? {
            Operand::Var(variable) | Operand::Weak(variable) => Some(self.graph.ty(variable).clone()),
            _ => None,
        })
    }

    /// Adds a node whose sources are already in the graph.
    fn make(&mut self, node: &Node) -> Result<Operand, ReplayError> {
        match &node.origin {
            Origin::Input { name, ty } if !self.is_open => {
                Err(ReplayError::Unbound { name: name.clone(), ty: ty.clone() })
            }
            Origin::Input { name, ty } => {
                // Messages show the names; inputs of other graphs may have the same one.
                let mut added = self.graph.input(name, Type::clone(ty));
                for other in [format!("{name}_{}", node.id), format!("x{}", node.id), format!("_{}", node.id)]
                {
                    added = added.or_else(|_| self.graph.input(&other, Type::clone(ty)));
                }
                Ok(Operand::Var(added?))
            }
            Origin::Parameter { function, .. } if !self.is_open => {
                Err(ReplayError::Leaked { function: function.clone() })
            }
            Origin::Parameter { ty, is_weak, .. } => {
                let variable = self.graph.input(&format!("argument_{}", node.id), ty.clone())?;
                Ok(if *is_weak { Operand::Weak(variable) } else { Operand::Var(variable) })
            }
            Origin::Constant(value) => {
                let elements: usize = value.shape().iter().product();
                self.bytes += elements * value.dtype().itemsize_bytes();
                Ok(Operand::Var(self.graph.constant(value.clone())))
            }
            Origin::Call { function, args, keywords } => {
                let args: Vec<Operand> = args.iter().map(|value| self.value(value)).collect();
                let keywords = keywords.iter().map(|(name, value)| (name.clone(), self.value(value)));
                let keywords: Keywords = keywords.collect();
                let called = ops().call(&mut self.graph, function, &args, &keywords);
                let called = called.ok_or_else(|| ReplayError::Unknown { name: function.clone() })?;
                called.map_err(|source| ReplayError::Call { function: function.clone(), source })
            }
            Origin::Attribute { name, of } => {
                let of = self.value(of);
                let found = ops().attribute(&mut self.graph, name, &of);
                let found = found.ok_or_else(|| ReplayError::Unknown { name: name.clone() })?;
                found.map_err(|source| ReplayError::Call { function: name.clone(), source })
            }
            Origin::Apply { op, inputs } => {
                let inputs: Vec<Operand> = inputs.iter().map(|value| self.value(value)).collect();
                let variables = inputs.iter().map(|input| input.variable(&mut self.graph));
                let variables = variables.collect::<Result<Vec<_>, _>>().map_err(BuildError::from)?;
                let results = self.graph.apply(Arc::clone(op), &variables)?;
                Ok(Operand::List(results.into_iter().map(Operand::Var).collect()))
            }
            Origin::Part { of, at } => match self.known.get(&of.id) {
                Some(Operand::List(items)) => items.get(*at).cloned(),
                _ => None,
            }
            .ok_or_else(|| ReplayError::NoArray { what: format!("part {at}") }),
        }
    }

    /// Returns the operand of an argument whose nodes are already in the graph.
    fn value(&self, value: &Value) -> Operand {
        match value {
            Value::Node(node) => self.known.get(&node.id).cloned().unwrap_or(Operand::None),
            Value::List(items) => Operand::List(items.iter().map(|item| self.value(item)).collect()),
            Value::Function(function) => {
                Operand::Function(function.function(|id| self.known.get(&id).cloned()))
            }
            Value::Plain(operand) => operand.clone(),
        }
    }
}
