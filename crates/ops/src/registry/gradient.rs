//! Functions that differentiate: `grad`, `vjp`, `jvp`, `hvp`, `jacobian`, `hessian`, and `sum_to`.

use super::control::{Carries, Loop, Stepped};
use super::operand::Operands;
use crate::gradient::{Missing, pull};
use crate::registry::Ops;
use crate::rows::Row;
use crate::shape::{ScalarFromTensor, SumTo};
use precast_graph::{
    Array, BuildError, DType, Extent, MakeNodeError, Number, Operand, Prop, Props, Type, VarId,
};

/// Returns an argument as variables: one, or a list of several.
fn variables(operands: &Operands<'_>, position: usize) -> Result<Vec<VarId>, MakeNodeError> {
    let items = match &operands.args[position] {
        Operand::List(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let variable = |item: &Operand| match item {
        Operand::Var(variable) | Operand::Weak(variable) => Ok(*variable),
        other => Err(MakeNodeError::Input {
            op: operands.function.to_owned(),
            input: position,
            found: other.describe(),
            expected: "a variable, or a list of variables".to_owned(),
        }),
    };
    items.iter().map(variable).collect()
}

/// Returns the only variable of a derivative that has one.
fn only(operands: &mut Operands<'_>, position: usize) -> Result<VarId, BuildError> {
    match &operands.args[position] {
        Operand::List(items) => {
            let problem =
                format!("takes one variable, found {}\nhint: `grad` and `vjp` take several", items.len());
            Err(operands.error(problem))
        }
        _ => operands.variable(position),
    }
}

/// Returns the results in the form of an argument: one variable, or a list.
fn in_form(argument: &Operand, results: Vec<VarId>) -> Operand {
    match (argument, results.as_slice()) {
        (Operand::Var(_) | Operand::Weak(_), [one]) => Operand::Var(*one),
        _ => super::parts::list(results),
    }
}

/// Returns the library of derivatives: the functions of this crate, under their own names.
fn library() -> Ops {
    Ops::standard()
}

/// Returns the gradients of a cost without dimensions.
fn gradients(
    operands: &mut Operands<'_>,
    cost: VarId,
    variables: &[VarId],
) -> Result<Vec<VarId>, BuildError> {
    let ty = operands.graph.ty(cost);
    if ty.ndim() > 0 {
        let (op, found) = (operands.function.to_owned(), ty.to_string());
        let expected = "a cost without dimensions, such as a sum".to_owned();
        return Err(MakeNodeError::Input { op, input: 0, found, expected }.into());
    }
    let one = Array::of(Number::Float(1.0), ty.dtype());
    let one = operands.graph.constant(one);
    pull(operands.graph, &library(), cost, one, variables, Missing::Error)
}

/// Builds `grad(cost, x)`, and `grad(cost, (x, y))`.
pub(super) fn grad(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let cost = operands.variable(0)?;
    let by = variables(operands, 1)?;
    let results = gradients(operands, cost, &by)?;
    Ok(in_form(&operands.args[1], results))
}

/// Builds `vjp(y, x, weights)`: the gradient of `sum(y * weights)`.
pub(super) fn vjp(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(3)?;
    let y = operands.variable(0)?;
    let by = variables(operands, 1)?;
    let seed = like(operands, 2, y)?;
    let results = pull(operands.graph, &library(), y, seed, &by, Missing::Error)?;
    Ok(in_form(&operands.args[1], results))
}

/// Returns an argument in the dtype of a variable, and checks that it has its shape: now, or where extents are unknown, at
/// run time.
fn like(operands: &mut Operands<'_>, position: usize, variable: VarId) -> Result<VarId, BuildError> {
    let ty = operands.graph.ty(variable).clone();
    let mut found = operands.cast_argument(position, ty.dtype())?;
    let own = operands.graph.ty(found).clone();
    let fits = |(a, b): (&Extent, &Extent)| a == b || [a, b].contains(&&Extent::Unknown);
    if own.ndim() != ty.ndim() || !own.shape().iter().zip(ty.shape()).all(fits) {
        let (op, found) = (operands.function.to_owned(), own.to_string());
        return Err(MakeNodeError::Input {
            op,
            input: position,
            found,
            expected: format!("the shape of `{ty}`"),
        }
        .into());
    }
    for axis in
        (0..ty.ndim()).filter(|axis| [own.shape()[*axis], ty.shape()[*axis]].contains(&Extent::Unknown))
    {
        let extents = [operands.extent(found, axis)?, operands.extent(variable, axis)?];
        let is_same = operands.call("eq", extents)?;
        let message = format!(
            "{}: argument {position} has another extent than expected in axis {axis}",
            operands.function
        );
        found = operands.demand(found, is_same, &message)?;
    }
    Ok(found)
}

/// Builds `jvp(y, x, direction)`. The product of the transposed Jacobian with weights is linear in the weights, and
/// its own gradient by them is the product of the Jacobian.
pub(super) fn jvp(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(3)?;
    let (y, x) = (operands.variable(0)?, only(operands, 1)?);
    let direction = like(operands, 2, x)?;
    let weights = operands.call("zeros_like", [y.into()])?;
    let pulled = pull(operands.graph, &library(), y, weights, &[x], Missing::Error)?;
    let results = pull(operands.graph, &library(), pulled[0], direction, &[weights], Missing::Zero)?;
    Ok(results[0])
}

/// Builds `hvp(cost, x, direction)`: the gradient of the gradient's component along the direction.
pub(super) fn hvp(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(3)?;
    let (cost, x) = (operands.variable(0)?, only(operands, 1)?);
    let direction = like(operands, 2, x)?;
    let first = gradients(operands, cost, &[x])?;
    let results = pull(operands.graph, &library(), first[0], direction, &[x], Missing::Zero)?;
    Ok(results[0])
}

/// Builds `jacobian(y, x)`: a loop over the elements of `y` that computes the gradient of each.
pub(super) fn jacobian(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let (y, x) = (operands.variable(0)?, only(operands, 1)?);
    rows(operands, y, x, Missing::Error)
}

/// Builds `hessian(cost, x)`: the Jacobian of the gradient.
pub(super) fn hessian(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let (cost, x) = (operands.variable(0)?, only(operands, 1)?);
    let first = gradients(operands, cost, &[x])?;
    rows(operands, first[0], x, Missing::Zero)
}

/// Returns the gradients of all elements of `y` by `x`, which have the shape of `y` and then that of `x`.
fn rows(operands: &mut Operands<'_>, y: VarId, x: VarId, missing: Missing) -> Result<VarId, BuildError> {
    let (ty, of_y, of_x) = (operands.graph.ty(y).clone(), extents(operands, y)?, extents(operands, x)?);
    let flat = operands.call("ravel", [y.into()])?;
    let count = operands.extent(flat, 0)?;
    let basis = operands.call_with("eye", &[count], &[("dtype", Prop::DType(ty.dtype()).into())])?;
    let steps = operands.steps(&Operand::None, &[basis])?;
    let mut carries = Carries::of(operands, &Operand::List(Vec::new()))?;
    let name = operands.function.to_owned();
    let made = Loop { steps, sequences: &[basis], reverse: false }.build(
        operands,
        &mut carries,
        &mut |graph, library, _, rows| {
            let mut operands = Operands::none(graph, library, &name);
            let mut seed = operands.call("reshape", [rows[0].into(), Operand::List(of_y.clone())])?;
            if matches!(ty, Type::Scalar(_)) {
                seed = operands.apply(ScalarFromTensor, &[seed])?;
            }
            let found = pull(operands.graph, &self::library(), y, seed, &[x], missing)?;
            let rows = operands.tensors(&[found[0].into()])?;
            Ok(Stepped { carries: Vec::new(), rows, stop: None })
        },
    )?;
    operands.call("reshape", [made[0].into(), Operand::List([of_y, of_x].concat())])
}

/// Returns the extents of a variable.
fn extents(operands: &mut Operands<'_>, variable: VarId) -> Result<Vec<Operand>, BuildError> {
    (0..operands.ndim(variable)).map(|axis| operands.extent(variable, axis)).collect()
}

/// Builds `sum_to(x, shape)`. 16-bit floats are summed in f32.
pub(super) fn sum_to(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(1, usize::MAX)?;
    let x = operands.variable(0)?;
    let dtype = operands.graph.ty(x).dtype();
    let wide = if matches!(dtype, DType::F16 | DType::Bf16) { DType::F32 } else { dtype };
    let mut inputs = vec![operands.cast(x, wide)?];
    inputs.extend(operands.extents(1)?);
    let sum = operands.apply(SumTo, &inputs)?;
    operands.cast(sum, dtype)
}
