//! A canonical signature: text that the grammar has checked.

use super::grammar::{Problem, Refusal, check};
use super::prototype::Prototype;
use std::fmt;
use std::str::FromStr;

/// A canonical CEP 1000 signature.
///
/// # Examples
/// ```
/// use precast_abi::nativecall::Signature;
/// let signature = Signature::parse("df)i")?;
/// assert_eq!(signature.prototype().arguments.len(), 2);
/// assert!(Signature::parse("hello)world").is_err());
/// # Ok::<(), precast_abi::nativecall::ParseSignatureError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(Box<str>);

/// An error: the text is not a canonical CEP 1000 signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a canonical CEP 1000 signature: {problem} at byte {at}{}", hint(.text))]
pub struct ParseSignatureError {
    /// The text.
    pub text: String,
    /// The byte offset of the problem.
    pub at: usize,
    /// The problem at that offset.
    pub problem: Problem,
}

impl Signature {
    /// Parses a canonical text.
    ///
    /// # Errors
    /// Fails if the text does not match the grammar; the error has the offset. [`Signature::normalize`] accepts more
    /// spellings.
    pub fn parse(text: &str) -> Result<Self, ParseSignatureError> {
        checked(text).map(|()| Self(text.into()))
    }

    /// Returns the canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the signature as a tree.
    ///
    /// # Panics
    /// Never: the text was checked.
    #[must_use]
    pub fn prototype(&self) -> Prototype {
        Prototype::read(&self.0).expect("the text of a signature follows the grammar")
    }
}

impl FromStr for Signature {
    type Err = ParseSignatureError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks that a text is canonical.
pub(super) fn checked(text: &str) -> Result<(), ParseSignatureError> {
    check(text.as_bytes()).map_err(|Refusal { at, problem }| ParseSignatureError {
        text: text.to_owned(),
        at,
        problem,
    })
}

/// Returns a hint with the canonical form if the text is another spelling of a signature.
fn hint(text: &str) -> String {
    let canonical = Signature::normalize(text);
    canonical
        .map_or_else(|_| String::new(), |canonical| format!("\nhint: use the canonical form `{canonical}`"))
}
