//! Public keys, the files that they may sign, and single signatures.

use std::fmt;
use std::io::{self, Read, Seek};

use minisign_verify::{Error, PublicKey, Signature};

use super::KeyringError;

/// Characters of a public key: 42 bytes in base64.
pub(super) const KEY_LENGTH: usize = 56;

/// Characters of a secret key: 158 bytes in base64, `=` at the end.
const SECRET_KEY_LENGTH: usize = 212;

/// The files that a key may sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Role {
    /// Releases and keyrings.
    #[default]
    Any,
    /// Releases: bundles, exports, records, entries and provenance.
    Releases,
    /// Later keyrings.
    Keyrings,
}

impl Role {
    /// Every role.
    pub(super) const ALL: [Self; 3] = [Self::Any, Self::Releases, Self::Keyrings];

    /// Returns its name in the lines of a keyring.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Any => "key",
            Self::Releases => "release_key",
            Self::Keyrings => "keyring_key",
        }
    }

    /// Returns whether a key of this role may sign the files of `task`, which is one of the other two roles.
    pub(super) fn covers(self, task: Self) -> bool {
        self == Self::Any || self == task
    }
}

/// Renders the files: "releases".
impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "releases and keyrings",
            Self::Releases => "releases",
            Self::Keyrings => "keyrings",
        })
    }
}

/// A public key with its name in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// The key in minisign's format: 56 characters of base64.
    pub text: String,
    /// The files that it may sign.
    pub role: Role,
    public: PublicKey,
}

/// The result of checking a signature by a known key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Valid,
    OtherBytes,
    /// The signature has the format of minisign before 0.10, which cannot be checked in parts.
    Legacy,
}

impl Verdict {
    pub(super) fn of(is_valid: bool) -> Self {
        if is_valid { Self::Valid } else { Self::OtherBytes }
    }
}

impl Key {
    /// Parses a key from the text of its file, whose first line is a comment, or from the key line alone.
    ///
    /// # Errors
    ///
    /// The text is not a public key of minisign, or the name is invalid.
    pub fn parse(name: &str, text: &str) -> Result<Self, KeyringError> {
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let name_of = || name.to_owned();
        let wrong = || match line.len() {
            SECRET_KEY_LENGTH => KeyringError::SecretKey { name: name_of() },
            _ => KeyringError::Key { name: name_of(), found: line.chars().count() },
        };
        let public = PublicKey::from_base64(line).map_err(|_| wrong())?;
        let is_name = !name.is_empty() && name.len() <= 64 && !name.contains(char::is_control);
        // 42 bytes have exactly one encoding of 56 characters. `is_same` relies on it.
        if line.len() != KEY_LENGTH || !is_name || name.trim() != name {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), text: line.to_owned(), role: Role::Any, public })
    }

    /// Returns the key with another role.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// Returns whether two keys are the same, whatever their names. The first ten bytes are the algorithm and an id that
    /// anybody can choose. The characters from the 17th on encode only bytes of the key itself.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.text[16..] == other.text[16..]
    }

    /// Checks a signature of the contents of `file`. Returns `None` if it is by another key. A signature of minisign before
    /// 0.10 covers all bytes at once and does not count here.
    pub(super) fn signed_read(
        &self,
        file: &mut (impl Read + Seek),
        signature: &Signature,
    ) -> io::Result<Option<Verdict>> {
        let mut verifier = match self.public.verify_stream(signature) {
            Ok(verifier) => verifier,
            Err(Error::UnexpectedKeyId) => return Ok(None),
            Err(Error::UnsupportedLegacyMode) => return Ok(Some(Verdict::Legacy)),
            Err(_) => return Ok(Some(Verdict::OtherBytes)),
        };
        file.rewind()?;
        let mut part = vec![0; 1 << 16];
        loop {
            match file.read(&mut part) {
                Ok(0) => return Ok(Some(Verdict::of(verifier.finalize().is_ok()))),
                Ok(count) => verifier.update(&part[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns whether a signature by this key is valid for `content`, or `None` if it is by another key.
    pub(super) fn signed(&self, content: &[u8], signature: &Signature) -> Option<bool> {
        match self.public.verify(content, signature, true) {
            Ok(()) => Some(true),
            Err(Error::UnexpectedKeyId) => None,
            Err(_) => Some(false),
        }
    }
}
