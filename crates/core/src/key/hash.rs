//! The 32-byte newtypes: one type for each kind of hash, so that the compiler rejects mixing them.
//!
//! In text, JSON and file names, a hash is exactly 64 lower-case hex digits. Upper case and prefixes are rejected, so that
//! each hash has one spelling.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::str::FromStr;
use std::sync::LazyLock;

#[cfg(feature = "serde")]
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::canonical::context;
use blake3::hazmat::{ContextKey, HasherExt as _, hash_derive_key_context};

/// The reason why a text is not a hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseHashError {
    /// The text does not have 64 characters.
    #[error("found {found} characters, expected 64 hex digits")]
    Length {
        /// Length of the text, in bytes.
        found: usize,
    },
    /// A character is not one of `0`–`9`, `a`–`f`.
    #[error("found `{found}` at {at}, expected a lower-case hex digit")]
    Digit {
        /// The character.
        found: char,
        /// Its offset in bytes.
        at: usize,
    },
}

fn render(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn parse(text: &str) -> Result<[u8; 32], ParseHashError> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return Err(ParseHashError::Length { found: text.len() });
    }
    for (at, found) in text.char_indices() {
        let value = match found {
            '0'..='9' => found as u8 - b'0',
            'a'..='f' => found as u8 - b'a' + 10,
            _ => return Err(ParseHashError::Digit { found, at }),
        };
        bytes[at / 2] |= value << (4 * (1 - at % 2));
    }
    Ok(bytes)
}

#[cfg(feature = "serde")]
struct HexVisitor;

#[cfg(feature = "serde")]
impl de::Visitor<'_> for HexVisitor {
    type Value = [u8; 32];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("64 lower-case hex digits")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<[u8; 32], E> {
        parse(text).map_err(E::custom)
    }
}

macro_rules! hash {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// Wraps the bytes of an existing hash.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// Returns the bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }

            /// Renders the first 16 hex digits, for names and messages. Never use it for look-ups.
            #[must_use]
            pub fn short(&self) -> String {
                render(&self.0[..8])
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&render(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.short())
            }
        }

        impl FromStr for $name {
            type Err = ParseHashError;

            fn from_str(text: &str) -> Result<Self, ParseHashError> {
                parse(text).map(Self)
            }
        }

        #[cfg(feature = "serde")]
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&render(&self.0))
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(HexVisitor).map(Self)
            }
        }
    };
}

hash! {
    /// Identifies the *request*: the hash of a module's canonical inputs (`precast_store::key::BuildInputs`).
    BuildKey
}
hash! {
    /// Identifies the *build* of an archive: the hash of `precast_store::key::ActionInputs`.
    ActionKey
}
hash! {
    /// Identifies the *result*: the hash of an archive's canonical uncompressed tar.
    Digest
}
hash! {
    /// An alias of a [`BuildKey`] that is computed without generating code.
    Fingerprint
}
hash! {
    /// Identity of a compiler, an assembler and a linker, computed from their contents.
    ToolchainId
}
hash! {
    /// Identity of a record: the hash of its canonical bytes.
    RecordId
}
hash! {
    /// Identity of a text or a file by its bytes.
    ContentId
}
hash! {
    /// Identity of everything that a module's compilation reads outside of its sources, for all ISA levels: the hash of
    /// the preprocessed text of each level and of the libraries.
    GenerationId
}

impl ContentId {
    /// Hashes `content`.
    #[must_use]
    pub fn of(content: impl AsRef<[u8]>) -> Self {
        Self(*Self::hasher().update(content.as_ref()).finalize().as_bytes())
    }

    /// Hashes the rest of `content`, read in pieces.
    ///
    /// # Errors
    /// Reading fails.
    pub fn of_reader(mut content: impl std::io::Read) -> std::io::Result<Self> {
        let mut hasher = Self::hasher();
        std::io::copy(&mut content, &mut hasher)?;
        Ok(Self(*hasher.finalize().as_bytes()))
    }

    /// Hashes a file, read in pieces.
    ///
    /// # Errors
    /// Opening or reading it fails.
    pub fn of_file(path: impl AsRef<std::path::Path>) -> std::io::Result<Self> {
        Self::of_reader(fs_err::File::open(path.as_ref())?)
    }

    fn hasher() -> blake3::Hasher {
        // The hash of the context is computed once, because hashing it costs more than hashing most names.
        static CONTEXT: LazyLock<ContextKey> = LazyLock::new(|| hash_derive_key_context(context::CONTENT));
        blake3::Hasher::new_from_context_key(&CONTEXT)
    }
}

/// A map with hashes as keys. They are uniformly distributed, so their first bytes serve as the hash value. A malicious
/// bundle could make them collide and slow down look-ups, but its code is executed anyway.
pub(crate) type ByHash<K, V> = HashMap<K, V, BuildHasherDefault<FirstBytes>>;

/// A hasher that returns the first bytes of the last write.
#[derive(Debug, Default)]
pub(crate) struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
