//! Functions of exponentials and norms, as defined by SciPy and NumPy: `softmax`, `logsumexp`, `logaddexp`, `norm`,
//! `isclose`.

use super::nan::refuse_complex;
use super::operand::Operands;
use super::reduce::wide;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, DType, Operand, Prop, Props, VarId};

/// Returns `axis` and `keepdims` of a call, for the reductions it is composed of.
fn over(props: &Props, keepdims: bool) -> Vec<(&'static str, Operand)> {
    let axis = props.get("axis").map_or(Operand::None, |axis| axis.clone().into());
    vec![("axis", axis), ("keepdims", keepdims.into())]
}

/// Returns the real argument in the dtype in which exponentials are computed (f64 for integers, f32 for 16-bit
/// floats), and the dtype of the result.
fn exponents(operands: &mut Operands<'_>) -> Result<(VarId, DType), BuildError> {
    operands.expect(1)?;
    let found = operands.dtype(0);
    refuse_complex(operands, found)?;
    let result = if found.is_float() { found } else { DType::F64 };
    let computed = if result == DType::F64 { DType::F64 } else { DType::F32 };
    Ok((operands.cast_argument(0, computed)?, result))
}

/// Returns the largest elements, with 0 in place of results that are not finite.
fn finite_top(operands: &mut Operands<'_>, x: VarId, props: &Props) -> Result<VarId, BuildError> {
    let top = operands.call_with("max", &[x.into()], &over(props, true))?;
    let finite = operands.call("isfinite", [top.into()])?;
    operands.call("where", [finite.into(), top.into(), 0.0.into()])
}

/// The elements minus the largest one, their exponentials, and the sum of the exponentials.
struct Powers {
    less: VarId,
    powers: VarId,
    sum: VarId,
}

fn powers(operands: &mut Operands<'_>, x: VarId, top: VarId, props: &Props) -> Result<Powers, BuildError> {
    let less = operands.call("sub", [x.into(), top.into()])?;
    let powers = operands.call("exp", [less.into()])?;
    let sum = operands.call_with("sum", &[powers.into()], &over(props, true))?;
    Ok(Powers { less, powers, sum })
}

/// Builds `relu(x)`, which is `maximum(x, 0)`. As in JAX, its derivative at 0 is 0.
pub(super) fn relu(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let x = operands.args[0].clone();
    let made = operands.call("maximum", [x.clone(), 0_i64.into()])?;
    if !operands.graph.ty(made).dtype().is_float() {
        return Ok(made);
    }
    let text = "custom_gradient(made, lambda g, x: where(x > 0, g, 0), x)";
    operands.expression(text, &[("made", made.into()), ("x", x)])
}

/// Builds `softmax(x, axis=-1)`: exponentials divided by their sum. Without an axis the sum is over all elements, as
/// in SciPy.
pub(super) fn softmax(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let (x, dtype) = exponents(operands)?;
    let top = operands.call_with("max", &[x.into()], &over(props, true))?;
    let Powers { powers, sum, .. } = powers(operands, x, top, props)?;
    let shares = operands.call("div", [powers.into(), sum.into()])?;
    operands.cast(shares, dtype)
}

/// Builds `log_softmax(x, axis=-1)`: the logarithm of `softmax`, exact even if `softmax` is small.
pub(super) fn log_softmax(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let (x, dtype) = exponents(operands)?;
    let top = finite_top(operands, x, props)?;
    let Powers { less, sum, .. } = powers(operands, x, top, props)?;
    let log = operands.call("log", [sum.into()])?;
    let logs = operands.call("sub", [less.into(), log.into()])?;
    operands.cast(logs, dtype)
}

/// Builds `logsumexp(x, axis=0, keepdims=True)`: the logarithm of the sum of exponentials, without intermediate
/// overflow.
pub(super) fn logsumexp(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let (x, dtype) = exponents(operands)?;
    let top = finite_top(operands, x, props)?;
    let Powers { sum, .. } = powers(operands, x, top, props)?;
    let log = operands.call("log", [sum.into()])?;
    let kept = operands.call("add", [log.into(), top.into()])?;
    let kept = operands.cast(kept, dtype)?;
    if Declared::bound(operands.function, props).flag("keepdims")? {
        return Ok(kept);
    }
    // The reduced axes have extent 1, so any reduction drops them without changing a value.
    operands.call_with("max", &[kept.into()], &over(props, false))
}

/// Builds `norm(x)`, `norm(x, 1, axis=0)` and `norm(x, "fro")`: vector norms of any order, and the matrix norms that
/// need no singular values.
pub(super) fn norm(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let keepdims = declared.flag("keepdims")?;
    let found = operands.dtype(0);
    let known = found.is_float() || found.is_complex();
    let result = if known { found.real() } else { DType::F64 };
    let computed = match found {
        DType::F16 | DType::Bf16 => DType::F32,
        found if known => found,
        _ => DType::F64,
    };
    let x = operands.cast_argument(0, computed)?;
    let ndim = operands.ndim(x);
    let axes = super::settings::axes(operands.function, "axis", props, ndim)?;
    let taken = axes.as_ref().map_or(ndim, Vec::len);
    // With an empty list of axes, each element is a vector of its own.
    let of_vectors = taken == 1 || axes.as_ref().is_some_and(Vec::is_empty);
    let found = match (props.get("ord"), taken) {
        (None, _) => root_of_squares(operands, x, &over(props, keepdims)),
        (Some(Prop::Str(order)), 2) if order == "fro" => root_of_squares(operands, x, &over(props, keepdims)),
        (Some(Prop::Int(2)), _) if of_vectors => root_of_squares(operands, x, &over(props, keepdims)),
        (Some(Prop::Int(order)), _) if of_vectors => {
            vector_norm(operands, x, *order as f64, &over(props, keepdims))
        }
        (Some(Prop::Float(order)), _) if of_vectors => {
            vector_norm(operands, x, *order, &over(props, keepdims))
        }
        (Some(Prop::Int(order @ (1 | -1))), 2) => {
            matrix_norm(operands, x, axes.unwrap_or_else(|| vec![0, 1]), *order as f64, keepdims)
        }
        (Some(Prop::Float(order)), 2) if order.abs() == 1.0 || order.is_infinite() => {
            matrix_norm(operands, x, axes.unwrap_or_else(|| vec![0, 1]), *order, keepdims)
        }
        (Some(Prop::Int(2 | -2)), 2) | (Some(Prop::Float(2.0 | -2.0)), 2) => {
            let best = if matches!(props.get("ord"), Some(Prop::Int(2) | Prop::Float(2.0))) { "max" } else { "min" };
            spectral_norm(operands, x, axes.unwrap_or_else(|| vec![0, 1]), best, keepdims)
        }
        (Some(Prop::Str(order)), 2) if order == "nuc" => {
            spectral_norm(operands, x, axes.unwrap_or_else(|| vec![0, 1]), "sum", keepdims)
        }
        (Some(order), 2) => Err(operands.error(format!(
            "unsupported order {order} of a matrix norm; supported: 1, -1, 2, -2, inf, -inf, \"fro\" and \"nuc\""
        ))),
        (Some(_), _) => {
            Err(operands.error(format!("an order needs 1 or 2 axes, found {taken}\nhint: set `axis`")))
        }
    }?;
    operands.cast(found, result)
}

type Named<'a> = &'a [(&'static str, Operand)];

fn root_of_squares(operands: &mut Operands<'_>, x: VarId, named: Named<'_>) -> Result<VarId, BuildError> {
    let mut squares = operands.call("mul", [x.into(), x.into()])?;
    if operands.graph.ty(x).dtype().is_complex() {
        let (re, im) = (operands.call("real", [x.into()])?, operands.call("imag", [x.into()])?);
        let (re, im) =
            (operands.call("mul", [re.into(), re.into()])?, operands.call("mul", [im.into(), im.into()])?);
        squares = operands.call("add", [re.into(), im.into()])?;
    }
    let sum = operands.call_with("sum", &[squares.into()], named)?;
    operands.call("sqrt", [sum.into()])
}

/// Computes a vector norm from absolute values: the largest, the smallest, the number of nonzeros, the sum, or the
/// root of the sum of powers.
fn vector_norm(
    operands: &mut Operands<'_>,
    x: VarId,
    order: f64,
    named: Named<'_>,
) -> Result<VarId, BuildError> {
    let sizes = operands.call("abs", [x.into()])?;
    if order.is_infinite() {
        return operands.call_with(if order > 0.0 { "max" } else { "min" }, &[sizes.into()], named);
    }
    if order == 0.0 {
        return operands.call_with("count_nonzero", &[x.into()], named);
    }
    if order == 1.0 {
        return operands.call_with("sum", &[sizes.into()], named);
    }
    let powers = operands.call("pow", [sizes.into(), order.into()])?;
    let sum = operands.call_with("sum", &[powers.into()], named)?;
    operands.call("pow", [sum.into(), (1.0 / order).into()])
}

/// Computes the largest or smallest sum of absolute values of a column (1, -1) or of a row (inf, -inf).
fn matrix_norm(
    operands: &mut Operands<'_>,
    x: VarId,
    axes: Vec<usize>,
    order: f64,
    keepdims: bool,
) -> Result<VarId, BuildError> {
    let position = |axis: usize| Operand::from(i64::try_from(axis).unwrap_or(i64::MAX));
    let (summed, left) = if order.is_infinite() { (axes[1], axes[0]) } else { (axes[0], axes[1]) };
    let sizes = operands.call("abs", [x.into()])?;
    let sums = operands.call_with(
        "sum",
        &[sizes.into()],
        &[("axis", position(summed)), ("keepdims", true.into())],
    )?;
    let best = if order > 0.0 { "max" } else { "min" };
    let best =
        operands.call_with(best, &[sums.into()], &[("axis", position(left)), ("keepdims", true.into())])?;
    if keepdims {
        return Ok(best);
    }
    let kept = (0..operands.ndim(best)).filter(|d| !axes.contains(d)).map(Some);
    operands.shuffled(best, kept)
}

/// Computes the largest, the smallest or the sum of the singular values.
fn spectral_norm(
    operands: &mut Operands<'_>,
    x: VarId,
    axes: Vec<usize>,
    reduction: &str,
    keepdims: bool,
) -> Result<VarId, BuildError> {
    let ndim = operands.ndim(x);
    let others: Vec<usize> = (0..ndim).filter(|d| !axes.contains(d)).collect();
    let last = operands.shuffled(x, others.iter().chain(&axes).copied().map(Some))?;
    let values = operands.call("svdvals", [last.into()])?;
    let found = operands.call_with(reduction, &[values.into()], &[("axis", (-1_i64).into())])?;
    if !keepdims {
        return Ok(found);
    }
    operands.shuffled(found, (0..ndim).map(|d| others.iter().position(|other| *other == d)))
}

/// Builds `isclose(x, y, rtol=1e-5, atol=1e-8)`, and `allclose`, which tests whether all elements are close.
pub(super) fn isclose(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    let (x, mut y) = (operands.args[0].clone(), operands.args[1].clone());
    // Distances of integers are computed in floats.
    let exact = operands.dtype(1).is_integer() || operands.dtype(1) == DType::Bool;
    y = match y {
        Operand::Literal(literal) => literal.float().map_or(Operand::Literal(literal), Operand::from),
        _ if exact => operands.cast_argument(1, DType::F64)?.into(),
        y => y,
    };
    let (rtol, atol) = (declared.float("rtol")?, declared.float("atol")?);
    let distance = operands.call("sub", [x.clone(), y.clone()])?;
    let distance = operands.call("abs", [distance.into()])?;
    let size = operands.call("abs", [y.clone()])?;
    let allowed = operands.call("mul", [rtol.into(), size.into()])?;
    let allowed = operands.call("add", [atol.into(), allowed.into()])?;
    let near = operands.call("le", [distance.into(), allowed.into()])?;
    let finite = operands.call("isfinite", [y.clone()])?;
    let near = operands.call("logical_and", [near.into(), finite.into()])?;
    let same = operands.call("eq", [x.clone(), y.clone()])?;
    let mut close = operands.call("logical_or", [near.into(), same.into()])?;
    if declared.flag("equal_nan")? {
        let (x, y) = (operands.call("isnan", [x])?, operands.call("isnan", [y])?);
        let both = operands.call("logical_and", [x.into(), y.into()])?;
        close = operands.call("logical_or", [close.into(), both.into()])?;
    }
    if row.name == "allclose" { operands.call("all", [close.into()]) } else { Ok(close) }
}

/// Builds `ptp(x, axis=0)`: the largest element minus the smallest.
pub(super) fn ptp(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let keepdims = Declared::bound(operands.function, props).flag("keepdims")?;
    let x = operands.variable(0)?;
    let [top, bottom] =
        ["max", "min"].map(|name| operands.call_with(name, &[x.into()], &over(props, keepdims)));
    operands.call("sub", [top?.into(), bottom?.into()])
}

/// Returns the two real arguments in the float dtype of the computation, and the dtype of the result.
fn two_floats(operands: &mut Operands<'_>) -> Result<([VarId; 2], DType), BuildError> {
    operands.expect(2)?;
    let result = operands.inexact();
    refuse_complex(operands, result)?;
    let computed = wide(result);
    Ok(([operands.cast_argument(0, computed)?, operands.cast_argument(1, computed)?], result))
}

/// Builds `logaddexp(x, y)`, i.e. `log(exp(x) + exp(y))` without intermediate overflow.
pub(super) fn logaddexp(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    let ([x, y], dtype) = two_floats(operands)?;
    let less = operands.call("sub", [x.into(), y.into()])?;
    let less = operands.call("abs", [less.into()])?;
    let less = operands.call("neg", [less.into()])?;
    let power = operands.call("exp", [less.into()])?;
    let more = operands.call("log1p", [power.into()])?;
    // The difference of equal infinities is NaN, so equal operands are handled separately.
    let same = operands.call("eq", [x.into(), y.into()])?;
    let more = operands.call("where", [same.into(), std::f64::consts::LN_2.into(), more.into()])?;
    let top = operands.call("maximum", [x.into(), y.into()])?;
    let sum = operands.call("add", [top.into(), more.into()])?;
    operands.cast(sum, dtype)
}

/// Builds `heaviside(x, y)`: 0 for negative `x`, 1 for positive `x`, and `y` at 0.
pub(super) fn heaviside(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    let ([x, y], dtype) = two_floats(operands)?;
    let above = operands.call("gt", [x.into(), 0.0.into()])?;
    let step = operands.cast(above, operands.graph.ty(x).dtype())?;
    let zero = operands.call("eq", [x.into(), 0.0.into()])?;
    let step = operands.call("where", [zero.into(), y.into(), step.into()])?;
    let missing = operands.call("isnan", [x.into()])?;
    let step = operands.call("where", [missing.into(), x.into(), step.into()])?;
    operands.cast(step, dtype)
}

/// Builds `sinc(x)`: `sin(pi x) / (pi x)`, and 1 at 0.
pub(super) fn sinc(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let found = operands.dtype(0);
    let dtype = if found.is_float() || found.is_complex() { found } else { DType::F64 };
    let x = operands.cast_argument(0, dtype)?;
    let angle = operands.call("mul", [std::f64::consts::PI.into(), x.into()])?;
    let sine = operands.call("sin", [angle.into()])?;
    let zero = operands.call("eq", [x.into(), 0.0.into()])?;
    // The quotient at 0 is not selected, but would make the gradient NaN.
    let divisor = operands.call("where", [zero.into(), 1.0.into(), angle.into()])?;
    let sinc = operands.call("div", [sine.into(), divisor.into()])?;
    operands.call("where", [zero.into(), 1.0.into(), sinc.into()])
}
