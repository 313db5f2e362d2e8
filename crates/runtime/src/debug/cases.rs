//! Inputs for an op: random values and edge cases.
//!
//! The valid inputs of an op are found by trial. Shapes come from a few schemes; values come from a generator and
//! from the critical values of each dtype. `perform` determines which inputs the op accepts, or the C code if there
//! is no `perform`. Small inputs come first, so the first failure is near the smallest.

use super::alone::Alone;
use crate::reference::Reference;
use fastrand::Rng;
use precast_graph::{Array, DType, Extent, FunctionGraph, PerformError, Type, special_bits};

/// The expected result.
#[derive(Debug, Clone)]
pub(super) enum Expected {
    /// The outputs of `perform`.
    Outputs(Vec<Array>),
    /// `perform` fails with this message.
    Refused(String),
    /// The op has no `perform`.
    Unknown,
}

/// A set of inputs with the expected result.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) inputs: Vec<Array>,
    pub(super) expected: Expected,
}

impl Case {
    /// Creates a case for a graph of one Apply from the result of its `perform`.
    pub(super) fn new(alone: &FunctionGraph, reference: &Reference, inputs: Vec<Array>) -> Self {
        let op = &alone.applies()[0].op;
        let borrowed: Vec<&Array> = inputs.iter().collect();
        let expected = match reference.perform(&**op, &borrowed) {
            Ok(outputs) => Expected::Outputs(outputs),
            Err(PerformError::NoReference { .. }) => Expected::Unknown,
            Err(error) => Expected::Refused(error.to_string()),
        };
        Self { inputs, expected }
    }

    /// Returns whether an input can be passed with stride 0 in its first dimension.
    pub(super) fn broadcasts(&self, input: usize) -> bool {
        let array = &self.inputs[input];
        let Some(extent) = array.shape().first().copied().filter(|extent| *extent > 1) else { return false };
        let bits = array.bits();
        let row = bits.len() / extent;
        row > 0 && bits.chunks_exact(row).all(|other| other == &bits[..row])
    }
}

/// The scheme that selects extents from the axis (counted from the last), the rank and the input.
#[derive(Debug, Clone, Copy)]
enum Shapes {
    All(usize),
    /// Extents 5, 3, 2, starting from the last axis.
    Falling,
    /// Extents of matrices that can be multiplied in a chain.
    Chain,
    /// Falling, but every second input has extent 1 in the last axis.
    Stretched,
    /// More elements than any block.
    Long,
}

const SCHEMES: [(Shapes, Values); 11] = [
    (Shapes::All(1), Values::Small),
    (Shapes::All(3), Values::Small),
    (Shapes::All(3), Values::Plain),
    (Shapes::All(3), Values::Same),
    (Shapes::All(0), Values::Plain),
    (Shapes::Falling, Values::Small),
    (Shapes::Falling, Values::Special),
    (Shapes::Chain, Values::Small),
    (Shapes::Stretched, Values::Plain),
    (Shapes::Stretched, Values::Same),
    (Shapes::Long, Values::Plain),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    /// Integers from 0 to 2, so that they may be indices.
    Small,
    /// Moderate values of either sign.
    Plain,
    /// Every third value is a critical value of the dtype.
    Special,
    /// Plain values that repeat along the first axis.
    Same,
}

/// Creates random inputs for a graph of one Apply. `fixed` has the inputs whose values never change.
pub(super) fn cases(alone: &Alone, seed: u64) -> Vec<Case> {
    let Alone { graph, fixed, reference, .. } = alone;
    let mut random = Rng::with_seed(seed);
    let types: Vec<Type> = graph.inputs().iter().map(|input| graph.ty(*input).clone()).collect();
    let draw = |(shapes, values): &(Shapes, Values)| {
        let inputs = types.iter().enumerate().map(|(position, ty)| {
            let known = fixed.get(position).and_then(Option::clone);
            known.unwrap_or_else(|| array(&mut random, ty, position, *shapes, *values))
        });
        let inputs: Vec<Array> = inputs.collect();
        Case::new(graph, reference, inputs)
    };
    let mut cases: Vec<Case> = SCHEMES.iter().map(draw).collect();
    if types.iter().all(|ty| ty.ndim() == 0) {
        // All shapes are equal; only the values differ.
        cases.drain(4..6);
    }
    cases
}

fn array(random: &mut Rng, ty: &Type, position: usize, shapes: Shapes, values: Values) -> Array {
    let ndim = ty.ndim();
    let shape: Vec<usize> = ty
        .shape()
        .iter()
        .enumerate()
        .map(|(axis, extent)| match extent {
            Extent::Fixed(n) => usize::try_from(*n).unwrap_or(0),
            Extent::Unknown => shapes.extent(ndim, axis, position),
        })
        .collect();
    let dtype = ty.dtype();
    let count: usize = shape.iter().product();
    let row = match values {
        Values::Same => count / shape.first().copied().unwrap_or(1).max(1),
        _ => count,
    };
    let special = special_bits(dtype);
    let words = dtype.words();
    let mut bits: Vec<u64> = Vec::with_capacity(count * words);
    for _ in 0..row {
        // Some ops interpret a single number as an extent, so huge integers are avoided there.
        if values == Values::Special && random.usize(..3) == 0 && (ndim > 0 || dtype.is_float()) {
            let at = random.usize(..special.len() / words) * words;
            bits.extend(&special[at..at + words]);
        } else {
            bits.extend(number(random, dtype, values == Values::Small));
        }
    }
    let bits = bits.repeat(count.checked_div(row).unwrap_or(0));
    Array::from_bits(dtype, &shape, &bits).unwrap_or_else(|| Array::zeros(dtype, &shape))
}

impl Shapes {
    fn extent(self, ndim: usize, axis: usize, position: usize) -> usize {
        let from_last = ndim - 1 - axis;
        let falling = [5, 3, 2].get(from_last).copied().unwrap_or(2);
        match self {
            Self::All(n) => n,
            Self::Falling => falling,
            Self::Chain => 2 + (position + axis + 2usize.saturating_sub(ndim)) % 4,
            Self::Stretched if from_last == 0 && position % 2 == 1 => 1,
            Self::Stretched => falling,
            Self::Long if ndim == 1 => 4099,
            Self::Long => [67, 66, 2].get(from_last).copied().unwrap_or(1),
        }
    }
}

/// Generates the bits of one element.
fn number(random: &mut Rng, dtype: DType, small: bool) -> Vec<u64> {
    let mut one = || {
        let unit = random.f64();
        if dtype.is_float() { unit * 16.0 - 8.0 } else { (unit * 3.0).floor() }
    };
    if dtype.real() != dtype {
        let parts = [one(), one()];
        let array = ndarray::arr1(&[precast_graph::Complex::new(parts[0], parts[1])]).into_dyn();
        return Array::from(array).cast(dtype).bits();
    }
    let value = if small || dtype.is_float() || dtype == DType::Bool {
        let value = one();
        if dtype == DType::Bool { value.min(1.0) } else { value }
    } else {
        let sign = if dtype.is_unsigned() { 0 } else { 100 };
        random.usize(..101 + sign) as f64 - sign as f64
    };
    Array::from(ndarray::arr1(&[value]).into_dyn()).cast(dtype).bits()
}
