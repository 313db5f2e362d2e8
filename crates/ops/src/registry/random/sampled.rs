//! Draws of the C functions of `c/precast/ops/random`, which reject candidates, and of their combinations.

use super::continuous::standard_normal;
use super::elements::{Elements, elements, float_dtype, parameter, shapes};
use super::key::{subkey, word};
use super::uniform::words;
use crate::declared::Declared;
use crate::registry::operand::Operands;
use crate::registry::variables::scalar_apply;
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Props, VarId};
use std::f64::consts::PI;

/// Returns a draw for each element.
pub(super) fn drawn(
    operands: &mut Operands<'_>,
    function: &str,
    word: VarId,
    elements: &Elements,
    parameters: &[VarId],
) -> Result<VarId, BuildError> {
    let mut inputs = vec![words(operands, word, elements)?];
    inputs.extend_from_slice(parameters);
    scalar_apply(operands, function, &inputs)
}

/// Returns the parameters from argument 1 on, and the elements of the shape after them.
fn call<const N: usize>(operands: &mut Operands<'_>) -> Result<(VarId, [VarId; N], Elements), BuildError> {
    operands.expect_between(N + 1, N + 2)?;
    let word = word(operands)?;
    let mut parameters = Vec::new();
    for input in 1..=N {
        parameters.push(parameter(operands, input)?);
    }
    let shapes = shapes(operands, &parameters)?;
    let elements = elements(operands, N + 1, &shapes)?;
    let parameters = parameters.try_into().map_err(|_| operands.error("has other parameters"))?;
    Ok((word, parameters, elements))
}

/// Returns the setting `dtype` of a count, a signed integer or a float; the default is i64.
pub(super) fn count_dtype(operands: &Operands<'_>, props: &Props) -> Result<DType, MakeNodeError> {
    let declared = Declared::bound(operands.function, props);
    let dtype = declared.dtype("dtype")?.unwrap_or(DType::I64);
    let is_valid = dtype.is_float() || dtype.is_integer() && !dtype.is_unsigned();
    if is_valid { Ok(dtype) } else { Err(declared.wrong("dtype", "a signed integer dtype or a float dtype")) }
}

/// Converts counts; NaN becomes -1 in an integer dtype.
pub(super) fn counted(operands: &mut Operands<'_>, counts: VarId, dtype: DType) -> Result<VarId, BuildError> {
    if dtype.is_float() {
        return operands.cast(counts, dtype);
    }
    let is_invalid = operands.call("isnan", [counts.into()])?;
    let counts = operands.call("where", [is_invalid.into(), (-1.0).into(), counts.into()])?;
    operands.cast(counts, dtype)
}

/// Builds `random.gamma(key, a, shape, dtype)`, and `random.loggamma`, its logarithm.
pub(in crate::registry) fn gamma(
    operands: &mut Operands<'_>,
    row: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let dtype = float_dtype(operands, props)?;
    let (word, parameters, elements) = call::<1>(operands)?;
    let function = if row.name == "random_gamma" { "gamma_draw" } else { "loggamma_draw" };
    let draw = drawn(operands, function, word, &elements, &parameters)?;
    operands.cast(draw, dtype).map(Operand::Var)
}

/// Builds `random.beta(key, a, b, shape, dtype)`: the share of one of two gamma numbers, from their logarithms.
pub(in crate::registry) fn beta(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let dtype = float_dtype(operands, props)?;
    let (word, [a, b], elements) = call::<2>(operands)?;
    let mut logs = Vec::new();
    for (number, parameter) in [(0, a), (1, b)] {
        let word = subkey(operands, word, number)?;
        logs.push(drawn(operands, "loggamma_draw", word, &elements, &[parameter])?);
    }
    let more = operands.call("sub", [logs[0].into(), logs[1].into()])?;
    let share = operands.call("sigmoid", [more.into()])?;
    operands.cast(share, dtype).map(Operand::Var)
}

/// Builds `random.student_t(key, df, shape, dtype)`: a normal number over the root of a gamma number.
pub(in crate::registry) fn student_t(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let dtype = float_dtype(operands, props)?;
    let (word, [df], elements) = call::<1>(operands)?;
    let own = subkey(operands, word, 0)?;
    let normal = standard_normal(operands, own, &elements, DType::F64)?;
    let own = subkey(operands, word, 1)?;
    let half = operands.call("mul", [df.into(), 0.5.into()])?;
    let gamma = drawn(operands, "gamma_draw", own, &elements, &[half])?;
    let scale = operands.call("div", [half.into(), gamma.into()])?;
    let scale = operands.call("sqrt", [scale.into()])?;
    let draw = operands.call("mul", [normal.into(), scale.into()])?;
    operands.cast(draw, dtype).map(Operand::Var)
}

/// Builds `random.poisson(key, lam, shape, dtype)`.
pub(in crate::registry) fn poisson(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let dtype = count_dtype(operands, props)?;
    let (word, parameters, elements) = call::<1>(operands)?;
    let draw = drawn(operands, "poisson_draw", word, &elements, &parameters)?;
    counted(operands, draw, dtype).map(Operand::Var)
}

/// Builds `random.binomial(key, n, p, shape, dtype)`.
pub(in crate::registry) fn binomial(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let dtype = count_dtype(operands, props)?;
    let (word, parameters, elements) = call::<2>(operands)?;
    let draw = drawn(operands, "binomial_draw", word, &elements, &parameters)?;
    counted(operands, draw, dtype).map(Operand::Var)
}

/// Builds `random.negative_binomial(key, n, p, shape, dtype)`: a Poisson number with a gamma number as its mean.
pub(in crate::registry) fn negative_binomial(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let dtype = count_dtype(operands, props)?;
    let (word, [n, p], elements) = call::<2>(operands)?;
    let own = subkey(operands, word, 0)?;
    let gamma = drawn(operands, "gamma_draw", own, &elements, &[n])?;
    let rest = operands.call("sub", [1.0.into(), p.into()])?;
    let odds = operands.call("div", [rest.into(), p.into()])?;
    let mean = operands.call("mul", [gamma.into(), odds.into()])?;
    let own = subkey(operands, word, 1)?;
    let draw = drawn(operands, "poisson_draw", own, &elements, &[mean])?;
    counted(operands, draw, dtype).map(Operand::Var)
}

/// Builds `random.von_mises(key, mu, kappa, shape, dtype)`: angles from -pi to pi.
pub(in crate::registry) fn von_mises(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let dtype = float_dtype(operands, props)?;
    let (word, [mu, kappa], elements) = call::<2>(operands)?;
    let draw = drawn(operands, "von_mises_draw", word, &elements, &[kappa])?;
    let angle = operands.call("add", [mu.into(), draw.into()])?;
    let turns = operands.call("div", [angle.into(), (2.0 * PI).into()])?;
    let turns = operands.call("round", [turns.into()])?;
    let whole = operands.call("mul", [turns.into(), (2.0 * PI).into()])?;
    let angle = operands.call("sub", [angle.into(), whole.into()])?;
    operands.cast(angle, dtype).map(Operand::Var)
}
