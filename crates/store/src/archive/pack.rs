//! Writes the canonical tar and its frame.

use std::io;

use tar::{EntryType, Header};

use super::Archive;
use super::memory::{NoMemory, room};
use super::name::{NameError, check_all};
use crate::key::{Digest, context};

/// Says why an archive cannot be packed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// A member's name is refused.
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
        /// What zstd said.
        source: io::Error,
    },
}

/// zstd's level in stores, where what is made once is decoded often: decoding takes a third less time than at its default,
/// compressing half of it, and archives are a third larger.
const STORED: i32 = -3;

/// zstd's level of what travels, its default: machine code gains little from more.
pub(crate) const CARRIED: i32 = 3;

impl Archive {
    /// Packs the members: the digest of the tar, and the frame that holds it.
    ///
    /// # Errors
    ///
    /// A member's name is refused, or the compressor fails.
    pub fn pack(&self) -> Result<(Digest, Vec<u8>), PackError> {
        self.pack_at(STORED)
    }

    /// Packs at a level of zstd, which changes nothing of what is unpacked.
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

/// Makes the one header that a member of this name and size may have.
pub(super) fn header(name: &str, size: u64) -> Result<Header, NameError> {
    let mut header = Header::new_ustar();
    // `set_path` checks for parents and roots too, but its errors do not tell which rule was broken.
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

/// Puts a tar into a frame of its own, for a store.
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
