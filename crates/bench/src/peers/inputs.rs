//! Inputs that both sides create from a formula, and the compared elements of results; `python/inputs.py` does the
//! same.

use ndarray::{ArrayD, IxDyn};
use precast::{Array, Complex, DType};
use serde::Serialize;

/// The content of an input.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Numbers between -2 and 2.
    F64,
    /// The same numbers, rounded to f32.
    F32,
    /// Positions below [`INDEXED`].
    Index,
    /// Integers from the whole range of this dtype, or from -2³¹ to 2³¹; floats and parts of complex numbers as in
    /// [`Kind::F64`].
    Of(DType),
    /// Floats in a range.
    In(Range),
    /// Matrices near the identity in the last two axes, f64: positive definite and well conditioned.
    Definite,
}

impl Kind {
    fn dtype(self) -> DType {
        match self {
            Self::F64 | Self::Definite => DType::F64,
            Self::F32 => DType::F32,
            Self::Index => DType::I64,
            Self::Of(dtype) | Self::In(Range { dtype, .. }) => dtype,
        }
    }
}

/// A range of floats from `low` to below `high`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Range {
    pub(crate) dtype: DType,
    pub(crate) spread: Spread,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The distribution of numbers over a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Spread {
    /// Evenly.
    Even,
    /// Whole numbers only.
    Whole,
    /// Over powers of two, whose exponents are the ends.
    Powers,
}

impl Range {
    fn value(self, number: u64) -> f64 {
        let place = self.low + (self.high - self.low) * (number as f64 / 2_f64.powi(32));
        match self.spread {
            Spread::Even => place,
            Spread::Whole => place.floor(),
            Spread::Powers => (1.0 + (number & 0xFFFF) as f64 / 65536.0) * 2_f64.powi(place.floor() as i32),
        }
    }
}

/// The extent that indices refer to.
const INDEXED: u64 = 10_000_000;

/// An input: its content and its shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Input(pub(crate) Kind, pub(crate) Vec<usize>);

impl Input {
    /// Returns an input of f64.
    pub(crate) fn f64(shape: &[usize]) -> Self {
        Self(Kind::F64, shape.to_vec())
    }

    /// Returns the type in the text form, with every extent unknown.
    pub(crate) fn ty(&self) -> String {
        format!("{}[{}]", self.0.dtype(), vec!["?"; self.1.len()].join(", "))
    }
}

/// Returns the arrays of some inputs.
pub(crate) fn inputs(inputs: &[Input]) -> Vec<Array> {
    inputs.iter().zip(0..).map(|(Input(kind, shape), which)| array(*kind, shape, which)).collect()
}

fn array(kind: Kind, shape: &[usize], which: u64) -> Array {
    match kind {
        Kind::F64 => filled(shape, which, value).into(),
        Kind::F32 => filled(shape, which, |number| value(number) as f32).into(),
        Kind::Index => filled(shape, which, |number| (number % INDEXED) as i64).into(),
        Kind::Of(dtype) => of(dtype, shape, which),
        Kind::In(range) => Array::from(filled(shape, which, |number| range.value(number))).cast(range.dtype),
        Kind::Definite => {
            let (extent, last) = (shape.last().copied().unwrap_or(1) as f64, shape.len() - 1);
            let mut matrix = filled(shape, which, |number| value(number) / (2.0 * extent));
            for (at, element) in matrix.indexed_iter_mut() {
                *element += f64::from(at[last] == at[last - 1]);
            }
            matrix.into()
        }
    }
}

fn of(dtype: DType, shape: &[usize], which: u64) -> Array {
    let bits = (8 * dtype.itemsize_bytes()).min(32);
    match dtype {
        DType::Bool => filled(shape, which, |number| number >> 31 == 1).into(),
        DType::C128 => {
            let part = |number| value(noise(number, 0));
            filled(shape, which, |number| Complex::new(value(number), part(number))).into()
        }
        DType::F16 | DType::F32 | DType::F64 => Array::from(filled(shape, which, value)).cast(dtype),
        _ => {
            let least = if dtype.name().starts_with('i') { 1_i64 << (bits - 1) } else { 0 };
            let integer = |number: u64| (number >> (32 - bits)) as i64 - least;
            Array::from(filled(shape, which, integer)).cast(dtype)
        }
    }
}

fn filled<T>(shape: &[usize], which: u64, element: impl Fn(u64) -> T) -> ArrayD<T> {
    let mut position = 0;
    ArrayD::from_shape_simple_fn(IxDyn(shape), || {
        let number = noise(position, which);
        position += 1;
        element(number)
    })
}

/// Returns a 32-bit number from a position and the number of the array.
const fn noise(position: u64, which: u64) -> u64 {
    position.wrapping_add(which * 40_503).wrapping_mul(2_654_435_761) & 0xFFFF_FFFF
}

/// Maps a 32-bit number to the range from -2 to 2, exactly.
fn value(number: u64) -> f64 {
    number as f64 / f64::from(1 << 30) - 2.0
}

/// Returns at most 16 elements of a result, spaced as widely as possible; the real parts of complex numbers.
pub(super) fn probe(array: &Array) -> Vec<f64> {
    match array {
        Array::F64(array) => elements(array, |element| *element),
        Array::F32(array) => elements(array, |element| f64::from(*element)),
        Array::I64(array) => elements(array, |element| *element as f64),
        other => chosen(&other.numbers(), |number| number.parts().0),
    }
}

fn elements<T>(array: &ArrayD<T>, read: impl Fn(&T) -> f64) -> Vec<f64> {
    array.as_slice().map(|flat| chosen(flat, read)).unwrap_or_default()
}

fn chosen<T>(flat: &[T], read: impl Fn(&T) -> f64) -> Vec<f64> {
    let count = flat.len().min(16);
    let places = (0..count).map(|k| k * (flat.len() - 1) / (count - 1).max(1));
    places.filter_map(|place| flat.get(place)).map(read).collect()
}
