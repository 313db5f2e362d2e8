//! Releases: exports of one name that follow each other, so that an earlier one, signed as well as the later, does not come back.
//!
//! Keys say who made something and not which is the latest. An export may say that it is release 7 of `model`; a store that has
//! imported it remembers that in `roots/release/model`, and takes release 6 no more.

use std::fmt;
use std::str::FromStr;

use crate::record::{EntryNameError, check_entry_name};

/// A number that counts up under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The name: of an application, a model.
    pub name: String,
    /// The number.
    pub number: u64,
}

/// Says that a text is no release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseReleaseError {
    /// It has another form.
    #[error("`{found}` is no release, expected a name, `=` and a whole number: `model=7`")]
    Form {
        /// The text.
        found: String,
    },
    /// Its name cannot be a file's.
    #[error(transparent)]
    Name(#[from] EntryNameError),
}

impl Release {
    /// Reads a file: one release and a line feed.
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
        let wrong = || ParseReleaseError::Form { found: text.chars().take(80).collect() };
        let (name, number) = text.split_once('=').ok_or_else(wrong)?;
        check_entry_name(name)?;
        let release = Self { name: name.to_owned(), number: number.parse().map_err(|_| wrong())? };
        // One form only: `+7` and `07` are none.
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
