//! Parses declarations of inputs: `x: f64[?]`, or `x=f64[?]` on a command line.

use super::lex::is_name;
use crate::{ParseTypeError, Type};
use precast_core::names::{check_name, excerpt};

/// Why a text does not declare an input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseInputError {
    /// The text contains neither `:` nor `=`.
    #[error("invalid input `{}`: expected `name: type` or `name=type`, as in `x: f64[?]`", excerpt(text))]
    Form {
        /// The text.
        text: String,
    },
    /// The name is not valid in an expression.
    #[error(
        "invalid input name `{}` in `{}`: expected 1 to 255 bytes of letters, digits and `_`, and not a keyword",
        excerpt(name),
        excerpt(text)
    )]
    Name {
        /// The text.
        text: String,
        /// The name.
        name: String,
    },
    /// Invalid type.
    #[error("cannot parse the type of input `{name}`")]
    Type {
        /// The input.
        name: String,
        /// Why the type is invalid.
        source: ParseTypeError,
    },
}

/// Parses the declaration of an input.
///
/// # Errors
/// A text of another form, a name that is not valid in an expression, or an invalid type.
///
/// # Examples
/// ```
/// use precast_graph::text::parse_input;
///
/// let (name, ty) = parse_input("x: f64[?,1]").unwrap();
/// assert_eq!((name.as_str(), ty.to_string().as_str()), ("x", "f64[?,1]"));
/// assert_eq!(parse_input("x=f64[?,1]").unwrap(), (name, ty));
/// ```
pub fn parse_input(text: &str) -> Result<(String, Type), ParseInputError> {
    let Some((name, ty)) = text.split_once([':', '=']) else {
        return Err(ParseInputError::Form { text: text.to_owned() });
    };
    let name = name.trim().to_owned();
    if !is_name(&name) || check_name(&name).is_err() {
        return Err(ParseInputError::Name { text: text.to_owned(), name });
    }
    match ty.parse() {
        Ok(ty) => Ok((name, ty)),
        Err(source) => Err(ParseInputError::Type { name, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::{ParseInputError, parse_input};

    #[test]
    fn malformed_declarations_are_rejected() {
        assert!(matches!(parse_input("x f64"), Err(ParseInputError::Form { .. })));
        for text in [": f64", "2x: f64", "x y: f64", "True: f64", "lambda = f64", "x-y: f64"] {
            assert!(matches!(parse_input(text), Err(ParseInputError::Name { .. })), "{text}");
        }
        for text in ["x:", "x: f65", "x: f64[", "x: f64[a]", "x = y = f64"] {
            assert!(matches!(parse_input(text), Err(ParseInputError::Type { .. })), "{text}");
        }
    }
}
