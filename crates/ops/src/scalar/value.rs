//! Single elements of any dtype, and arrays as streams of them, for naive `perform`s.

use ndarray::{ArrayD, IxDyn};
use precast_graph::{Array, Convert, DType, Number, for_each_dtype, with_array};

macro_rules! value {
    ($($variant:ident => $element:ty),*) => {
        /// One element of an array.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub enum Value {
            $(
                #[doc = concat!("A `", stringify!($element), "`.")]
                $variant($element),
            )*
        }

        impl Value {
            /// Returns the dtype of the element.
            #[must_use]
            pub fn dtype(self) -> DType {
                match self {
                    $(Self::$variant(_) => DType::$variant,)*
                }
            }

            /// Returns the element as a number.
            #[must_use]
            pub fn number(self) -> Number {
                match self {
                    $(Self::$variant(x) => x.number(),)*
                }
            }

            /// Converts like `pc_cast_<from>_<to>`. A cast to bool tests `!= 0`; integers keep their low bits. A cast
            /// from float to integer truncates and saturates, and converts NaN to 0. A cast to a float rounds once,
            /// to nearest, and a cast from complex to real drops the imaginary part.
            #[must_use]
            pub fn cast(self, to: DType) -> Self {
                let number = self.number();
                match to {
                    _ if self.dtype() == to => self,
                    $(DType::$variant => Self::$variant(<$element>::from_number(number)),)*
                }
            }

            /// Returns an array without dimensions that holds this element.
            #[must_use]
            pub fn into_array(self) -> Array {
                match self {
                    $(Self::$variant(x) => Array::from(x),)*
                }
            }
        }

        $(
            impl From<$element> for Value {
                fn from(x: $element) -> Self {
                    Self::$variant(x)
                }
            }
        )*

        /// Creates an array of one dtype from its elements in C order. Elements of another dtype are converted.
        pub(crate) fn collect(dtype: DType, shape: &[usize], elements: &[Value]) -> Option<Array> {
            match dtype {
                $(DType::$variant => {
                    let all = elements.iter().map(|v| match v.cast(dtype) {
                        Value::$variant(x) => x,
                        _ => <$element>::default(),
                    });
                    ArrayD::from_shape_vec(IxDyn(shape), all.collect::<Vec<$element>>()).ok().map(Array::$variant)
                })*
            }
        }
    };
}
for_each_dtype!(value);

/// Returns the elements of an array broadcast to `shape`, in C order; `None` if the shapes are incompatible.
pub(crate) fn elements(array: &Array, shape: &[usize]) -> Option<Vec<Value>> {
    let shape = IxDyn(shape);
    Some(with_array!(array, a => a.broadcast(shape)?.iter().map(|x| Value::from(*x)).collect()))
}
