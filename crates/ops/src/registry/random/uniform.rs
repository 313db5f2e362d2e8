//! Bits, and uniform floats and integers: the numbers of `jax.random`.

use super::elements::{Elements, elements, parameter, shapes};
use super::key::{floats, subkey, word};
use crate::declared::Declared;
use crate::registry::operand::Operands;
use crate::registry::variables::scalar_apply;
use crate::rows::Row;
use precast_graph::{Array, BuildError, DType, MakeNodeError, Number, Operand, Props, VarId};

/// Returns the words of 64 bits of a key, one for each element.
pub(super) fn words(
    operands: &mut Operands<'_>,
    word: VarId,
    elements: &Elements,
) -> Result<VarId, BuildError> {
    scalar_apply(operands, "threefry", &[word, elements.counters])
}

/// Returns bits of an unsigned dtype: words, or the low bits of the exclusive or of their halves.
fn narrowed(operands: &mut Operands<'_>, words: VarId, dtype: DType) -> Result<VarId, BuildError> {
    if dtype == DType::U64 {
        return Ok(words);
    }
    let folded = folded(operands, words)?;
    operands.cast(folded, dtype)
}

/// Returns the exclusive or of the halves of words in the low 32 bits.
fn folded(operands: &mut Operands<'_>, words: VarId) -> Result<VarId, BuildError> {
    let high = operands.call("right_shift", [words.into(), 32_i64.into()])?;
    operands.call("bitwise_xor", [words.into(), high.into()])
}

/// Returns uniform floats from 0 to 1, excluding 1, with as many random bits as the dtype has digits after the first.
pub(super) fn unit(
    operands: &mut Operands<'_>,
    word: VarId,
    elements: &Elements,
    dtype: DType,
) -> Result<VarId, BuildError> {
    let mut words = words(operands, word, elements)?;
    // The bits that are drawn, and those that count.
    let (drawn, digits) = match dtype {
        DType::F32 => (32_i64, 23),
        DType::F16 => (16, 10),
        DType::Bf16 => (8, 7),
        _ => (64, 52),
    };
    if drawn < 64 {
        let folded = folded(operands, words)?;
        let shifted = operands.call("left_shift", [folded.into(), (64 - drawn).into()])?;
        let mask = operands.graph.constant(Array::from(u64::MAX << (64 - digits)));
        words = scalar_apply(operands, "bitwise_and", &[shifted, mask])?;
    }
    let unit = scalar_apply(operands, "unit_draw", &[words])?;
    operands.cast(unit, dtype)
}

/// Returns uniform floats from a number to another one, excluding the latter.
pub(super) fn between(
    operands: &mut Operands<'_>,
    unit: VarId,
    [low, high]: [Operand; 2],
) -> Result<VarId, BuildError> {
    let dtype = operands.graph.ty(unit).dtype();
    let [low, high] = [low, high].map(|bound| operands.cast_operand(&bound, dtype));
    let (low, high) = (low?, high?);
    let span = operands.call("sub", [high.into(), low.into()])?;
    let scaled = operands.call("mul", [unit.into(), span.into()])?;
    let moved = operands.call("add", [scaled.into(), low.into()])?;
    operands.call("maximum", [low.into(), moved.into()])
}

/// Returns a float as a constant of a dtype.
pub(super) fn number(operands: &mut Operands<'_>, x: f64, dtype: DType) -> Operand {
    operands.graph.constant(Array::of(Number::Float(x), dtype)).into()
}

/// Builds `random.bits(key, shape, dtype)` of unsigned integers.
pub(in crate::registry) fn bits(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect_between(1, 2)?;
    let declared = Declared::bound(operands.function, props);
    let dtype = declared.dtype("dtype")?.unwrap_or(DType::U64);
    if !dtype.is_unsigned() {
        return Err(declared.wrong("dtype", "an unsigned dtype").into());
    }
    let word = word(operands)?;
    let elements = elements(operands, 1, &[])?;
    let words = words(operands, word, &elements)?;
    narrowed(operands, words, dtype).map(Operand::Var)
}

/// Builds `random.uniform(key, shape, dtype, minval=0, maxval=1)`.
pub(in crate::registry) fn uniform(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let (dtype, word) = floats(operands, 1..=4, props)?;
    let given = |operands: &Operands<'_>, input: usize| {
        operands.args.get(input).is_some_and(|bound| *bound != Operand::None)
    };
    if !given(operands, 2) && !given(operands, 3) {
        let elements = elements(operands, 1, &[])?;
        return unit(operands, word, &elements, dtype).map(Operand::Var);
    }
    let mut bounds = [0.0, 1.0].map(|bound| number(operands, bound, dtype));
    let mut all = Vec::new();
    for (position, bound) in bounds.iter_mut().enumerate() {
        if given(operands, 2 + position) {
            parameter(operands, 2 + position)?;
            let own = operands.cast_argument(2 + position, dtype)?;
            all.push(own);
            *bound = own.into();
        }
    }
    let shapes = shapes(operands, &all)?;
    let elements = elements(operands, 1, &shapes)?;
    let unit = unit(operands, word, &elements, dtype)?;
    between(operands, unit, bounds).map(Operand::Var)
}

/// Builds `random.bernoulli(key, p=0.5, shape)`: true with probability `p`.
pub(in crate::registry) fn bernoulli(
    operands: &mut Operands<'_>,
    _: &Row,
    _: &Props,
) -> Result<Operand, BuildError> {
    operands.expect_between(1, 3)?;
    let word = word(operands)?;
    let p = match operands.args.get(1) {
        None | Some(Operand::None) => operands.graph.constant(Array::from(0.5)),
        Some(_) if operands.dtype(1).is_float() => operands.variable(1)?,
        Some(_) => parameter(operands, 1)?,
    };
    let shapes = shapes(operands, &[p])?;
    let elements = elements(operands, 2, &shapes)?;
    let dtype = operands.graph.ty(p).dtype();
    let unit = unit(operands, word, &elements, dtype)?;
    operands.call("lt", [unit.into(), p.into()]).map(Operand::Var)
}

/// Builds `random.randint(key, shape, minval, maxval, dtype)`: integers from `minval` to `maxval`, excluding `maxval`. The
/// remainder of twice as many bits as the dtype has, so the probabilities differ by at most the span over 2^bits.
pub(in crate::registry) fn randint(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(4)?;
    let declared = Declared::bound(operands.function, props);
    let dtype = declared.dtype("dtype")?.unwrap_or(DType::I64);
    if !dtype.is_integer() {
        return Err(declared.wrong("dtype", "an integer dtype").into());
    }
    for input in [2, 3] {
        let found = operands.dtype(input);
        if !found.is_integer() {
            let (op, expected) = (operands.function.to_owned(), "integers".to_owned());
            return Err(MakeNodeError::DType { op, input, found, expected }.into());
        }
    }
    let word = word(operands)?;
    // Narrow integers are drawn in i32, in which the upper bound may be the number after the last one.
    let bits = 8 * dtype.itemsize_bytes();
    let drawn = if bits < 32 { DType::I32 } else { dtype };
    let mut bounds = [operands.cast_argument(2, drawn)?, operands.cast_argument(3, drawn)?];
    if bits < 32 {
        let values = 1_i64 << bits;
        let first = if dtype.is_unsigned() { 0 } else { -values / 2 };
        for (bound, last) in bounds.iter_mut().zip([first + values - 1, first + values]) {
            *bound = operands.call("clip", [(*bound).into(), first.into(), last.into()])?;
        }
    }
    let shapes = shapes(operands, &bounds)?;
    let elements = elements(operands, 1, &shapes)?;
    let integers = integers(operands, word, &elements, bounds)?;
    operands.cast(integers, dtype).map(Operand::Var)
}

/// Returns integers between bounds of one dtype of 32 or 64 bits; the lower bound if there are none.
pub(super) fn integers(
    operands: &mut Operands<'_>,
    word: VarId,
    elements: &Elements,
    [low, high]: [VarId; 2],
) -> Result<VarId, BuildError> {
    let dtype = operands.graph.ty(low).dtype();
    let wide = if dtype.itemsize_bytes() == 4 { DType::U32 } else { DType::U64 };
    let half = 1_i64 << (4 * dtype.itemsize_bytes());
    let [upper, lower] = [0, 1].map(|number| -> Result<VarId, BuildError> {
        let word = subkey(operands, word, number)?;
        let words = words(operands, word, elements)?;
        narrowed(operands, words, wide)
    });
    let span = operands.call("sub", [high.into(), low.into()])?;
    let span = operands.cast(span, wide)?;
    let is_empty = operands.call("le", [high.into(), low.into()])?;
    let span = operands.call("where", [is_empty.into(), 1_i64.into(), span.into()])?;
    let half = operands.call("mod", [half.into(), span.into()])?;
    let square = operands.call("mul", [half.into(), half.into()])?;
    let factor = operands.call("mod", [square.into(), span.into()])?;
    let upper = operands.call("mod", [upper?.into(), span.into()])?;
    let lower = operands.call("mod", [lower?.into(), span.into()])?;
    let scaled = operands.call("mul", [upper.into(), factor.into()])?;
    let sum = operands.call("add", [scaled.into(), lower.into()])?;
    let offset = operands.call("mod", [sum.into(), span.into()])?;
    let offset = operands.cast(offset, dtype)?;
    operands.call("add", [low.into(), offset.into()])
}
