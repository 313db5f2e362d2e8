//! The content of a picture: nodes, edges, and groups of nodes.

use std::any::Any;
use std::sync::Arc;

use precast_graph::{Apply, Array, FunctionGraph, Origin, VarId};
use precast_ops::scalar::ScalarOp;
use precast_ops::{Composite, Elemwise, Reduce};

use super::short;

/// The artifact that serves an Apply of the lowered graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeArtifact {
    /// An artifact, described in words.
    Artifact(String),
    /// No artifact: the module is compiled or rejected, depending on the policy.
    Missing,
    /// Not looked up.
    Unknown,
}

/// The kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Input,
    Constant,
    Op,
    Output,
}

/// A box of the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// The label: the name of the op, of the input, …
    pub(crate) label: String,
    /// The type of the node's value.
    pub(crate) ty: String,
    /// The Apply of the lowered graph that the node belongs to.
    pub(crate) apply: Option<usize>,
}

/// An arrow of the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// An Apply of the lowered graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// Its printable signature.
    pub(crate) signature: String,
    pub(crate) served: NodeArtifact,
    /// The number of its nodes; an Apply without fusion has one.
    pub(crate) size: usize,
}

/// A graph prepared for drawing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    pub(crate) title: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) groups: Vec<Group>,
}

impl Picture {
    /// Creates the picture of a lowered graph; `served` has an item for each of its Applies, in order.
    #[must_use]
    pub fn new(title: &str, graph: &FunctionGraph, served: &[NodeArtifact]) -> Self {
        let mut picture = Self { title: title.to_owned(), ..Self::default() };
        // The node that produces each variable.
        let mut from = vec![usize::MAX; graph.variables().len()];
        for (position, variable) in graph.variables().iter().enumerate() {
            let (kind, label, ty) = match &variable.origin {
                Origin::Input(i) => {
                    let ty = graph.declared_input_type(*i).to_string();
                    (Kind::Input, graph.input_name(*i).to_owned(), ty)
                }
                Origin::Constant(value) => (Kind::Constant, constant(value), variable.ty.to_string()),
                Origin::Output { .. } => continue,
            };
            from[position] = picture.node(kind, label, ty, None);
        }
        for (position, apply) in graph.applies().iter().enumerate() {
            let before = picture.nodes.len();
            let results = picture.apply(graph, position, apply, &from);
            for (variable, node) in apply.outputs.iter().zip(results) {
                from[variable.index()] = node;
            }
            picture.groups.push(Group {
                signature: graph.signature(apply),
                served: served.get(position).cloned().unwrap_or(NodeArtifact::Unknown),
                size: picture.nodes.len() - before,
            });
        }
        for (position, variable) in graph.outputs().iter().enumerate() {
            let ty = graph.declared_output_type(position).to_string();
            let node = picture.node(Kind::Output, graph.output_name(position), ty, None);
            picture.edge(from[variable.index()], node);
        }
        picture
    }

    fn node(&mut self, kind: Kind, label: String, ty: String, apply: Option<usize>) -> usize {
        self.nodes.push(Node { kind, label, ty, apply });
        self.nodes.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize) {
        let edge = Edge { from, to };
        if from < to && !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    /// Draws an Apply; returns the nodes of its outputs.
    fn apply(&mut self, graph: &FunctionGraph, position: usize, apply: &Apply, from: &[usize]) -> Vec<usize> {
        let inputs: Vec<usize> = apply.inputs.iter().map(|v: &VarId| from[v.index()]).collect();
        let types: Vec<String> = apply.outputs.iter().map(|v| graph.ty(*v).to_string()).collect();
        let any: &dyn Any = &*apply.op;
        if let Some(composite) = any.downcast_ref::<Elemwise>().and_then(|op| composite(&op.scalar)) {
            let values = self.steps(position, composite, &inputs);
            for (value, ty) in composite.output_values().iter().zip(&types) {
                if let Some(node) = self.nodes.get_mut(values[*value]) {
                    node.ty.clone_from(ty);
                }
            }
            return composite.output_values().iter().map(|value| values[*value]).collect();
        }
        let (label, inputs) = match any.downcast_ref::<Reduce>() {
            Some(Reduce { kind, axes, map: Some(map) }) => {
                let alone = Reduce::new(*kind, axes.clone());
                let label = precast_graph::Op::label(&alone);
                let last = match composite(map) {
                    Some(composite) => {
                        let values = self.steps(position, composite, &inputs);
                        composite.output_values().iter().map(|value| values[*value]).collect()
                    }
                    None => {
                        let step = self.node(Kind::Op, map.label(), String::new(), Some(position));
                        inputs.iter().for_each(|input| self.edge(*input, step));
                        vec![step]
                    }
                };
                (label, last)
            }
            _ => (apply.op.label(), inputs),
        };
        let node = self.node(Kind::Op, label, types.join(", "), Some(position));
        inputs.iter().for_each(|input| self.edge(*input, node));
        vec![node; apply.outputs.len()]
    }

    /// Draws the steps of a composite; returns the nodes of all its values.
    fn steps(&mut self, position: usize, composite: &Composite, inputs: &[usize]) -> Vec<usize> {
        let mut values = inputs.to_vec();
        for (op, arguments) in composite.steps() {
            let node = self.node(Kind::Op, op.label(), String::new(), Some(position));
            arguments.iter().for_each(|value| self.edge(values[*value], node));
            values.push(node);
        }
        values
    }
}

fn composite(scalar: &Arc<dyn ScalarOp>) -> Option<&Composite> {
    let any: &dyn Any = &**scalar;
    any.downcast_ref::<Composite>()
}

/// Renders a constant in a few characters.
fn constant(value: &Array) -> String {
    if !value.shape().is_empty() {
        return "constant".to_owned();
    }
    precast_graph::with_array!(value, a => a.iter().map(|x| short(&format!("{x:?}"), 24)).collect())
}
