//! Element types and NumPy's promotion between them.
//!
//! One table, [`DType::ALL`], has a row for each dtype; every question is answered from it. Rust spelling everywhere
//! (`f32`, `i64`, `bool`); the numbers are NumPy's type numbers, because op code bakes them in.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Type of one element of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// 64-bit signed integer; arithmetic wraps.
    I64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

/// What kind of number a dtype holds; promotion never goes down this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Bool,
    Int,
    Float,
}

impl DType {
    /// Every dtype, in the order of promotion.
    pub const ALL: [Self; 4] = [Self::Bool, Self::I64, Self::F32, Self::F64];

    const fn row(self) -> (&'static str, i32, usize, Kind) {
        match self {
            Self::Bool => ("bool", 0, 1, Kind::Bool),
            Self::I64 => ("i64", 7, 8, Kind::Int),
            Self::F32 => ("f32", 11, 4, Kind::Float),
            Self::F64 => ("f64", 12, 8, Kind::Float),
        }
    }

    /// The name, `f32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// NumPy's type number.
    #[must_use]
    pub const fn typenum(self) -> i32 {
        self.row().1
    }

    /// The dtype of a NumPy type number.
    #[must_use]
    pub fn from_typenum(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.typenum() == number)
    }

    /// Size of one element in bytes.
    #[must_use]
    pub const fn itemsize_bytes(self) -> usize {
        self.row().2
    }

    /// Whether this is a floating-point dtype.
    #[must_use]
    pub fn is_float(self) -> bool {
        self.row().3 == Kind::Float
    }

    /// The smallest dtype that holds both: NumPy's `result_type` of two arrays.
    ///
    /// # Source
    /// NumPy, `numpy.result_type`; checked against a committed table in the tests of `precast-ops`.
    #[must_use]
    pub fn upcast(self, other: Self) -> Self {
        match (self, other) {
            (Self::I64, Self::F32) | (Self::F32, Self::I64) => Self::F64,
            (a, b) => a.max(b),
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A dtype name that is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype `{found}`; known: {known}", known = DType::ALL.map(DType::name).join(", "))]
pub struct ParseDTypeError {
    /// What was found.
    pub found: String,
}

impl FromStr for DType {
    type Err = ParseDTypeError;

    fn from_str(text: &str) -> Result<Self, ParseDTypeError> {
        let found = Self::ALL.into_iter().find(|dtype| dtype.name() == text);
        found.ok_or_else(|| ParseDTypeError { found: text.to_owned() })
    }
}
