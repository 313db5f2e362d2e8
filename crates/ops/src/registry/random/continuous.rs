//! Transformations of one uniform number: normal, exponential, Laplace, logistic, Cauchy, Gumbel, truncated normal.

use super::elements::{Elements, elements, parameter, shapes};
use super::key::floats;
use super::uniform::{between, number, unit};
use crate::registry::operand::Operands;
use crate::registry::reduce::wide;
use crate::rows::Row;
use precast_graph::{BuildError, DType, Operand, Props, VarId};
use std::f64::consts::{PI, SQRT_2};

/// The distance from 1 to the next greater number, and the smallest normal number.
struct Limits {
    epsilon: f64,
    tiny: f64,
}

fn limits(dtype: DType) -> Limits {
    match dtype {
        DType::F32 => Limits { epsilon: f32::EPSILON.into(), tiny: f32::MIN_POSITIVE.into() },
        _ => Limits { epsilon: f64::EPSILON, tiny: f64::MIN_POSITIVE },
    }
}

/// Builds `random.normal(key, shape, dtype)` with mean 0 and deviation 1.
pub(in crate::registry) fn normal(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let (dtype, word) = floats(operands, 1..=2, props)?;
    let elements = elements(operands, 1, &[])?;
    let normal = standard_normal(operands, word, &elements, wide(dtype))?;
    operands.cast(normal, dtype).map(Operand::Var)
}

/// Returns normal numbers of f32 or f64.
pub(super) fn standard_normal(
    operands: &mut Operands<'_>,
    word: VarId,
    elements: &Elements,
    dtype: DType,
) -> Result<VarId, BuildError> {
    let unit = unit(operands, word, elements, dtype)?;
    // The number after -1.
    let least = -1.0 + limits(dtype).epsilon / 2.0;
    let bounds = [least, 1.0].map(|bound| number(operands, bound, dtype));
    let sign = between(operands, unit, bounds)?;
    let normal = operands.call("erfinv", [sign.into()])?;
    operands.call("mul", [SQRT_2.into(), normal.into()])
}

/// Builds `random.exponential(key, shape, dtype)` and the other standard distributions with the same arguments.
pub(in crate::registry) fn transformed(
    operands: &mut Operands<'_>,
    row: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let (dtype, word) = floats(operands, 1..=2, props)?;
    let elements = elements(operands, 1, &[])?;
    let unit = unit(operands, word, &elements, wide(dtype))?;
    let draw = match row.name {
        "random_exponential" => exponential(operands, unit),
        "random_laplace" => laplace(operands, unit),
        "random_logistic" => logistic(operands, unit),
        "random_cauchy" => cauchy(operands, unit),
        _ => gumbel(operands, unit),
    }?;
    operands.cast(draw, dtype).map(Operand::Var)
}

fn exponential(operands: &mut Operands<'_>, unit: VarId) -> Result<VarId, BuildError> {
    let less = operands.call("neg", [unit.into()])?;
    let log = operands.call("log1p", [less.into()])?;
    operands.call("neg", [log.into()])
}

fn laplace(operands: &mut Operands<'_>, unit: VarId) -> Result<VarId, BuildError> {
    let dtype = operands.graph.ty(unit).dtype();
    let least = -1.0 + limits(dtype).epsilon / 2.0;
    let bounds = [least, 1.0].map(|bound| number(operands, bound, dtype));
    let u = between(operands, unit, bounds)?;
    let (sign, size) = (operands.call("sign", [u.into()])?, operands.call("abs", [u.into()])?);
    let less = operands.call("neg", [size.into()])?;
    let log = operands.call("log1p", [less.into()])?;
    operands.call("mul", [sign.into(), log.into()])
}

/// Returns uniform numbers from a small positive number to 1, excluding 1.
fn positive(operands: &mut Operands<'_>, unit: VarId, least: f64) -> Result<VarId, BuildError> {
    let dtype = operands.graph.ty(unit).dtype();
    let bounds = [least, 1.0].map(|bound| number(operands, bound, dtype));
    between(operands, unit, bounds)
}

fn logistic(operands: &mut Operands<'_>, unit: VarId) -> Result<VarId, BuildError> {
    let u = positive(operands, unit, limits(operands.graph.ty(unit).dtype()).tiny)?;
    let (log, less) = (operands.call("log", [u.into()])?, operands.call("neg", [u.into()])?);
    let rest = operands.call("log1p", [less.into()])?;
    operands.call("sub", [log.into(), rest.into()])
}

fn cauchy(operands: &mut Operands<'_>, unit: VarId) -> Result<VarId, BuildError> {
    let u = positive(operands, unit, limits(operands.graph.ty(unit).dtype()).epsilon)?;
    let turn = operands.call("sub", [u.into(), 0.5.into()])?;
    let angle = operands.call("mul", [PI.into(), turn.into()])?;
    operands.call("tan", [angle.into()])
}

/// Returns numbers of Gumbel's distribution.
pub(super) fn gumbel(operands: &mut Operands<'_>, unit: VarId) -> Result<VarId, BuildError> {
    let u = positive(operands, unit, limits(operands.graph.ty(unit).dtype()).tiny)?;
    let log = operands.call("log", [u.into()])?;
    let less = operands.call("neg", [log.into()])?;
    let log = operands.call("log", [less.into()])?;
    operands.call("neg", [log.into()])
}

/// Builds `random.truncated_normal(key, lower, upper, shape, dtype)`: the quantile of a probability between those of the
/// bounds. Right of 0 the distribution is reflected, and far from 0 logarithms of probabilities are used, so both tails
/// are accurate.
pub(in crate::registry) fn truncated_normal(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let (dtype, word) = floats(operands, 3..=4, props)?;
    let (lower, upper) = (parameter(operands, 1)?, parameter(operands, 2)?);
    let shapes = shapes(operands, &[lower, upper])?;
    let elements = elements(operands, 3, &shapes)?;
    let unit = unit(operands, word, &elements, DType::F64)?;
    let mut names = vec![("u", Operand::Var(unit)), ("lower", lower.into()), ("upper", upper.into())];
    let texts = [
        ("is_right", "lower > 0"),
        ("low", "where(is_right, -upper, lower)"),
        ("high", "where(is_right, -lower, upper)"),
        ("least", "ndtr(low)"),
        ("most", "ndtr(high)"),
        ("moved", "u * (most - least)"),
        ("near", "ndtri(clip(where(is_right, most - moved, moved + least), least, most))"),
        ("share", "exp(log_ndtr(low) - log_ndtr(high))"),
        ("far", "ndtri_exp(log_ndtr(high) + log(share + where(is_right, 1 - u, u) * (1 - share)))"),
        ("quantile", "where(high < -30.0, far, near)"),
        ("draw", "clip(where(is_right, -quantile, quantile), lower, upper)"),
    ];
    operands.define(&mut names, &texts)?;
    let draw = operands.expression("where(lower < upper, draw, nan)", &names)?;
    operands.cast(draw, dtype).map(Operand::Var)
}
