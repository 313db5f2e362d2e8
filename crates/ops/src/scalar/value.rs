//! One element of any dtype, and arrays as streams of them: what naive `perform`s work on.

use ndarray::{ArrayD, IxDyn};
use precast_graph::{Array, Complex, DType, bf16, f16, for_each_dtype, with_array};

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

/// A number on its way from one dtype to another, without loss.
#[derive(Clone, Copy)]
enum Exact {
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Value {
    /// Converts as `pc_cast_<from>_<to>` does: to bool is `!= 0`; integers keep their low bits; float to integer
    /// truncates and saturates, NaN becomes 0; to a float rounds once, to nearest; complex to real drops the imaginary part.
    #[must_use]
    pub fn cast(self, to: DType) -> Self {
        if self.dtype() == to {
            return self;
        }
        match self.exact() {
            Exact::Int(x) => from_int(x, to),
            Exact::Float(x) => from_float(x, 0.0, to),
            Exact::Complex(re, im) => from_float(re, im, to),
        }
    }

    fn exact(self) -> Exact {
        match self {
            Self::Bool(x) => Exact::Int(x.into()),
            Self::I8(x) => Exact::Int(x.into()),
            Self::I16(x) => Exact::Int(x.into()),
            Self::I32(x) => Exact::Int(x.into()),
            Self::I64(x) => Exact::Int(x.into()),
            Self::U8(x) => Exact::Int(x.into()),
            Self::U16(x) => Exact::Int(x.into()),
            Self::U32(x) => Exact::Int(x.into()),
            Self::U64(x) => Exact::Int(x.into()),
            Self::F16(x) => Exact::Float(x.into()),
            Self::Bf16(x) => Exact::Float(x.into()),
            Self::F32(x) => Exact::Float(x.into()),
            Self::F64(x) => Exact::Float(x),
            Self::C64(x) => Exact::Complex(x.re.into(), x.im.into()),
            Self::C128(x) => Exact::Complex(x.re, x.im),
        }
    }
}

/// An integer in another dtype. 16-bit floats are reached through f32, as their arithmetic is.
fn from_int(x: i128, to: DType) -> Value {
    match to {
        DType::Bool => Value::Bool(x != 0),
        DType::I8 => Value::I8(x as i8),
        DType::I16 => Value::I16(x as i16),
        DType::I32 => Value::I32(x as i32),
        DType::I64 => Value::I64(x as i64),
        DType::U8 => Value::U8(x as u8),
        DType::U16 => Value::U16(x as u16),
        DType::U32 => Value::U32(x as u32),
        DType::U64 => Value::U64(x as u64),
        DType::F16 => Value::F16(f16::from_f32(x as f32)),
        DType::Bf16 => Value::Bf16(bf16::from_f32(x as f32)),
        DType::F32 => Value::F32(x as f32),
        DType::F64 => Value::F64(x as f64),
        DType::C64 => Value::C64(Complex::new(x as f32, 0.0)),
        DType::C128 => Value::C128(Complex::new(x as f64, 0.0)),
    }
}

/// A float or complex number in another dtype.
fn from_float(re: f64, im: f64, to: DType) -> Value {
    match to {
        DType::Bool => Value::Bool(re != 0.0 || im != 0.0),
        DType::I8 => Value::I8(re as i8),
        DType::I16 => Value::I16(re as i16),
        DType::I32 => Value::I32(re as i32),
        DType::I64 => Value::I64(re as i64),
        DType::U8 => Value::U8(re as u8),
        DType::U16 => Value::U16(re as u16),
        DType::U32 => Value::U32(re as u32),
        DType::U64 => Value::U64(re as u64),
        DType::F16 => Value::F16(f16::from_f64(re)),
        DType::Bf16 => Value::Bf16(bf16::from_f64(re)),
        DType::F32 => Value::F32(re as f32),
        DType::F64 => Value::F64(re),
        DType::C64 => Value::C64(Complex::new(re as f32, im as f32)),
        DType::C128 => Value::C128(Complex::new(re, im)),
    }
}

/// The elements of an array broadcast to `shape`, in C order; `None` if that cannot be.
pub(crate) fn elements(array: &Array, shape: &[usize]) -> Option<Vec<Value>> {
    let shape = IxDyn(shape);
    Some(with_array!(array, a => a.broadcast(shape)?.iter().map(|x| Value::from(*x)).collect()))
}
