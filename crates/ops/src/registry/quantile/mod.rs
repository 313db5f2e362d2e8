//! `median`, `quantile`, `percentile`, `nanquantile` and `nanpercentile`: elements at a fraction of a sorted line.
//!
//! ```text
//! x ──▶ lines along the first axis, sorted ──▶ the position of q, by `method` ──▶ the element there, or interpolated between two
//! ```
//! Methods, positions and the result's dtype match NumPy. Positions are computed in f64, or in f32 for fractions of
//! f32. A line with a NaN gives NaN; the functions with `nan` in their names skip NaN, which is sorted last. For an
//! empty input, the median and the functions that skip NaN return NaN; other quantiles are an index error. Methods
//! that select an element keep the dtype of the elements, and so do weights.

mod method;
mod weighted;

use self::method::{Method, Position};
use super::operand::Operands;
use super::reduce::averaged;
use crate::declared::Declared;
use crate::order::Sort;
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Props, VarId};

/// Elements in lines along the first axis.
struct Lines {
    elements: VarId,
    /// The axes merged into the first one; `None` for all axes.
    axes: Option<Vec<usize>>,
}

/// Returns the axes of a call.
fn axes(operands: &mut Operands<'_>, props: &Props) -> Result<Option<Vec<usize>>, BuildError> {
    let tensor = operands.variable(0)?;
    let found = operands.graph.ty(tensor).dtype();
    if found.is_complex() {
        let (op, expected) = (operands.function.to_owned(), "real numbers".to_owned());
        return Err(MakeNodeError::DType { op, input: 0, found, expected }.into());
    }
    let ndim = operands.ndim(tensor);
    Ok(super::settings::axes(operands.function, "axis", props, ndim)?)
}

/// Merges some axes of a tensor into its first axis.
fn lined(operands: &mut Operands<'_>, tensor: VarId, axes: Option<&[usize]>) -> Result<VarId, BuildError> {
    let Some(axes) = axes else { return operands.call("flatten", [tensor.into()]) };
    let others = (0..operands.ndim(tensor)).filter(|d| !axes.contains(d));
    let moved = operands.shuffled(tensor, axes.iter().copied().chain(others).map(Some))?;
    merged(operands, moved, axes.len())
}

/// Sorts the lines of the first argument in a dtype. If NaN is skipped, a NaN is appended to each line, so that no
/// line is empty.
fn sorted(
    operands: &mut Operands<'_>,
    props: &Props,
    dtype: DType,
    skips: bool,
) -> Result<Lines, BuildError> {
    let axes = axes(operands, props)?;
    let tensor = operands.variable(0)?;
    let tensor = operands.cast(tensor, dtype)?;
    let mut first = lined(operands, tensor, axes.as_deref())?;
    if skips {
        let mut extents = operands.extents_of(first)?;
        extents[0] = 1_i64.into();
        let none = operands.cast_operand(&f64::NAN.into(), dtype)?;
        let last = operands.call_with("alloc", &[&[none.into()], extents.as_slice()].concat(), &[])?;
        first = operands.call_with("join", &[first.into(), last.into()], &[("axis", 0_i64.into())])?;
    }
    Ok(Lines { elements: operands.apply(Sort { positions: false, axis: 0 }, &[first])?, axes })
}

/// Returns the dtype for means of two elements, and for the sums and quotients that follow.
fn computed(dtype: DType) -> DType {
    if dtype == DType::F32 { DType::F32 } else { DType::F64 }
}

/// Merges the first `count` axes into one.
fn merged(operands: &mut Operands<'_>, tensor: VarId, count: usize) -> Result<VarId, BuildError> {
    if count == 1 {
        return Ok(tensor);
    }
    let extents = operands.extents_of(tensor)?;
    let (gone, left) = extents.split_at(count);
    let mut all: Operand = 1_i64.into();
    for extent in gone {
        all = operands.call("mul", [all, extent.clone()])?.into();
    }
    let args: Vec<Operand> = [tensor.into(), all].into_iter().chain(left.iter().cloned()).collect();
    operands.call_with("reshape", &args, &[])
}

/// Takes the elements of all lines at the same positions.
fn at(operands: &mut Operands<'_>, sorted: VarId, position: &Operand) -> Result<VarId, BuildError> {
    operands.call_with("take", &[sorted.into(), position.clone()], &[("axis", 0_i64.into())])
}

/// Takes the elements of each line at its own positions. If the fractions have a dimension, it comes first.
fn along(operands: &mut Operands<'_>, lines: VarId, positions: VarId) -> Result<VarId, BuildError> {
    let (ndim, own) = (operands.ndim(lines), operands.ndim(positions));
    let first = ndim.saturating_sub(own);
    let positions = operands.shuffled(positions, (0..ndim).map(|d| d.checked_sub(first)))?;
    let named = [("axis", 0_i64.into())];
    let found = operands.call_with("take_along_axis", &[lines.into(), positions.into()], &named)?;
    if first == 0 { Ok(found) } else { at(operands, found, &0_i64.into()) }
}

/// Replaces the results of lines that contain a NaN by NaN.
fn spoilt(operands: &mut Operands<'_>, sorted: VarId, found: VarId) -> Result<VarId, BuildError> {
    if !operands.graph.ty(sorted).dtype().is_float() {
        return Ok(found);
    }
    let last = operands.slice(sorted, 0, "b", &[(-1_i64).into()])?;
    let numbers = operands.call("eq", [last.into(), last.into()])?;
    let numbers = operands.call_with("all", &[numbers.into()], &[("axis", 0_i64.into())])?;
    operands.call("where", [numbers.into(), found.into(), f64::NAN.into()])
}

/// Casts the result to its dtype, and restores the axes with extent 1 if they are kept.
fn finish(
    operands: &mut Operands<'_>,
    axes: Option<&[usize]>,
    found: VarId,
    dtype: DType,
    keepdims: bool,
) -> Result<VarId, BuildError> {
    let input = operands.variable(0)?;
    let whole = operands.ndim(input);
    let result = operands.cast(found, dtype)?;
    if !keepdims {
        return Ok(result);
    }
    let of_fraction = operands.ndim(result) + axes.map_or(whole, <[usize]>::len) - whole;
    let mut kept = of_fraction..;
    let gone = |d: usize| axes.is_none_or(|axes| axes.contains(&d));
    let order: Vec<_> = (0..whole).map(|d| if gone(d) { None } else { kept.next() }).collect();
    operands.shuffled(result, (0..of_fraction).map(Some).chain(order))
}

/// Builds `median(x, axis=0, keepdims=True)`: the middle element, or the mean of the two middle elements.
pub(super) fn median(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let Lines { elements, axes } = sorted(operands, props, computed(operands.dtype(0)), false)?;
    let extent = operands.extent(elements, 0)?;
    let less = operands.call("sub", [extent.clone(), 1_i64.into()])?;
    let low = operands.call("floor_div", [less.into(), 2_i64.into()])?;
    let half = operands.call("floor_div", [extent, 2_i64.into()])?;
    let behind = operands.call("add", [half.into(), 1_i64.into()])?;
    let middle = operands.slice(elements, 0, "be", &[low.into(), behind.into()])?;
    let found = operands.call_with("mean", &[middle.into()], &[("axis", 0_i64.into())])?;
    let found = spoilt(operands, elements, found)?;
    let dtype = averaged(operands.dtype(0));
    finish(operands, axes.as_deref(), found, dtype, declared.flag("keepdims")?)
}

/// Returns the dtype of a result. Arrays of fractions promote with the elements; a number takes the float dtype of
/// the elements. Integer fractions (not percentages) can only be 0 or 1, the ends of a line, so no interpolation is
/// needed.
fn result_dtype(operands: &Operands<'_>, percent: bool) -> DType {
    let (own, fractions) = (operands.dtype(0), operands.dtype(1));
    match &operands.args[1] {
        Operand::Literal(_) | Operand::Weak(_) => averaged(own),
        _ if fractions.is_float() => own.upcast(fractions),
        _ if percent => own.upcast(DType::F64),
        _ => own,
    }
}

/// Returns the dtype of the fractions and positions: f32 for f32 arrays. Methods other than `linear` depend on every
/// bit, so there a number takes f32 from the elements, as in NumPy.
fn fraction_dtype(operands: &Operands<'_>, method: Method) -> DType {
    let narrow = match &operands.args[1] {
        Operand::Var(_) | Operand::List(_) => operands.dtype(1) == DType::F32,
        _ => method != Method::Linear && operands.dtype(0) == DType::F32,
    };
    if narrow { DType::F32 } else { DType::F64 }
}

/// Returns the fractions, from 0 to 1.
fn fractions(operands: &mut Operands<'_>, row: &Row, method: Method) -> Result<VarId, BuildError> {
    let of = |operand: &Operand| match operand {
        Operand::Literal(literal) => literal.dtype(),
        Operand::Var(variable) | Operand::Weak(variable) => operands.graph.ty(*variable).dtype(),
        _ => DType::F64,
    };
    let fractions = match &operands.args[1] {
        Operand::List(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    if let Some(found) = fractions.iter().map(of).find(|dtype| dtype.is_complex()) {
        let (op, expected) = (operands.function.to_owned(), "real numbers".to_owned());
        return Err(MakeNodeError::DType { op, input: 1, found, expected }.into());
    }
    let fraction = operands.cast_argument(1, fraction_dtype(operands, method))?;
    let whole = if is_percent(row) { 100.0 } else { 1.0 };
    let fraction = operands.call("div", [fraction.into(), whole.into()])?;
    let within = operands.call("clip", [fraction.into(), 0.0.into(), 1.0.into()])?;
    let within = operands.call("eq", [within.into(), fraction.into()])?;
    let message = format!("{}: fractions lie between 0 and {whole}", row.name);
    operands.demand(fraction, within, &message)
}

fn is_percent(row: &Row) -> bool {
    row.name.ends_with("percentile")
}

/// Builds `quantile(x, 0.9, axis=0, method="hazen")` and `percentile(x, [10, 90])`. The dimensions of the fractions
/// come first.
pub(super) fn quantile(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(2, 3)?;
    let declared = Declared::bound(operands.function, props);
    let (method, keepdims) = (Method::read(&declared)?, declared.flag("keepdims")?);
    let axes = axes(operands, props)?;
    let own = operands.dtype(0);
    let skips = row.name.starts_with("nan") && own.is_float();
    let fraction = fractions(operands, row, method)?;
    if operands.args.get(2).is_some_and(|weights| *weights != Operand::None) {
        let found = weighted::quantile(operands, method, axes.as_deref(), fraction, skips)?;
        return finish(operands, axes.as_deref(), found, own, keepdims);
    }
    let dtype = if method.is_discrete() { own } else { computed(own) };
    let lines = sorted(operands, props, dtype, skips)?.elements;
    let count = if skips { counted(operands, lines)? } else { operands.extent(lines, 0)? };
    // The dimensions of the fractions precede the remaining dimensions.
    let rest = if skips { operands.ndim(lines) - 1 } else { 0 };
    let of_fraction = operands.ndim(fraction);
    if skips && of_fraction > 1 {
        return Err(operands.error("takes a number or a vector of fractions"));
    }
    let all = (0..of_fraction).map(Some).chain((0..rest).map(|_| None));
    let fraction = operands.shuffled(fraction, all.collect::<Vec<_>>())?;
    let element = |operands: &mut Operands<'_>, position: VarId| match skips {
        true => along(operands, lines, position),
        false => at(operands, lines, &position.into()),
    };
    let (found, result) = match method.position(operands, fraction, &count)? {
        Position::At(place) => (element(operands, place)?, own),
        Position::Between { low, high, part } => {
            let (below, above) = (element(operands, low)?, element(operands, high)?);
            let result = result_dtype(operands, is_percent(row));
            (between(operands, (below, above), part, (of_fraction, result))?, result)
        }
    };
    let found = if skips { found } else { spoilt(operands, lines, found)? };
    finish(operands, axes.as_deref(), found, result, keepdims)
}

/// Counts the elements of each line that are not NaN.
fn counted(operands: &mut Operands<'_>, lines: VarId) -> Result<Operand, BuildError> {
    let numbers = operands.call("eq", [lines.into(), lines.into()])?;
    operands.call_with("count_nonzero", &[numbers.into()], &[("axis", 0_i64.into())]).map(Operand::Var)
}

/// Interpolates between two elements, starting from the nearer one, as in NumPy.
fn between(
    operands: &mut Operands<'_>,
    (below, above): (VarId, VarId),
    part: VarId,
    (of_fraction, result): (usize, DType),
) -> Result<VarId, BuildError> {
    let (all, own) = (operands.ndim(below), operands.ndim(part));
    let part = match own == of_fraction {
        true => operands.shuffled(part, (0..all).map(|d| (d < of_fraction).then_some(d)))?,
        false => part,
    };
    let part = operands.cast(part, operands.graph.ty(below).dtype().upcast(result))?;
    let distance = operands.call("sub", [above.into(), below.into()])?;
    let step = operands.call("mul", [distance.into(), part.into()])?;
    let up = operands.call("add", [below.into(), step.into()])?;
    let rest = operands.call("sub", [1_i64.into(), part.into()])?;
    let step = operands.call("mul", [distance.into(), rest.into()])?;
    let down = operands.call("sub", [above.into(), step.into()])?;
    let nearer = operands.call("ge", [part.into(), 0.5.into()])?;
    operands.call("where", [nearer.into(), down.into(), up.into()])
}
