//! Releases: exports of one name in sequence. A store does not go back to an earlier release, although its signature is
//! just as valid as the later one's.
//!
//! Signatures identify the signer, but not the latest version. An export may state that it is release 7 of `model`. A
//! store that imports it records the number in `roots/release/model`, and from then on rejects release 6.

use std::fmt;
use std::str::FromStr;

use precast_core::names::excerpt;

use crate::record::{EntryNameError, check_entry_name};

/// A release: a name with an increasing number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The name, e.g. of an application or a model.
    pub name: String,
    /// The number.
    pub number: u64,
}

/// The reason why a text is not a valid release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseReleaseError {
    /// The text has another form.
    #[error("invalid release `{found}`: expected a name, `=` and a whole number, such as `model=7`")]
    Form {
        /// The beginning of the text.
        found: String,
    },
    /// The name is not a valid file name.
    #[error(transparent)]
    Name(#[from] EntryNameError),
}

impl Release {
    /// Parses a file's content: one release and a line feed.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ParseReleaseError> {
        let text = String::from_utf8_lossy(bytes);
        text.strip_suffix('\n').unwrap_or("").parse()
    }
}

/// Renders `model=7`.
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.number)
    }
}

impl FromStr for Release {
    type Err = ParseReleaseError;

    fn from_str(text: &str) -> Result<Self, ParseReleaseError> {
        let wrong = || ParseReleaseError::Form { found: excerpt(text) };
        let (name, number) = text.split_once('=').ok_or_else(wrong)?;
        check_entry_name(name)?;
        let release = Self { name: name.to_owned(), number: number.parse().map_err(|_| wrong())? };
        // Only the canonical form is valid: `+7` and `07` are rejected.
        if release.to_string() == text { Ok(release) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_one_form() {
        let release: Release = "model=7".parse().unwrap();
        assert_eq!((release.name.as_str(), release.number, &*release.to_string()), ("model", 7, "model=7"));
        for wrong in
            ["", "model", "model=", "=7", "model=07", "model=+7", "model=-1", "model=7 ", "../x=7", "a=b=7"]
        {
            assert!(wrong.parse::<Release>().is_err(), "{wrong}");
        }
        assert!(Release::parse(b"model=7").is_err() && Release::parse(b"model=7\n").is_ok());
    }
}
