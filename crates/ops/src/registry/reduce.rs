//! Reductions, positions of extremes and cumulative sums, with NumPy's `axis`, `keepdims`, `dtype` and `ddof`.
//!
//! | function | result | computed in |
//! |---|---|---|
//! | `sum` `prod` | `dtype`; else i64 or u64 for bool and integers, else the input's | `acc_dtype`; else the result's (*) |
//! | `mean` `var` `std` | `dtype`; else f64 for bool and integers, else the input's | the result's (*) |
//! | `max` `min` | as the input | f32 for f16 and bf16, which is exact |
//! | `any` `all` | bool | bool |
//! | `argmax` `argmin` | i64 | as `max` |
//! | `cumsum` `cumprod` | as `sum` | the result's dtype |
//!
//! (*) f32 for f16 and bf16. Quotients are computed in f64 if the result is an integer. `var` and `std` of complex
//! numbers are real.
//!
//! A cast to the computation dtype comes first and is fused into the loop of the reduction. Sums and products of
//! narrow integers are computed in 64 bits, whose low bits are the same. Sums and products of booleans are `any` and
//! `all`.

use super::operand::Operands;
use super::settings::axes;
use super::variables::scalar_apply;
use crate::declared::Declared;
use crate::reduce::{Argmax, CumOp};
use crate::rows::Row;
use crate::shape::ShapeI;
use crate::{DimShuffle, Reduce, ReduceKind};
use precast_graph::{Array, BuildError, DType, MakeNodeError, Operand, Prop, Props, VarId};

/// Returns the axes of a call, ascending; `None` for all. Naming every axis is the same as naming none, so both share
/// a module.
fn axes_of(
    kind: ReduceKind,
    function: &str,
    props: &Props,
    ndim: usize,
) -> Result<Option<Vec<usize>>, MakeNodeError> {
    // In NumPy a number has one axis if `axis` is a single integer, but not for means.
    let alone = matches!(props.get("axis"), Some(Prop::Int(_)));
    let least = usize::from(kind != ReduceKind::Mean && alone);
    let mut axes = axes(function, "axis", props, ndim.max(least))?;
    if let Some(axes) = &mut axes {
        axes.sort_unstable();
    }
    Ok(axes.filter(|axes| axes.len() < ndim))
}

/// Returns the dtype of sums of this dtype.
fn summed(dtype: DType) -> DType {
    if dtype.is_unsigned() {
        DType::U64
    } else if dtype == DType::Bool || dtype.is_integer() {
        DType::I64
    } else {
        dtype
    }
}

/// Returns the dtype of means of this dtype.
pub(super) fn averaged(dtype: DType) -> DType {
    if dtype == DType::Bool || dtype.is_integer() { DType::F64 } else { dtype }
}

/// Returns the dtype in which a result of this dtype is computed.
pub(super) fn wide(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::Bf16) { DType::F32 } else { dtype }
}

/// Returns the result dtype and the accumulator dtype for elements of `dtype`.
fn dtypes(declared: &Declared<'_>, kind: ReduceKind, dtype: DType) -> Result<(DType, DType), MakeNodeError> {
    let default = match kind {
        ReduceKind::Sum | ReduceKind::Prod => summed(dtype),
        ReduceKind::Mean => averaged(dtype),
        ReduceKind::Any | ReduceKind::All => DType::Bool,
        ReduceKind::Max | ReduceKind::Min => dtype,
    };
    let result = declared.dtype("dtype")?.unwrap_or(default);
    Ok((result, declared.dtype("acc_dtype")?.unwrap_or_else(|| wide(result))))
}

/// Reduces a variable, and restores the reduced axes with extent 1 if `keepdims` is set.
fn reduced(
    operands: &mut Operands<'_>,
    kind: ReduceKind,
    variable: VarId,
    axes: Option<&[usize]>,
    keepdims: bool,
) -> Result<VarId, BuildError> {
    let ndim = operands.graph.ty(variable).ndim();
    let reduced = operands.apply(Reduce::new(kind, axes.map(<[usize]>::to_vec)), &[variable])?;
    if !keepdims {
        return Ok(reduced);
    }
    operands.apply(DimShuffle::restoring(ndim, axes), &[reduced])
}

/// Reduces a variable in the dtype `acc`.
fn folded(
    operands: &mut Operands<'_>,
    kind: ReduceKind,
    (variable, acc): (VarId, DType),
    axes: Option<&[usize]>,
    keepdims: bool,
) -> Result<VarId, BuildError> {
    let variable = operands.cast(variable, acc)?;
    let whole = averaged(acc) != acc;
    if kind == ReduceKind::Mean && whole {
        let sum = folded(operands, ReduceKind::Sum, (variable, acc), axes, keepdims)?;
        let count = count(operands, variable, axes)?;
        return quotient(operands, sum, count, acc);
    }
    let (kind, wide) = match kind {
        ReduceKind::Sum if acc == DType::Bool => (ReduceKind::Any, acc),
        ReduceKind::Prod if acc == DType::Bool => (ReduceKind::All, acc),
        ReduceKind::Sum | ReduceKind::Prod if whole => (kind, summed(acc)),
        kind => (kind, acc),
    };
    let variable = operands.cast(variable, wide)?;
    let found = reduced(operands, kind, variable, axes, keepdims)?;
    operands.cast(found, acc)
}

/// Returns the number of elements (i64) reduced to each result.
fn count(operands: &mut Operands<'_>, variable: VarId, axes: Option<&[usize]>) -> Result<VarId, BuildError> {
    let mut count = operands.graph.constant(Array::from(1_i64));
    let ndim = operands.ndim(variable);
    for axis in (0..ndim).filter(|axis| axes.is_none_or(|axes| axes.contains(axis))) {
        let extent = operands.apply(ShapeI { axis }, &[variable])?;
        count = scalar_apply(operands, "mul", &[count, extent])?;
    }
    Ok(count)
}

/// Divides a sum by a count, in `dtype`; for integers the quotient is computed in f64 and truncated.
fn quotient(
    operands: &mut Operands<'_>,
    sum: VarId,
    count: VarId,
    dtype: DType,
) -> Result<VarId, BuildError> {
    let computed = averaged(dtype);
    let (sum, count) = (operands.cast(sum, computed)?, operands.cast(count, computed)?);
    let quotient = scalar_apply(operands, "div", &[sum, count])?;
    operands.cast(quotient, dtype)
}

/// Builds `sum(x, axis=[0, 2], dtype="f64", keepdims=True)` and the other reductions.
pub(super) fn reduce(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let name = operands.function;
    let kind = ReduceKind::find(row.name).unwrap_or(ReduceKind::Sum);
    let declared = Declared::bound(operands.function, props);
    let keepdims = declared.flag("keepdims")?;
    let variable = operands.variable(0)?;
    let (result, acc) = dtypes(&declared, kind, operands.graph.ty(variable).dtype())?;
    let axes = axes_of(kind, name, props, operands.graph.ty(variable).ndim())?;
    let found = folded(operands, kind, (variable, acc), axes.as_deref(), keepdims)?;
    operands.cast(found, result)
}

/// Returns the square of each number; for a complex number the square of its magnitude.
fn squared(operands: &mut Operands<'_>, number: VarId) -> Result<VarId, BuildError> {
    if !operands.graph.ty(number).dtype().is_complex() {
        return scalar_apply(operands, "mul", &[number, number]);
    }
    let [re, im] = ["real", "imag"].map(|part| scalar_apply(operands, part, &[number]));
    let (re, im) = (re?, im?);
    let squares = [scalar_apply(operands, "mul", &[re, re])?, scalar_apply(operands, "mul", &[im, im])?];
    scalar_apply(operands, "add", &squares)
}

/// Builds `var(x, axis=0, ddof=1)` and `std(x)`: the mean of the squared distances from the mean.
pub(super) fn spread(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let name = operands.function;
    let declared = Declared::bound(operands.function, props);
    let (keepdims, ddof) = (declared.flag("keepdims")?, ddof_of(operands, props)?);
    let variable = operands.variable(0)?;
    let (result, acc) = dtypes(&declared, ReduceKind::Mean, operands.graph.ty(variable).dtype())?;
    let axes = axes_of(ReduceKind::Mean, name, props, operands.graph.ty(variable).ndim())?;
    let axes = axes.as_deref();
    let whole = averaged(acc) != acc;
    // If the mean is an integer, the distances have the dtype of the elements, as in NumPy.
    let variable = if whole { variable } else { operands.cast(variable, acc)? };
    let mean = folded(operands, ReduceKind::Mean, (variable, acc), axes, true)?;
    let distance = operands.call("sub", [variable.into(), mean.into()])?;
    let square = squared(operands, distance)?;
    let (result, acc) = (result.real(), acc.real());
    let mut spread = if ddof == Operand::from(0_i64) && !whole {
        folded(operands, ReduceKind::Mean, (square, acc), axes, keepdims)?
    } else {
        let sum = folded(operands, ReduceKind::Sum, (square, acc), axes, keepdims)?;
        let count = count(operands, variable, axes)?;
        let left = operands.call("sub", [count.into(), ddof])?;
        let left = operands.call("maximum", [left.into(), 0_i64.into()])?;
        quotient(operands, sum, left, acc)?
    };
    if row.name == "std" {
        spread = operands.call("sqrt", [spread.into()])?;
    }
    operands.cast(spread, result)
}

/// Returns the number to subtract from the count, an integer or a float.
pub(super) fn ddof_of(operands: &Operands<'_>, props: &Props) -> Result<Operand, MakeNodeError> {
    let Some(ddof) = props.get("ddof") else { return Ok(0_i64.into()) };
    Declared::bound(operands.function, props).float("ddof")?;
    Ok(ddof.clone().into())
}

/// Returns a single axis, which may count from the end; `None` for all elements and for a number.
fn axis_of(
    operands: &Operands<'_>,
    declared: &Declared<'_>,
    ndim: usize,
) -> Result<Option<usize>, MakeNodeError> {
    let axis = declared.int("axis")?.map(|axis| operands.axis(axis, ndim.max(1))).transpose()?;
    Ok(axis.filter(|_| ndim > 0))
}

/// Builds `argmax(x, axis=1, keepdims=True)`.
pub(super) fn argmax(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let variable = operands.variable(0)?;
    let variable = operands.cast(variable, wide(operands.graph.ty(variable).dtype()))?;
    let ndim = operands.graph.ty(variable).ndim();
    let axis = axis_of(operands, &declared, ndim)?;
    let least = row.name == "argmin";
    let found = operands.apply(Argmax { least, axis }, &[variable])?;
    if !declared.flag("keepdims")? {
        return Ok(found);
    }
    let mut kept = 0..;
    let gone = |d: usize| axis.is_none_or(|axis| axis == d);
    let order = (0..ndim).map(|d| if gone(d) { None } else { kept.next() }).collect();
    operands.apply(DimShuffle::new(order), &[found])
}

/// Builds `cumsum(x, axis=0)`; without an axis, over all elements in C order.
pub(super) fn cumulative(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let variable = operands.variable(0)?;
    let default = summed(operands.graph.ty(variable).dtype());
    let result = declared.dtype("dtype")?.unwrap_or(default);
    let variable = operands.cast(variable, result)?;
    // Sums and products of 0 and 1 are nonzero exactly if any or all elements are true.
    let variable = operands.cast(variable, if result == DType::Bool { DType::U64 } else { result })?;
    let axis = axis_of(operands, &declared, operands.graph.ty(variable).ndim())?;
    let product = row.name == "cumprod";
    let found = operands.apply(CumOp { product, axis }, &[variable])?;
    operands.cast(found, result)
}
