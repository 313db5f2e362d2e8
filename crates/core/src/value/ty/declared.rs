//! Declared types: the types of inputs and outputs, which can name unknown extents.
//!
//! A name stands for one number of elements, wherever it occurs among the inputs and outputs of a function. Only the
//! interface of a function has names: variables, modules and keys see `?`, and calls check that equal names
//! have equal extents.

use super::{ParseTypeError, Type};
use crate::names::check_name;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

/// The declared type of an input or an output: a type with names for some unknown extents, such as `f64[n,k,3]`.
///
/// # Examples
/// ```
/// use precast_core::{DeclaredType, Type};
///
/// let ty: DeclaredType = "f64[n, k, ?, 3]".parse().unwrap();
/// assert_eq!(ty.to_string(), "f64[n,k,?,3]");
/// assert_eq!(*ty, "f64[?,?,?,3]".parse::<Type>().unwrap());
/// assert_eq!(ty.names().collect::<Vec<_>>(), [(0, "n"), (1, "k")]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclaredType {
    ty: Type,
    /// The name of each extent; empty if no extent has one.
    names: Vec<Option<String>>,
}

impl DeclaredType {
    /// Returns the names of extents, each with its axis, in order.
    pub fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.names.iter().enumerate().filter_map(|(axis, name)| Some((axis, name.as_deref()?)))
    }

    /// Returns whether an extent has a name.
    #[must_use]
    #[inline(always)]
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the type without names.
    #[must_use]
    pub fn into_type(self) -> Type {
        self.ty
    }

    /// Returns the text form of the extent of an axis: its name, `?` or a number.
    fn extent(&self, axis: usize) -> String {
        let name = self.names.get(axis).cloned().flatten();
        name.or_else(|| self.ty.shape().get(axis).map(ToString::to_string)).unwrap_or_default()
    }
}

impl Deref for DeclaredType {
    type Target = Type;

    fn deref(&self) -> &Type {
        &self.ty
    }
}

impl From<Type> for DeclaredType {
    fn from(ty: Type) -> Self {
        Self { ty, names: Vec::new() }
    }
}

impl From<&Type> for DeclaredType {
    fn from(ty: &Type) -> Self {
        ty.clone().into()
    }
}

impl PartialEq<Type> for DeclaredType {
    fn eq(&self, other: &Type) -> bool {
        self.ty == *other && !self.has_names()
    }
}

impl FromStr for DeclaredType {
    type Err = ParseTypeError;

    fn from_str(text: &str) -> Result<Self, ParseTypeError> {
        let Some((start, end)) = text.find('[').zip(text.rfind(']')).filter(|(start, end)| start < end)
        else {
            return text.parse::<Type>().map(Self::from);
        };
        let extents: Vec<&str> = text[start + 1..end].split(',').map(str::trim).collect();
        let names: Vec<Option<String>> =
            extents.iter().map(|extent| is_extent_name(extent).then(|| (*extent).to_owned())).collect();
        if names.iter().all(Option::is_none) {
            return text.parse::<Type>().map(Self::from);
        }
        let plain =
            extents.iter().zip(&names).map(|(extent, name)| if name.is_some() { "?" } else { extent });
        let plain = plain.collect::<Vec<_>>().join(",");
        let ty = format!("{}{plain}{}", &text[..=start], &text[end..]).parse()?;
        Ok(Self { ty, names })
    }
}

/// Returns whether a text can name an extent. Such a name is a [valid name](check_name) that begins with a letter or `_`,
/// so that it differs from a number.
fn is_extent_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && check_name(text).is_ok()
}

impl fmt::Display for DeclaredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.ty.to_string();
        match text.find('[').zip(text.rfind(']')).filter(|_| self.has_names()) {
            None => f.write_str(&text),
            Some((start, end)) => {
                let extents: Vec<String> = (0..self.ty.ndim()).map(|axis| self.extent(axis)).collect();
                write!(f, "{}{}{}", &text[..=start], extents.join(","), &text[end..])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DeclaredType, ParseTypeError};

    fn shown(text: &str) -> String {
        text.parse::<DeclaredType>().unwrap().to_string()
    }

    #[test]
    fn names_of_extents_survive_the_text_form() {
        for text in ["f64", "f64[]", "f64[?,1,3]", "f64[n]", "f64[n,n,?,2]", "f32[größe]", "double<f64[n,2]>"]
        {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown(" f64 [ n , 3 ] "), "f64[n,3]");
        assert_eq!(shown("f64[lambda,a.b-c]"), "f64[lambda,a.b-c]");
    }

    #[test]
    fn types_with_invalid_names_are_rejected() {
        let long = format!("f64[{}]", "n".repeat(1 << 20));
        for text in
            ["f64[2n]", "f64[-n]", "f64[n m]", "f64[n\n,]", "f64[n,]", "f64[n:]", "f64[\u{202e}n]", &long]
        {
            assert!(matches!(text.parse::<DeclaredType>(), Err(ParseTypeError::Extent { .. })), "{text:.20}");
        }
        for text in ["f64[n", "f64]n[", "f65[n]", "f64[n][k]", "x<f64[n]", "plan<opaque[n]>"] {
            assert!(text.parse::<DeclaredType>().is_err(), "{text}");
        }
        let many = vec!["n"; 100].join(",");
        assert!(matches!(format!("f64[{many}]").parse::<DeclaredType>(), Err(ParseTypeError::Rank { .. })));
    }
}
