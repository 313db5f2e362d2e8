//! Functions that split and combine numbers: `divmod`, `modf`, `frexp`, `ldexp`.

use super::nan::refuse_complex;
use super::operand::Operands;
use super::reduce::wide;
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Props, VarId};

/// Returns results as a list.
pub(super) fn list(results: impl IntoIterator<Item = VarId>) -> Operand {
    Operand::List(results.into_iter().map(Operand::Var).collect())
}

/// Builds `divmod(x, y)`: the quotient rounded down, and the remainder.
pub(super) fn divmod(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let quotient = operands.call_with("floor_div", operands.args, &[])?;
    Ok(list([quotient, operands.call_with("mod", operands.args, &[])?]))
}

/// Returns the argument as a real float, and the dtype of the results.
fn float(operands: &mut Operands<'_>) -> Result<(VarId, DType), BuildError> {
    let args = operands.args[..1].to_vec();
    let mut one = operands.with(&args);
    let dtype = one.inexact();
    refuse_complex(&one, dtype)?;
    Ok((one.cast_argument(0, wide(dtype))?, dtype))
}

/// Builds `modf(x)`: the fraction, then the integer.
pub(super) fn modf(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let (x, dtype) = float(operands)?;
    let whole = operands.call("trunc", [x.into()])?;
    let rest = operands.call("sub", [x.into(), whole.into()])?;
    let endless = operands.call("isinf", [x.into()])?;
    let rest = operands.call("where", [endless.into(), 0.0.into(), rest.into()])?;
    let rest = operands.call("copysign", [rest.into(), x.into()])?;
    Ok(list([operands.cast(rest, dtype)?, operands.cast(whole, dtype)?]))
}

/// Builds `frexp(x)`. The exponent comes from `log2`, which may be off by one near integers, so it is corrected.
pub(super) fn frexp(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let (x, dtype) = float(operands)?;
    let size = operands.call("abs", [x.into()])?;
    let exponent = operands.call("log2", [size.into()])?;
    let exponent = operands.call("floor", [exponent.into()])?;
    let exponent = operands.call("add", [exponent.into(), 1.0.into()])?;
    let near = scaled_down(operands, size, exponent)?;
    let high = operands.call("ge", [near.into(), 1.0.into()])?;
    let low = operands.call("lt", [near.into(), 0.5.into()])?;
    let step = operands.call("where", [low.into(), (-1.0).into(), 0.0.into()])?;
    let step = operands.call("where", [high.into(), 1.0.into(), step.into()])?;
    let exponent = operands.call("add", [exponent.into(), step.into()])?;
    let part = scaled_down(operands, x, exponent)?;
    // Zeros, infinities and NaN are returned unchanged as the fraction.
    let finite = operands.call("isfinite", [x.into()])?;
    let has_exponent = operands.call("logical_and", [finite.into(), x.into()])?;
    let part = operands.call("where", [has_exponent.into(), part.into(), x.into()])?;
    let exponent = operands.call("where", [has_exponent.into(), exponent.into(), 0.0.into()])?;
    Ok(list([operands.cast(part, dtype)?, operands.cast(exponent, DType::I32)?]))
}

fn scaled_down(operands: &mut Operands<'_>, x: VarId, exponent: VarId) -> Result<VarId, BuildError> {
    let exponent = operands.call("neg", [exponent.into()])?;
    operands.call("scalb", [x.into(), exponent.into()])
}

/// Beyond these exponents, every number becomes zero or infinity.
const EXPONENT: i64 = 5000;

/// Builds `ldexp(x, n)`; `n` must have integers.
pub(super) fn ldexp(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let (x, dtype) = float(operands)?;
    let found = operands.dtype(1);
    if !found.is_integer() && found != DType::Bool {
        let (op, expected) = (operands.function.to_owned(), "integers".to_owned());
        return Err(MakeNodeError::DType { op, input: 1, found, expected }.into());
    }
    let n = operands.cast_argument(1, DType::I64)?;
    let n = operands.call("clip", [n.into(), (-EXPONENT).into(), EXPONENT.into()])?;
    let n = operands.cast(n, wide(dtype))?;
    let scaled = operands.call("scalb", [x.into(), n.into()])?;
    operands.cast(scaled, dtype).map(Operand::Var)
}
