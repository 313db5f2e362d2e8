//! Checks member names: a valid name means the same file below any directory, on any system.

use std::collections::BTreeMap;

/// The reason why a member's name is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty, absolute, or has an empty, `.` or `..` part.
    #[error("invalid member name `{name}`: expected a plain relative path")]
    NotRelative {
        /// The name.
        name: String,
    },
    /// The name holds a control character, a backslash or a colon, or is not UTF-8.
    #[error("invalid member name `{name}`: not portable across operating systems")]
    Character {
        /// The name, with invalid characters escaped.
        name: String,
    },
    /// The name does not fit a ustar header.
    #[error("member name `{name}` is too long for a ustar header")]
    TooLong {
        /// The name.
        name: String,
    },
    /// The name is both a file and a directory.
    #[error("member name `{name}` conflicts with the directory of `{inner}`")]
    FileAndDirectory {
        /// The name.
        name: String,
        /// A member below it.
        inner: String,
    },
}

/// Checks that a name is a plain relative path and uses only characters that every system accepts.
///
/// # Errors
///
/// The name is invalid.
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(NameError::NotRelative { name: name.to_owned() });
    }
    if name.chars().any(|character| character.is_control() || matches!(character, '\\' | ':')) {
        return Err(NameError::Character { name: name.escape_debug().to_string() });
    }
    Ok(())
}

/// Checks every name, and that no member is also the directory of another member.
pub(crate) fn check_all<T>(members: &BTreeMap<String, T>) -> Result<(), NameError> {
    for inner in members.keys() {
        check_name(inner)?;
        for (at, _) in inner.match_indices('/') {
            if let Some((name, _)) = members.get_key_value(&inner[..at]) {
                return Err(NameError::FileAndDirectory { name: name.clone(), inner: inner.clone() });
            }
        }
    }
    Ok(())
}
