//! User types: named types whose values are carried by tensors.
//!
//! `precast_codegen::Library` has C code under the type's name, which defines the meaning of a value in C. Graphs, keys and
//! callers see only the carrier, so hosts need no support for user types: `double<f64[]>` is passed as an `f64[]`. A value
//! of an opaque type, `plan<opaque>`, is an address in the memory of the process. Its carrier is a `u64[]` that owns the
//! object at that address. Opaque values exist only inside a graph, never as its inputs or outputs.

use super::{ParseTypeError, TensorType};
use crate::value::dtype::DType;
use std::fmt;

/// The text in the brackets of an opaque type.
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
    /// Creates a type whose values are carried by `carrier`.
    ///
    /// # Errors
    /// [`ParseTypeError::Name`]: a name is an ASCII letter or `_`, followed by letters, digits, `_` and `.`, and is not a dtype.
    pub fn new(name: &str, carrier: TensorType) -> Result<Self, ParseTypeError> {
        Self { name: name.to_owned(), carrier, opaque: false }.checked()
    }

    /// Creates a type whose values are addresses in the process.
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

    /// Returns the name, under which a library has the C code.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the tensor type that carries a value.
    #[must_use]
    pub fn carrier(&self) -> &TensorType {
        &self.carrier
    }

    /// Returns whether values are valid only in their process.
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

/// Returns whether a text can name a user type.
pub(super) fn is_name(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    first && text.bytes().all(part) && text.parse::<DType>().is_err()
}
