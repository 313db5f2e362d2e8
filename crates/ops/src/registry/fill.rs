//! Functions that create tensors: `full`, `zeros_like`, `broadcast_to`, `linspace`.

use super::operand::Operands;
use super::shape::number_of;
use crate::declared::Declared;
use crate::rows::Row;
use crate::shape::Alloc;
use precast_graph::{BuildError, DType, Operand, Props, VarId};

/// Builds `full((2, n), 1.5)`, with the dtype of the value unless `dtype` is given.
pub(super) fn full(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let value = match Declared::bound(operands.function, props).dtype("dtype")? {
        Some(dtype) => operands.cast_argument(1, dtype)?,
        None => operands.variable(1)?,
    };
    operands.call_with("alloc", &[value.into()], &[("shape", operands.args[0].clone())])
}

/// Builds `zeros_like(x)`, `ones_like(x, dtype=bool)` and `full_like(x, 3)`, with the shape of `x`, and its dtype
/// unless `dtype` is given.
pub(super) fn like(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(row.arguments.len())?;
    let tensor = operands.variable(0)?;
    let own = operands.graph.ty(tensor).dtype();
    let dtype = Declared::bound(operands.function, props).dtype("dtype")?.unwrap_or(own);
    let value = match row.name {
        "full_like" => operands.cast_argument(1, dtype)?,
        name => number_of(operands, i64::from(name == "ones_like"), dtype)?,
    };
    let extents = operands.extents_of(tensor)?;
    operands.call_with("alloc", &[&[value.into()], extents.as_slice()].concat(), &[])
}

/// Builds `broadcast_to(x, (3, n))`, which copies; NumPy returns a view.
pub(super) fn broadcast_to(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(1, usize::MAX)?;
    let mut inputs = vec![operands.variable(0)?];
    inputs.extend(operands.extents(1)?);
    if operands.ndim(inputs[0]) >= inputs.len() {
        let problem =
            format!("cannot broadcast {} dimension(s) to {}", operands.ndim(inputs[0]), inputs.len() - 1);
        return Err(operands.error(problem));
    }
    operands.apply(Alloc, &inputs)
}

/// Builds `linspace(start, stop, num)` with equal steps. The last sample is exactly `stop` unless `endpoint=False`.
pub(super) fn linspace(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(2, 3)?;
    let declared = Declared::bound(operands.function, props);
    let endpoint = declared.flag("endpoint")?;
    let common = operands.common_of(0..2);
    let computed = if common.is_float() || common.is_complex() { common } else { DType::F64 };
    let (start, stop) = (operands.cast_argument(0, computed)?, operands.cast_argument(1, computed)?);
    if operands.ndim(start).max(operands.ndim(stop)) > 0 {
        return Err(operands.error("start and stop must be numbers, not arrays"));
    }
    let count = operands.integer_or(2, 50)?;
    let least = operands.call("ge", [count.into(), 0_i64.into()])?;
    let count = operands.demand(count, least, "linspace: the number of samples must not be negative")?;
    let steps = if endpoint { operands.call("sub", [count.into(), 1_i64.into()])? } else { count };
    let span = operands.call("sub", [stop.into(), start.into()])?;
    let some = operands.call("maximum", [steps.into(), 1_i64.into()])?;
    let some = operands.cast(some, computed.real())?;
    let step = operands.call("div", [span.into(), some.into()])?;
    let numbers = operands.call("arange", [count.into()])?;
    let numbers = operands.cast(numbers, computed.real())?;
    let mut samples = operands.call("mul", [numbers.into(), step.into()])?;
    // If the step underflows to 0, the sample is computed as `number / parts * span`.
    let parts = operands.call("div", [numbers.into(), some.into()])?;
    let parts = operands.call("mul", [parts.into(), span.into()])?;
    let vanishes = operands.call("eq", [step.into(), 0_i64.into()])?;
    samples = operands.call("where", [vanishes.into(), parts.into(), samples.into()])?;
    samples = operands.call("add", [samples.into(), start.into()])?;
    if endpoint {
        let last = operands.call("eq", [numbers.into(), steps.into()])?;
        let several = operands.call("gt", [steps.into(), 0_i64.into()])?;
        let last = operands.call("logical_and", [last.into(), several.into()])?;
        samples = operands.call("where", [last.into(), stop.into(), samples.into()])?;
    }
    match declared.dtype("dtype")? {
        // Integers are rounded down.
        Some(dtype) if dtype.is_integer() => {
            let below = operands.call("floor", [samples.into()])?;
            operands.cast(below, dtype)
        }
        Some(dtype) => operands.cast(samples, dtype),
        None => Ok(samples),
    }
}

/// Builds `atleast_1d(x)` and `atleast_2d(x)`, which prepend new axes.
pub(super) fn at_least(operands: &mut Operands<'_>, row: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let tensor = operands.variable(0)?;
    let (ndim, least) = (operands.ndim(tensor), if row.name == "atleast_1d" { 1 } else { 2 });
    let new = (ndim..least.max(ndim)).map(|_| None);
    operands.shuffled(tensor, new.chain((0..ndim).map(Some)))
}

/// Builds `append(x, y, axis=0)`; without an axis, it joins all elements of both.
pub(super) fn append(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let axis = Declared::bound(operands.function, props).int("axis")?;
    // NumPy converts both arguments to arrays first.
    let parts = [operands.variable(0)?.into(), operands.variable(1)?.into()];
    operands.call_with("join", &parts, &[("axis", axis.map_or(Operand::None, Operand::from))])
}
