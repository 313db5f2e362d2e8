//! Elementwise functions of the text form: promotion, casts, and the scalar op mapped over the inputs.

use super::compare::compare;
use super::operand::Operands;
use super::round;
use super::variables::scalar_apply;
use crate::declared::Declared;
use crate::rows::Row;
use crate::scalar::{Gives, Promotion};
use num_bigint::Sign;
use precast_graph::{Array, BuildError, DType, Literal, MakeNodeError, Number, Operand, Props, VarId};

/// Builds an elementwise function.
pub(crate) fn apply(operands: &mut Operands<'_>, function: &Row, props: &Props) -> Result<VarId, BuildError> {
    let promotion = function.scalar.as_ref().map_or(Promotion::Common, |scalar| scalar.promotion);
    let arity = function.arguments.len();
    if promotion != Promotion::Bounds || !(1..=arity).contains(&operands.args.len()) {
        operands.expect(arity)?;
    }
    // The code below expects arrays, not lists.
    let mut arrays = operands.lists_as_arrays()?;
    arrays.resize(arity, Operand::None);
    let mut operands = operands.with(&arrays);
    let operands = &mut operands;
    if let Some(decimals) = Declared::bound(operands.function, props).int("decimals")?.filter(|n| *n != 0) {
        return round::to_decimals(operands, decimals);
    }
    let name = match Declared::bound(operands.function, props).int("k")? {
        None | Some(0) => function.name,
        Some(-1) => "lambertw_lower",
        Some(k) => {
            let problem = format!("is {k}, but the branches with real results are 0 and -1");
            return Err(MakeNodeError::prop(operands.function, "k", problem).into());
        }
    };
    let known = |dtype: DType| dtype.is_float() || dtype.is_complex();
    let number = |dtype: DType| if dtype == DType::Bool { DType::I8 } else { dtype };
    let dtype = operands.common();
    let inputs = match promotion {
        Promotion::Power => return pow(operands),
        Promotion::Angle => return angle(operands, props),
        Promotion::Bounds => bounded(operands)?,
        Promotion::Order => return compare(operands, function.name),
        Promotion::Common => operands.cast_all(dtype)?,
        Promotion::Number => operands.cast_all(number(dtype))?,
        Promotion::Quotient => return quotient(operands, if known(dtype) { dtype } else { DType::F64 }),
        Promotion::Inexact => operands.cast_all(operands.inexact())?,
        Promotion::Nearest if dtype == DType::Bool => operands.cast_all(DType::F16)?,
        Promotion::Nearest | Promotion::Rounding if !known(dtype) => return operands.variable(0),
        Promotion::Conjugate if !dtype.is_complex() => return operands.cast_argument(0, number(dtype)),
        Promotion::Complex if !dtype.is_complex() => return operands.variable(0),
        Promotion::Nearest | Promotion::Rounding | Promotion::Conjugate | Promotion::Complex => {
            operands.cast_all(dtype)?
        }
        Promotion::Bool => operands.cast_all(DType::Bool)?,
        Promotion::Words => words(operands, function)?,
        Promotion::Condition => {
            let dtype = operands.common_of(1..3);
            vec![
                operands.cast_argument(0, DType::Bool)?,
                operands.cast_argument(1, dtype)?,
                operands.cast_argument(2, dtype)?,
            ]
        }
    };
    scalar_apply(operands, name, &inputs)
}

/// Returns words as u64, and the parameters of draws as f64. Words must be u64, because a cast from another dtype would
/// lose or invent bits.
fn words(operands: &mut Operands<'_>, function: &Row) -> Result<Vec<VarId>, BuildError> {
    let gives = function.scalar.as_ref().map(|scalar| scalar.gives);
    let words = if gives == Some(Gives::Word) { operands.args.len() } else { 1 };
    let mut inputs = Vec::new();
    for input in 0..operands.args.len() {
        let (is_word, found) = (input < words, operands.dtype(input));
        let is_valid =
            if is_word { found == DType::U64 || is_integer(operands, input) } else { !found.is_complex() };
        if !is_valid {
            let expected = if is_word { "u64" } else { "a real dtype" };
            let (op, expected) = (operands.function.to_owned(), expected.to_owned());
            return Err(MakeNodeError::DType { op, input, found, expected }.into());
        }
        inputs.push(operands.cast_argument(input, if is_word { DType::U64 } else { DType::F64 })?);
    }
    Ok(inputs)
}

/// Returns whether an argument is a Python integer.
fn is_integer(operands: &Operands<'_>, input: usize) -> bool {
    matches!(operands.literal(input), Some(Literal::Int(_)))
}

/// Returns the arguments of `clip`. A literal bound beyond the range of the dtype becomes the last integer of the
/// range, and `None` the end of the range.
fn bounded(operands: &mut Operands<'_>) -> Result<Vec<VarId>, BuildError> {
    let dtype = operands.common();
    let bits =
        if dtype.is_integer() { 8 * dtype.itemsize_bytes() - usize::from(!dtype.is_unsigned()) } else { 0 };
    let least = if dtype.is_unsigned() { 0 } else { -(1_i128 << bits) };
    let mut inputs = vec![operands.cast_argument(0, dtype)?];
    for (position, idle, last) in [(1, Sign::Minus, least), (2, Sign::Plus, (1_i128 << bits) - 1)] {
        let is_beyond = match operands.literal(position) {
            Some(literal @ Literal::Int(n)) if dtype.is_integer() && n.sign() == idle => {
                literal.value(dtype).is_none()
            }
            _ => false,
        };
        let is_open = operands.args[position] == Operand::None;
        inputs.push(match is_beyond || is_open {
            true if dtype.is_complex() => {
                let end = if idle == Sign::Plus { f64::INFINITY } else { f64::NEG_INFINITY };
                operands.constant(Array::of(Number::Complex(end, end), dtype))
            }
            true if dtype.is_float() => {
                let end = if idle == Sign::Plus { f64::INFINITY } else { f64::NEG_INFINITY };
                operands.constant(Array::of(Number::Float(end), dtype))
            }
            true if dtype == DType::Bool => {
                operands.constant(Array::of(Number::Int((idle == Sign::Plus).into()), dtype))
            }
            true => operands.constant(Array::of(Number::Int(last), dtype)),
            false => operands.cast_argument(position, dtype)?,
        });
    }
    Ok(inputs)
}

/// Builds `x/y`. Division by a literal power of two becomes a product with its inverse, which has the same bits and
/// is much faster.
fn quotient(operands: &mut Operands<'_>, dtype: DType) -> Result<VarId, BuildError> {
    let literal = operands.literal(1).filter(|_| operands.literal(0).is_none() && dtype.is_float());
    let Some(inverse) = literal.and_then(Literal::float).and_then(inverse) else {
        let inputs = operands.cast_all(dtype)?;
        return scalar_apply(operands, "div", &inputs);
    };
    let x = operands.cast_argument(0, dtype)?;
    let inverse = operands.constant(Array::of(Number::Float(inverse), dtype));
    scalar_apply(operands, "mul", &[x, inverse])
}

/// Returns the exact inverse of a divisor: powers of two in the range of every float dtype.
fn inverse(y: f64) -> Option<f64> {
    let is_power = y.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1;
    (is_power && (2_f64.powi(-14)..=2_f64.powi(14)).contains(&y.abs())).then_some(1.0 / y)
}

/// Builds `x**n`. The literal exponents 0.5, 1, 2, 3, 4 and -1 become products, a root or a quotient, each exact to
/// its last bit.
fn pow(operands: &mut Operands<'_>) -> Result<VarId, BuildError> {
    let dtype = operands.common();
    let literal = operands.literal(1).filter(|_| operands.literal(0).is_none()).cloned();
    let exponent = match &literal {
        Some(literal @ (Literal::Int(_) | Literal::Float(_))) => literal.float().unwrap_or(f64::NAN),
        _ => f64::NAN,
    };
    let integral = dtype.is_integer() || dtype == DType::Bool;
    if integral && exponent < 0.0 && !dtype.is_unsigned() {
        let problem =
            "integers to negative integer powers are not allowed\nhint: use a float exponent, as in `-1.0`"
                .to_owned();
        return Err(MakeNodeError::Value { op: operands.function.to_owned(), problem }.into());
    }
    if ![-1.0, 0.5, 1.0, 2.0, 3.0, 4.0].contains(&exponent) || (integral && exponent < 0.0) {
        let inputs = operands.cast_all(if dtype == DType::Bool { DType::I8 } else { dtype })?;
        return scalar_apply(operands, "pow", &inputs);
    }
    // NumPy squares booleans as i8.
    let own = operands.dtype(0);
    let dtype = if own == DType::Bool && integral && exponent == 2.0 { DType::I8 } else { dtype };
    let base = operands.cast_argument(0, dtype)?;
    if exponent == 0.5 {
        return scalar_apply(operands, "sqrt", &[base]);
    }
    if exponent == -1.0 && dtype.is_complex() {
        return scalar_apply(operands, "reciprocal", &[base]);
    }
    if exponent == -1.0 {
        let one = operands.constant(Array::of(Number::Float(1.0), dtype));
        return scalar_apply(operands, "div", &[one, base]);
    }
    if exponent == 1.0 {
        return Ok(base);
    }
    let square = scalar_apply(operands, "mul", &[base, base])?;
    if exponent == 2.0 {
        return Ok(square);
    }
    let last = if exponent == 3.0 { base } else { square };
    scalar_apply(operands, "mul", &[square, last])
}

/// Builds `angle(x, deg=False)`: the angle of a complex number; 0 or π for a real number, depending on its sign.
fn angle(operands: &mut Operands<'_>, props: &Props) -> Result<VarId, BuildError> {
    let truth = operands.common() == DType::Bool;
    let dtype = if truth { DType::F64 } else { operands.inexact() };
    let x = operands.cast_argument(0, dtype)?;
    let im = scalar_apply(operands, "imag", &[x])?;
    let re = if dtype.is_complex() { scalar_apply(operands, "real", &[x])? } else { x };
    let angle = scalar_apply(operands, "atan2", &[im, re])?;
    let degrees = Declared::bound(operands.function, props).flag("deg")?;
    if degrees { scalar_apply(operands, "rad2deg", &[angle]) } else { Ok(angle) }
}
