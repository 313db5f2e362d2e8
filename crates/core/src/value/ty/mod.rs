//! Types of variables: `f64` alone is a C scalar, `f64[?,1,3]` a tensor, `double<f64[]>` a type of a user.
//!
//! An extent is `?` (unknown until run time), `1` (broadcastable) or a fixed n. Types are static knowledge only:
//! at run time extents follow NumPy's broadcasting rules, whatever was declared as `?`.

mod parse;
mod user;

pub use parse::ParseTypeError;

pub use user::UserType;

use crate::value::dtype::DType;
use std::fmt;

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
    /// A type that somebody gave a name and C code of its own: `double<f64[]>`.
    User(UserType),
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
            Self::User(user) => user.carrier().dtype,
        }
    }

    /// The same shape with other elements; of a user type, the carrier's.
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        match self {
            Self::Scalar(_) => Self::Scalar(dtype),
            other => Self::Tensor(TensorType { dtype, shape: other.shape().to_vec() }),
        }
    }

    /// The same type with every extent forgotten: what a key sees of it.
    #[must_use]
    pub fn without_extents(&self) -> Self {
        match self {
            Self::Scalar(dtype) => Self::Scalar(*dtype),
            Self::Tensor(tensor) => Self::tensor(tensor.dtype, tensor.shape.len()),
            Self::User(user) => Self::User(user.without_extents()),
        }
    }

    /// Whether every value of `other` is a value of this type: the same kind (and name), dtype and rank, and no extent
    /// fixed that `other` leaves open.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let same_kind = match (self, other) {
            (Self::Scalar(_), Self::Scalar(_)) | (Self::Tensor(_), Self::Tensor(_)) => true,
            (Self::User(a), Self::User(b)) => a.name() == b.name() && a.is_opaque() == b.is_opaque(),
            _ => false,
        };
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
            Self::User(user) => &user.carrier().shape,
        }
    }

    /// The user type that this is, if it is one.
    #[must_use]
    pub fn as_user(&self) -> Option<&UserType> {
        if let Self::User(user) = self { Some(user) } else { None }
    }

    /// Whether an array of this dtype and shape is a value of this type; of a user type, carries one.
    #[must_use]
    pub fn admits(&self, dtype: DType, shape: &[usize]) -> bool {
        dtype == self.dtype()
            && shape.len() == self.ndim()
            && self.shape().iter().zip(shape).all(|(extent, n)| extent.admits(*n as u64))
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        write!(f, "{}[{}]", self.dtype, extents.join(","))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(dtype) => write!(f, "{dtype}"),
            Self::Tensor(tensor) => write!(f, "{tensor}"),
            Self::User(user) => write!(f, "{user}"),
        }
    }
}

impl From<TensorType> for Type {
    fn from(tensor: TensorType) -> Self {
        Self::Tensor(tensor)
    }
}

impl From<UserType> for Type {
    fn from(user: UserType) -> Self {
        Self::User(user)
    }
}
