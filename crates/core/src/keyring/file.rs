//! Files with detached signatures.

use std::path::{Path, PathBuf};

use super::{Keyring, SIGNATURES_LIMIT, SUFFIX, Unsigned};
use crate::bundle::{Bundle, OpenBundleError};
use crate::event::split_hints;
use crate::file::{self, NotReadable};

/// The reason why a file that must be signed is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenSignedError {
    /// The file is not a bundle, or cannot be read.
    #[error(transparent)]
    Open(#[from] OpenBundleError),
    /// Too few keys have signed the file.
    #[error("`{}` is not {unsigned}{}", path.display(), unsigned.hint())]
    Unsigned {
        /// The file.
        path: PathBuf,
        /// The missing signatures.
        unsigned: Box<Unsigned>,
    },
    /// The signature file is not a regular file, or is too long.
    #[error("invalid signature file `{}`: {why}", path.display())]
    NoSignatures {
        /// The file of the signatures.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The signature file cannot be read.
    #[error("cannot read the signature file `{}`", path.display())]
    Io {
        /// The file of the signatures.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl OpenSignedError {
    /// Returns whether the file was rejected because of its signatures.
    #[must_use]
    pub fn is_unsigned(&self) -> bool {
        matches!(self, Self::Unsigned { .. } | Self::NoSignatures { .. })
    }
}

/// Checks that enough keys have signed the bytes of a file, in `<path>.minisig`. Returns their names.
///
/// # Errors
///
/// Too few keys have signed, or the signatures cannot be read.
pub fn check_file(path: &Path, bytes: &[u8], keyring: &Keyring) -> Result<Vec<String>, OpenSignedError> {
    let signatures = signatures_of(path)?;
    match keyring.check(bytes, &signatures) {
        Ok(names) => Ok(names.into_iter().map(str::to_owned).collect()),
        Err(unsigned) => Err(OpenSignedError::Unsigned { path: path.to_owned(), unsigned }),
    }
}

/// Reads the signature file of a file; the text is empty without such a file. The signatures of a link are those next to
/// its target, or else those next to the link.
///
/// # Errors
///
/// The signature file cannot be read.
pub fn signatures_of(path: &Path) -> Result<String, OpenSignedError> {
    let places = [signature_file(path), beside(path)];
    places
        .into_iter()
        .find_map(|place| read_signatures(place).transpose())
        .unwrap_or_else(|| Ok(String::new()))
}

/// Returns the path of the signature file of a file: `<path>.minisig`, next to the target if the file is a link.
#[must_use]
pub fn signature_file(path: &Path) -> PathBuf {
    let is_link = fs_err::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let target = is_link.then(|| fs_err::canonicalize(path)).and_then(Result::ok);
    beside(target.as_deref().unwrap_or(path))
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SUFFIX);
    PathBuf::from(name)
}

/// Reads a signature file, if it exists.
fn read_signatures(path: PathBuf) -> Result<Option<String>, OpenSignedError> {
    match file::read(&path, SIGNATURES_LIMIT) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => match source.get_ref().and_then(|inner| inner.downcast_ref::<NotReadable>()) {
            Some(found) => {
                Err(OpenSignedError::NoSignatures { path, why: split_hints(&found.to_string()).0 })
            }
            None => Err(OpenSignedError::Io { path, source }),
        },
    }
}

impl Bundle {
    /// Opens a bundle file that enough keys must have signed, in `<path>.minisig`. The check covers the bytes in memory,
    /// before any of them is used. So the file may belong to anybody: [`crate::trust::Protection::Signatures`].
    ///
    /// # Errors
    ///
    /// The file cannot be read or is not a complete bundle of a known format, or too few keys of the keyring have signed it.
    pub fn open_signed(path: impl AsRef<Path>, keyring: &Keyring) -> Result<Self, OpenSignedError> {
        let bundle = Self::open_unprotected(path.as_ref())?;
        check_file(path.as_ref(), bundle.bytes(), keyring)?;
        Ok(bundle)
    }
}
