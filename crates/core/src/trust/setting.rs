//! The keyring setting of a process: an argument, else the environment variable.

use std::path::PathBuf;

/// The environment variable that names a keyring. The library, the command line and Python
/// read it if no keyring is passed.
pub const KEYRING: &str = "PRECAST_KEYRING";

/// An error: the name of the keyring is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the keyring name is empty\nhint: name a keyring, or unset `{KEYRING}` to check no signatures")]
pub struct EmptyNameError;

/// An error: a keyring is named, but this program cannot check signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot check signatures: this program was built without the feature `signed`\nhint: enable the feature `signed` of the crate `precast`, or unset `{KEYRING}` to check no signatures"
)]
pub struct NoKeyringsError;

/// Returns the keyring to use: `argument`, else the value of [`KEYRING`], else none.
///
/// # Errors
///
/// The name is empty. A script whose own variable is unset would otherwise run without signatures.
pub fn keyring_setting(argument: Option<PathBuf>) -> Result<Option<PathBuf>, EmptyNameError> {
    let named = argument.or_else(|| std::env::var_os(KEYRING).map(PathBuf::from));
    match named {
        Some(path) if path.as_os_str().is_empty() => Err(EmptyNameError),
        named => Ok(named),
    }
}
