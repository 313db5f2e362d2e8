//! Element types and NumPy's promotion rules.
//!
//! All properties come from one table, [`DType::row`], with a row for each dtype. Names use Rust spelling (`f32`, `i64`,
//! `bool`, `c64`). The numbers are NumPy's type numbers, because they appear in the code of ops.
//!
//! A new dtype needs a variant, a place in [`DType::ALL`] and a row in this file. It also needs a Rust type in
//! `element.rs`, a constant of `pc_dtype` in the ABI, and a header in the op library. Check every match arm with `_` too,
//! since it also covers the new dtype.

use std::fmt;
use std::str::FromStr;

/// Type of one element of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// 8-bit signed integer; arithmetic of all integers wraps.
    I8,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// IEEE 754 binary16. Arithmetic is done in f32, and each operation is rounded.
    F16,
    /// The upper half of a binary32. Arithmetic is done in f32, and each operation is rounded.
    Bf16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Two f32, real part first.
    C64,
    /// Two f64, real part first.
    C128,
}

/// The kind of number, with the bits of an element, or of one part of a complex number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Signed(u32),
    Unsigned(u32),
    Float(u32),
    Complex(u32),
}

/// Name, NumPy's type number, bytes of an element, PEP 3118 code, kind.
type Row = (&'static str, i32, usize, &'static str, Kind);

impl DType {
    /// Every dtype: bool, integers, floats, complex numbers, each from narrow to wide.
    pub const ALL: [Self; 15] = [
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
        Self::C64,
        Self::C128,
    ];

    /// Returns the row of a dtype.
    ///
    /// NumPy has no bfloat16. `E` is the code of the package ml_dtypes, and 256 is the first number that NumPy assigns to
    /// user-defined types.
    #[rustfmt::skip]
    #[inline]
    const fn row(self) -> Row {
        match self {
            Self::Bool => ("bool",  0,   1, "?",  Kind::Bool),
            Self::I8   => ("i8",    1,   1, "b",  Kind::Signed(8)),
            Self::U8   => ("u8",    2,   1, "B",  Kind::Unsigned(8)),
            Self::I16  => ("i16",   3,   2, "h",  Kind::Signed(16)),
            Self::U16  => ("u16",   4,   2, "H",  Kind::Unsigned(16)),
            Self::I32  => ("i32",   5,   4, "i",  Kind::Signed(32)),
            Self::U32  => ("u32",   6,   4, "I",  Kind::Unsigned(32)),
            Self::I64  => ("i64",   7,   8, "q",  Kind::Signed(64)),
            Self::U64  => ("u64",   8,   8, "Q",  Kind::Unsigned(64)),
            Self::F32  => ("f32",  11,   4, "f",  Kind::Float(32)),
            Self::F64  => ("f64",  12,   8, "d",  Kind::Float(64)),
            Self::C64  => ("c64",  14,   8, "Zf", Kind::Complex(32)),
            Self::C128 => ("c128", 15,  16, "Zd", Kind::Complex(64)),
            Self::F16  => ("f16",  23,   2, "e",  Kind::Float(16)),
            Self::Bf16 => ("bf16", 256,  2, "E",  Kind::Float(16)),
        }
    }

    /// Returns the name, such as `f32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns NumPy's type number, or 256 for bf16, which NumPy does not have.
    #[must_use]
    pub const fn typenum(self) -> i32 {
        self.row().1
    }

    /// Returns the dtype of a NumPy type number.
    #[must_use]
    pub fn from_typenum(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.typenum() == number)
    }

    /// Returns the size of one element in bytes.
    #[must_use]
    #[inline]
    pub const fn itemsize_bytes(self) -> usize {
        self.row().2
    }

    /// Returns the alignment of one element in bytes. For complex numbers it is that of one part.
    #[must_use]
    #[inline]
    pub const fn align_bytes(self) -> usize {
        self.real().row().2
    }

    /// Returns the code in PEP 3118 format strings, such as `d`. For bf16, which has none, it is `E`.
    #[must_use]
    pub const fn pep3118(self) -> &'static str {
        self.row().3
    }

    /// Returns the number of words of an element in [`crate::Array::bits`]: 2 for c128, otherwise 1.
    #[must_use]
    pub const fn words(self) -> usize {
        if self.itemsize_bytes() > 8 { 2 } else { 1 }
    }

    /// Returns whether this is f16, bf16, f32 or f64.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.row().4, Kind::Float(_))
    }

    /// Returns whether this is a signed or unsigned integer. bool does not count.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.row().4, Kind::Signed(_) | Kind::Unsigned(_))
    }

    /// Returns whether this is an unsigned integer. bool does not count.
    #[must_use]
    pub const fn is_unsigned(self) -> bool {
        matches!(self.row().4, Kind::Unsigned(_))
    }

    /// Returns whether this is c64 or c128.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self.row().4, Kind::Complex(_))
    }

    /// Returns the dtype of the parts of a complex number, and any other dtype unchanged.
    #[must_use]
    pub const fn real(self) -> Self {
        match self {
            Self::C64 => Self::F32,
            Self::C128 => Self::F64,
            other => other,
        }
    }

    /// Returns the dtype in which a function such as `exp` is computed. Float and complex dtypes are unchanged. Integers of
    /// 8 and 16 bits become f16 and f32, which hold them exactly, and wider ones become f64. bool becomes f16, as in NumPy.
    #[must_use]
    pub const fn to_inexact(self) -> Self {
        match self.row().4 {
            Kind::Bool | Kind::Signed(8) | Kind::Unsigned(8) => Self::F16,
            Kind::Signed(16) | Kind::Unsigned(16) => Self::F32,
            Kind::Signed(_) | Kind::Unsigned(_) => Self::F64,
            Kind::Float(_) | Kind::Complex(_) => self,
        }
    }

    /// Returns the dtype that all promote to together: NumPy's `result_type` of arrays; `None` for no dtypes. Complex and
    /// float dtypes come first: i16, u16 and c64 give c64, although i16 and u16 give i32, which c64 does not hold.
    #[must_use]
    pub fn upcast_all(dtypes: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut dtypes: Vec<Self> = dtypes.into_iter().collect();
        dtypes.sort_by_key(|dtype| (!dtype.is_complex(), !dtype.is_float()));
        dtypes.into_iter().reduce(Self::upcast)
    }

    /// Returns the dtype that both promote to: NumPy's `result_type` of two arrays. bf16 promotes like f16; together they
    /// give f32.
    ///
    /// # Source
    /// NumPy, `numpy.result_type`; checked against a committed table in the tests of `precast-ops`.
    #[must_use]
    pub fn upcast(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        match (self.row().4, other.row().4) {
            (Kind::Bool, _) => other,
            (_, Kind::Bool) => self,
            (Kind::Complex(_), _) | (_, Kind::Complex(_)) => {
                let part = self.real().upcast(other.real());
                if part == Self::F64 { Self::C128 } else { Self::C64 }
            }
            (Kind::Float(16), Kind::Float(16)) => Self::F32,
            (Kind::Float(a), Kind::Float(b)) => [self, other][usize::from(b > a)],
            (Kind::Float(bits), Kind::Signed(int) | Kind::Unsigned(int)) => self.hold(bits, int),
            (Kind::Signed(int) | Kind::Unsigned(int), Kind::Float(bits)) => other.hold(bits, int),
            (Kind::Signed(a), Kind::Signed(b)) | (Kind::Unsigned(a), Kind::Unsigned(b)) => {
                [self, other][usize::from(b > a)]
            }
            (Kind::Signed(a), Kind::Unsigned(b)) => signed(a, b),
            (Kind::Unsigned(a), Kind::Signed(b)) => signed(b, a),
        }
    }

    /// Returns this float of `bits` bits, or the narrowest wider one that NumPy promotes to for an integer of `int` bits.
    fn hold(self, bits: u32, int: u32) -> Self {
        match (bits, int) {
            (_, 8) | (32 | 64, 16) | (64, _) => self,
            (_, 16) => Self::F32,
            _ => Self::F64,
        }
    }
}

/// Returns the dtype that holds a signed integer of `a` bits and an unsigned one of `b` bits.
fn signed(a: u32, b: u32) -> DType {
    match a.max(2 * b) {
        16 => DType::I16,
        32 => DType::I32,
        64 => DType::I64,
        _ => DType::F64,
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for an unknown dtype name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype `{found}`, expected one of {known}", known = DType::ALL.map(DType::name).join(", "))]
pub struct ParseDTypeError {
    /// The unknown name.
    pub found: String,
}

/// Names of dtypes in NumPy and Python, with ours.
const OTHER_NAMES: [(&str, &str); 18] = [
    ("bool_", "bool"),
    ("int8", "i8"),
    ("uint8", "u8"),
    ("int16", "i16"),
    ("uint16", "u16"),
    ("int32", "i32"),
    ("uint32", "u32"),
    ("int64", "i64"),
    ("uint64", "u64"),
    ("float16", "f16"),
    ("bfloat16", "bf16"),
    ("float32", "f32"),
    ("float64", "f64"),
    ("complex64", "c64"),
    ("complex128", "c128"),
    ("int", "i64"),
    ("float", "f64"),
    ("complex", "c128"),
];

impl FromStr for DType {
    type Err = ParseDTypeError;

    /// Parses a name, ours or NumPy's.
    fn from_str(text: &str) -> Result<Self, ParseDTypeError> {
        let named = |name: &str| Self::ALL.into_iter().find(|dtype| dtype.name() == name);
        let other = || OTHER_NAMES.into_iter().find(|(other, _)| *other == text);
        let found = named(text).or_else(|| named(other()?.1));
        found.ok_or_else(|| ParseDTypeError { found: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_promote_together_as_in_numpy() {
        use DType::{C64, F16, F32, I8, I16, I32, U8, U16};
        // From `numpy.result_type` of NumPy 2.4.
        let cases = [
            ([I16, U16, C64], C64),
            ([U16, C64, I8], C64),
            ([I8, U8, F16], F16),
            ([I16, F16, U16], F32),
            ([F32, U16, I8], F32),
            ([I16, U16, I8], I32),
        ];
        for (dtypes, expected) in cases {
            assert_eq!(DType::upcast_all(dtypes), Some(expected), "{dtypes:?}");
        }
        assert_eq!(DType::upcast_all([]), None);
    }
}
