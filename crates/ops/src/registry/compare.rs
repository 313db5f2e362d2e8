//! Comparisons, which are exact for integers of any dtype and length, as in NumPy 2.
//!
//! | operands | comparison |
//! |---|---|
//! | an integer literal that no element can equal | `x == x`, or `x != x`: true or false of every element |
//! | u64 and a signed integer | as u64 if the signed integer is not negative |
//! | all other operands | in their common dtype; a literal too large for a float counts as infinite |

use super::operand::Operands;
use super::variables::scalar_apply;
use precast_graph::{Array, BuildError, DType, Literal, Operand, VarId};

/// Applies `eq`, `ne`, `lt`, `le`, `gt` or `ge`.
pub(super) fn compare(operands: &mut Operands<'_>, scalar: &str) -> Result<VarId, BuildError> {
    let dtype = operands.common();
    for position in 0..2 {
        let Some(literal @ Literal::Int(n)) = operands.literal(position) else { continue };
        if dtype.is_integer() && literal.value(dtype).is_none() {
            // The literal is above or below every element, so one result holds for all elements.
            let literal_is_less = n.sign() == num_bigint::Sign::Minus;
            return beyond(operands, scalar, 1 - position, literal_is_less == (position == 0));
        }
    }
    let strong = |position: usize| match operands.args[position] {
        Operand::Var(v) | Operand::Weak(v) => Some(operands.graph.ty(v).dtype()),
        _ => None,
    };
    let signed = |dtype: DType| dtype.is_integer() && !dtype.is_unsigned();
    match (strong(0), strong(1)) {
        (Some(DType::U64), Some(other)) if signed(other) => return mixed(operands, scalar, 1),
        (Some(other), Some(DType::U64)) if signed(other) => return mixed(operands, scalar, 0),
        (Some(a), Some(b)) if a.is_integer() && b.is_integer() => {
            // An extent keeps its dtype here.
            let own = [operands.variable(0)?, operands.variable(1)?];
            let inputs = [operands.cast(own[0], a.upcast(b))?, operands.cast(own[1], a.upcast(b))?];
            return scalar_apply(operands, scalar, &inputs);
        }
        _ => {}
    }
    let mut inputs = Vec::new();
    for position in 0..2 {
        inputs.push(match operands.literal(position) {
            Some(literal) => {
                let value = literal.rounded(dtype).ok_or_else(|| operands.misfit(position, dtype))?;
                operands.constant(value)
            }
            None => operands.cast_argument(position, dtype)?,
        });
    }
    scalar_apply(operands, scalar, &inputs)
}

/// Builds a comparison with a literal above or below every integer of the dtype. `less` is true if the left side is
/// smaller.
fn beyond(
    operands: &mut Operands<'_>,
    scalar: &str,
    position: usize,
    less: bool,
) -> Result<VarId, BuildError> {
    let truth = match scalar {
        "eq" => false,
        "ne" => true,
        "lt" | "le" => less,
        _ => !less,
    };
    let x = operands.variable(position)?;
    scalar_apply(operands, if truth { "eq" } else { "ne" }, &[x, x])
}

/// Compares u64 with the signed integers of an argument: negative integers are less than every u64.
fn mixed(operands: &mut Operands<'_>, scalar: &str, signed: usize) -> Result<VarId, BuildError> {
    let own = [operands.variable(0)?, operands.variable(1)?];
    let wide = [operands.cast(own[0], DType::U64)?, operands.cast(own[1], DType::U64)?];
    let of_others = scalar_apply(operands, scalar, &wide)?;
    let of_negative = match scalar {
        "eq" => false,
        "ne" => true,
        "lt" | "le" => signed == 0,
        _ => signed == 1,
    };
    let zero = Array::zeros(operands.graph.ty(own[signed]).dtype(), &[]);
    let zero = operands.constant(zero);
    let (sign, join) = if of_negative { ("lt", "logical_or") } else { ("ge", "logical_and") };
    let sign = scalar_apply(operands, sign, &[own[signed], zero])?;
    scalar_apply(operands, join, &[sign, of_others])
}
