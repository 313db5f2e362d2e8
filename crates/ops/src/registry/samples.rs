//! Functions of samples, as defined by NumPy: `interp`, `digitize`, `bincount`, `polyval`, `trapezoid`, `gradient`.

use super::nan::refuse_complex;
use super::operand::Operands;
use super::parts::list;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Prop, Props, VarId};

/// Returns the insertion positions of elements in a sorted vector.
fn searched(operands: &mut Operands<'_>, sorted: VarId, x: VarId, right: bool) -> Result<VarId, BuildError> {
    let side = Prop::Str(if right { "right" } else { "left" }.to_owned()).into();
    operands.call_with("searchsorted", &[sorted.into(), x.into()], &[("side", side)])
}

/// Builds `interp(x, places, values, left, right)` in f64, or in c128 for complex values.
pub(super) fn interp(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(3, 5)?;
    let dtype = if operands.dtype(2).is_complex() { DType::C128 } else { DType::F64 };
    refuse_complex(operands, operands.dtype(0).upcast(operands.dtype(1)))?;
    let (x, places) = (operands.cast_argument(0, DType::F64)?, operands.cast_argument(1, DType::F64)?);
    let values = operands.cast_argument(2, dtype)?;
    let extent = operands.extent(places, 0)?;
    let same = operands.extent(values, 0)?;
    let same = operands.call("eq", [extent.clone(), same])?;
    let values = operands.demand(values, same, "fp and xp are not of the same length.")?;
    let last = operands.call("sub", [extent, 1_i64.into()])?;
    let below = searched(operands, places, x, true)?;
    let below = operands.call("sub", [below.into(), 1_i64.into()])?;
    let low = operands.call("maximum", [below.into(), 0_i64.into()])?;
    let before_last = operands.call("sub", [last.into(), 1_i64.into()])?;
    let before_last = operands.call("maximum", [before_last.into(), 0_i64.into()])?;
    let low = operands.call("minimum", [low.into(), before_last.into()])?;
    let high = operands.call("add", [low.into(), 1_i64.into()])?;
    let high = operands.call("minimum", [high.into(), last.into()])?;
    let [x0, x1] = [low, high].map(|at| operands.call("take", [places.into(), at.into()]));
    let [y0, y1] = [low, high].map(|at| operands.call("take", [values.into(), at.into()]));
    let between = line(operands, x, [x0?, x1?], [y0?, y1?])?;
    let mut end = |position: usize, at: i64| match operands.args.get(position) {
        None | Some(Operand::None) => operands.call("take", [values.into(), at.into()]),
        Some(_) => {
            if dtype == DType::F64 {
                refuse_complex(operands, operands.dtype(position))?;
            }
            operands.cast_argument(position, dtype)
        }
    };
    let (left, right) = (end(3, 0)?, end(4, -1)?);
    let [first, end] = [0_i64, -1].map(|at| operands.call("take", [places.into(), at.into()]));
    let (first, end) = (first?, end?);
    let value_of_end = operands.call("take", [values.into(), (-1_i64).into()])?;
    let mut found = between;
    for (function, edge, value) in [("eq", end, value_of_end), ("gt", end, right), ("lt", first, left)] {
        let there = operands.call(function, [x.into(), edge.into()])?;
        found = operands.call("where", [there.into(), value.into(), found.into()])?;
    }
    let missing = operands.call("isnan", [x.into()])?;
    operands.call("where", [missing.into(), x.into(), found.into()]).map(Operand::Var)
}

/// Evaluates the line through two points from the first point, or from the second if that result is NaN.
fn line(
    operands: &mut Operands<'_>,
    x: VarId,
    [x0, x1]: [VarId; 2],
    [y0, y1]: [VarId; 2],
) -> Result<VarId, BuildError> {
    let (rise, run) =
        (operands.call("sub", [y1.into(), y0.into()])?, operands.call("sub", [x1.into(), x0.into()])?);
    let slope = operands.call("div", [rise.into(), run.into()])?;
    let mut from = |place: VarId, value: VarId| {
        let distance = operands.call("sub", [x.into(), place.into()])?;
        let step = operands.call("mul", [slope.into(), distance.into()])?;
        operands.call("add", [step.into(), value.into()])
    };
    let (first, second) = (from(x0, y0)?, from(x1, y1)?);
    let missing = operands.call("isnan", [first.into()])?;
    let found = operands.call("where", [missing.into(), second.into(), first.into()])?;
    let missing = operands.call("isnan", [found.into()])?;
    let level = operands.call("eq", [y0.into(), y1.into()])?;
    let level = operands.call("logical_and", [missing.into(), level.into()])?;
    operands.call("where", [level.into(), y0.into(), found.into()])
}

/// Builds `digitize(x, bins, right=True)`; the bounds may ascend or descend.
pub(super) fn digitize(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let right = Declared::bound(operands.function, props).flag("right")?;
    refuse_complex(operands, operands.dtype(0).upcast(operands.dtype(1)))?;
    let (x, bins) = (operands.variable(0)?, operands.variable(1)?);
    if operands.ndim(bins) != 1 {
        return Err(operands.error("the bounds must be a vector"));
    }
    let after = operands.slice(bins, 0, "b", &[1_i64.into()])?;
    let before = operands.slice(bins, 0, "e", &[(-1_i64).into()])?;
    // The bounds are monotonic if no step goes in the other direction; NaN never counts as a step.
    let [up, down] = ["lt", "gt"].map(|function| {
        let turn = operands.call(function, [after.into(), before.into()])?;
        let turns = operands.call("any", [turn.into()])?;
        operands.call("logical_not", [turns.into()])
    });
    let (up, down) = (up?, down?);
    let either = operands.call("logical_or", [up.into(), down.into()])?;
    let bins = operands.demand(bins, either, "bins must be monotonically increasing or decreasing")?;
    let turned = operands.slice(bins, 0, "s", &[(-1_i64).into()])?;
    let ascending = operands.call("where", [up.into(), bins.into(), turned.into()])?;
    let found = searched(operands, ascending, x, !right)?;
    let extent = operands.extent(bins, 0)?;
    let rest = operands.call("sub", [extent, found.into()])?;
    operands.call("where", [up.into(), found.into(), rest.into()]).map(Operand::Var)
}

/// Builds `bincount(x, weights, minlength=3)`; the result is f64 with weights, otherwise i64.
pub(super) fn bincount(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(1, 2)?;
    let least = Declared::bound(operands.function, props).count("minlength")?;
    let found = operands.dtype(0);
    if !found.is_integer() && found != DType::Bool || found == DType::U64 {
        let (op, expected) = (operands.function.to_owned(), "integers that fit into i64".to_owned());
        return Err(MakeNodeError::DType { op, input: 0, found, expected }.into());
    }
    let x = operands.cast_argument(0, DType::I64)?;
    if operands.ndim(x) != 1 {
        return Err(operands.error("needs a vector"));
    }
    let sign = operands.call("ge", [x.into(), 0_i64.into()])?;
    let x = operands.demand(x, sign, "bincount: the elements must not be negative")?;
    let none = operands.vector(&[-1]);
    let all = operands.call("join", [x.into(), none.into()])?;
    let largest = operands.call("max", [all.into()])?;
    let count = operands.call("add", [largest.into(), 1_i64.into()])?;
    let count = operands.call("maximum", [count.into(), i64::try_from(least).unwrap_or(i64::MAX).into()])?;
    let is_weighted = !matches!(operands.args.get(1), None | Some(Operand::None));
    let (dtype, mut weights) = (if is_weighted { DType::F64 } else { DType::I64 }, Operand::from(1_i64));
    if is_weighted {
        refuse_complex(operands, operands.dtype(1))?;
        let own = operands.cast_argument(1, DType::F64)?;
        let (length, same) = (operands.extent(own, 0)?, operands.extent(x, 0)?);
        let same = operands.call("eq", [length, same])?;
        weights = operands.demand(own, same, "The weights and list don't have the same length.")?.into();
    }
    let dtype = Prop::DType(dtype).into();
    let zeros = operands.call_with("zeros", &[count.into()], &[("dtype", dtype)])?;
    let part = operands.call("take", [zeros.into(), x.into()])?;
    operands.call("inc_subtensor", [part.into(), weights]).map(Operand::Var)
}

/// Builds `polyval(coefficients, x)` by Horner's rule. The number of coefficients must be known when the graph is
/// built.
pub(super) fn polyval(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let (coefficients, x) = (operands.variable(0)?, operands.variable(1)?);
    let count = operands.known_extent(coefficients, 0).filter(|_| operands.ndim(coefficients) == 1);
    let Some(count) = count else {
        let problem = format!(
            "needs a vector of coefficients with a fixed extent, found `{}`",
            operands.graph.ty(coefficients)
        );
        return Err(operands.error(problem));
    };
    let mut value = operands.call("zeros_like", [x.into()])?;
    for at in 0..count {
        let coefficient = operands.slice(coefficients, 0, "i", &[at.into()])?;
        let product = operands.call("mul", [value.into(), x.into()])?;
        value = operands.call("add", [product.into(), coefficient.into()])?;
    }
    Ok(value.into())
}

/// Aligns a vector with one axis of a tensor; anything else is returned unchanged.
fn along(operands: &mut Operands<'_>, vector: VarId, axis: usize, ndim: usize) -> Result<VarId, BuildError> {
    if operands.ndim(vector) != 1 {
        return Ok(vector);
    }
    operands.shuffled(vector, (0..ndim).map(|d| (d == axis).then_some(0)))
}

/// Builds `trapezoid(y, x, dx=1.0, axis=-1)`.
pub(super) fn trapezoid(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(1, 2)?;
    let declared = Declared::bound(operands.function, props);
    let y = operands.variable(0)?;
    let ndim = operands.ndim(y);
    let axis = operands.axis(declared.int("axis")?.unwrap_or(-1), ndim)?;
    let place = i64::try_from(axis).unwrap_or(i64::MAX);
    let distance: Operand = match operands.args.get(1) {
        None | Some(Operand::None) => declared.float("dx")?.into(),
        Some(_) => {
            let x = operands.variable(1)?;
            let of = if operands.ndim(x) == 1 { 0 } else { place };
            let steps = operands.call_with("diff", &[x.into()], &[("axis", of.into())])?;
            along(operands, steps, axis, ndim)?.into()
        }
    };
    let after = operands.slice(y, axis, "b", &[1_i64.into()])?;
    let before = operands.slice(y, axis, "e", &[(-1_i64).into()])?;
    let both = operands.call("add", [after.into(), before.into()])?;
    let area = operands.call("mul", [distance, both.into()])?;
    let area = operands.call("div", [area.into(), 2.0.into()])?;
    operands.call_with("sum", &[area.into()], &[("axis", place.into())]).map(Operand::Var)
}

/// Builds `gradient(x, distance, axis=0)`; for several axes the result is a list. A distance is a number, or the
/// vector of positions.
pub(super) fn gradient(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(1, usize::MAX)?;
    let declared = Declared::bound(operands.function, props);
    if declared.int("edge_order")? != Some(1) {
        return Err(declared.wrong("edge_order", "1").into());
    }
    let found = operands.dtype(0);
    if found == DType::Bool {
        let (op, expected) = (operands.function.to_owned(), "integers, floats, complex".to_owned());
        return Err(MakeNodeError::DType { op, input: 0, found, expected }.into());
    }
    let x = operands.cast_argument(0, if found.is_integer() { DType::F64 } else { found })?;
    let ndim = operands.ndim(x);
    let axes = super::settings::axes(operands.function, "axis", props, ndim)?;
    let axes = axes.unwrap_or_else(|| (0..ndim).collect());
    // A list stands for several arguments, but the positions along one axis are a single argument.
    let places = matches!(axes.as_slice(), [_]) && operands.args.len() > 2;
    let args = [operands.args[0].clone(), Operand::List(operands.args[1..].to_vec())];
    let args = if places { &args } else { operands.args };
    let mut operands = operands.with(args);
    let operands = &mut operands;
    let given = operands.args.len() - 1;
    if ndim == 0 || ![0, 1, axes.len()].contains(&given) {
        let problem = format!("found {given} distances for {} axes of {ndim}", axes.len());
        return Err(operands.error(problem));
    }
    let mut results = Vec::new();
    for (number, axis) in axes.iter().enumerate() {
        let distance = match given {
            0 => None,
            1 => Some(operands.variable(1)?),
            _ => Some(operands.variable(1 + number)?),
        };
        results.push(slopes(operands, x, *axis, distance)?);
    }
    Ok(if let [one] = results.as_slice() { (*one).into() } else { list(results) })
}

/// Builds the gradient along one axis.
fn slopes(
    operands: &mut Operands<'_>,
    x: VarId,
    axis: usize,
    distance: Option<VarId>,
) -> Result<VarId, BuildError> {
    let (ndim, dtype) = (operands.ndim(x), operands.graph.ty(x).dtype());
    let extent = operands.extent(x, axis)?;
    let enough = operands.call("ge", [extent.clone(), 2_i64.into()])?;
    let x = operands.demand(x, enough, "gradient: at least two elements are needed along the axis")?;
    let mut steps = None;
    if let Some(distance) = distance {
        refuse_complex(operands, operands.graph.ty(distance).dtype())?;
        let own = operands.cast(distance, dtype.real())?;
        steps = Some(match operands.ndim(own) {
            0 => own,
            1 => {
                let count = operands.extent(own, 0)?;
                let fits = operands.call("eq", [count, extent])?;
                let own =
                    operands.demand(own, fits, "gradient: each element along the axis needs a position")?;
                let steps = operands.call("diff", [own.into()])?;
                along(operands, steps, axis, ndim)?
            }
            _ => return Err(operands.error("a distance must be a number, or the vector of positions")),
        });
    }
    let rises = operands.call_with(
        "diff",
        &[x.into()],
        &[("axis", i64::try_from(axis).unwrap_or(i64::MAX).into())],
    )?;
    let slopes = match steps {
        None => rises,
        Some(steps) => operands.call("div", [rises.into(), steps.into()])?,
    };
    let first = operands.slice(slopes, axis, "be", &[0_i64.into(), 1_i64.into()])?;
    let last = operands.slice(slopes, axis, "b", &[(-1_i64).into()])?;
    let inner = match steps.filter(|steps| operands.ndim(*steps) > 0) {
        Some(steps) => weighted(operands, slopes, steps, axis)?,
        None => {
            let after = operands.slice(x, axis, "b", &[2_i64.into()])?;
            let before = operands.slice(x, axis, "e", &[(-2_i64).into()])?;
            let rise = operands.call("sub", [after.into(), before.into()])?;
            let run = match steps {
                Some(step) => operands.call("mul", [2.0.into(), step.into()])?.into(),
                None => 2.0.into(),
            };
            operands.call("div", [rise.into(), run])?
        }
    };
    let axis = i64::try_from(axis).unwrap_or(i64::MAX);
    operands.call_with("join", &[first.into(), inner.into(), last.into()], &[("axis", axis.into())])
}

/// Returns the mean of the slopes on both sides, each weighted by the length of the other side.
fn weighted(
    operands: &mut Operands<'_>,
    slopes: VarId,
    steps: VarId,
    axis: usize,
) -> Result<VarId, BuildError> {
    let mut side = |of: VarId, after: bool| match after {
        true => operands.slice(of, axis, "b", &[1_i64.into()]),
        false => operands.slice(of, axis, "e", &[(-1_i64).into()]),
    };
    let [down, up] = [side(slopes, false)?, side(slopes, true)?];
    let [before, after] = [side(steps, false)?, side(steps, true)?];
    let down = operands.call("mul", [down.into(), after.into()])?;
    let up = operands.call("mul", [up.into(), before.into()])?;
    let sum = operands.call("add", [down.into(), up.into()])?;
    let both = operands.call("add", [before.into(), after.into()])?;
    operands.call("div", [sum.into(), both.into()])
}
