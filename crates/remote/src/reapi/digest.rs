//! Digests of the API: the SHA-256 of a blob's bytes, and their number.

use sha2::{Digest as _, Sha256};

use super::api;

/// The name of a blob.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// 64 hex digits.
    pub(super) hash: String,
    /// The length in bytes.
    pub(super) size: u64,
}

impl Name {
    /// Returns the name of some bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { hash: hex(&Sha256::digest(bytes)), size: bytes.len() as u64 }
    }

    /// Reads a digest from a server; `None` if it is missing or invalid.
    pub(super) fn read(digest: Option<&api::Digest>) -> Option<Self> {
        let digest = digest?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_hash = digest.hash.len() == 64 && digest.hash.bytes().all(is_hex);
        let size = u64::try_from(digest.size_bytes).ok().filter(|_| is_hash)?;
        Some(Self { hash: digest.hash.clone(), size })
    }

    /// Returns the digest in the form of the API.
    pub(super) fn digest(&self) -> api::Digest {
        api::Digest { hash: self.hash.clone(), size_bytes: i64::try_from(self.size).unwrap_or(i64::MAX) }
    }

    /// Returns whether this is the name of these bytes.
    pub(super) fn names(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.size && *self == Self::of(bytes)
    }
}

/// Renders bytes as hex digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_digests_are_rejected() {
        let read =
            |hash: &str, size_bytes| Name::read(Some(&api::Digest { hash: hash.to_owned(), size_bytes }));
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(read(empty, 0), Some(Name::of(b"")));
        assert!(!Name::of(b"").names(b"x") && Name::of(b"x").names(b"x"));
        for (hash, size) in [(empty, -1), ("", 0), (&empty[1..], 0), (&*empty.to_uppercase(), 0)] {
            assert_eq!(read(hash, size), None);
        }
        assert_eq!(Name::read(None), None);
    }
}
