//! User types: a name, and the tensor that carries the values.
//!
//! What a value means in C is the business of the C side that `precast_codegen::Library` has under the type's name. The
//! graph, keys and callers only see the carrier, so a user type needs nothing new of a host: `double<f64[]>` travels as an
//! `f64[]`. A value of an opaque type, `plan<opaque>`, is an address in the memory of a process; its carrier is a `u64[]`
//! that owns what the address points to. Opaque values live inside a graph, never at its inputs and outputs.

use super::{ParseTypeError, TensorType};
use crate::value::dtype::DType;
use std::fmt;

/// What stands inside the brackets of an opaque type.
pub(super) const OPAQUE: &str = "opaque";

/// The dtype of an address.
const ADDRESS: DType = DType::U64;

/// A named type whose values are carried as tensors.
///
/// # Examples
/// ```
/// use precast_core::{DType, Type, UserType};
///
/// let ty: Type = "double<f64[]>".parse().unwrap();
/// let double = ty.as_user().unwrap();
/// assert_eq!((double.name(), double.carrier().dtype), ("double", DType::F64));
/// assert_eq!(ty.to_string(), "double<f64[]>");
/// assert!(UserType::opaque("plan").unwrap().is_opaque());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserType {
    name: String,
    carrier: TensorType,
    opaque: bool,
}

impl UserType {
    /// A type of this name whose values travel as `carrier`.
    ///
    /// # Errors
    /// [`ParseTypeError::Name`]: names are an ASCII letter or `_`, then letters, digits, `_` and `.`; no dtype's.
    pub fn new(name: &str, carrier: TensorType) -> Result<Self, ParseTypeError> {
        Self { name: name.to_owned(), carrier, opaque: false }.checked()
    }

    /// A type of this name whose values are addresses that the process alone understands.
    ///
    /// # Errors
    /// As [`UserType::new`].
    pub fn opaque(name: &str) -> Result<Self, ParseTypeError> {
        let carrier = TensorType { dtype: ADDRESS, shape: Vec::new() };
        Self { name: name.to_owned(), carrier, opaque: true }.checked()
    }

    fn checked(self) -> Result<Self, ParseTypeError> {
        if is_name(&self.name) {
            return Ok(self);
        }
        Err(ParseTypeError::Name { text: self.to_string(), found: self.name })
    }

    /// The name that a library has the C side under.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tensor that carries a value.
    #[must_use]
    pub fn carrier(&self) -> &TensorType {
        &self.carrier
    }

    /// Whether a value means something in one process only.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.opaque
    }

    pub(super) fn without_extents(&self) -> Self {
        let shape = vec![super::Extent::Unknown; self.carrier.shape.len()];
        Self { carrier: TensorType { dtype: self.carrier.dtype, shape }, ..self.clone() }
    }
}

impl fmt::Display for UserType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.opaque {
            return write!(f, "{}<{OPAQUE}>", self.name);
        }
        write!(f, "{}<{}>", self.name, self.carrier)
    }
}

/// Whether a text can name a user type.
pub(super) fn is_name(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    first && text.bytes().all(part) && text.parse::<DType>().is_err()
}
