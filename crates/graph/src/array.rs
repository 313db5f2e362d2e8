//! A value: an owned n-dimensional array of any dtype.

use crate::dtype::DType;
use crate::ty::Type;
use ndarray::{ArrayD, Dimension, IxDyn};

/// An owned array of any dtype; what `perform` takes and gives, what constants are, and what a call returns.
///
/// # Examples
/// ```
/// use precast_graph::Array;
/// let result = Array::from(ndarray::array![1.0, 2.0]);
/// let numbers: ndarray::ArrayD<f64> = result.try_into()?;
/// assert_eq!(numbers[1], 2.0);
/// # Ok::<(), precast_graph::OtherDTypeError>(())
/// ```
///
/// Two arrays are equal when dtype, shape and the bits of every element are: a NaN equals itself, and 0 differs from −0.
/// The layout in memory does not count.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Array {
    /// Truth values.
    Bool(ArrayD<bool>),
    /// 64-bit signed integers.
    I64(ArrayD<i64>),
    /// 32-bit floats.
    F32(ArrayD<f32>),
    /// 64-bit floats.
    F64(ArrayD<f64>),
}

/// Runs the same expression for the array of whichever dtype an [`Array`] holds.
///
/// # Examples
/// ```
/// use precast_graph::{Array, with_array};
/// let a = Array::from(1.5_f64);
/// assert_eq!(with_array!(&a, x => x.len()), 1);
/// ```
#[macro_export]
macro_rules! with_array {
    ($array:expr, $name:ident => $body:expr) => {
        match $array {
            $crate::Array::Bool($name) => $body,
            $crate::Array::I64($name) => $body,
            $crate::Array::F32($name) => $body,
            $crate::Array::F64($name) => $body,
            #[allow(unreachable_patterns, reason = "only reachable from other crates")]
            _ => unreachable!("every dtype is listed"),
        }
    };
}

impl Array {
    /// Type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::I64(_) => DType::I64,
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
        }
    }

    /// The extents, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        with_array!(self, a => a.shape())
    }

    /// The exact type of this value: every extent fixed.
    #[must_use]
    pub fn ty(&self) -> Type {
        let shape = self.shape().iter().map(|n| crate::ty::Extent::Fixed(*n as u64)).collect();
        Type::Tensor(crate::ty::TensorType { dtype: self.dtype(), shape })
    }

    /// An array of zeros.
    #[must_use]
    pub fn zeros(dtype: DType, shape: &[usize]) -> Self {
        let shape = IxDyn(shape);
        match dtype {
            DType::Bool => Self::Bool(ArrayD::from_elem(shape, false)),
            DType::I64 => Self::I64(ArrayD::zeros(shape)),
            DType::F32 => Self::F32(ArrayD::zeros(shape)),
            DType::F64 => Self::F64(ArrayD::zeros(shape)),
        }
    }

    /// The elements in C order, as bits: integers as they are, floats by `to_bits`, so that NaN and −0 count.
    #[must_use]
    pub fn bits(&self) -> Vec<u64> {
        match self {
            Self::Bool(a) => a.iter().map(|x| u64::from(*x)).collect(),
            Self::I64(a) => a.iter().map(|x| x.cast_unsigned()).collect(),
            Self::F32(a) => a.iter().map(|x| u64::from(x.to_bits())).collect(),
            Self::F64(a) => a.iter().map(|x| x.to_bits()).collect(),
        }
    }

    /// The array of a dtype, shape and the bits of [`Array::bits`]; `None` if their number does not fit the shape.
    #[must_use]
    pub fn from_bits(dtype: DType, shape: &[usize], bits: &[u64]) -> Option<Self> {
        let shape = IxDyn(shape);
        Some(match dtype {
            DType::Bool => Self::Bool(ArrayD::from_shape_vec(shape, map(bits, |b| b != 0)).ok()?),
            DType::I64 => Self::I64(ArrayD::from_shape_vec(shape, map(bits, u64::cast_signed)).ok()?),
            DType::F32 => {
                let float = |b: u64| f32::from_bits((b & u64::from(u32::MAX)) as u32);
                Self::F32(ArrayD::from_shape_vec(shape, map(bits, float)).ok()?)
            }
            DType::F64 => Self::F64(ArrayD::from_shape_vec(shape, map(bits, f64::from_bits)).ok()?),
        })
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        self.dtype() == other.dtype() && self.shape() == other.shape() && self.bits() == other.bits()
    }
}

impl Eq for Array {}

fn map<T>(bits: &[u64], convert: impl Fn(u64) -> T) -> Vec<T> {
    bits.iter().map(|b| convert(*b)).collect()
}

/// An array that was to be taken as another dtype than it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the array is `{found}`, expected `{expected}`")]
pub struct OtherDTypeError {
    /// What was asked for.
    pub expected: DType,
    /// What it is.
    pub found: DType,
}

macro_rules! conversions {
    ($($element:ty => $variant:ident),*) => {$(
        impl<D: Dimension> From<ndarray::Array<$element, D>> for Array {
            fn from(array: ndarray::Array<$element, D>) -> Self {
                Self::$variant(array.into_dyn())
            }
        }

        impl TryFrom<Array> for ArrayD<$element> {
            type Error = OtherDTypeError;

            fn try_from(array: Array) -> Result<Self, OtherDTypeError> {
                match array {
                    Array::$variant(array) => Ok(array),
                    other => Err(OtherDTypeError { expected: DType::$variant, found: other.dtype() }),
                }
            }
        }

        impl From<$element> for Array {
            fn from(value: $element) -> Self {
                Self::$variant(ndarray::arr0(value).into_dyn())
            }
        }
    )*};
}
conversions!(bool => Bool, i64 => I64, f32 => F32, f64 => F64);
