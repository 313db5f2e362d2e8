//! Functions of windows: `conv1d`, `conv2d`, `max_pool` and `avg_pool`.
//!
//! The elements of all windows are taken along one spatial axis after the other, each of which becomes two: the windows,
//! and the places in a window. So extents may be unknown, and only settings are fixed when the graph is built. A
//! convolution is then one product of matrices for each group, and pooling a reduction.

use super::operand::Operands;
use super::settings::list;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Prop, Props, VarId};

/// The settings of the windows along one axis: the numbers of elements to the next window, to the next place, and of
/// padding before and after the elements.
#[derive(Debug, Clone)]
struct Along {
    stride: i64,
    dilation: i64,
    padding: Option<[Operand; 2]>,
}

/// Returns a setting of integers, each at least `least`: one for all axes, or one for each.
fn per_axis(
    operands: &Operands<'_>,
    props: &Props,
    name: &str,
    axes: usize,
    least: i64,
) -> Result<Option<Vec<i64>>, MakeNodeError> {
    let Some(found) = list(operands.function, name, props)? else { return Ok(None) };
    let found = if found.len() == 1 { vec![found[0]; axes] } else { found };
    if found.len() != axes || found.iter().any(|n| *n < least) {
        let expected = format!("an integer from {least} on, or {axes} of them");
        return Err(Declared::bound(operands.function, props).wrong(name, &expected));
    }
    Ok(Some(found))
}

/// Returns the settings of the axes of windows with these numbers of places; `stride` is the default.
fn settings(
    operands: &mut Operands<'_>,
    props: &Props,
    sizes: &[Operand],
    stride: Vec<i64>,
) -> Result<Vec<Along>, BuildError> {
    let axes = sizes.len();
    let dilation = per_axis(operands, props, "dilation", axes, 1)?.unwrap_or_else(|| vec![1; axes]);
    let stride = per_axis(operands, props, "stride", axes, 1)?.unwrap_or(stride);
    let padding = paddings(operands, props, sizes, &stride, &dilation)?;
    let all = stride.into_iter().zip(dilation).zip(padding);
    Ok(all.map(|((stride, dilation), padding)| Along { stride, dilation, padding }).collect())
}

/// Returns the padding of each axis: a number on both sides, or as many elements as `padding="same"` needs.
fn paddings(
    operands: &mut Operands<'_>,
    props: &Props,
    sizes: &[Operand],
    stride: &[i64],
    dilation: &[i64],
) -> Result<Vec<Option<[Operand; 2]>>, BuildError> {
    let declared = Declared::bound(operands.function, props);
    match props.get("padding") {
        Some(Prop::Str(text)) if text == "valid" => Ok(vec![None; sizes.len()]),
        Some(Prop::Str(text)) if text == "same" => {
            if stride.iter().any(|n| *n != 1) {
                return Err(declared
                    .wrong("padding", "integers or `valid`, unless all strides are 1")
                    .into());
            }
            let mut made = Vec::new();
            for (size, far) in sizes.iter().zip(dilation) {
                let span = operands.call("sub", [size.clone(), 1_i64.into()])?;
                let span = operands.call("mul", [span.into(), (*far).into()])?;
                let before = operands.call("floor_div", [span.into(), 2_i64.into()])?;
                let behind = operands.call("sub", [span.into(), before.into()])?;
                made.push(Some([before.into(), behind.into()]));
            }
            Ok(made)
        }
        Some(Prop::Str(_)) => Err(declared.wrong("padding", "integers, `valid` or `same`").into()),
        _ => {
            let given =
                per_axis(operands, props, "padding", sizes.len(), 0)?.unwrap_or_else(|| vec![0; sizes.len()]);
            Ok(given.into_iter().map(|n| (n > 0).then(|| [n.into(), n.into()])).collect())
        }
    }
}

/// Pads the last axes with a value.
fn padded(
    operands: &mut Operands<'_>,
    mut tensor: VarId,
    along: &[Along],
    value: &Operand,
) -> Result<VarId, BuildError> {
    let value = operands.cast_operand(value, operands.graph.ty(tensor).dtype())?;
    for (axis, each) in (operands.ndim(tensor) - along.len()..).zip(along) {
        let Some(padding) = &each.padding else { continue };
        let mut parts = vec![Operand::Var(tensor)];
        for count in padding {
            let mut extents = operands.extents_of(tensor)?;
            extents[axis] = count.clone();
            let block = operands.call_with("alloc", &[&[value.into()], extents.as_slice()].concat(), &[])?;
            parts.push(block.into());
        }
        parts.swap(0, 1);
        let axis = i64::try_from(axis).unwrap_or(i64::MAX);
        tensor = operands.call_with("join", &parts, &[("axis", axis.into())])?;
    }
    Ok(tensor)
}

/// Replaces each of the last axes by two: the windows, and the places in a window.
fn windows(
    operands: &mut Operands<'_>,
    mut tensor: VarId,
    along: &[Along],
    sizes: &[Operand],
) -> Result<VarId, BuildError> {
    let first = operands.ndim(tensor) - along.len();
    for (at, (each, size)) in along.iter().zip(sizes).enumerate() {
        let axis = first + 2 * at;
        let extent = operands.extent(tensor, axis)?;
        // The last place of the last window is at most the last element.
        let span = operands.call("sub", [size.clone(), 1_i64.into()])?;
        let span = operands.call("mul", [span.into(), each.dilation.into()])?;
        let rest = operands.call("sub", [extent, span.into()])?;
        let fits = operands.call("gt", [rest.into(), 0_i64.into()])?;
        let message = format!("{}: a window is larger than the array", operands.function);
        tensor = operands.demand(tensor, fits, &message)?;
        let ends = operands.call("sub", [rest.into(), 1_i64.into()])?;
        let ends = operands.call("floor_div", [ends.into(), each.stride.into()])?;
        let count = operands.call("add", [ends.into(), 1_i64.into()])?;
        let starts = operands.call("arange", [count.into()])?;
        let starts = operands.call("mul", [starts.into(), each.stride.into()])?;
        let starts = operands.shuffled(starts, [Some(0), None])?;
        let steps = operands.call("arange", [size.clone()])?;
        let steps = operands.call("mul", [steps.into(), each.dilation.into()])?;
        let places = operands.call("add", [starts.into(), steps.into()])?;
        let axis = Prop::Int(i64::try_from(axis).unwrap_or(i64::MAX));
        tensor = operands.call_with("take", &[tensor.into(), places.into()], &[("axis", axis.into())])?;
    }
    Ok(tensor)
}

/// Multiplies extents.
fn product(operands: &mut Operands<'_>, extents: &[Operand]) -> Result<Operand, BuildError> {
    let mut made = Operand::from(1_i64);
    for extent in extents {
        made = operands.call("mul", [made, extent.clone()])?.into();
    }
    Ok(made)
}

/// Returns a tensor with another shape.
fn reshaped(operands: &mut Operands<'_>, tensor: VarId, shape: &[Operand]) -> Result<VarId, BuildError> {
    operands.call_with("reshape", &[&[tensor.into()], shape].concat(), &[])
}

/// Builds `conv1d(x, weight, stride=1, padding=0, dilation=1, groups=1)` and `conv2d`: of `x[batch, channel, …]` or
/// `x[channel, …]` with `weight[result, channel of a group, …]`, which is not reversed.
pub(super) fn convolution(
    operands: &mut Operands<'_>,
    row: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let axes = if row.name == "conv1d" { 1 } else { 2 };
    let dtype = operands.common_array();
    let (mut x, weight) = (operands.cast_argument(0, dtype)?, operands.cast_argument(1, dtype)?);
    let is_batch = operands.ndim(x) == axes + 2;
    if operands.ndim(weight) != axes + 2 || !is_batch && operands.ndim(x) != axes + 1 {
        let axes = if axes == 1 { "axis" } else { "axes" };
        return Err(operands.error(format!("needs a batch, channels and spatial {axes}, and such a weight")));
    }
    let declared = Declared::bound(operands.function, props);
    let groups = declared.int("groups")?.unwrap_or(1);
    if groups < 1 {
        return Err(declared.wrong("groups", "an integer from 1 on").into());
    }
    let sizes = operands.extents_of(weight)?.split_off(2);
    let along = settings(operands, props, &sizes, vec![1; axes])?;
    if !is_batch {
        x = operands.shuffled(x, std::iter::once(None).chain((0..=axes).map(Some)))?;
    }
    let made = multiplied(operands, x, weight, &along, groups)?;
    if is_batch {
        return Ok(made.into());
    }
    operands.call_with("squeeze", &[made.into()], &[("axis", 0_i64.into())]).map(Operand::Var)
}

/// Multiplies the windows of `x[batch, channel, …]` by the weight, for each group of channels.
fn multiplied(
    operands: &mut Operands<'_>,
    x: VarId,
    weight: VarId,
    along: &[Along],
    groups: i64,
) -> Result<VarId, BuildError> {
    let axes = along.len();
    let of_weight = operands.extents_of(weight)?;
    let (results, own) = (of_weight[0].clone(), of_weight[1].clone());
    let channels = operands.extent(x, 1)?;
    let all = operands.call("mul", [own.clone(), groups.into()])?;
    let fits = operands.call("eq", [channels, all.into()])?;
    let message = format!("{}: the weight has other channels than the array", operands.function);
    let x = operands.demand(x, fits, &message)?;
    let x = padded(operands, x, along, &0_i64.into())?;
    let taken = windows(operands, x, along, &of_weight[2..])?;
    // `[batch, group, channel, window, place, …]` to `[group, batch, window, …, channel, place, …]`.
    let extents = operands.extents_of(taken)?;
    let shape = [&[extents[0].clone(), groups.into(), own.clone()], &extents[2..]].concat();
    let split = reshaped(operands, taken, &shape)?;
    let (counts, places) = ((0..axes).map(|at| 3 + 2 * at), (0..axes).map(|at| 4 + 2 * at));
    let order = [1, 0].into_iter().chain(counts.clone()).chain([2]).chain(places);
    let split = operands.shuffled(split, order.map(Some))?;
    let counts: Vec<Operand> = counts.map(|axis| shape[axis].clone()).collect();
    let rows = product(operands, &[&[extents[0].clone()], counts.as_slice()].concat())?;
    let columns = product(operands, &of_weight[1..])?;
    let rows = reshaped(operands, split, &[groups.into(), rows, columns.clone()])?;
    let of_group = operands.call("floor_div", [results.clone(), groups.into()])?;
    let kernel = reshaped(operands, weight, &[groups.into(), of_group.into(), columns])?;
    let kernel = operands.shuffled(kernel, [0, 2, 1].map(Some))?;
    let made = operands.call("matmul", [rows.into(), kernel.into()])?;
    // `[group, batch, window, …, result]` to `[batch, result, window, …]`.
    let shape = [&[groups.into(), extents[0].clone()], counts.as_slice(), &[of_group.into()]].concat();
    let made = reshaped(operands, made, &shape)?;
    let order = [1, 0, axes + 2].into_iter().chain(2..axes + 2);
    let made = operands.shuffled(made, order.map(Some))?;
    reshaped(operands, made, &[&[extents[0].clone(), results], counts.as_slice()].concat())
}

/// Builds `max_pool(x, kernel_size, stride, padding, dilation)` and `avg_pool` over the last axes.
pub(super) fn pool(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let sizes = list(operands.function, "kernel_size", props)?;
    let sizes = sizes.filter(|sizes| !sizes.is_empty() && sizes.iter().all(|size| *size > 0));
    let sizes =
        sizes.ok_or_else(|| declared.wrong("kernel_size", "a positive integer, or one for each axis"))?;
    let stride = sizes.clone();
    let sizes: Vec<Operand> = sizes.into_iter().map(Operand::from).collect();
    let along = settings(operands, props, &sizes, stride)?;
    let x = operands.variable(0)?;
    if operands.ndim(x) < sizes.len() {
        return Err(operands.error(format!("needs at least {} axes", sizes.len())));
    }
    let is_max = row.name == "max_pool";
    let taken = |operands: &mut Operands<'_>, x: VarId, value: Operand| {
        let x = padded(operands, x, &along, &value)?;
        windows(operands, x, &along, &sizes)
    };
    let axes: Vec<Operand> =
        (1..=sizes.len()).map(|at| Operand::from(1 - 2 * i64::try_from(at).unwrap_or(0))).collect();
    let reduced = |operands: &mut Operands<'_>, name: &str, x: VarId| {
        operands.call_with(name, &[x.into()], &[("axis", Operand::List(axes.clone()))])
    };
    if is_max {
        let least = lowest(operands.graph.ty(x).dtype())
            .ok_or_else(|| operands.error("complex numbers have no order"))?;
        let x = taken(operands, x, least)?;
        return reduced(operands, "max", x).map(Operand::Var);
    }
    if declared.flag("count_include_pad")? || along.iter().all(|each| each.padding.is_none()) {
        let x = taken(operands, x, 0_i64.into())?;
        return reduced(operands, "mean", x).map(Operand::Var);
    }
    let ones = operands.call("ones_like", [x.into()])?;
    let (x, ones) = (taken(operands, x, 0_i64.into())?, taken(operands, ones, 0_i64.into())?);
    let (sums, counts) = (reduced(operands, "sum", x)?, reduced(operands, "sum", ones)?);
    operands.call("div", [sums.into(), counts.into()]).map(Operand::Var)
}

/// Returns the number that is below all others of a dtype.
fn lowest(dtype: DType) -> Option<Operand> {
    Some(match dtype {
        DType::Bool => false.into(),
        DType::I8 => i64::from(i8::MIN).into(),
        DType::I16 => i64::from(i16::MIN).into(),
        DType::I32 => i64::from(i32::MIN).into(),
        DType::I64 => i64::MIN.into(),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 0_i64.into(),
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => f64::NEG_INFINITY.into(),
        _ => return None,
    })
}
