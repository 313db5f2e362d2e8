//! Arithmetic of literals, done while reading, as Python does it before NumPy sees anything.
//!
//! Without it `x * (1/3)` would be f64 for an f32 `x`: the quotient of two literals would be a constant with a dtype of its
//! own. Only what has one right answer is done here: integers exactly, `+ - * /` of floats as IEEE 754 says, powers of
//! integers where the result is exact or one division away. The rest is left to the op library.

use crate::op::Operand;

/// Negates a literal; `None` if it is none, or would overflow.
pub(super) fn negate(operand: &Operand) -> Option<Operand> {
    match operand {
        Operand::Int(value) => value.checked_neg().map(Operand::Int),
        Operand::Float(value) => Some(Operand::Float(-value)),
        Operand::Bool(_) | Operand::Var(_) => None,
    }
}

/// The value of a function of two literals; `None` if they are none, or if the library has to say.
pub(super) fn fold(function: &str, a: &Operand, b: &Operand) -> Option<Operand> {
    match (a, b) {
        (Operand::Int(a), Operand::Int(b)) => integers(function, *a, *b),
        (Operand::Int(a), Operand::Float(b)) => floats(function, exact(*a)?, *b),
        (Operand::Float(a), Operand::Int(b)) => floats(function, *a, exact(*b)?),
        (Operand::Float(a), Operand::Float(b)) => floats(function, *a, *b),
        _ => None,
    }
}

fn integers(function: &str, a: i64, b: i64) -> Option<Operand> {
    let result = match function {
        "add" => a.checked_add(b)?,
        "sub" => a.checked_sub(b)?,
        "mul" => a.checked_mul(b)?,
        "pow" if b >= 0 => a.checked_pow(u32::try_from(b).ok()?)?,
        "pow" => {
            let denominator = a.checked_pow(u32::try_from(b.unsigned_abs()).ok()?)?;
            return floats("div", 1.0, exact(denominator)?);
        }
        "div" => return floats("div", exact(a)?, exact(b)?),
        _ => return None,
    };
    Some(Operand::Int(result))
}

fn floats(function: &str, a: f64, b: f64) -> Option<Operand> {
    let result = match function {
        "add" => a + b,
        "sub" => a - b,
        "mul" => a * b,
        "div" if b != 0.0 => a / b,
        _ => return None,
    };
    // Infinities are for the library, where they are seen at run time as any other.
    Some(Operand::Float(result)).filter(|_| result.is_finite())
}

/// The float of an integer that has one.
fn exact(value: i64) -> Option<f64> {
    (value.unsigned_abs() <= 1 << 53).then_some(value as f64)
}

#[cfg(test)]
mod tests {
    use super::{fold, negate};
    use crate::op::Operand::{self, Bool, Float, Int};

    #[test]
    fn literals_are_computed_as_in_python() {
        let rows: [(&str, Operand, Operand, Operand); 9] = [
            ("div", Int(1), Int(2), Float(0.5)),
            ("div", Int(4), Int(2), Float(2.0)),
            ("add", Int(1), Float(0.5), Float(1.5)),
            ("sub", Float(1.0), Int(3), Float(-2.0)),
            ("mul", Int(-3), Int(5), Int(-15)),
            ("pow", Int(2), Int(10), Int(1024)),
            ("pow", Int(-2), Int(-1), Float(-0.5)),
            ("pow", Int(0), Int(0), Int(1)),
            ("pow", Int(10), Int(-1), Float(0.1)),
        ];
        for (function, a, b, expected) in rows {
            assert_eq!(fold(function, &a, &b), Some(expected), "{function}({a:?}, {b:?})");
        }
        assert_eq!(negate(&Float(0.0)).map(|x| format!("{x:?}")), Some("Float(-0.0)".to_owned()));
    }

    #[test]
    fn what_has_no_one_answer_is_left_to_the_library() {
        let rows: [(&str, Operand, Operand); 9] = [
            ("div", Int(1), Int(0)),
            ("pow", Int(0), Int(-1)),
            ("pow", Int(3), Int(1000)),
            ("pow", Int(3), Int(-40)),
            ("pow", Float(2.0), Float(0.5)),
            ("mul", Float(1e300), Float(1e300)),
            ("add", Int(i64::MAX), Int(1)),
            ("floor_div", Int(7), Int(2)),
            ("add", Bool(true), Int(1)),
        ];
        for (function, a, b) in rows {
            assert_eq!(fold(function, &a, &b), None, "{function}({a:?}, {b:?})");
        }
        assert_eq!(negate(&Int(i64::MIN)), None);
    }
}
