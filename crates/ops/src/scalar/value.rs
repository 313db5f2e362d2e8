//! One element of any dtype, and arrays as streams of them: what naive `perform`s work on.

use ndarray::{ArrayD, IxDyn};
use precast_graph::{Array, DType, with_array};

/// One element.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Truth value.
    Bool(bool),
    /// 64-bit integer.
    I64(i64),
    /// 32-bit float.
    F32(f32),
    /// 64-bit float.
    F64(f64),
}

impl Value {
    /// Type of the element.
    #[must_use]
    pub fn dtype(self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::I64(_) => DType::I64,
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
        }
    }

    /// Converts as `pc_cast_<from>_<to>` does: to bool is `!= 0`, float to integer saturates, NaN becomes 0.
    #[must_use]
    pub fn cast(self, to: DType) -> Self {
        macro_rules! from {
            ($x:expr, $is:expr) => {
                match to {
                    DType::Bool => Self::Bool($is),
                    DType::I64 => Self::I64($x as i64),
                    DType::F32 => Self::F32($x as f32),
                    DType::F64 => Self::F64($x as f64),
                }
            };
        }
        match self {
            Self::Bool(x) => from!(i64::from(x), x),
            Self::I64(x) => from!(x, x != 0),
            Self::F32(x) => from!(x, x != 0.0),
            Self::F64(x) => from!(x, x != 0.0),
        }
    }
}

macro_rules! conversions {
    ($($element:ty => $variant:ident),*) => {$(
        impl From<$element> for Value {
            fn from(x: $element) -> Self {
                Self::$variant(x)
            }
        }
    )*};
}
conversions!(bool => Bool, i64 => I64, f32 => F32, f64 => F64);

/// The elements of an array broadcast to `shape`, in C order; `None` if that cannot be.
pub(crate) fn elements(array: &Array, shape: &[usize]) -> Option<Vec<Value>> {
    let shape = IxDyn(shape);
    Some(with_array!(array, a => a.broadcast(shape)?.iter().map(|x| Value::from(*x)).collect()))
}

/// An array of one dtype from its elements in C order. Elements of another dtype are converted.
pub(crate) fn collect(dtype: DType, shape: &[usize], elements: &[Value]) -> Option<Array> {
    macro_rules! array {
        ($variant:ident, $element:ty) => {{
            let all = elements.iter().map(|v| match v.cast(dtype) {
                Value::$variant(x) => x,
                _ => <$element>::default(),
            });
            Array::from(ArrayD::from_shape_vec(IxDyn(shape), all.collect::<Vec<$element>>()).ok()?)
        }};
    }
    Some(match dtype {
        DType::Bool => array!(Bool, bool),
        DType::I64 => array!(I64, i64),
        DType::F32 => array!(F32, f32),
        DType::F64 => array!(F64, f64),
    })
}
