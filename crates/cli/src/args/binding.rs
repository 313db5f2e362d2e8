//! `NAME=FILE`: an array of a graph and the file to read it from or write it to; or `FILE.npz`, for several arrays.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::npz;
use clap::builder::{OsStringValueParser, TypedValueParser as _, ValueParser};

/// A name (or a position, counted from 0) and a file. The file name may be any bytes. Without a name the file is a
/// `.npz`, whose members are named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) name: Option<String>,
    pub(crate) file: PathBuf,
}

impl Binding {
    /// Returns a parser of `NAME=FILE`.
    pub(crate) fn parser() -> ValueParser {
        OsStringValueParser::new().try_map(|text| Self::parse(&text)).into()
    }

    fn parse(text: &OsStr) -> Result<Self, String> {
        let form = || "expected `NAME=FILE`, as in `x=x.npy` or `0=x.npy`, or `FILE.npz`".to_owned();
        let Some((name, file)) = split(text) else {
            let file = PathBuf::from(text);
            return if npz::is_npz(&file) { Ok(Self { name: None, file }) } else { Err(form()) };
        };
        let name = name.trim();
        if name.is_empty() || file.is_empty() {
            return Err(form());
        }
        Ok(Self { name: Some(name.to_owned()), file: file.into() })
    }
}

/// Splits at the first `=`; the part before it must be text.
#[cfg(unix)]
fn split(text: &OsStr) -> Option<(String, OsString)> {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let name = std::str::from_utf8(&bytes[..at]).ok()?;
    Some((name.to_owned(), OsStr::from_bytes(&bytes[at + 1..]).to_owned()))
}

/// Splits at the first `=`.
#[cfg(not(unix))]
fn split(text: &OsStr) -> Option<(String, OsString)> {
    let (name, file) = text.to_str()?.split_once('=')?;
    Some((name.to_owned(), file.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_split_at_the_first_equals_sign() {
        let binding = Binding::parse(OsStr::new("x=dir/a=b.npy")).unwrap();
        assert_eq!(binding, Binding { name: Some("x".into()), file: "dir/a=b.npy".into() });
        assert_eq!(Binding::parse(OsStr::new("all.npz")).unwrap().name, None);
        for text in ["x.npy", "=x.npy", "x=", " =x"] {
            assert!(Binding::parse(OsStr::new(text)).is_err(), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn file_names_may_be_invalid_utf8() {
        use std::os::unix::ffi::OsStrExt as _;
        let binding = Binding::parse(OsStr::from_bytes(b"x=\xff.npy")).unwrap();
        assert_eq!(binding.file.as_os_str().as_bytes(), b"\xff.npy");
    }
}
