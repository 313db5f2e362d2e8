//! Files with their signatures beside them.

use std::path::{Path, PathBuf};

use super::{Keyring, SIGNATURES_LIMIT, SUFFIX, Unsigned};
use crate::bundle::{Bundle, OpenBundleError};
use crate::event::split_hints;
use crate::file::{self, NotReadable};

/// Says why a file that has to be signed is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenSignedError {
    /// It is no bundle, or one that cannot be read.
    #[error(transparent)]
    Open(#[from] OpenBundleError),
    /// Too few keys have signed it.
    #[error("`{}` is not {unsigned}{}", path.display(), unsigned.hint())]
    Unsigned {
        /// The file.
        path: PathBuf,
        /// What is missing.
        unsigned: Box<Unsigned>,
    },
    /// What should be signatures is no file, or longer than any.
    #[error("`{}` are no signatures: {why}", path.display())]
    NoSignatures {
        /// The file of the signatures.
        path: PathBuf,
        /// What it is, in words.
        why: String,
    },
    /// The file system refused.
    #[error("cannot read the signatures `{}`", path.display())]
    Io {
        /// The file of the signatures.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl OpenSignedError {
    /// Whether it is for the signatures, whatever is wrong with them, that the file is not used.
    #[must_use]
    pub fn is_unsigned(&self) -> bool {
        matches!(self, Self::Unsigned { .. } | Self::NoSignatures { .. })
    }
}

/// Checks that enough keys have signed the bytes of a file, in `<path>.minisig`; gives their names.
///
/// # Errors
///
/// They have not, or the signatures cannot be read.
pub fn check_file(path: &Path, bytes: &[u8], keyring: &Keyring) -> Result<Vec<String>, OpenSignedError> {
    let signatures = signatures_of(path)?;
    match keyring.check(bytes, &signatures) {
        Ok(names) => Ok(names.into_iter().map(str::to_owned).collect()),
        Err(unsigned) => Err(OpenSignedError::Unsigned { path: path.to_owned(), unsigned }),
    }
}

/// Reads the signatures beside a file; none where there is no such file.
///
/// # Errors
///
/// The file system refuses.
pub fn signatures_of(path: &Path) -> Result<String, OpenSignedError> {
    let mut name = path.as_os_str().to_owned();
    name.push(SUFFIX);
    let path = PathBuf::from(name);
    match file::read(&path, SIGNATURES_LIMIT) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(source) => match source.get_ref().and_then(|inner| inner.downcast_ref::<NotReadable>()) {
            Some(found) => {
                Err(OpenSignedError::NoSignatures { path, why: split_hints(&found.to_string()).0 })
            }
            None => Err(OpenSignedError::Io { path, source }),
        },
    }
}

impl Bundle {
    /// Opens a bundle file whose bytes are signed, in `<path>.minisig`. What was read is what is checked, before anything of it is
    /// used.
    ///
    /// # Errors
    ///
    /// As [`Bundle::open_unsigned`]; too few keys of the keyring have signed it.
    pub fn open_signed(path: impl AsRef<Path>, keyring: &Keyring) -> Result<Self, OpenSignedError> {
        let bundle = Self::open_unsigned(path.as_ref())?;
        check_file(path.as_ref(), bundle.bytes(), keyring)?;
        Ok(bundle)
    }
}
