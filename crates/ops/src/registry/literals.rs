//! Functions of literals alone, whose results are literals: Python scalars, computed while a graph is built.

use super::elementwise;
use super::operand::Operands;
use crate::rows::Row;
use precast_graph::literal::{Kind, LiteralError, arithmetic};
use precast_graph::{
    BuildError, FunctionGraph, Literal, MakeNodeError, OpLibrary, Operand, Props, interpret,
};

/// Returns the literals if all arguments are literals.
pub(super) fn all(args: &[Operand]) -> Option<Vec<Literal>> {
    let literal =
        |arg: &Operand| if let Operand::Literal(literal) = arg { Some(literal.clone()) } else { None };
    args.iter().map(literal).collect()
}

/// Evaluates an elementwise function of literals: exactly if [`arithmetic`] supports it, otherwise with the library
/// in f64 and i64.
pub(super) fn call(
    library: &dyn OpLibrary,
    function: &Row,
    name: &str,
    literals: &[Literal],
    props: &Props,
) -> Result<Literal, BuildError> {
    let failed = |source| MakeNodeError::Arithmetic { op: name.to_owned(), source };
    if props.is_empty()
        && literals.len() == function.arguments.len()
        && let Some(result) = arithmetic(function.name, literals)
    {
        return Ok(result.map_err(failed)?);
    }
    // In Python, a negative number to a fractional power is complex.
    let root = function.name == "pow"
        && matches!(literals, [Literal::Float(_) | Literal::Int(_), Literal::Float(y)] if y.fract() != 0.0);
    let args: Vec<Operand> = literals
        .iter()
        .map(|literal| match literal.float() {
            Some(x) if root && literals[0].float().is_some_and(|base| base < 0.0 && base.is_finite()) => {
                complex(x)
            }
            _ => literal.clone(),
        })
        .map(Operand::Literal)
        .collect();
    let mut graph = FunctionGraph::new();
    let mut operands = Operands { graph: &mut graph, library, function: name, args: &args };
    let result = elementwise::apply(&mut operands, function, props)?;
    graph.output(result, None)?;
    let value = interpret(&graph, &[]).ok().and_then(|values| values.first()?.numbers().first().copied());
    let refused = || MakeNodeError::prop(name, "literals", "have no result");
    let literal = Literal::from(value.ok_or_else(refused)?);
    // In Python, a power of finite floats is finite, or an error.
    let finite = |literal: &Literal| literal.float().is_none_or(f64::is_finite);
    if function.name == "pow" && literals.iter().all(finite) && !finite(&literal) {
        return Err(failed(LiteralError::Float { literal: "the power".to_owned() }).into());
    }
    let is_bool = graph.ty(result).dtype() == Kind::Bool.dtype();
    Ok(if is_bool { Literal::Bool(literal.is_true()) } else { literal })
}

fn complex(re: f64) -> Literal {
    precast_graph::Complex::new(re, 0.0).into()
}
