//! Elementwise functions of the text form: promotion, casts, and the scalar op mapped over what comes of it.

use super::functions::{Function, Promotion};
use super::operand::Operands;
use super::{first, no_props};
use crate::{Elemwise, scalar};
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Props, Type, VarId};

/// Applies an elementwise function.
pub(super) fn apply(
    operands: &mut Operands<'_>,
    function: &Function,
    props: &Props,
) -> Result<VarId, BuildError> {
    no_props(operands.function, props)?;
    operands.expect(function.arity)?;
    let known = |dtype: DType| dtype.is_float() || dtype.is_complex();
    let inputs = match function.promotion {
        Promotion::Own if function.name == "pow" => return pow(operands),
        Promotion::Own => return angle(operands),
        Promotion::Common => {
            let dtype = operands.common()?;
            operands.cast_all(dtype)?
        }
        Promotion::Order => {
            let dtype = operands.common()?;
            let wide = operands.literals_fit(dtype) || dtype == DType::U64;
            operands.cast_all(if wide { dtype } else { DType::I64 })?
        }
        Promotion::Number => {
            let dtype = operands.common()?;
            operands.cast_all(if dtype == DType::Bool { DType::I8 } else { dtype })?
        }
        Promotion::Quotient => {
            let dtype = operands.common()?;
            operands.cast_all(if known(dtype) { dtype } else { DType::F64 })?
        }
        Promotion::Inexact => {
            let dtype = operands.inexact()?;
            operands.cast_all(dtype)?
        }
        Promotion::Rounding => {
            let dtype = operands.common()?;
            if !known(dtype) {
                return operands.variable(0);
            }
            operands.cast_all(dtype)?
        }
        Promotion::Complex => {
            let dtype = operands.common()?;
            if !dtype.is_complex() {
                return operands.variable(0);
            }
            operands.cast_all(dtype)?
        }
        Promotion::Bool => operands.cast_all(DType::Bool)?,
        Promotion::Condition => {
            let dtype = operands.common_of(1..3)?;
            vec![
                operands.cast_argument(0, DType::Bool)?,
                operands.cast_argument(1, dtype)?,
                operands.cast_argument(2, dtype)?,
            ]
        }
    };
    scalar_apply(operands, function.scalar, &inputs)
}

/// Applies a scalar op of the library, mapped over tensors.
pub(super) fn scalar_apply(
    operands: &mut Operands<'_>,
    name: &str,
    inputs: &[VarId],
) -> Result<VarId, BuildError> {
    let missing =
        || MakeNodeError::prop(operands.function, "scalar", format!("`{name}` is not in the library"));
    let scalar = scalar::find(name).ok_or_else(missing)?;
    first(operands.graph.apply(std::sync::Arc::new(Elemwise::new(scalar)), inputs)?, name)
}

/// `x**n`: for the literal exponents 0.5, 1, 2, 3, 4 and -1 products, a root or a quotient, each exact to its last bit.
fn pow(operands: &mut Operands<'_>) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let base = operands.variable(0)?;
    let dtype = operands.graph.ty(base).dtype();
    let exponent = match &operands.args[1] {
        Operand::Int(n) => *n as f64,
        Operand::Float(x) => *x,
        _ => f64::NAN,
    };
    let float = if dtype.is_float() || dtype.is_complex() { dtype } else { DType::F64 };
    let times = |operands: &mut Operands<'_>, a, b| scalar_apply(operands, "mul", &[a, b]);
    if exponent == 0.5 {
        let base = operands.cast(base, float)?;
        return scalar_apply(operands, "sqrt", &[base]);
    }
    if exponent == -1.0 {
        let base = operands.cast(base, float)?;
        let one = scalar::Value::F64(1.0).cast(float).into_array();
        let ty = operands.graph.ty(base).clone();
        let one = match ty {
            Type::Scalar(_) => operands.graph.constant_of(one, ty),
            _ => operands.graph.constant(one),
        };
        return scalar_apply(operands, "div", &[one, base]);
    }
    if ![1.0, 2.0, 3.0, 4.0].contains(&exponent) {
        let dtype = operands.common()?;
        let inputs = operands.cast_all(if dtype == DType::Bool { DType::I8 } else { dtype })?;
        return scalar_apply(operands, "pow", &inputs);
    }
    let integral = matches!(operands.args[1], Operand::Int(_));
    let number = if dtype == DType::Bool { DType::I64 } else { dtype };
    let base = operands.cast(base, if integral { number } else { float })?;
    if exponent == 1.0 {
        return Ok(base);
    }
    let square = times(operands, base, base)?;
    if exponent == 2.0 {
        return Ok(square);
    }
    let last = if exponent == 3.0 { base } else { square };
    times(operands, square, last)
}

/// `angle(x)`: that of a complex number; 0 or π of a real one, by its sign.
fn angle(operands: &mut Operands<'_>) -> Result<VarId, BuildError> {
    let dtype = operands.inexact()?;
    let x = operands.cast_argument(0, dtype)?;
    let im = scalar_apply(operands, "imag", &[x])?;
    let re = if dtype.is_complex() { scalar_apply(operands, "real", &[x])? } else { x };
    scalar_apply(operands, "atan2", &[im, re])
}
