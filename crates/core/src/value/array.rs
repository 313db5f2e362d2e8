//! An owned n-dimensional array of any dtype.

use crate::value::dtype::DType;
use crate::value::element::Element;
use crate::value::ty::Type;
use ndarray::{ArrayD, Dimension, IxDyn};

macro_rules! array {
    ($($variant:ident => $element:ty),*) => {
        /// An owned array of any dtype. It holds constants, the arguments and results of `perform`, and the results of
        /// calls.
        ///
        /// # Examples
        /// ```
        /// use precast_core::Array;
        /// let result = Array::from(ndarray::array![1.0, 2.0]);
        /// let numbers: ndarray::ArrayD<f64> = result.try_into()?;
        /// assert_eq!(numbers[1], 2.0);
        /// # Ok::<(), precast_core::OtherDTypeError>(())
        /// ```
        ///
        /// Two arrays are equal if dtype, shape and the bits of every element are equal. So a NaN equals itself, and 0
        /// differs from −0. The memory layout does not matter.
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum Array {
            $(
                #[doc = concat!("Elements of `", stringify!($element), "`.")]
                $variant(ArrayD<$element>),
            )*
        }

        impl Array {
            /// Returns the dtype of the elements.
            #[must_use]
            pub fn dtype(&self) -> DType {
                match self {
                    $(Self::$variant(_) => DType::$variant,)*
                }
            }

            /// Creates an array of zeros.
            #[must_use]
            pub fn zeros(dtype: DType, shape: &[usize]) -> Self {
                let shape = IxDyn(shape);
                match dtype {
                    $(DType::$variant => Self::$variant(ArrayD::from_elem(shape, <$element>::default())),)*
                }
            }

            /// Creates an array from the bits that [`Array::bits`] returned. Returns `None` if their number does not match
            /// the shape.
            #[must_use]
            pub fn from_bits(dtype: DType, shape: &[usize], bits: &[u64]) -> Option<Self> {
                match dtype {
                    $(DType::$variant => from_bits::<$element>(shape, bits).map(Self::$variant),)*
                }
            }
        }

        $(
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
                    Self::$variant(ArrayD::from_elem(IxDyn(&[]), value))
                }
            }
        )*
    };
}
crate::for_each_dtype!(array);

/// Evaluates an expression with the inner typed array of an [`Array`], whatever its dtype.
///
/// # Examples
/// ```
/// use precast_core::{Array, with_array};
/// let a = Array::from(1.5_f64);
/// assert_eq!(with_array!(&a, x => x.len()), 1);
/// ```
#[macro_export]
macro_rules! with_array {
    ($array:expr, $name:ident => $body:expr) => {
        match $array {
            $crate::Array::Bool($name) => $body,
            $crate::Array::I8($name) => $body,
            $crate::Array::I16($name) => $body,
            $crate::Array::I32($name) => $body,
            $crate::Array::I64($name) => $body,
            $crate::Array::U8($name) => $body,
            $crate::Array::U16($name) => $body,
            $crate::Array::U32($name) => $body,
            $crate::Array::U64($name) => $body,
            $crate::Array::F16($name) => $body,
            $crate::Array::Bf16($name) => $body,
            $crate::Array::F32($name) => $body,
            $crate::Array::F64($name) => $body,
            $crate::Array::C64($name) => $body,
            $crate::Array::C128($name) => $body,
            #[allow(unreachable_patterns, reason = "only reachable from other crates")]
            _ => unreachable!("every dtype is listed"),
        }
    };
}

impl Array {
    /// Returns the extents, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        with_array!(self, a => a.shape())
    }

    /// Returns the exact type, with all extents fixed.
    #[must_use]
    pub fn ty(&self) -> Type {
        let shape = self.shape().iter().map(|n| crate::value::ty::Extent::Fixed(*n as u64)).collect();
        Type::Tensor(crate::value::ty::TensorType { dtype: self.dtype(), shape })
    }

    /// Returns the bits of the elements in C order ([`Element::bits`]), with [`DType::words`] words for each.
    #[must_use]
    pub fn bits(&self) -> Vec<u64> {
        let words = self.dtype().words();
        let mut bits = Vec::with_capacity(self.shape().iter().product::<usize>() * words);
        with_array!(self, a => a.iter().for_each(|x| bits.extend_from_slice(&x.bits()[..words])));
        bits
    }
}

fn from_bits<T: Element>(shape: &[usize], bits: &[u64]) -> Option<ArrayD<T>> {
    let words = T::DTYPE.words();
    if !bits.len().is_multiple_of(words) {
        return None;
    }
    let elements =
        bits.chunks_exact(words).map(|word| T::from_bits([word[0], word.get(1).copied().unwrap_or(0)]));
    ArrayD::from_shape_vec(IxDyn(shape), elements.collect()).ok()
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        self.dtype() == other.dtype() && self.shape() == other.shape() && self.bits() == other.bits()
    }
}

impl Eq for Array {}

/// The error for an array that does not have the requested dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the array has type `{found}`, expected `{expected}`")]
pub struct OtherDTypeError {
    /// The requested dtype.
    pub expected: DType,
    /// The dtype of the array.
    pub found: DType,
}
