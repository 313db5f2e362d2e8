//! The canonical encoding of all hashed data: self-delimiting values, fed to BLAKE3 as they arrive.
//!
//! # Layout
//!
//! ```text
//! str    01  length: u64 LE  UTF-8 bytes
//! bytes  02  length: u64 LE  bytes
//! u64    03  value:  u64 LE
//! bool   04  00 | 01
//! list   05  count:  u64 LE  then the items, each a value
//! ```
//!
//! The tag determines where a value ends, so a sequence of values can be decoded from its bytes. Two different sequences
//! never have the same bytes. Floats have no tag; their bits are encoded as `u64`. Maps have no tag either; a map is a list
//! of pairs in key order.

/// The `derive_key` contexts of all hashes in this crate and its users. A context is never reused for another purpose.
pub mod context {
    /// [`BuildKey`](super::super::BuildKey).
    pub const BUILD_KEY: &str = "precast v1 build key";
    /// [`ActionKey`](super::super::ActionKey).
    pub const ACTION_KEY: &str = "precast v1 action key";
    /// [`Digest`](super::super::Digest) of an archive.
    pub const ARCHIVE: &str = "precast v1 archive";
    /// [`RecordId`](super::super::RecordId).
    pub const RECORD: &str = "precast v1 record";
    /// [`ContentId`](super::super::ContentId).
    pub const CONTENT: &str = "precast v1 content";
    /// [`GenerationId`](super::super::GenerationId).
    pub const GENERATION: &str = "precast v1 generation";
    /// [`Fingerprint`](super::super::Fingerprint).
    pub const FINGERPRINT: &str = "precast v1 fingerprint";
    /// [`ToolchainId`](super::super::ToolchainId).
    pub const TOOLCHAIN: &str = "precast v1 toolchain";
    /// A page, a pack or the head of a bundle.
    pub const BUNDLE: &str = "precast v1 bundle";
}

/// Encodes values and hashes them under one context.
///
/// # Examples
///
/// ```
/// use precast_core::key::Canonical;
///
/// let hash = |a: &str, b: &str| Canonical::new("example v1").str(a).str(b).finish();
/// assert_ne!(hash("ab", "c"), hash("a", "bc"));
/// ```
#[derive(Debug, Clone)]
#[must_use = "an encoder does nothing until `finish`"]
pub struct Canonical {
    hasher: blake3::Hasher,
}

impl Canonical {
    /// Starts an empty sequence under `context`, a constant of the program.
    pub fn new(context: &'static str) -> Self {
        Self { hasher: blake3::Hasher::new_derive_key(context) }
    }

    /// Appends a text.
    pub fn str(self, value: &str) -> Self {
        self.tagged(1, value.len() as u64).raw(value.as_bytes())
    }

    /// Appends bytes.
    pub fn bytes(self, value: &[u8]) -> Self {
        self.tagged(2, value.len() as u64).raw(value)
    }

    /// Appends a number. A float is passed as its bits.
    pub fn u64(self, value: u64) -> Self {
        self.tagged(3, value)
    }

    /// Appends a Boolean.
    pub fn bool(self, value: bool) -> Self {
        self.raw(&[4, u8::from(value)])
    }

    /// Appends the head of a list. The next `len` values are its items.
    pub fn list(self, len: usize) -> Self {
        self.tagged(5, len as u64)
    }

    /// Appends a list of texts.
    pub fn strs<S: AsRef<str>>(self, values: &[S]) -> Self {
        values.iter().fold(self.list(values.len()), |encoder, value| encoder.str(value.as_ref()))
    }

    /// Returns the hash.
    #[must_use]
    pub fn finish(self) -> [u8; 32] {
        *self.hasher.finalize().as_bytes()
    }

    fn tagged(self, tag: u8, number: u64) -> Self {
        self.raw(&[tag]).raw(&number.to_le_bytes())
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.hasher.update(bytes);
        self
    }
}
