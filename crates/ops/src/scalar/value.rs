//! One element of any dtype, and arrays as streams of them: what naive `perform`s work on.

use ndarray::{ArrayD, IxDyn};
use precast_graph::{Array, Convert, DType, Number, for_each_dtype, with_array};

macro_rules! value {
    ($($variant:ident => $element:ty),*) => {
        /// One element.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub enum Value {
            $(
                #[doc = concat!("A `", stringify!($element), "`.")]
                $variant($element),
            )*
        }

        impl Value {
            /// Type of the element.
            #[must_use]
            pub fn dtype(self) -> DType {
                match self {
                    $(Self::$variant(_) => DType::$variant,)*
                }
            }

            /// The number that the element is.
            #[must_use]
            pub fn number(self) -> Number {
                match self {
                    $(Self::$variant(x) => x.number(),)*
                }
            }

            /// Converts as `pc_cast_<from>_<to>` does: to bool is `!= 0`; integers keep their low bits; float to integer
            /// truncates and saturates, NaN becomes 0; to a float rounds once, to nearest; complex to real drops the
            /// imaginary part.
            #[must_use]
            pub fn cast(self, to: DType) -> Self {
                let number = self.number();
                match to {
                    _ if self.dtype() == to => self,
                    $(DType::$variant => Self::$variant(<$element>::from_number(number)),)*
                }
            }

            /// The array without dimensions that holds this element.
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

        /// An array of one dtype from its elements in C order. Elements of another dtype are converted.
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

/// The elements of an array broadcast to `shape`, in C order; `None` if that cannot be.
pub(crate) fn elements(array: &Array, shape: &[usize]) -> Option<Vec<Value>> {
    let shape = IxDyn(shape);
    Some(with_array!(array, a => a.broadcast(shape)?.iter().map(|x| Value::from(*x)).collect()))
}
