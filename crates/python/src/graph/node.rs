//! What a variable was made of.

use precast_graph::{Array, Op, Operand, Type};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A variable, or several results of one call.
#[derive(Debug)]
pub(crate) struct Node {
    /// Tells it from all others of the process.
    pub(crate) id: u64,
    pub(crate) origin: Origin,
}

/// Where a value comes from.
#[derive(Debug)]
pub(crate) enum Origin {
    Input {
        name: String,
        ty: Type,
    },
    Constant(Array),
    /// A call of a function by its name.
    Call {
        function: String,
        args: Vec<Value>,
        keywords: BTreeMap<String, Value>,
    },
    /// `x.T`.
    Attribute {
        name: String,
        of: Value,
    },
    /// A use of an op of the user's own; its results are a list.
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

/// An argument.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Node(Arc<Node>),
    List(Vec<Self>),
    /// What has no variable in it.
    Plain(Operand),
}

impl Node {
    pub(crate) fn new(origin: Origin) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), origin })
    }

    /// The nodes that it was made of.
    pub(crate) fn sources(&self) -> Vec<&Arc<Self>> {
        let mut found = Vec::new();
        match &self.origin {
            Origin::Input { .. } | Origin::Constant(_) => {}
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
    fn nodes<'a>(&'a self, found: &mut Vec<&'a Arc<Node>>) {
        match self {
            Self::Node(node) => found.push(node),
            Self::List(items) => items.iter().for_each(|item| item.nodes(found)),
            Self::Plain(_) => {}
        }
    }

    /// Takes the nodes out.
    fn drain(self, found: &mut Vec<Arc<Node>>) {
        match self {
            Self::Node(node) => found.push(node),
            Self::List(items) => items.into_iter().for_each(|item| item.drain(found)),
            Self::Plain(_) => {}
        }
    }
}

impl Origin {
    /// Takes the nodes out.
    fn drain(&mut self, found: &mut Vec<Arc<Node>>) {
        match std::mem::replace(self, Self::Constant(false.into())) {
            Self::Input { .. } | Self::Constant(_) => {}
            Self::Call { args, keywords, .. } => {
                args.into_iter().chain(keywords.into_values()).for_each(|value| value.drain(found));
            }
            Self::Attribute { of, .. } => of.drain(found),
            Self::Apply { inputs, .. } => inputs.into_iter().for_each(|value| value.drain(found)),
            Self::Part { of, .. } => found.push(of),
        }
    }
}

/// A loop that builds a graph makes chains of any length, which would overflow the stack if each dropped the next.
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
