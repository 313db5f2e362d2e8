//! Categories, permutations and choices.

use super::continuous::gumbel;
use super::elements::{Elements, counters, demand_equal, elements, extents, parameter, shape_for};
use super::key::word;
use super::uniform::{integers, unit, words};
use crate::declared::Declared;
use crate::registry::operand::Operands;
use crate::rows::Row;
use precast_graph::{Array, BuildError, DType, Operand, Props, VarId};

/// Builds `random.categorical(key, logits, axis=-1, shape=None)`: the position of the largest sum of a logit and a Gumbel number.
pub(in crate::registry) fn categorical(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect_between(2, 3)?;
    let word = word(operands)?;
    let logits = match operands.dtype(1) {
        DType::F32 => operands.variable(1)?,
        _ => parameter(operands, 1)?,
    };
    let dtype = operands.graph.ty(logits).dtype();
    let ndim = operands.ndim(logits);
    if ndim == 0 {
        return Err(operands.error("takes an array of logits, found a number"));
    }
    let axis = operands.axis(Declared::bound(operands.function, props).int("axis")?.unwrap_or(-1), ndim)?;
    let mut batch = extents(operands, logits)?;
    let categories = batch.remove(axis);
    let mut shape = shape_for(operands, 2, &[batch])?;
    let at = shape.insert(ndim - 1 - axis, categories);
    let elements = shape.elements(operands, &[])?;
    let unit = unit(operands, word, &elements, dtype)?;
    let noise = gumbel(operands, unit)?;
    let sums = operands.call("add", [noise.into(), logits.into()])?;
    let at = i64::try_from(at).unwrap_or(i64::MAX);
    operands.call_with("argmax", &[sums.into()], &[("axis", at.into())]).map(Operand::Var)
}

/// Returns the positions of `count` elements in random order: those of random words in ascending order.
fn order(operands: &mut Operands<'_>, word: VarId, count: Operand) -> Result<VarId, BuildError> {
    let counters = counters(operands, &[count], &[])?;
    let words = words(operands, word, &Elements { counters, ndim: 1 })?;
    operands.call("argsort", [words.into()])
}

/// Builds `random.permutation(key, x, axis=0, independent=False)` of an array, or of the numbers below an integer.
pub(in crate::registry) fn permutation(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    let (independent, axis) = (declared.flag("independent")?, declared.int("axis")?.unwrap_or(0));
    let word = word(operands)?;
    if let Some(count) = population(operands, 1)? {
        return order(operands, word, count).map(Operand::Var);
    }
    let x = operands.variable(1)?;
    let axis = operands.axis(axis, operands.ndim(x))?;
    let name = [("axis", Operand::from(i64::try_from(axis).unwrap_or(i64::MAX)))];
    if !independent {
        let count = operands.extent(x, axis)?;
        let order = order(operands, word, count)?;
        return operands.call_with("take", &[x.into(), order.into()], &name).map(Operand::Var);
    }
    let extents = operands.extents_of(x)?;
    let counters = counters(operands, &extents, &[])?;
    let words = words(operands, word, &Elements { counters, ndim: extents.len() })?;
    let order = operands.call_with("argsort", &[words.into()], &name)?;
    operands.call_with("take_along_axis", &[x.into(), order.into()], &name).map(Operand::Var)
}

/// Returns the argument as the number of a population, if it is an integer without dimensions.
fn population(operands: &mut Operands<'_>, input: usize) -> Result<Option<Operand>, BuildError> {
    let is_number = match &operands.args[input] {
        Operand::Var(x) | Operand::Weak(x) => operands.ndim(*x) == 0,
        Operand::Literal(_) => true,
        _ => false,
    };
    Ok(match &operands.args[input] {
        literal @ Operand::Literal(_) if operands.dtype(input).is_integer() => Some(literal.clone()),
        _ if is_number => Some(operands.integer(input)?.into()),
        _ => None,
    })
}

/// Builds `random.choice(key, a, shape, replace=True, axis=0, p=None)`: elements of an array, or numbers below an integer.
pub(in crate::registry) fn choice(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect_between(2, 4)?;
    let declared = Declared::bound(operands.function, props);
    let (replace, axis) = (declared.flag("replace")?, declared.int("axis")?.unwrap_or(0));
    let word = word(operands)?;
    let (count, array) = match population(operands, 1)? {
        Some(count) => (count, None),
        None => {
            let array = operands.variable(1)?;
            let axis = operands.axis(axis, operands.ndim(array))?;
            (operands.extent(array, axis)?, Some((array, axis)))
        }
    };
    let elements = elements(operands, 2, &[])?;
    let p = match operands.args.get(3) {
        None | Some(Operand::None) => None,
        Some(_) => Some(weights(operands, &count)?),
    };
    let positions = match (replace, p) {
        (true, None) => {
            let bounds = [operands.graph.constant(Array::from(0_i64)), some(operands, &count)?];
            integers(operands, word, &elements, bounds)
        }
        (true, Some(p)) => weighted(operands, word, &elements, p),
        (false, p) => distinct(operands, word, &elements, &count, p),
    }?;
    let Some((array, axis)) = array else { return Ok(positions.into()) };
    let axis = Operand::from(i64::try_from(axis).unwrap_or(i64::MAX));
    operands.call_with("take", &[array.into(), positions.into()], &[("axis", axis)]).map(Operand::Var)
}

/// Returns the number of elements to choose from, of which there must be one.
fn some(operands: &mut Operands<'_>, count: &Operand) -> Result<VarId, BuildError> {
    let number = operands.cast_operand(count, DType::I64)?;
    let is_some = operands.call("gt", [number.into(), 0_i64.into()])?;
    operands.demand(number, is_some, "random_choice: there are no elements to choose from")
}

/// Returns the probabilities of a choice, one for each element.
fn weights(operands: &mut Operands<'_>, count: &Operand) -> Result<VarId, BuildError> {
    let p = parameter(operands, 3)?;
    if operands.ndim(p) != 1 {
        return Err(operands.error("takes a vector of probabilities"));
    }
    let own = extents(operands, p)?.remove(0);
    demand_equal(operands, p, [&own, count], "the probabilities and the elements")
}

/// Returns positions drawn with replacement: those of uniform numbers among the running sums of the probabilities.
fn weighted(
    operands: &mut Operands<'_>,
    word: VarId,
    elements: &Elements,
    p: VarId,
) -> Result<VarId, BuildError> {
    let sums = operands.call("cumsum", [p.into()])?;
    let total = operands.slice(sums, 0, "i", &[(-1_i64).into()])?;
    let unit = unit(operands, word, elements, DType::F64)?;
    let rest = operands.call("sub", [1.0.into(), unit.into()])?;
    let found = operands.call("mul", [total.into(), rest.into()])?;
    operands.call("searchsorted", [sums.into(), found.into()])
}

/// Returns distinct positions, in random order: the first ones of a permutation, or those of the largest sums of Gumbel
/// numbers and logarithms of probabilities.
fn distinct(
    operands: &mut Operands<'_>,
    word: VarId,
    elements: &Elements,
    count: &Operand,
    p: Option<VarId>,
) -> Result<VarId, BuildError> {
    let flat = operands.call("flatten", [elements.counters.into()])?;
    let size = operands.extent(flat, 0)?;
    let size = operands.cast_operand(&size, DType::I64)?;
    let fits = operands.call("le", [size.into(), count.clone()])?;
    let message = "random_choice: the shape has more elements than the array, and `replace` is false";
    let size = operands.demand(size, fits, message)?;
    let all = match p {
        None => order(operands, word, count.clone())?,
        Some(p) => {
            let counters = counters(operands, std::slice::from_ref(count), &[])?;
            let unit = unit(operands, word, &Elements { counters, ndim: 1 }, DType::F64)?;
            let noise = gumbel(operands, unit)?;
            let log = operands.call("log", [p.into()])?;
            let sums = operands.call("add", [noise.into(), log.into()])?;
            operands.call_with("argsort", &[sums.into()], &[("descending", true.into())])?
        }
    };
    let first = operands.slice(all, 0, "e", &[size.into()])?;
    if elements.ndim == 1 {
        return Ok(first);
    }
    let extents = operands.extents_of(elements.counters)?;
    operands.call_with("reshape", &[&[first.into()], extents.as_slice()].concat(), &[])
}
