//! Parses declarations of inputs: `x: f64[?]`, or `x=f64[?]` on a command line.

use super::lex::is_name;
use crate::{DeclaredType, ParseTypeError};
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
    /// The name of an extent is not valid in an expression.
    #[error(
        "invalid extent name `{name}` of input `{input}`: expected letters, digits and `_`, and not a keyword"
    )]
    Extent {
        /// The input.
        input: String,
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

/// Parses the declaration of an input. Extents can have names, as in `x: f64[n,3]`.
///
/// # Errors
/// A text of another form, a name of an input or an extent that is not valid in an expression, or an invalid type.
///
/// # Examples
/// ```
/// use precast_graph::text::parse_input;
///
/// let (name, ty) = parse_input("x: f64[n,1]").unwrap();
/// assert_eq!((name.as_str(), ty.to_string().as_str()), ("x", "f64[n,1]"));
/// assert_eq!(parse_input("x=f64[n,1]").unwrap(), (name, ty));
/// ```
pub fn parse_input(text: &str) -> Result<(String, DeclaredType), ParseInputError> {
    let Some((name, ty)) = text.split_once([':', '=']) else {
        return Err(ParseInputError::Form { text: text.to_owned() });
    };
    let name = name.trim().to_owned();
    if !is_name(&name) || check_name(&name).is_err() {
        return Err(ParseInputError::Name { text: text.to_owned(), name });
    }
    let ty = match ty.parse::<DeclaredType>() {
        Ok(ty) => ty,
        Err(source) => return Err(ParseInputError::Type { name, source }),
    };
    let wrong = ty.names().map(|(_, extent)| extent).find(|extent| !is_name(extent)).map(str::to_owned);
    match wrong {
        Some(extent) => Err(ParseInputError::Extent { input: name, name: extent }),
        None => Ok((name, ty)),
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
        let long = format!("x: f64[{}]", "n".repeat(1 << 20));
        for text in
            ["x:", "x: f65", "x: f64[", "x: f64[2n]", "x: f64[n m]", "x: f64[]n", "x = y = f64", &long]
        {
            let error = parse_input(text).unwrap_err();
            assert!(matches!(error, ParseInputError::Type { .. }), "{text:.20}");
            assert!(error.to_string().len() < 300);
        }
        for text in ["x: f64[True]", "x: f64[n, lambda]", "x: f64[a.b]", "x = f64[a-b]"] {
            assert!(matches!(parse_input(text), Err(ParseInputError::Extent { .. })), "{text}");
        }
    }
}
