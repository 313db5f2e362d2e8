//! Exact arithmetic of literals: integers, and comparisons of numbers of any kind.

use super::Literal;
use super::ratio::ratio;
use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// The maximum length of an integer result, in bits; `10**4000` is shorter.
const MAX_BITS: u64 = 1 << 14;

/// Why an operation on literals has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LiteralError {
    /// `1 / 0`.
    #[error("division by zero")]
    Zero,
    /// An integer that is too large for a float.
    #[error("`{literal}` does not fit into a float")]
    Float {
        /// The literal.
        literal: String,
    },
    /// An integer constant that fits neither i64 nor u64.
    #[error("`{literal}` fits neither into i64 nor u64")]
    Wide {
        /// The literal.
        literal: String,
    },
    /// An integer that exceeds the maximum length.
    #[error("the result has more than {MAX_BITS} bits")]
    Long,
    /// `1 < 2j`.
    #[error("complex numbers cannot be ordered")]
    Order,
    /// A shift by a negative number.
    #[error("negative shift count")]
    Shift,
}

/// Evaluates a function of literals as Python does. Integer arithmetic is exact, and integer quotients are floats
/// that are rounded once. Also covers sums, products and quotients of floats. Returns `None` for other functions.
///
/// # Errors
/// Division by zero, or a result that is too long or does not fit a float.
///
/// # Examples
/// ```
/// use precast_graph::literal::{Literal, arithmetic};
/// let power = arithmetic("pow", &[2.into(), 100.into()]).unwrap()?;
/// assert_eq!(arithmetic("div", &[power, 2.into()]), Some(Ok(Literal::Float(2_f64.powi(99)))));
/// # Ok::<(), precast_graph::literal::LiteralError>(())
/// ```
#[must_use]
pub fn arithmetic(function: &str, literals: &[Literal]) -> Option<Result<Literal, LiteralError>> {
    match literals {
        [Literal::Float(x)] if function == "neg" => Some(Ok(Literal::Float(-x))),
        [x] => one(function, &x.int()?).map(|n| Ok(Literal::Int(n))),
        [Literal::Bool(a), Literal::Bool(b)] if function.starts_with("bitwise_") => {
            Some(Ok(Literal::Bool(match function {
                "bitwise_and" => a & b,
                "bitwise_or" => a | b,
                _ => a ^ b,
            })))
        }
        [a, b] => compare(function, a, b).map(|truth| Ok(Literal::Bool(truth))).or_else(|| {
            match (a.int(), b.int()) {
                (Some(a), Some(b)) => two(function, &a, &b),
                _ => inexact(function, a, b),
            }
        }),
        _ => None,
    }
}

fn one(function: &str, n: &BigInt) -> Option<BigInt> {
    match function {
        "neg" => Some(-n),
        "abs" => Some(BigInt::from(n.magnitude().clone())),
        "invert" => Some(-n - 1),
        _ => None,
    }
}

/// Evaluates float operations that IEEE 754 defines to the last bit, and rejects operations that Python rejects. The
/// library evaluates other functions of floats.
fn inexact(function: &str, a: &Literal, b: &Literal) -> Option<Result<Literal, LiteralError>> {
    let to_less = |exponent: &Literal| exponent.float().is_some_and(|exponent| exponent < 0.0);
    match function {
        "lt" | "le" | "gt" | "ge" => return Some(Err(LiteralError::Order)),
        "pow" if !a.is_true() && to_less(b) => return Some(Err(LiteralError::Zero)),
        "div" | "floor_div" | "mod" if !b.is_true() => return Some(Err(LiteralError::Zero)),
        _ => {}
    }
    let (a, b) = (a.float()?, b.float()?);
    Some(Ok(Literal::Float(match function {
        "add" => a + b,
        "sub" => a - b,
        "mul" => a * b,
        "div" => a / b,
        _ => return None,
    })))
}

fn two(function: &str, a: &BigInt, b: &BigInt) -> Option<Result<Literal, LiteralError>> {
    if matches!(function, "div" | "floor_div" | "mod") && *b == BigInt::ZERO {
        return Some(Err(LiteralError::Zero));
    }
    let integer = match function {
        "add" => Ok(a + b),
        "sub" => Ok(a - b),
        "mul" => Ok(a * b),
        "floor_div" => Ok(floor_div(a, b)),
        "mod" => Ok(a - floor_div(a, b) * b),
        "bitwise_and" => Ok(a & b),
        "bitwise_or" => Ok(a | b),
        "bitwise_xor" => Ok(a ^ b),
        "left_shift" | "right_shift" => shift(function, a, b),
        "div" => return Some(float(a, b)),
        "pow" if b.sign() == Sign::Minus => {
            // Python converts the base to a float first.
            let base = ratio(a, &BigInt::from(1));
            if base.is_infinite() {
                return Some(Err(LiteralError::Float { literal: Literal::Int(a.clone()).to_string() }));
            }
            return Some(match (a.sign(), power(&whole(base), b)) {
                (Sign::NoSign, _) => Err(LiteralError::Zero),
                (_, Ok(power)) => float(&BigInt::from(1), &power),
                // The power exceeds every float, so its reciprocal is 0.
                (_, Err(_)) => Ok(Literal::Float(0.0)),
            });
        }
        "pow" => power(a, b),
        _ => return None,
    };
    Some(
        integer.and_then(|n| if n.bits() > MAX_BITS { Err(LiteralError::Long) } else { Ok(Literal::Int(n)) }),
    )
}

fn float(a: &BigInt, b: &BigInt) -> Result<Literal, LiteralError> {
    let quotient = ratio(a, b);
    let literal = || Literal::Int(floor_div(a, b)).to_string();
    if quotient.is_finite() {
        Ok(Literal::Float(quotient))
    } else {
        Err(LiteralError::Float { literal: literal() })
    }
}

/// Returns the quotient, rounded down.
fn floor_div(a: &BigInt, b: &BigInt) -> BigInt {
    let (quotient, rest) = (a / b, a % b);
    if rest != BigInt::ZERO && rest.sign() != b.sign() { quotient - 1 } else { quotient }
}

/// Returns `a` to the power of the magnitude of `exponent`.
fn power(a: &BigInt, exponent: &BigInt) -> Result<BigInt, LiteralError> {
    let exponent = u64::try_from(exponent.magnitude());
    match exponent {
        Ok(n) if a.bits() <= 1 => Ok(if *a == BigInt::from(-1) && n % 2 == 0 {
            -a
        } else if n == 0 {
            BigInt::from(1)
        } else {
            a.clone()
        }),
        Ok(n) if a.bits().saturating_mul(n) <= 2 * MAX_BITS => {
            Ok(a.pow(u32::try_from(n).unwrap_or(u32::MAX)))
        }
        _ => Err(LiteralError::Long),
    }
}

fn shift(function: &str, a: &BigInt, count: &BigInt) -> Result<BigInt, LiteralError> {
    if count.sign() == Sign::Minus {
        return Err(LiteralError::Shift);
    }
    let count = u64::try_from(count).unwrap_or(u64::MAX).min(2 * MAX_BITS);
    Ok(if function == "left_shift" { a << count } else { a >> count })
}

/// Evaluates a comparison exactly, for all kinds of operands. Returns `None` if `function` is not a comparison or an
/// operand is complex.
fn compare(function: &str, a: &Literal, b: &Literal) -> Option<bool> {
    let order = match (a.int(), b.int()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (Some(a), None) => against(&a, b)?,
        (None, Some(b)) => against(&b, a)?.map(Ordering::reverse),
        (None, None) => match (a, b) {
            (Literal::Float(a), Literal::Float(b)) => a.partial_cmp(b),
            _ => return None,
        },
    };
    Some(match function {
        "eq" => order == Some(Ordering::Equal),
        "ne" => order != Some(Ordering::Equal),
        "lt" => order == Some(Ordering::Less),
        "le" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        "gt" => order == Some(Ordering::Greater),
        "ge" => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        _ => return None,
    })
}

/// Compares an integer with a float. The inner `None` means NaN, the outer one a complex number.
fn against(n: &BigInt, other: &Literal) -> Option<Option<Ordering>> {
    let Literal::Float(x) = other else { return None };
    let near = ratio(n, &BigInt::from(1));
    // Rounding preserves the order unless it makes the two numbers equal; then the float is an integer.
    Some(match near.partial_cmp(x) {
        Some(Ordering::Equal) if x.is_finite() => Some(n.cmp(&whole(*x))),
        Some(Ordering::Equal) => Some(if *x > 0.0 { Ordering::Less } else { Ordering::Greater }),
        order => order,
    })
}

/// Returns a float without a fraction as an integer.
fn whole(x: f64) -> BigInt {
    let bits = x.to_bits();
    let (exponent, fraction) = (i64::try_from(bits >> 52 & 0x7ff).unwrap_or(0), bits & ((1 << 52) - 1));
    let (significand, exponent) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let significand = BigInt::from(significand);
    let shift = exponent.unsigned_abs();
    let magnitude = if exponent < 0 { significand >> shift } else { significand << shift };
    if x < 0.0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::{LiteralError, arithmetic};
    use crate::Complex;
    use crate::literal::Literal::{self, Bool, Float};
    use num_bigint::BigInt;

    fn int(n: i64) -> Literal {
        n.into()
    }

    fn power(base: i64, exponent: u32) -> Literal {
        Literal::Int(BigInt::from(base).pow(exponent))
    }

    #[test]
    fn integer_arithmetic_matches_python() {
        let rows: [(&str, Literal, Literal, Literal); 23] = [
            ("div", int(1), int(2), Float(0.5)),
            ("div", int(4), int(2), Float(2.0)),
            ("div", power(2, 100), power(2, 99), Float(2.0)),
            ("mul", int(-3), int(5), int(-15)),
            ("add", Float(1.0), int(1), Float(2.0)),
            ("add", int(i64::MAX), int(1), power(2, 63)),
            ("add", Bool(true), Bool(true), int(2)),
            ("sub", int(i64::MIN), int(1), Literal::Int(BigInt::from(i64::MIN) - 1)),
            ("pow", int(2), int(10), int(1024)),
            ("pow", int(-2), int(-1), Float(-0.5)),
            ("pow", int(0), int(0), int(1)),
            ("pow", int(-1), int(i64::MAX), int(-1)),
            ("pow", int(10), int(-20), Float(1e-20)),
            ("pow", int(10), int(-400_000), Float(0.0)),
            ("floor_div", int(-7), int(2), int(-4)),
            ("mod", int(-7), int(2), int(1)),
            ("mod", int(7), int(-2), int(-1)),
            ("left_shift", int(1), int(70), power(2, 70)),
            ("right_shift", int(-1), int(i64::MAX), int(-1)),
            ("bitwise_and", Bool(true), Bool(false), Bool(false)),
            ("bitwise_or", Bool(true), int(2), int(3)),
            ("gt", power(2, 63), Float(9_223_372_036_854_775_807.0), Bool(false)),
            ("lt", Float(9_007_199_254_740_992.0), int((1 << 53) + 1), Bool(true)),
        ];
        for (function, a, b, expected) in rows {
            assert_eq!(
                arithmetic(function, &[a.clone(), b.clone()]),
                Some(Ok(expected)),
                "{function}({a}, {b})"
            );
        }
        assert_eq!(
            arithmetic("neg", &[Float(0.0)]).map(|x| format!("{x:?}")),
            Some("Ok(Float(-0.0))".to_owned())
        );
        assert_eq!(arithmetic("invert", &[Bool(true)]), Some(Ok(int(-2))));
        assert_eq!(arithmetic("abs", &[int(i64::MIN)]), Some(Ok(power(2, 63))));
    }

    #[test]
    fn python_errors_are_errors_here() {
        let rows: [(&str, Literal, Literal, LiteralError); 9] = [
            ("div", int(1), int(0), LiteralError::Zero),
            ("mod", Float(1.0), Float(0.0), LiteralError::Zero),
            ("pow", int(0), int(-1), LiteralError::Zero),
            ("pow", Float(0.0), Float(-0.5), LiteralError::Zero),
            ("pow", int(3), int(1_000_000), LiteralError::Long),
            ("left_shift", int(1), int(1 << 40), LiteralError::Long),
            ("left_shift", int(1), int(-1), LiteralError::Shift),
            ("lt", int(1), Complex::new(0.0, 2.0).into(), LiteralError::Order),
            (
                "div",
                power(10, 400),
                int(1),
                LiteralError::Float { literal: Literal::Int(BigInt::from(10).pow(400)).to_string() },
            ),
        ];
        for (function, a, b, expected) in rows {
            assert_eq!(arithmetic(function, &[a, b]), Some(Err(expected)), "{function}");
        }
    }

    #[test]
    fn float_functions_are_not_folded() {
        for (function, a, b) in
            [("pow", Float(2.0), Float(0.5)), ("mod", Float(1.0), int(1)), ("maximum", int(1), int(2))]
        {
            assert_eq!(arithmetic(function, &[a, b]), None, "{function}");
        }
    }
}
