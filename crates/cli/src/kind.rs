//! What a file is, by its beginning: so that nothing is written over something else, and nothing signed that is not whole.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

/// How much of a file is looked at, in bytes.
const HEAD: u64 = 4096;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Empty,
    Bundle,
    Export,
    Keyring,
    Lock,
    Signatures,
    SecretKey,
    PublicKey,
    Npy,
    Npz,
    /// Any other text: a picture, a source, a manifest.
    Text,
    Other,
}

impl Kind {
    /// Tells by the beginning of a file.
    pub(crate) fn of(head: &[u8]) -> Self {
        let beginnings: [(&[u8], Self); 4] = [
            (b"precastb", Self::Bundle),
            (b"\x28\xb5\x2f\xfd", Self::Export),
            (b"\x93NUMPY", Self::Npy),
            (b"PK", Self::Npz),
        ];
        if head.is_empty() {
            return Self::Empty;
        }
        if let Some((_, kind)) = beginnings.iter().find(|(bytes, _)| head.starts_with(bytes)) {
            return *kind;
        }
        // A character may be cut by the end of what is looked at.
        let text = match std::str::from_utf8(head) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return Self::Other,
        };
        if text.contains('\0') { Self::Other } else { Self::of_text(text) }
    }

    fn of_text(text: &str) -> Self {
        let mut lines = text.lines().map(str::trim_end);
        let first = lines.next().unwrap_or_default();
        if first.starts_with("untrusted comment:") {
            // In base64: 42 bytes of a public key, 74 of a signature; a secret key has more.
            return match lines.next().unwrap_or_default().len() {
                56 => Self::PublicKey,
                100 => Self::Signatures,
                _ => Self::SecretKey,
            };
        }
        let has = |beginning: &str| text.lines().any(|line| line.starts_with(beginning));
        if has("threshold=") && has("key=") {
            Self::Keyring
        } else if has("version = ") && (has("entry = [") || has("module = [") || first.contains("precast")) {
            Self::Lock
        } else {
            Self::Text
        }
    }

    /// Tells what stands at a path; nothing counts as empty.
    pub(crate) fn at(path: &Path) -> std::io::Result<Self> {
        let file = match precast_store::file::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::Empty),
            opened => opened?,
        };
        let mut head = Vec::new();
        file.take(HEAD).read_to_end(&mut head)?;
        Ok(Self::of(&head))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "an empty file",
            Self::Bundle => "a bundle",
            Self::Export => "an export",
            Self::Keyring => "a keyring",
            Self::Lock => "a lock file",
            Self::Signatures => "a file of signatures",
            Self::SecretKey => "a secret key",
            Self::PublicKey => "a public key",
            Self::Npy => "an array",
            Self::Npz => "a file of arrays",
            Self::Text => "a text",
            Self::Other => "something else",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_beginnings() {
        let key = |len: usize| format!("untrusted comment: x\n{}\n", "R".repeat(len));
        let (public, signature, secret) = (key(56), key(100), key(212));
        let kinds: [(&[u8], Kind); 14] = [
            (b"", Kind::Empty),
            (b"precastb\x02\0", Kind::Bundle),
            (b"\x28\xb5\x2f\xfd\0", Kind::Export),
            (b"# who may sign\nformat=1\nthreshold=1\nkey=RW a\n", Kind::Keyring),
            (b"# Made by precast\nversion = 1\n", Kind::Lock),
            (public.as_bytes(), Kind::PublicKey),
            (signature.as_bytes(), Kind::Signatures),
            (secret.as_bytes(), Kind::SecretKey),
            (b"untrusted comment:", Kind::SecretKey),
            (b"\x93NUMPY\x01", Kind::Npy),
            (b"PK\x03\x04", Kind::Npz),
            (b"[[op]]\nname = \"add\"\n", Kind::Text),
            ("<svg>ä".as_bytes().strip_suffix(b"\xa4").unwrap(), Kind::Text),
            (b"a\0b", Kind::Other),
        ];
        for (head, kind) in kinds {
            assert_eq!(Kind::of(head), kind, "{}", head.escape_ascii());
        }
    }
}
