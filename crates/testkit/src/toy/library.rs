//! The library: maps names to ops, and literals to constants.

use super::pointwise::{Cast, find, names};
use super::reduce::{Dot, MinMax, Sum};
use super::wrap::{Composite, Map};
use precast_graph::literal::{Literal, arithmetic};
use precast_graph::{
    BuildError, DType, FunctionGraph, Keywords, MakeNodeError, Op, OpLibrary, Operand, Prop, Props, VarId,
};
use std::sync::Arc;

/// The ops of this module by name.
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
        keywords: &Keywords,
    ) -> Option<Result<Operand, BuildError>> {
        let literals: Vec<Literal> = args.iter().filter_map(literal).cloned().collect();
        if literals.len() == args.len()
            && let Some(result) = arithmetic(name, &literals)
        {
            let failed = |source| MakeNodeError::Arithmetic { op: name.to_owned(), source }.into();
            return Some(result.map(Operand::Literal).map_err(failed));
        }
        let name = match name {
            "matmul" => "dot",
            "where" => "switch",
            name => name,
        };
        let setting = |(name, value): (&String, &Operand)| Some((name.clone(), value.prop()?));
        let props: Props = keywords.iter().filter_map(setting).collect();
        let op = match self.op(name, &props)? {
            Ok(op) => op,
            Err(error) => return Some(Err(error.into())),
        };
        if let Some(expected) = find(name).map(|op| op.arity()).filter(|arity| *arity != args.len()) {
            let (op, found) = (name.to_owned(), args.len());
            return Some(Err(MakeNodeError::Arity { op, expected: expected.to_string(), found }.into()));
        }
        let inputs = match constants(graph, args) {
            Ok(inputs) => inputs,
            Err(error) => return Some(Err(error.into())),
        };
        // The text form uses only the first of several outputs.
        Some(graph.apply(op, &inputs).map(|outputs| outputs[0].into()))
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

fn literal(operand: &Operand) -> Option<&Literal> {
    if let Operand::Literal(literal) = operand { Some(literal) } else { None }
}

/// Creates constants for literals, in the dtype of the operands next to them.
fn constants(graph: &mut FunctionGraph, args: &[Operand]) -> Result<Vec<VarId>, MakeNodeError> {
    let met = args.iter().filter_map(|operand| match operand {
        Operand::Var(v) | Operand::Weak(v) => Some(graph.ty(*v).dtype()),
        _ => None,
    });
    let met = met.reduce(DType::upcast).filter(|dtype| matches!(dtype, DType::F32 | DType::F64));
    let constant = |operand: &Operand| match operand {
        Operand::Literal(literal) => {
            let dtype = met.unwrap_or(literal.dtype());
            Ok(graph.constant(literal.rounded(dtype).expect("the toys meet small integers")))
        }
        other => other.variable(graph),
    };
    args.iter().map(constant).collect()
}
