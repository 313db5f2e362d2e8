//! Writes the canonical tar and its frame.

use std::io;

use tar::{EntryType, Header};

use super::Archive;
use super::memory::{NoMemory, room};
use super::name::{NameError, check_all};
use crate::key::{Digest, context};

/// An error while packing an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// A member's name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is not enough memory.
    #[error(transparent)]
    Memory(#[from] NoMemory),
    /// The compressor failed.
    #[error("cannot compress an archive of {size} bytes")]
    Compress {
        /// Length of the tar, in bytes.
        size: usize,
        /// The error of zstd.
        source: io::Error,
    },
}

/// The zstd level for stores, where an archive is compressed once and decoded often. Compared with the default level,
/// decoding takes a third less time and compression half the time; archives are a third larger.
const STORED: i32 = -3;

/// The zstd level for transport, which is zstd's default: machine code gains little from higher levels.
pub(crate) const CARRIED: i32 = 3;

impl Archive {
    /// Packs the members. Returns the digest of the tar and the frame that holds it.
    ///
    /// # Errors
    ///
    /// A member's name is invalid, or compression fails.
    pub fn pack(&self) -> Result<(Digest, Vec<u8>), PackError> {
        self.pack_at(STORED)
    }

    /// Packs at a zstd level. The level does not affect the unpacked content.
    pub(crate) fn pack_at(&self, level: i32) -> Result<(Digest, Vec<u8>), PackError> {
        let tar = self.tar()?;
        Ok((digest(&tar), compress_at(&tar, level)?))
    }

    /// Renders the canonical tar.
    pub(crate) fn tar(&self) -> Result<Vec<u8>, PackError> {
        check_all(&self.members)?;
        let mut tar = room(usize::try_from(self.size()).unwrap_or(usize::MAX))?;
        for (name, content) in &self.members {
            tar.extend_from_slice(header(name, content.len() as u64)?.as_bytes());
            tar.extend_from_slice(content);
            tar.resize(tar.len().next_multiple_of(512), 0);
        }
        tar.resize(tar.len() + 1024, 0);
        Ok(tar)
    }
}

/// Returns the canonical header of a member with this name and size.
pub(super) fn header(name: &str, size: u64) -> Result<Header, NameError> {
    let mut header = Header::new_ustar();
    // `set_path` also rejects parents and roots, but its errors do not say which rule was broken.
    header.set_path(name).map_err(|_| NameError::TooLong { name: name.to_owned() })?;
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(size);
    header.set_cksum();
    Ok(header)
}

/// Hashes a tar.
pub(crate) fn digest(tar: &[u8]) -> Digest {
    Digest::from_bytes(blake3::derive_key(context::ARCHIVE, tar))
}

/// Compresses a tar into a zstd frame, at the level for stores.
pub(crate) fn compress(tar: &[u8]) -> Result<Vec<u8>, PackError> {
    compress_at(tar, STORED)
}

fn compress_at(tar: &[u8], level: i32) -> Result<Vec<u8>, PackError> {
    let frame = || -> io::Result<Vec<u8>> {
        let mut compressor = zstd::bulk::Compressor::new(level)?;
        compressor.include_checksum(true)?;
        compressor.include_contentsize(true)?;
        let mut frame = room(zstd::zstd_safe::compress_bound(tar.len())).map_err(io::Error::other)?;
        compressor.compress_to_buffer(tar, &mut frame)?;
        Ok(frame)
    };
    frame().map_err(|source| PackError::Compress { size: tar.len(), source })
}
