//! Keys: an array of two u32 for users, one u64 inside.

use super::elements::{counters, float_dtype, shape};
use crate::registry::operand::Operands;
use crate::registry::variables::scalar_apply;
use crate::rows::Row;
use precast_graph::{Array, BuildError, DType, Extent, MakeNodeError, Operand, Props, VarId};
use std::ops::RangeInclusive;

/// Builds `random.key(seed)`: the high and the low half of a 64-bit integer.
pub(in crate::registry) fn key(
    operands: &mut Operands<'_>,
    _: &Row,
    _: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let seed = integer(operands, 0)?;
    if operands.ndim(seed) != 0 {
        return Err(operands.error("takes one integer, not an array"));
    }
    pair(operands, seed).map(Operand::Var)
}

/// Builds `random.split(key, num)`: `num` new keys, or an array of keys of a shape.
pub(in crate::registry) fn split(
    operands: &mut Operands<'_>,
    _: &Row,
    _: &Props,
) -> Result<Operand, BuildError> {
    operands.expect_between(1, 2)?;
    let word = word(operands)?;
    let extents = shape(operands, 1)?.unwrap_or_else(|| vec![2_i64.into()]);
    let counters = counters(operands, &extents, &[])?;
    let words = scalar_apply(operands, "threefry", &[word, counters])?;
    pair(operands, words).map(Operand::Var)
}

/// Builds `random.fold_in(key, data)`: the key for a number, of which 32 bits count, or the keys for an array of numbers.
pub(in crate::registry) fn fold_in(
    operands: &mut Operands<'_>,
    _: &Row,
    _: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let word = word(operands)?;
    let data = integer(operands, 1)?;
    let data = operands.cast(data, DType::U32)?;
    let data = operands.cast(data, DType::U64)?;
    let words = scalar_apply(operands, "threefry", &[word, data])?;
    pair(operands, words).map(Operand::Var)
}

/// Returns an argument of any integer dtype as u64; negative numbers wrap.
fn integer(operands: &mut Operands<'_>, input: usize) -> Result<VarId, BuildError> {
    let found = operands.dtype(input);
    if !found.is_integer() {
        let (op, expected) = (operands.function.to_owned(), "integers".to_owned());
        return Err(MakeNodeError::DType { op, input, found, expected }.into());
    }
    let own = operands.cast_argument(input, if found == DType::U64 { found } else { DType::I64 })?;
    operands.cast(own, DType::U64)
}

/// Returns the key of a call as one word.
pub(super) fn word(operands: &mut Operands<'_>) -> Result<VarId, BuildError> {
    let key = operands.variable(0)?;
    let ty = operands.graph.ty(key);
    let is_pair = matches!(ty.shape(), [Extent::Unknown | Extent::Fixed(2)]);
    if ty.dtype() != DType::U32 || !is_pair {
        let (op, found) = (operands.function.to_owned(), ty.to_string());
        let expected = "a key, `u32[2]`, as `random.key(0)` returns".to_owned();
        return Err(MakeNodeError::Input { op, input: 0, found, expected }.into());
    }
    let has_known_extent = operands.known_extent(key, 0).is_some();
    let [mut high, low] = [0_i64, 1].map(|half| -> Result<VarId, BuildError> {
        let half = operands.slice(key, 0, "i", &[half.into()])?;
        operands.cast(half, DType::U64)
    });
    if !has_known_extent {
        let extent = operands.extent(key, 0)?;
        let is_pair = operands.call("eq", [extent, 2_i64.into()])?;
        high = high.and_then(|high| operands.demand(high, is_pair, "a key has two numbers"));
    }
    let high = operands.call("left_shift", [high?.into(), 32_i64.into()])?;
    operands.call("bitwise_or", [high.into(), low?.into()])
}

/// Checks the number of arguments of a call, and returns the dtype of its numbers and its key.
pub(super) fn floats(
    operands: &mut Operands<'_>,
    counts: RangeInclusive<usize>,
    props: &Props,
) -> Result<(DType, VarId), BuildError> {
    operands.expect_between(*counts.start(), *counts.end())?;
    Ok((float_dtype(operands, props)?, word(operands)?))
}

/// Returns the key number `number` of `random.split`, as a word.
pub(super) fn subkey(operands: &mut Operands<'_>, word: VarId, number: u64) -> Result<VarId, BuildError> {
    let number = operands.graph.constant(Array::from(number));
    scalar_apply(operands, "threefry", &[word, number])
}

/// Returns words as keys, with a last axis for the two halves.
fn pair(operands: &mut Operands<'_>, words: VarId) -> Result<VarId, BuildError> {
    let high = operands.call("right_shift", [words.into(), 32_i64.into()])?;
    let halves = [operands.cast(high, DType::U32)?, operands.cast(words, DType::U32)?];
    let halves = Operand::List(halves.map(Operand::Var).to_vec());
    operands.call_with("stack", &[halves], &[("axis", (-1_i64).into())])
}
