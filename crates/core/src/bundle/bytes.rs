//! Reads and hashes parts of a bundle.

use crate::key::context;

/// Hashes a page, a pack, a list of documents, a declared graph or the page hashes.
pub(super) fn hash(bytes: &[u8]) -> [u8; 32] {
    blake3::derive_key(context::BUNDLE, bytes)
}

/// Reads a number at `at`. Returns `None` beyond the end of `bytes`.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Reads a number at `at` as an index. Returns `None` beyond the end of `bytes`, or if the number does not fit in `usize`.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?)).ok()
}

/// Returns the `len` bytes at `offset`, or `None` if the slice is too short.
pub(super) fn slice(bytes: &[u8], offset: usize, len: usize) -> Option<&[u8]> {
    bytes.get(offset..offset.checked_add(len)?)
}
