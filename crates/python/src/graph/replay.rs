//! Nodes into a graph of `precast-graph`: each call is made again, in order.
//!
//! ```text
//! Replay::of(inputs)   the graph of a function: what its outputs need, and nothing else
//! arena()              the graph in which calls are tried when they are written: types, and errors in the right line
//! ```
//! Functions look at what their arguments were made of (`set_subtensor(x[1:], y)`), so a call is tried beside them, not on
//! variables of their types. The arena is begun anew when it has grown too large; what is still needed is replayed then.

use super::node::{Node, Origin, Value};
use crate::own::op::OwnOp;
use precast_graph::{
    BuildError, FunctionGraph, Keywords, MakeNodeError, OpLibrary as _, Operand, Props, Type,
};
use precast_ops::Ops;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Variables, and bytes of constants, that the arena may hold beside twice those it was begun with.
const ROOM: (usize, usize) = (4096, 16 << 20);

/// Why nodes cannot be made a graph.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("`{function}`")]
    Call { function: String, source: BuildError },
    #[error("unknown function `{name}`{}", near(name))]
    Unknown { name: String },
    #[error(transparent)]
    Graph(#[from] BuildError),
    #[error("the outputs need the input `{name}: {ty}`, which is not among the inputs")]
    Unbound { name: String, ty: Type },
    #[error("`{what}` is no array")]
    NoArray { what: String },
}

fn near(name: &str) -> String {
    let names = ops().names();
    precast_graph::nearest(name, names.iter().map(String::as_str))
        .map(|near| format!("\nhint: the nearest is `{near}`"))
        .unwrap_or_default()
}

/// The library of ops. Ops that are written in Python are in it by their C: they are applied as values, never by a name.
pub(crate) fn ops() -> &'static Ops {
    static OPS: LazyLock<Ops> = LazyLock::new(|| {
        let nameless =
            |_: &Props| Err::<OwnOp, _>(MakeNodeError::prop("own_op", "class", "is another process's"));
        Ops::standard().with("own_op", nameless).unwrap_or_default()
    });
    &OPS
}

/// A graph that is being made, and what nodes are in it.
#[derive(Default)]
pub(crate) struct Replay {
    pub(crate) graph: FunctionGraph,
    known: HashMap<u64, Operand>,
    /// Whether inputs are added as they are met.
    is_open: bool,
    /// Variables, and bytes of constants, when it was begun.
    begun: (usize, usize),
    /// Bytes of constants.
    bytes: usize,
}

/// The graph in which calls are tried. Nothing of Python's may be called while it is locked: another thread may wait for it and
/// hold the interpreter.
pub(crate) fn arena() -> MutexGuard<'static, Replay> {
    static ARENA: LazyLock<Mutex<Replay>> = LazyLock::new(Mutex::default);
    let lock = || ARENA.lock().unwrap_or_else(PoisonError::into_inner);
    let mut arena = lock();
    if !arena.is_open || arena.is_full() {
        let old = std::mem::replace(&mut *arena, Replay { is_open: true, ..Replay::default() });
        drop(arena);
        // Ops that are written in Python go with it, and what their going calls.
        drop(old);
        arena = lock();
    }
    arena
}

impl Replay {
    /// A graph of these inputs, which may be any variables.
    pub(crate) fn of(inputs: &[(String, Type, Arc<Node>)]) -> Result<Self, ReplayError> {
        let mut replay = Self::default();
        for (name, ty, node) in inputs {
            let variable = replay.graph.input(name, ty.clone())?;
            replay.known.insert(node.id, Operand::Var(variable));
        }
        Ok(replay)
    }

    fn is_full(&self) -> bool {
        let (variables, bytes) = self.begun;
        self.graph.variables().len() > 2 * variables + ROOM.0 || self.bytes > 2 * bytes + ROOM.1
    }

    /// What a node is in this graph.
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

    /// The type of a node; `None` if it is no array.
    pub(crate) fn ty(&mut self, node: &Arc<Node>) -> Result<Option<Type>, ReplayError> {
        Ok(match self.operand(node)? {
            Operand::Var(variable) | Operand::Weak(variable) => Some(self.graph.ty(variable).clone()),
            _ => None,
        })
    }

    /// Makes a node whose sources are there.
    fn make(&mut self, node: &Node) -> Result<Operand, ReplayError> {
        match &node.origin {
            Origin::Input { name, ty } if !self.is_open => {
                Err(ReplayError::Unbound { name: name.clone(), ty: ty.clone() })
            }
            Origin::Input { ty, .. } => {
                Ok(Operand::Var(self.graph.input(&format!("x{}", node.id), ty.clone())?))
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

    /// What an argument whose nodes are there is in this graph.
    fn value(&self, value: &Value) -> Operand {
        match value {
            Value::Node(node) => self.known.get(&node.id).cloned().unwrap_or(Operand::None),
            Value::List(items) => Operand::List(items.iter().map(|item| self.value(item)).collect()),
            Value::Plain(operand) => operand.clone(),
        }
    }
}
