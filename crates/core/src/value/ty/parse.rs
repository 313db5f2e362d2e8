//! Parses types from their text form.

use super::{Extent, TensorType, Type, UserType, user};
use crate::names::excerpt;
use crate::value::dtype::ParseDTypeError;
use precast_abi::tensor::MAX_NDIM;
use std::str::FromStr;

/// The reason why a text is not a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTypeError {
    /// The dtype is unknown.
    #[error("invalid type `{text}`")]
    DType {
        /// The whole text.
        text: String,
        /// The error of the dtype.
        source: ParseDTypeError,
    },
    /// An extent is neither `?` nor a number, nor a name where names are allowed.
    #[error(
        "invalid type `{}`: invalid extent `{}`, expected `?`, a number, or a name \
         in the type of an input or output",
        excerpt(text),
        excerpt(found)
    )]
    Extent {
        /// The whole text.
        text: String,
        /// The extent.
        found: String,
    },
    /// The brackets do not match.
    #[error("invalid type `{text}`: expected `dtype[extent,…]`, `dtype` or `name<dtype[extent,…]>`")]
    Brackets {
        /// The whole text.
        text: String,
    },
    /// The type has more dimensions than the ABI supports.
    #[error("invalid type `{text}`: found {found} dimensions, expected at most {MAX_NDIM}")]
    Rank {
        /// The whole text.
        text: String,
        /// Its number of dimensions.
        found: usize,
    },
    /// The name of a user type is invalid.
    #[error(
        "invalid type `{text}`: invalid name `{found}` of a user type, expected an ASCII letter or `_`, then letters, \
         digits, `_` and `.`, and not a dtype"
    )]
    Name {
        /// The whole text.
        text: String,
        /// The name.
        found: String,
    },
    /// The text between `<` and `>` is not a carrier of a user type.
    #[error(
        "invalid type `{text}`: expected `name<dtype[extent,…]>` or `name<opaque>`, found `{found}` inside"
    )]
    Carrier {
        /// The whole text.
        text: String,
        /// The text between the brackets.
        found: String,
    },
}

impl FromStr for Type {
    type Err = ParseTypeError;

    fn from_str(text: &str) -> Result<Self, ParseTypeError> {
        let whole = text.trim();
        if whole.contains(['<', '>']) {
            return parse_user(whole).map(Self::User);
        }
        let (dtype, extents) = match whole.split_once('[') {
            None => (whole, None),
            Some((dtype, rest)) => match rest.strip_suffix(']') {
                Some(extents) => (dtype, Some(extents)),
                None => return Err(ParseTypeError::Brackets { text: whole.to_owned() }),
            },
        };
        let unknown = |source| ParseTypeError::DType { text: whole.to_owned(), source };
        let dtype = dtype.trim().parse().map_err(unknown)?;
        match extents {
            None => Ok(Self::Scalar(dtype)),
            Some(extents) => Ok(Self::Tensor(TensorType { dtype, shape: parse_extents(extents, whole)? })),
        }
    }
}

/// Parses `double<f64[]>` and `plan<opaque>`.
fn parse_user(whole: &str) -> Result<UserType, ParseTypeError> {
    let brackets = || ParseTypeError::Brackets { text: whole.to_owned() };
    let (name, rest) = whole.split_once('<').ok_or_else(brackets)?;
    let inside = rest.strip_suffix('>').ok_or_else(brackets)?.trim();
    let name = name.trim();
    if !user::is_name(name) {
        return Err(ParseTypeError::Name { text: whole.to_owned(), found: name.to_owned() });
    }
    if inside == user::OPAQUE {
        return UserType::opaque(name);
    }
    // A carrier is a tensor, so nested brackets are rejected without recursion.
    let nested = inside.contains(['<', '>']);
    match if nested { None } else { Some(inside.parse()?) } {
        Some(Type::Tensor(carrier)) => UserType::new(name, carrier),
        _ => Err(ParseTypeError::Carrier { text: whole.to_owned(), found: inside.to_owned() }),
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
