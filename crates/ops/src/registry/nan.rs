//! Functions that ignore NaN, as defined by NumPy: `nansum`, `nanmean`, `fmax`, `nan_to_num`.
//!
//! For dtypes without NaN they equal the functions without `nan` in their name.

use super::operand::Operands;
use super::reduce::{ddof_of, wide};
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{Array, BuildError, DType, MakeNodeError, Number, Operand, Props, VarId};

type Named = Vec<(&'static str, Operand)>;

/// Selects settings of a call, for the functions it is composed of.
fn named(props: &Props, names: &[&'static str]) -> Named {
    names.iter().filter_map(|name| Some((*name, props.get(*name)?.clone().into()))).collect()
}

/// Returns whether elements of a dtype can be NaN.
fn has_nan(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

/// Replaces the elements where a mask is true by a number.
fn replaced(
    operands: &mut Operands<'_>,
    x: VarId,
    mask: VarId,
    number: impl Into<Operand>,
) -> Result<VarId, BuildError> {
    operands.call("where", [mask.into(), number.into(), x.into()])
}

/// Builds `nansum(x, axis=0)` and `nanprod(x)`; NaN counts as 0, or as 1.
pub(super) fn total(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let (plain, idle) = if row.name == "nansum" { ("sum", 0.0) } else { ("prod", 1.0) };
    let mut x = operands.variable(0)?;
    if has_nan(operands.dtype(0)) {
        let missing = operands.call("isnan", [x.into()])?;
        x = replaced(operands, x, missing, idle)?;
    }
    operands.call_with(plain, &[x.into()], &named(props, &["axis", "dtype", "keepdims"]))
}

/// Builds `nanmax(x, axis=0)` and `nanmin(x)` over the elements that are not NaN; the result is NaN if all are.
pub(super) fn extreme(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let (plain, idle) =
        if row.name == "nanmax" { ("max", f64::NEG_INFINITY) } else { ("min", f64::INFINITY) };
    let (x, over) = (operands.variable(0)?, named(props, &["axis", "keepdims"]));
    let dtype = operands.dtype(0);
    refuse_complex(operands, dtype)?;
    if !has_nan(dtype) {
        return operands.call_with(plain, &[x.into()], &over);
    }
    let missing = operands.call("isnan", [x.into()])?;
    let numbers = replaced(operands, x, missing, idle)?;
    let found = operands.call_with(plain, &[numbers.into()], &over)?;
    let none = operands.call_with("all", &[missing.into()], &over)?;
    replaced(operands, found, none, f64::NAN)
}

/// The elements in the dtype of the sum, a mask of the elements that are not NaN, and the dtype of their mean.
struct Counted {
    x: VarId,
    present: VarId,
    result: DType,
}

fn counted(operands: &mut Operands<'_>) -> Result<Counted, BuildError> {
    let result = operands.dtype(0);
    let x = operands.cast_argument(0, wide(result))?;
    let missing = operands.call("isnan", [x.into()])?;
    Ok(Counted { x, present: operands.call("logical_not", [missing.into()])?, result })
}

/// Computes the mean of the elements that are not NaN.
fn mean_of(operands: &mut Operands<'_>, of: &Counted, over: &Named) -> Result<VarId, BuildError> {
    let numbers = operands.call("where", [of.present.into(), of.x.into(), 0.0.into()])?;
    let sum = operands.call_with("sum", &[numbers.into()], over)?;
    let count = operands.call_with("sum", &[of.present.into()], over)?;
    let count = operands.cast(count, operands.graph.ty(sum).dtype().real())?;
    operands.call("div", [sum.into(), count.into()])
}

/// Builds `nanmean(x, axis=0)` over the elements that are not NaN; the result is NaN if all are.
pub(super) fn mean(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    if !has_nan(operands.dtype(0)) {
        return operands.call_with("mean", operands.args, &named(props, &["axis", "keepdims"]));
    }
    let counted = counted(operands)?;
    let mean = mean_of(operands, &counted, &named(props, &["axis", "keepdims"]))?;
    operands.cast(mean, counted.result)
}

/// Builds `nanvar(x, axis=0, ddof=1)` and `nanstd(x)` over the elements that are not NaN. The result is NaN if there
/// are at most `ddof` of them.
pub(super) fn spread(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    if !has_nan(operands.dtype(0)) {
        let plain = if row.name == "nanvar" { "var" } else { "std" };
        return operands.call_with(plain, operands.args, &named(props, &["axis", "ddof", "keepdims"]));
    }
    let counted = counted(operands)?;
    let ddof = ddof_of(operands, props)?;
    let over = named(props, &["axis", "keepdims"]);
    let mut kept = named(props, &["axis"]);
    kept.push(("keepdims", true.into()));
    let mean = mean_of(operands, &counted, &kept)?;
    let less = operands.call("sub", [counted.x.into(), mean.into()])?;
    let less = operands.call("where", [counted.present.into(), less.into(), 0.0.into()])?;
    let square = if counted.result.is_complex() {
        let [re, im] = ["real", "imag"].map(|part| operands.call(part, [less.into()]));
        let [re, im] = [re?, im?].map(|part| operands.call("square", [part.into()]));
        operands.call("add", [re?.into(), im?.into()])?
    } else {
        operands.call("square", [less.into()])?
    };
    let sum = operands.call_with("sum", &[square.into()], &over)?;
    let count = operands.call_with("sum", &[counted.present.into()], &over)?;
    let count = operands.call("sub", [count.into(), ddof])?;
    let too_few = operands.call("le", [count.into(), 0_i64.into()])?;
    let count = operands.cast(count, operands.graph.ty(sum).dtype())?;
    let mut spread = operands.call("div", [sum.into(), count.into()])?;
    spread = replaced(operands, spread, too_few, f64::NAN)?;
    if row.name == "nanstd" {
        spread = operands.call("sqrt", [spread.into()])?;
    }
    operands.cast(spread, counted.result.real())
}

/// Builds `fmax(x, y)` and `fmin(x, y)`; if one operand is NaN, the result is the other one.
pub(super) fn either(operands: &mut Operands<'_>, row: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let dtype = operands.common();
    let (x, y) = (operands.cast_argument(0, dtype)?, operands.cast_argument(1, dtype)?);
    let plain = if row.name == "fmax" { "maximum" } else { "minimum" };
    let found = operands.call(plain, [x.into(), y.into()])?;
    if !has_nan(dtype) {
        return Ok(found);
    }
    let [x_missing, y_missing] = [x, y].map(|side| operands.call("isnan", [side.into()]));
    let found = replaced(operands, found, y_missing?, x)?;
    replaced(operands, found, x_missing?, y)
}

/// Builds `nan_to_num(x, nan=0.0, posinf=None, neginf=None)`, which replaces NaN and infinities by numbers. The
/// default for infinities is the largest finite number.
pub(super) fn nan_to_num(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let (x, dtype) = (operands.variable(0)?, operands.dtype(0));
    if !has_nan(dtype) {
        return Ok(x);
    }
    if !dtype.is_complex() {
        return finite(operands, x, props);
    }
    let [re, im] = ["real", "imag"].map(|part| {
        let part = operands.call(part, [x.into()])?;
        finite(operands, part, props)
    });
    operands.call("complex", [re?.into(), im?.into()])
}

/// Builds [`nan_to_num`] of real numbers.
fn finite(operands: &mut Operands<'_>, x: VarId, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    let dtype = operands.graph.ty(x).dtype();
    let largest = match dtype {
        DType::F16 => 65504.0,
        DType::Bf16 => f64::from(f32::from_bits(0x7f7f_0000)),
        DType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let mut number = |setting: &str, default: f64| {
        let number = if declared.has(setting) { declared.float(setting)? } else { default };
        Ok::<_, MakeNodeError>(operands.graph.constant(Array::of(Number::Float(number), dtype)))
    };
    let (nan, above, below) = (number("nan", 0.0)?, number("posinf", largest)?, number("neginf", -largest)?);
    let missing = operands.call("isnan", [x.into()])?;
    let high = operands.call("eq", [x.into(), f64::INFINITY.into()])?;
    let low = operands.call("eq", [x.into(), f64::NEG_INFINITY.into()])?;
    let x = replaced(operands, x, missing, nan)?;
    let x = replaced(operands, x, high, above)?;
    replaced(operands, x, low, below)
}

/// Rejects complex numbers, which have no largest value.
pub(super) fn refuse_complex(operands: &Operands<'_>, found: DType) -> Result<(), MakeNodeError> {
    if !found.is_complex() {
        return Ok(());
    }
    let (op, expected) = (operands.function.to_owned(), "real numbers".to_owned());
    Err(MakeNodeError::DType { op, input: 0, found, expected })
}
