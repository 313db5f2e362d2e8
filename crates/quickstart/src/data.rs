//! The data set, embedded: measurements of red wines and the grades that tasters gave them.
//!
//! Source: P. Cortez et al., Modeling wine preferences by data mining from physicochemical properties, Decision Support
//! Systems 47 (2009), in `model/winequality-red.csv`, which build.rs decodes.

use ndarray::{Array1, Array2};

/// The number of measurements per wine.
const MEASUREMENTS: usize = 11;

/// f64, little endian: measurements in C order, then the grades.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/wine.f64"));

/// The wines, one per row.
pub(crate) struct Wines {
    /// One column per measurement, in its original unit.
    pub(crate) measurements: Array2<f64>,
    /// The median of three tasters' grades, 0 to 10.
    pub(crate) grades: Array1<f64>,
}

impl Wines {
    /// Reads the embedded data set.
    pub(crate) fn read() -> Self {
        let (words, _) = BYTES.as_chunks();
        let rows = words.len() / (MEASUREMENTS + 1);
        let number = |at: usize| f64::from_le_bytes(words[at]);
        Self {
            measurements: Array2::from_shape_fn((rows, MEASUREMENTS), |(row, column)| {
                number(row * MEASUREMENTS + column)
            }),
            grades: Array1::from_shape_fn(rows, |row| number(rows * MEASUREMENTS + row)),
        }
    }
}
