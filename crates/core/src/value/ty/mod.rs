//! Types of variables: `f64` is a C scalar, `f64[?,1,3]` a tensor, and `double<f64[]>` a user type.
//!
//! An extent is `?` (unknown until run time), `1` (broadcastable) or a fixed n. Types are static knowledge only. At run
//! time, extents declared as `?` follow NumPy's broadcasting rules.

mod declared;
mod parse;
mod user;

pub use declared::DeclaredType;
pub use parse::ParseTypeError;

pub use user::UserType;

use crate::value::dtype::DType;
use std::fmt;

/// The static extent of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extent {
    /// `?`: any number of elements, including 0.
    Unknown,
    /// A fixed number of elements; 1 broadcasts.
    Fixed(u64),
}

impl Extent {
    /// Returns whether a dimension of `n` elements is allowed.
    #[must_use]
    pub fn admits(self, n: u64) -> bool {
        match self {
            Self::Unknown => true,
            Self::Fixed(fixed) => fixed == n,
        }
    }

    /// Returns the extent of two dimensions broadcast together, or `None` if they are incompatible.
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
    /// The extent of each dimension, outermost first.
    pub shape: Vec<Extent>,
}

/// The type of a variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Type {
    /// One number, held in a C variable: `f64`.
    Scalar(DType),
    /// An array: `f64[?,?]`; `f64[]` has no dimensions.
    Tensor(TensorType),
    /// A named type with its own C code: `double<f64[]>`.
    User(UserType),
}

impl Type {
    /// Creates a tensor type with `ndim` unknown extents.
    #[must_use]
    pub fn tensor(dtype: DType, ndim: usize) -> Self {
        Self::Tensor(TensorType { dtype, shape: vec![Extent::Unknown; ndim] })
    }

    /// Returns the dtype of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match self {
            Self::Scalar(dtype) => *dtype,
            Self::Tensor(tensor) => tensor.dtype,
            Self::User(user) => user.carrier().dtype,
        }
    }

    /// Returns the same shape with another dtype. For a user type it is the type of the carrier.
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        match self {
            Self::Scalar(_) => Self::Scalar(dtype),
            other => Self::Tensor(TensorType { dtype, shape: other.shape().to_vec() }),
        }
    }

    /// Returns the same type with all extents unknown, as in keys.
    #[must_use]
    pub fn without_extents(&self) -> Self {
        match self {
            Self::Scalar(dtype) => Self::Scalar(*dtype),
            Self::Tensor(tensor) => Self::tensor(tensor.dtype, tensor.shape.len()),
            Self::User(user) => Self::User(user.without_extents()),
        }
    }

    /// Returns whether a value can have both types. Kind, name, dtype and rank must be equal, and fixed extents must agree.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let agree = |(mine, its): (&Extent, &Extent)| {
            *mine == Extent::Unknown || *its == Extent::Unknown || mine == its
        };
        self.without_extents() == other.without_extents() && self.shape().iter().zip(other.shape()).all(agree)
    }

    /// Returns whether every value of `other` is a value of this type. Kind, name, dtype and rank must be equal, and every
    /// extent must be unknown here or equal.
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

    /// Returns the number of dimensions; 0 for a scalar.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// Returns the extents; empty for a scalar.
    #[must_use]
    pub fn shape(&self) -> &[Extent] {
        match self {
            Self::Scalar(_) => &[],
            Self::Tensor(tensor) => &tensor.shape,
            Self::User(user) => &user.carrier().shape,
        }
    }

    /// Returns the user type, if this is one.
    #[must_use]
    pub fn as_user(&self) -> Option<&UserType> {
        if let Self::User(user) = self { Some(user) } else { None }
    }

    /// Returns whether an array of this dtype and shape is a value of this type. For a user type, the array must be a valid
    /// carrier.
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
