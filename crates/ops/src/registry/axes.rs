//! Functions that move, drop, add, reverse and repeat axes.

use super::operand::Operands;
use super::sequence::Sequence;
use super::settings::axes as axes_by_name;
use crate::DimShuffle;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, DType, Extent, MakeNodeError, Operand, Prop, Props, VarId};

/// Builds `squeeze(x)` and `squeeze(x, axis=0)`, which drop axes of extent 1. Without `axis`, all extents must be
/// known.
pub(super) fn squeeze(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let tensor = operands.variable(0)?;
    let shape = operands.graph.ty(tensor).shape().to_vec();
    let gone = match axes_by_name(operands.function, "axis", props, shape.len())? {
        Some(axes) => axes,
        None if shape.contains(&Extent::Unknown) => {
            let ty = operands.graph.ty(tensor).to_string();
            let problem =
                format!("cannot squeeze `{ty}`: unknown extents\nhint: name the axis, `squeeze(x, axis=0)`");
            return Err(operands.error(problem));
        }
        None => (0..shape.len()).filter(|d| shape[*d] == Extent::Fixed(1)).collect(),
    };
    if let Some(axis) = gone.iter().find(|d| matches!(shape[**d], Extent::Fixed(n) if n != 1)) {
        return Err(operands.error(format!("cannot drop axis {axis}: extent {}, expected 1", shape[*axis])));
    }
    operands.shuffled(tensor, (0..shape.len()).filter(|d| !gone.contains(d)).map(Some))
}

/// Builds `expand_dims(x, 0)` and `expand_dims(x, (0, -1))`, which insert new axes at these positions of the result.
pub(super) fn expand_dims(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let tensor = operands.variable(0)?;
    let declared = Declared::bound(operands.function, props);
    let count =
        declared.list("axis").ok_or_else(|| declared.wrong("axis", "an axis or a list of axes"))?.len();
    let ndim = operands.ndim(tensor) + count;
    let new = axes_by_name(operands.function, "axis", props, ndim)?.unwrap_or_default();
    let mut old = 0..;
    let order: Vec<_> = (0..ndim).map(|d| if new.contains(&d) { None } else { old.next() }).collect();
    operands.shuffled(tensor, order)
}

/// Builds `swapaxes(x, 0, -1)`.
pub(super) fn swapaxes(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let tensor = operands.variable(0)?;
    let declared = Declared::bound(operands.function, props);
    let axis = |name: &str| declared.int(name)?.ok_or_else(|| declared.wrong(name, "an axis"));
    let (a, b, ndim) = (axis("axis1")?, axis("axis2")?, operands.ndim(tensor));
    let mut order: Vec<usize> = (0..ndim).collect();
    order.swap(operands.axis(a, ndim)?, operands.axis(b, ndim)?);
    operands.shuffled(tensor, order.into_iter().map(Some))
}

/// Builds `moveaxis(x, 0, -1)` and `moveaxis(x, (0, 1), (-1, -2))`. The remaining axes keep their order.
pub(super) fn moveaxis(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let tensor = operands.variable(0)?;
    let (function, ndim) = (operands.function, operands.ndim(tensor));
    let named = |name: &str| {
        let missing =
            || MakeNodeError::prop(function, name, "is missing, expected an axis or a list of axes");
        axes_by_name(function, name, props, ndim)?.ok_or_else(missing)
    };
    let (from, to) = (named("source")?, named("destination")?);
    if from.len() != to.len() {
        return Err(operands.error(format!("found {} axes for {} destinations", from.len(), to.len())));
    }
    let mut others = (0..ndim).filter(|d| !from.contains(d));
    let axis = |d| to.iter().position(|place| *place == d).map(|i| from[i]);
    let order: Vec<_> = (0..ndim).map(|d| axis(d).or_else(|| others.next())).collect();
    operands.shuffled(tensor, order)
}

/// Builds `matrix_transpose(x)`, which swaps the last two axes.
pub(super) fn matrix_transpose(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    operands.call_with("swapaxes", operands.args, &[("axis1", (-1_i64).into()), ("axis2", (-2_i64).into())])
}

/// Builds `flip(x)` and `flip(x, axis=0)`; `flipud` reverses the first axis, `fliplr` the second.
pub(super) fn flip(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let mut tensor = operands.variable(0)?;
    let ndim = operands.ndim(tensor);
    let axes = match row.name {
        "flipud" => vec![operands.axis(0, ndim)?],
        "fliplr" => vec![operands.axis(1, ndim)?],
        _ => axes_by_name(operands.function, "axis", props, ndim)?.unwrap_or_else(|| (0..ndim).collect()),
    };
    for axis in axes {
        tensor = operands.slice(tensor, axis, "s", &[(-1_i64).into()])?;
    }
    Ok(tensor)
}

/// Builds `roll(x, 2)` and `roll(x, (1, 2), axis=(0, 1))`. Elements shifted past the end reappear at the beginning.
pub(super) fn roll(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let tensor = operands.variable(0)?;
    let shifts = match &operands.args[1] {
        Operand::List(items) => items.clone(),
        one => vec![one.clone()],
    };
    let Some(axes) = Declared::bound(operands.function, props).list("axis") else {
        let flat = operands.call("flatten", [tensor.into()])?;
        let mut rolled = flat;
        for shift in shifts {
            rolled = rolled_along(operands, rolled, 0, shift)?;
        }
        let extents = operands.extents_of(tensor)?;
        return operands.call_with("reshape", &[&[rolled.into()], extents.as_slice()].concat(), &[]);
    };
    let (of_axes, of_shifts) = (axes.len(), shifts.len());
    if of_axes != of_shifts && of_axes.min(of_shifts) != 1 {
        return Err(operands.error(format!("{of_shifts} shifts do not match {of_axes} axes")));
    }
    let (mut rolled, ndim) = (tensor, operands.ndim(tensor));
    for i in 0..of_axes.max(of_shifts) {
        let axis = Declared::bound(operands.function, props);
        let axis = match &axes[i.min(of_axes - 1)] {
            Prop::Int(n) => operands.axis(*n, ndim)?,
            _ => return Err(axis.wrong("axis", "an axis or a list of axes").into()),
        };
        rolled = rolled_along(operands, rolled, axis, shifts[i.min(of_shifts - 1)].clone())?;
    }
    Ok(rolled)
}

fn rolled_along(
    operands: &mut Operands<'_>,
    tensor: VarId,
    axis: usize,
    shift: Operand,
) -> Result<VarId, BuildError> {
    let found = match &shift {
        Operand::Literal(literal) => literal.dtype(),
        Operand::Var(variable) | Operand::Weak(variable) => operands.graph.ty(*variable).dtype(),
        _ => DType::I64,
    };
    expect_integers(operands, found)?;
    let extent = operands.extent(tensor, axis)?;
    // The shift is less than the extent, and 0 for an empty axis.
    let shift = operands.call("mod", [shift, extent.clone()])?;
    let cut = operands.call("sub", [extent, shift.into()])?;
    let cut = operands.cast(cut, DType::I64)?;
    let back = operands.slice(tensor, axis, "b", &[cut.into()])?;
    let front = operands.slice(tensor, axis, "e", &[cut.into()])?;
    let axis = i64::try_from(axis).unwrap_or(i64::MAX);
    operands.call_with("join", &[back.into(), front.into()], &[("axis", axis.into())])
}

/// Checks that the second argument, a count or a distance of dtype `found`, has integers.
fn expect_integers(operands: &Operands<'_>, found: DType) -> Result<(), MakeNodeError> {
    if found.is_integer() || found == DType::Bool {
        return Ok(());
    }
    let (op, expected) = (operands.function.to_owned(), "integers".to_owned());
    Err(MakeNodeError::DType { op, input: 1, found, expected })
}

/// Builds `repeat(x, 3, axis=0)` and `repeat(x, counts)`, which repeat each element in place.
pub(super) fn repeat(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let mut tensor = operands.variable(0)?;
    let axis = Declared::bound(operands.function, props).int("axis")?;
    if axis.is_none() || operands.ndim(tensor) == 0 {
        tensor = operands.call("flatten", [tensor.into()])?;
    }
    let axis = operands.axis(axis.unwrap_or(0), operands.ndim(tensor))?;
    expect_integers(operands, operands.dtype(1))?;
    let counts = operands.cast_argument(1, DType::I64)?;
    let sign = operands.call("ge", [counts.into(), 0_i64.into()])?;
    let counts = operands.demand(counts, sign, "repeats may not contain negative values.")?;
    let extent = operands.extent(tensor, axis)?;
    let places = match operands.ndim(counts) {
        0 => {
            let total = operands.call("mul", [counts.into(), extent])?;
            let numbers = operands.call("arange", [total.into()])?;
            operands.call("floor_div", [numbers.into(), counts.into()])?
        }
        1 => {
            let counts = operands.call("broadcast_to", [counts.into(), extent])?;
            let ends = operands.call("cumsum", [counts.into()])?;
            let total = operands.call("sum", [counts.into()])?;
            let numbers = operands.call("arange", [total.into()])?;
            let args = [ends.into(), numbers.into()];
            operands.call_with("searchsorted", &args, &[("side", Prop::Str("right".to_owned()).into())])?
        }
        _ => return Err(operands.error("repeats must be a number or a vector")),
    };
    let axis = i64::try_from(axis).unwrap_or(i64::MAX);
    operands.call_with("take", &[tensor.into(), places.into()], &[("axis", axis.into())])
}

/// Builds `tile(x, 2)` and `tile(x, (2, 3))`, which repeat the tensor along each of its last axes.
pub(super) fn tile(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(1, usize::MAX)?;
    let tensor = operands.variable(0)?;
    let (counts, own) = (operands.args[1..].to_vec(), operands.extents_of(tensor)?);
    let ndim = counts.len().max(own.len());
    let pad = |list: &[Operand]| {
        let ones = std::iter::repeat_n(Operand::from(1_i64), ndim - list.len());
        ones.chain(list.iter().cloned()).collect::<Vec<_>>()
    };
    let (counts, extents) = (pad(&counts), pad(&own));
    // Spreads to (count, extent, count, extent, …), then merges each pair into one axis.
    let order = (0..ndim).flat_map(|d| [None, d.checked_sub(ndim - own.len())]);
    let spread = operands.shuffled(tensor, order.collect::<Vec<_>>())?;
    let pairs = counts.iter().cloned().zip(extents.iter().cloned());
    let wide = std::iter::once(spread.into()).chain(pairs.flat_map(|(count, extent)| [count, extent]));
    let wide = operands.call_with("alloc", &wide.collect::<Vec<_>>(), &[])?;
    let mut shape = vec![Operand::Var(wide)];
    for (count, extent) in counts.into_iter().zip(extents) {
        shape.push(operands.call("mul", [count, extent])?.into());
    }
    operands.call_with("reshape", &shape, &[])
}

/// The maximum order of differences; each order takes three ops.
const DIFFERENCES: usize = 1000;

/// Builds `diff(x, n=2, axis=0, prepend=0)`: the difference of each element and its predecessor. For booleans it is
/// whether they differ.
pub(super) fn diff(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(1, 3)?;
    let declared = Declared::bound(operands.function, props);
    let (times, axis) = (declared.count("n")?, declared.int("axis")?.unwrap_or(-1));
    let mut tensor = operands.variable(0)?;
    if times == 0 {
        return Ok(tensor);
    }
    if times > DIFFERENCES {
        let problem = format!("is `{times}`, expected at most {DIFFERENCES}");
        return Err(MakeNodeError::prop("diff", "n", problem).into());
    }
    let axis = operands.axis(axis, operands.ndim(tensor))?;
    tensor = extended(operands, tensor, axis)?;
    let function = if operands.graph.ty(tensor).dtype() == DType::Bool { "ne" } else { "sub" };
    for _ in 0..times {
        let after = operands.slice(tensor, axis, "b", &[1_i64.into()])?;
        let before = operands.slice(tensor, axis, "e", &[(-1_i64).into()])?;
        tensor = operands.call(function, [after.into(), before.into()])?;
    }
    Ok(tensor)
}

/// Joins a tensor with `prepend` and `append` of a `diff` call. A number counts as an extent of 1.
fn extended(operands: &mut Operands<'_>, tensor: VarId, axis: usize) -> Result<VarId, BuildError> {
    let mut extents = operands.extents_of(tensor)?;
    extents[axis] = 1_i64.into();
    let mut parts = Vec::new();
    for position in [1, 0, 2] {
        let given = position < operands.args.len() && operands.args[position] != Operand::None;
        let part = match (position, given) {
            (0, _) => tensor,
            (_, false) => continue,
            _ => operands.variable(position)?,
        };
        parts.push(match operands.ndim(part) {
            0 => operands.call_with("broadcast_to", &[&[part.into()], extents.as_slice()].concat(), &[])?,
            _ => part,
        });
    }
    if parts.len() == 1 {
        return Ok(tensor);
    }
    let parts = Operand::List(parts.into_iter().map(Operand::Var).collect());
    let axis = i64::try_from(axis).unwrap_or(i64::MAX);
    operands.call_with("join", &[parts], &[("axis", axis.into())])
}

/// Builds `vstack([x, y])`, which stacks rows, and `hstack`, which joins along the second axis, or joins vectors.
/// `vstack(x)` takes the rows of x.
pub(super) fn stacked(operands: &mut Operands<'_>, row: &Row, _: &Props) -> Result<VarId, BuildError> {
    let vertical = row.name == "vstack";
    let tensors = match operands.sequence()? {
        Sequence::Several(tensors) => tensors,
        Sequence::RowsOf(tensor) => return stacked_rows(operands, tensor, vertical),
    };
    let operands = &mut operands.with(&tensors);
    let (mut parts, least) = (Vec::new(), if vertical { 2 } else { 1 });
    for position in 0..operands.args.len() {
        let part = operands.variable(position)?;
        let ndim = operands.ndim(part);
        let new = (ndim..least.max(ndim)).map(|_| None);
        parts.push(operands.shuffled(part, new.chain((0..ndim).map(Some)).collect::<Vec<_>>())?);
    }
    let vectors = parts.iter().all(|part| operands.ndim(*part) == 1);
    let axis = i64::from(!vertical && !vectors);
    let parts = Operand::List(parts.into_iter().map(Operand::Var).collect());
    operands.call_with("join", &[parts], &[("axis", axis.into())])
}

/// Joins the rows of one tensor: numbers become matrices or vectors first, and for `vstack` vectors become matrices
/// of one row.
fn stacked_rows(operands: &mut Operands<'_>, tensor: VarId, vertical: bool) -> Result<VarId, BuildError> {
    match (operands.ndim(tensor), vertical) {
        (1, true) => operands.shuffled(tensor, [Some(0), None]),
        (1, false) | (2, true) => Ok(tensor),
        (2, false) | (_, true) => operands.rows_joined(tensor, 0),
        (_, false) => operands.rows_joined(tensor, 1),
    }
}

/// Builds `transpose(x)`, which reverses the axes, and `transpose(x, 1, 0, 2)`, which permutes them.
pub(super) fn transpose(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(1, usize::MAX)?;
    let variable = operands.variable(0)?;
    let ndim = operands.graph.ty(variable).ndim();
    let axes = match operands.axes(1, "axes", ndim)? {
        axes if axes.is_empty() => (0..ndim).rev().collect(),
        axes if axes.len() == ndim => axes,
        axes => {
            let problem = format!("has {} of {ndim} axes, expected each once", axes.len());
            return Err(MakeNodeError::prop(operands.function, "axes", problem).into());
        }
    };
    let order = axes.into_iter().map(Some).collect();
    operands.apply(DimShuffle::new(order), &[variable])
}

/// Builds `dimshuffle(x, order=(1, -1, 0))`, which reorders the axes of `x`; -1 is a new axis of extent 1.
pub(super) fn dimshuffle(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let variable = operands.variable(0)?;
    let wrong = |problem: &str| BuildError::from(MakeNodeError::prop("dimshuffle", "order", problem));
    let order = match props.get("order") {
        Some(Prop::List(items)) => items.iter().map(|item| match item {
            Prop::Int(-1) => Ok(None),
            Prop::Int(axis) => usize::try_from(*axis).map(Some).map_err(|_| wrong("has an axis below -1")),
            _ => Err(wrong("is not a list of axes")),
        }),
        Some(_) => return Err(wrong("is not a list of axes")),
        None => return Err(wrong("is missing")),
    };
    let order = order.collect::<Result<Vec<_>, _>>()?;
    operands.apply(DimShuffle::new(order), &[variable])
}
