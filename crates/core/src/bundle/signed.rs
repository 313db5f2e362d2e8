//! Opens a bundle file under a keyring.

use std::path::{Path, PathBuf};

use super::{Bundle, OpenBundleError};
use crate::trust::{EmptyNameError, NoKeyringsError, keyring_setting};

/// The reason why the signatures of a bundle cannot be checked, or do not suffice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleSignatureError {
    /// The keyring's name is empty.
    #[error(transparent)]
    EmptyName(#[from] EmptyNameError),
    /// The program was built without the feature `signed`.
    #[error(transparent)]
    NoKeyrings(#[from] NoKeyringsError),
    /// The keyring cannot be used.
    #[cfg(feature = "signed")]
    #[error(transparent)]
    Keyring(#[from] crate::keyring::KeyringError),
    /// The bundle's signatures are missing, invalid or too few.
    #[cfg(feature = "signed")]
    #[error(transparent)]
    Signed(crate::keyring::OpenSignedError),
}

impl Bundle {
    /// Opens a bundle file. The file is read into memory and closed.
    ///
    /// If `PRECAST_KEYRING` names a keyring, enough of its keys must have signed the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not a complete bundle of a known format, or other users can change it
    /// ([`crate::trust`]). With a keyring, the errors of [`Bundle::open_under`] also apply.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenBundleError> {
        Self::open_under(path, None)
    }

    /// Opens a bundle file that enough keys of `keyring` must have signed, in `<path>.minisig`.
    ///
    /// Without `keyring`, the environment variable `PRECAST_KEYRING` names it. Without both, no signatures are checked.
    ///
    /// # Errors
    ///
    /// As [`Bundle::open_unsigned`]. With a keyring, also [`OpenBundleError::Signatures`]: the keyring is missing, invalid
    /// or expired, or too few keys have signed the bundle. It is also returned if this program was built without the
    /// feature `signed`.
    pub fn open_under(path: impl AsRef<Path>, keyring: Option<PathBuf>) -> Result<Self, OpenBundleError> {
        let path = path.as_ref();
        match keyring_setting(keyring).map_err(|error| refused(path, error.into()))? {
            None => Self::open_unsigned(path),
            Some(keyring) => Self::open_checked(path, &keyring),
        }
    }

    #[cfg(feature = "signed")]
    fn open_checked(path: &Path, keyring: &Path) -> Result<Self, OpenBundleError> {
        use crate::keyring::{Keyring, OpenSignedError};
        let keyring = Keyring::open(keyring).map_err(|error| refused(path, error.into()))?;
        Self::open_signed(path, &keyring).map_err(|error| match error {
            OpenSignedError::Open(error) => error,
            other => refused(path, BundleSignatureError::Signed(other)),
        })
    }

    #[cfg(not(feature = "signed"))]
    fn open_checked(path: &Path, _keyring: &Path) -> Result<Self, OpenBundleError> {
        Err(refused(path, NoKeyringsError.into()))
    }
}

fn refused(path: &Path, source: BundleSignatureError) -> OpenBundleError {
    OpenBundleError::Signatures { path: path.to_path_buf(), source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Bundle, BundleSignatureError, OpenBundleError};

    fn refusal(keyring: impl Into<PathBuf>) -> BundleSignatureError {
        match Bundle::open_under("model.precast", Some(keyring.into())) {
            Err(OpenBundleError::Signatures { source, .. }) => *source,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn empty_keyring_name_is_rejected() {
        assert!(matches!(refusal(""), BundleSignatureError::EmptyName(_)));
    }

    #[test]
    #[cfg(not(feature = "signed"))]
    fn keyring_is_rejected_without_the_feature() {
        assert!(matches!(refusal("absent.keyring"), BundleSignatureError::NoKeyrings(_)));
    }

    #[test]
    #[cfg(feature = "signed")]
    fn missing_keyring_is_rejected() {
        use crate::keyring::KeyringError;
        let directory = tempfile::tempdir().unwrap();
        let refused = refusal(directory.path().join("absent.keyring"));
        assert!(matches!(refused, BundleSignatureError::Keyring(KeyringError::Missing { .. })), "{refused}");
    }
}
