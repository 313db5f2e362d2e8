//! The library: names to ops, literals to constants.

use super::pointwise::{Cast, find, names};
use super::reduce::{Dot, MinMax, Sum};
use super::wrap::{Composite, Map};
use precast_graph::{
    Array, BuildError, DType, FunctionGraph, MakeNodeError, Op, OpLibrary, Operand, Prop, Props, VarId,
};
use std::sync::Arc;

/// The ops of this module under their names.
///
/// # Examples
/// ```
/// use precast_graph::text::{parse, parse_input};
/// use precast_testkit::toy::ToyLibrary;
///
/// let graph = parse(&["out = exp(x) * 2"], &[parse_input("x: f32[?]").unwrap()], &ToyLibrary).unwrap();
/// assert_eq!(graph.ty(graph.outputs()[0]).to_string(), "f32[?]");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ToyLibrary;

const OTHERS: [&str; 6] = ["cast", "composite", "dot", "map", "minmax", "sum"];

impl OpLibrary for ToyLibrary {
    fn call(
        &self,
        graph: &mut FunctionGraph,
        name: &str,
        args: &[Operand],
        props: &Props,
    ) -> Option<Result<VarId, BuildError>> {
        let op = match self.op(name, props)? {
            Ok(op) => op,
            Err(error) => return Some(Err(error.into())),
        };
        if let Some(expected) = find(name).map(|op| op.arity()).filter(|arity| *arity != args.len()) {
            let (op, found) = (name.to_owned(), args.len());
            return Some(Err(MakeNodeError::Arity { op, expected: expected.to_string(), found }.into()));
        }
        let inputs = literals(graph, args);
        // Of several outputs the text form sees the first.
        Some(graph.apply(op, &inputs).map(|outputs| outputs[0]))
    }

    fn op(&self, name: &str, props: &Props) -> Option<Result<Arc<dyn Op>, MakeNodeError>> {
        let prop = |key: &str| props.get(key).filter(|_| props.len() == 1);
        let wanted = |key: &str| Err(MakeNodeError::prop(name, key, "is missing, or not alone"));
        Some(match name {
            "cast" => match prop("dtype") {
                Some(Prop::DType(dtype)) => Ok(Arc::new(Cast(*dtype))),
                _ => wanted("dtype"),
            },
            "composite" => match prop("graph") {
                Some(Prop::Graph(graph)) => Ok(Arc::new(Composite(graph.clone()))),
                _ => wanted("graph"),
            },
            "map" => match prop("op") {
                Some(Prop::Op(op)) => Ok(Arc::new(Map(op.clone()))),
                _ => wanted("op"),
            },
            "sum" => Sum::new(props).map(|sum| Arc::new(sum) as Arc<dyn Op>),
            _ => {
                let op: Arc<dyn Op> = match name {
                    "dot" => Arc::new(Dot),
                    "minmax" => Arc::new(MinMax),
                    _ => Arc::new(find(name)?),
                };
                props.keys().next().map_or(Ok(op), |key| Err(MakeNodeError::prop(name, key, "is unknown")))
            }
        })
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = names().chain(OTHERS).map(str::to_owned).collect();
        names.sort_unstable();
        names
    }
}

/// Constants for literals, in the dtype of what they meet.
fn literals(graph: &mut FunctionGraph, args: &[Operand]) -> Vec<VarId> {
    let variable = |operand: &Operand| if let Operand::Var(v) = operand { Some(*v) } else { None };
    let met = args.iter().filter_map(variable).map(|v| graph.ty(v).dtype()).reduce(DType::upcast);
    let constant = |operand: &Operand| match (operand, met) {
        (Operand::Var(v), _) => Err(*v),
        (Operand::Int(value), Some(DType::F32)) => Ok(Array::from(*value as f32)),
        (Operand::Int(value), Some(DType::F64)) => Ok(Array::from(*value as f64)),
        (Operand::Int(value), _) => Ok(Array::from(*value)),
        (Operand::Float(value), Some(DType::F32)) => Ok(Array::from(*value as f32)),
        (Operand::Float(value), _) => Ok(Array::from(*value)),
        (Operand::Bool(value), _) => Ok(Array::from(*value)),
    };
    args.iter()
        .map(|operand| match constant(operand) {
            Ok(value) => graph.constant(value),
            Err(variable) => variable,
        })
        .collect()
}
