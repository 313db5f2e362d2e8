//! Inputs that both sides create from a formula, and the compared elements of results; `python/inputs.py` does the
//! same.

use ndarray::{ArrayD, IxDyn};
use precast::Array;
use serde::Serialize;

/// The content of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Numbers between -2 and 2.
    F64,
    /// The same numbers, rounded to f32.
    F32,
    /// Positions below [`INDEXED`].
    Index,
}

/// The extent that indices refer to.
const INDEXED: u64 = 10_000_000;

/// An input: its content and its shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Input(pub(crate) Kind, pub(crate) Vec<usize>);

impl Input {
    /// Returns an input of f64.
    pub(crate) fn f64(shape: &[usize]) -> Self {
        Self(Kind::F64, shape.to_vec())
    }

    /// Returns the type in the text form, with every extent unknown.
    pub(crate) fn ty(&self) -> String {
        let dtype = match self.0 {
            Kind::F64 => "f64",
            Kind::F32 => "f32",
            Kind::Index => "i64",
        };
        format!("{dtype}[{}]", vec!["?"; self.1.len()].join(", "))
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

/// Returns at most 16 elements of a result, spaced as widely as possible; empty for a dtype that no case returns.
pub(super) fn probe(array: &Array) -> Vec<f64> {
    match array {
        Array::F64(array) => elements(array, |element| *element),
        Array::F32(array) => elements(array, |element| f64::from(*element)),
        Array::I64(array) => elements(array, |element| *element as f64),
        _ => Vec::new(),
    }
}

fn elements<T>(array: &ArrayD<T>, read: impl Fn(&T) -> f64) -> Vec<f64> {
    let Some(flat) = array.as_slice() else { return Vec::new() };
    let count = flat.len().min(16);
    let places = (0..count).map(|k| k * (flat.len() - 1) / (count - 1).max(1));
    places.filter_map(|place| flat.get(place)).map(read).collect()
}
