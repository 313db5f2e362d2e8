//! Renders a graph as a document: ids for its variables, types as text, constants as bits.

use super::VERSION;
use super::document::{
    ApplyDocument, ArrayDocument, ConstantDocument, GraphDocument, InputDocument, OpDocument, OutputDocument,
    PropsDocument, ResultDocument,
};
use super::prop::{NamedProp, PropDocument};
use crate::Array;
use crate::graph::{Apply, FunctionGraph, Origin, VarId};
use crate::op::{Op, Prop, Props};
use std::collections::BTreeSet;

/// Returns the JSON form of a graph as a value.
#[must_use]
pub fn to_json(graph: &FunctionGraph) -> serde_json::Value {
    // Strings, integers and booleans under string keys: serde_json has no reason to fail.
    serde_json::to_value(document(graph)).unwrap_or_default()
}

/// Renders the JSON form of a graph on one line, with the fields in a fixed order. Equal graphs have equal texts.
#[must_use]
pub fn render(graph: &FunctionGraph) -> String {
    // Cannot fail, as in `to_json`.
    serde_json::to_string(&document(graph)).unwrap_or_default()
}

fn document(graph: &FunctionGraph) -> GraphDocument {
    let ids = ids(graph);
    let id = |v: &VarId| ids[v.index()].clone();
    GraphDocument {
        precast_graph: VERSION,
        inputs: graph
            .inputs()
            .iter()
            .enumerate()
            .map(|(i, v)| InputDocument { name: id(v), ty: graph.declared_input_type(i).to_string() })
            .collect(),
        constants: graph.constants().map(|(v, value)| constant(graph, v, value, id(&v))).collect(),
        applies: graph.applies().iter().map(|apply| apply_document(graph, apply, &ids)).collect(),
        outputs: graph
            .outputs()
            .iter()
            .enumerate()
            .map(|(i, v)| OutputDocument {
                ty: graph.declared.outputs.get(&i).map(ToString::to_string),
                name: graph.declared_output_name(i).map(str::to_owned),
                value: id(v),
            })
            .collect(),
    }
}

/// Returns the ids by variable: names of inputs, `c0`, `c1` for constants, `v0`, `v1` for results. The ids avoid the
/// names of inputs.
fn ids(graph: &FunctionGraph) -> Vec<String> {
    let taken: BTreeSet<&str> = (0..graph.inputs().len()).map(|i| graph.input_name(i)).collect();
    let free = |prefix: &str, number: &mut usize| {
        let mut id = format!("{prefix}{number}");
        while taken.contains(id.as_str()) {
            id.push('_');
        }
        *number += 1;
        id
    };
    let (mut constants, mut results) = (0, 0);
    let id = |variable: &crate::graph::Variable| match &variable.origin {
        Origin::Input(position) => graph.input_name(*position).to_owned(),
        Origin::Constant(_) => free("c", &mut constants),
        Origin::Output { .. } => free("v", &mut results),
    };
    graph.variables().iter().map(id).collect()
}

fn constant(graph: &FunctionGraph, variable: VarId, value: &Array, id: String) -> ConstantDocument {
    ConstantDocument {
        id,
        ty: graph.ty(variable).to_string(),
        shape: value.shape().iter().map(|n| *n as u64).collect(),
        bits: bits(value),
        name: graph.variable(variable).name.clone(),
    }
}

/// Returns the elements in hex, each with as many digits as the dtype requires.
fn bits(value: &Array) -> Vec<String> {
    let digits = value.dtype().itemsize_bytes() * 2 / value.dtype().words();
    value.bits().iter().map(|bits| format!("{bits:0digits$x}")).collect()
}

fn apply_document(graph: &FunctionGraph, apply: &Apply, ids: &[String]) -> ApplyDocument {
    let result = |v: &VarId| ResultDocument {
        id: ids[v.index()].clone(),
        ty: Some(graph.ty(*v).to_string()),
        name: graph.variable(*v).name.clone(),
    };
    ApplyDocument {
        op: apply.op.name().to_owned(),
        props: props(&apply.op.props()),
        inputs: apply.inputs.iter().map(|v| ids[v.index()].clone()).collect(),
        outputs: apply.outputs.iter().map(result).collect(),
    }
}

fn op(op: &dyn Op) -> OpDocument {
    OpDocument { op: op.name().to_owned(), props: props(&op.props()) }
}

fn props(props: &Props) -> PropsDocument {
    props.iter().map(|(name, value)| (name.clone(), prop(value))).collect()
}

fn prop(value: &Prop) -> PropDocument {
    match value {
        Prop::Bool(value) => PropDocument::Bool(*value),
        Prop::Int(value) => PropDocument::Int(*value),
        Prop::Str(value) => PropDocument::Str(value.clone()),
        Prop::Float(value) => PropDocument::Named(NamedProp::Float(format!("{:016x}", value.to_bits()))),
        Prop::Array(value) => {
            let array = ArrayDocument { ty: value.ty().to_string(), bits: bits(value) };
            PropDocument::Named(NamedProp::Array(array))
        }
        Prop::DType(dtype) => PropDocument::Named(NamedProp::DType(dtype.to_string())),
        Prop::List(items) => PropDocument::List(items.iter().map(prop).collect()),
        Prop::Op(inner) => PropDocument::Named(NamedProp::Op(op(&**inner))),
        Prop::Graph(graph) => PropDocument::Named(NamedProp::Graph(Box::new(document(graph)))),
    }
}
