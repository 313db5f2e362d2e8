//! Types of variables: `f64` alone is a C scalar, `f64[?,1,3]` a tensor.
//!
//! An extent is `?` (unknown until run time), `1` (broadcastable) or a fixed n. Types are static knowledge only:
//! at run time extents follow NumPy's broadcasting rules, whatever was declared as `?`.

use crate::dtype::{DType, ParseDTypeError};
use std::fmt;
use std::str::FromStr;

/// What is known of one dimension before run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extent {
    /// `?`: anything from 0 up.
    Unknown,
    /// A fixed number of elements; 1 broadcasts.
    Fixed(u64),
}

impl Extent {
    /// Whether a dimension of `n` elements is allowed here.
    #[must_use]
    pub fn admits(self, n: u64) -> bool {
        match self {
            Self::Unknown => true,
            Self::Fixed(fixed) => fixed == n,
        }
    }

    /// The extent of two dimensions broadcast together; `None` if they cannot be.
    #[must_use]
    pub fn broadcast(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Fixed(1), e) | (e, Self::Fixed(1)) => Some(e),
            (Self::Unknown, e) | (e, Self::Unknown) => Some(e),
            (Self::Fixed(a), Self::Fixed(b)) => (a == b).then_some(self),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("?"),
            Self::Fixed(n) => write!(f, "{n}"),
        }
    }
}

/// A strided array of one dtype.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorType {
    /// Type of the elements.
    pub dtype: DType,
    /// What is known of each dimension, outermost first.
    pub shape: Vec<Extent>,
}

/// What a variable may hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Type {
    /// One number, held in a C variable: `f64`.
    Scalar(DType),
    /// An array: `f64[?,?]`; `f64[]` has no dimensions.
    Tensor(TensorType),
}

impl Type {
    /// A tensor whose `ndim` extents are unknown.
    #[must_use]
    pub fn tensor(dtype: DType, ndim: usize) -> Self {
        Self::Tensor(TensorType { dtype, shape: vec![Extent::Unknown; ndim] })
    }

    /// Type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match self {
            Self::Scalar(dtype) => *dtype,
            Self::Tensor(tensor) => tensor.dtype,
        }
    }

    /// The same shape with other elements.
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        match self {
            Self::Scalar(_) => Self::Scalar(dtype),
            Self::Tensor(tensor) => Self::Tensor(TensorType { dtype, shape: tensor.shape.clone() }),
        }
    }

    /// The same type with every extent forgotten: what a key sees of it.
    #[must_use]
    pub fn without_extents(&self) -> Self {
        match self {
            Self::Scalar(dtype) => Self::Scalar(*dtype),
            Self::Tensor(tensor) => Self::tensor(tensor.dtype, tensor.shape.len()),
        }
    }

    /// Whether every value of `other` is a value of this type: the same kind, dtype and rank, and no extent fixed that
    /// `other` leaves open.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let same_kind = matches!(self, Self::Scalar(_)) == matches!(other, Self::Scalar(_));
        let extents = self.shape().iter().zip(other.shape());
        same_kind
            && self.dtype() == other.dtype()
            && self.ndim() == other.ndim()
            && extents.into_iter().all(|(mine, its)| *mine == Extent::Unknown || mine == its)
    }

    /// Number of dimensions; 0 for a scalar.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// The extents; none for a scalar.
    #[must_use]
    pub fn shape(&self) -> &[Extent] {
        match self {
            Self::Scalar(_) => &[],
            Self::Tensor(tensor) => &tensor.shape,
        }
    }

    /// Whether an array of this dtype and shape is a value of this type.
    #[must_use]
    pub fn admits(&self, dtype: DType, shape: &[usize]) -> bool {
        dtype == self.dtype()
            && shape.len() == self.ndim()
            && self.shape().iter().zip(shape).all(|(extent, n)| extent.admits(*n as u64))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dtype())?;
        if let Self::Tensor(tensor) = self {
            let extents: Vec<String> = tensor.shape.iter().map(ToString::to_string).collect();
            write!(f, "[{}]", extents.join(","))?;
        }
        Ok(())
    }
}

/// A type in text form that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTypeError {
    /// The dtype is not one.
    #[error("in type `{text}`")]
    DType {
        /// The whole type.
        text: String,
        /// What was wrong with its dtype.
        source: ParseDTypeError,
    },
    /// An extent is neither `?` nor a number.
    #[error("in type `{text}`: extent `{found}` is neither `?` nor a number")]
    Extent {
        /// The whole type.
        text: String,
        /// The extent.
        found: String,
    },
    /// The brackets do not match.
    #[error("in type `{text}`: expected `dtype[extent,…]` or `dtype`")]
    Brackets {
        /// The whole type.
        text: String,
    },
    /// More dimensions than the ABI carries.
    #[error("type `{text}` has {found} dimensions; at most {MAX_NDIM} are supported")]
    Rank {
        /// The whole type.
        text: String,
        /// Its number of dimensions.
        found: usize,
    },
}

/// Most dimensions a tensor may have; the ABI's `PC_MAX_NDIM`.
pub(crate) const MAX_NDIM: usize = 32;

impl FromStr for Type {
    type Err = ParseTypeError;

    fn from_str(text: &str) -> Result<Self, ParseTypeError> {
        let whole = text.trim().to_owned();
        let (dtype, extents) = match whole.split_once('[') {
            None => (whole.as_str(), None),
            Some((dtype, rest)) => match rest.strip_suffix(']') {
                Some(extents) => (dtype, Some(extents)),
                None => return Err(ParseTypeError::Brackets { text: whole }),
            },
        };
        let dtype = match dtype.trim().parse() {
            Ok(dtype) => dtype,
            Err(source) => return Err(ParseTypeError::DType { text: whole, source }),
        };
        match extents {
            None => Ok(Self::Scalar(dtype)),
            Some(extents) => Ok(Self::Tensor(TensorType { dtype, shape: parse_extents(extents, &whole)? })),
        }
    }
}

fn parse_extents(extents: &str, whole: &str) -> Result<Vec<Extent>, ParseTypeError> {
    if extents.trim().is_empty() {
        return Ok(Vec::new());
    }
    let parse = |found: &str| match found.trim() {
        "?" => Ok(Extent::Unknown),
        n => n
            .parse()
            .map(Extent::Fixed)
            .map_err(|_| ParseTypeError::Extent { text: whole.to_owned(), found: n.to_owned() }),
    };
    let shape = extents.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
    if shape.len() > MAX_NDIM {
        return Err(ParseTypeError::Rank { text: whole.to_owned(), found: shape.len() });
    }
    Ok(shape)
}
