//! The origin of variables.

use super::traced::Traced;
use precast_graph::{Array, DeclaredType, Op, Operand, Type};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A variable, or the list of results of one call.
#[derive(Debug)]
pub(crate) struct Node {
    /// A unique identifier in this process.
    pub(crate) id: u64,
    pub(crate) origin: Origin,
}

/// The origin of a value.
#[derive(Debug)]
pub(crate) enum Origin {
    Input {
        name: String,
        ty: DeclaredType,
    },
    Constant(Array),
    /// A placeholder for an argument of a Python function.
    Parameter {
        /// The library function that calls the Python function.
        function: String,
        ty: Type,
        is_weak: bool,
    },
    /// A call of a function by its name.
    Call {
        function: String,
        args: Vec<Value>,
        keywords: BTreeMap<String, Value>,
    },
    /// An attribute such as `x.T`.
    Attribute {
        name: String,
        of: Value,
    },
    /// An application of a user-defined op. Its results form a list.
    Apply {
        op: Arc<dyn Op>,
        inputs: Vec<Value>,
    },
    /// One of several results.
    Part {
        of: Arc<Node>,
        at: usize,
    },
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Node(Arc<Node>),
    List(Vec<Self>),
    /// A Python function.
    Function(Arc<Traced>),
    /// A value without variables.
    Plain(Operand),
}

impl Node {
    pub(crate) fn new(origin: Origin) -> Arc<Self> {
        Arc::new(Self { id: Self::next_id(), origin })
    }

    /// Returns an identifier above those of all existing nodes.
    pub(crate) fn next_id() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the nodes that this node was made from.
    pub(crate) fn sources(&self) -> Vec<&Arc<Self>> {
        let mut found = Vec::new();
        match &self.origin {
            Origin::Input { .. } | Origin::Constant(_) | Origin::Parameter { .. } => {}
            Origin::Call { args, keywords, .. } => {
                args.iter().chain(keywords.values()).for_each(|value| value.nodes(&mut found));
            }
            Origin::Attribute { of, .. } => of.nodes(&mut found),
            Origin::Apply { inputs, .. } => inputs.iter().for_each(|value| value.nodes(&mut found)),
            Origin::Part { of, .. } => found.push(of),
        }
        found
    }
}

impl Value {
    /// Appends the nodes that this value depends on.
    pub(crate) fn nodes<'a>(&'a self, found: &mut Vec<&'a Arc<Node>>) {
        match self {
            Self::Node(node) => found.push(node),
            Self::List(items) => items.iter().for_each(|item| item.nodes(found)),
            Self::Function(function) => function.captured(found),
            Self::Plain(_) => {}
        }
    }

    /// Moves the nodes out.
    pub(crate) fn drain(self, found: &mut Vec<Arc<Node>>) {
        match self {
            Self::Node(node) => found.push(node),
            Self::List(items) => items.into_iter().for_each(|item| item.drain(found)),
            Self::Function(function) => {
                if let Some(function) = Arc::into_inner(function) {
                    function.drain(found);
                }
            }
            Self::Plain(_) => {}
        }
    }
}

impl Origin {
    /// Moves the nodes out.
    fn drain(&mut self, found: &mut Vec<Arc<Node>>) {
        match std::mem::replace(self, Self::Constant(false.into())) {
            Self::Input { .. } | Self::Constant(_) | Self::Parameter { .. } => {}
            Self::Call { args, keywords, .. } => {
                args.into_iter().chain(keywords.into_values()).for_each(|value| value.drain(found));
            }
            Self::Attribute { of, .. } => of.drain(found),
            Self::Apply { inputs, .. } => inputs.into_iter().for_each(|value| value.drain(found)),
            Self::Part { of, .. } => found.push(of),
        }
    }
}

/// Frees the sources iteratively. A loop in a program can build chains of any length, and a recursive
/// drop would overflow the stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut pending = Vec::new();
        self.origin.drain(&mut pending);
        while let Some(node) = pending.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                node.origin.drain(&mut pending);
            }
        }
    }
}
