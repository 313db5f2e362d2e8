//! Reads an untrusted frame: every length is checked before it is used, and only the canonical tar is accepted.
//!
//! The frame states its content size, so memory is bounded by [`Limits::size`] before the first byte is decoded,
//! however small the input. The decoder writes into a buffer of that size and stops at its end. Headers are not
//! interpreted but *compared* with the only header that the member may have. Links, devices, extensions, owners and
//! times are therefore rejected, however the tar crate would interpret them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use tar::Header;
use zstd::bulk::Decompressor;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use super::Archive;
use super::memory::{NoMemory, room};
use super::name::{NameError, check_all};
use super::pack::{digest, header};
use crate::key::Digest;

thread_local! {
    /// The decoder, reused for the next archive: allocating its memory takes as long as decoding a small archive.
    static DECODER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Limits on the size of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum length of the tar, in bytes.
    pub size: u64,
    /// The maximum number of members.
    pub members: usize,
}

impl Default for Limits {
    /// Returns 512 MiB and 65 536 members: far above any build, and still harmless to the reader.
    fn default() -> Self {
        Self { size: 512 << 20, members: 1 << 16 }
    }
}

impl Limits {
    /// Returns the limits for the archive of an unverified record that states this size, in bytes.
    pub(crate) fn stated(size: u64) -> Self {
        let all = Self::default();
        Self { size: size.min(all.size), ..all }
    }

    /// Returns the length of the longest frame for such a tar, in bytes. Compression hardly ever makes a tar longer.
    pub(crate) fn frame(&self) -> u64 {
        self.size.saturating_add(self.size / 64).saturating_add(64 << 10)
    }
}

/// The reason why bytes are not a valid archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// The zstd frame is incomplete, lacks its size or checksum, or is followed by other bytes.
    #[error("not a single zstd frame with content size and checksum: {reason}")]
    Frame {
        /// The defect.
        reason: &'static str,
    },
    /// The frame cannot be decoded.
    #[error("cannot decode the zstd frame")]
    Decode {
        /// The error of zstd.
        source: io::Error,
    },
    /// The tar is larger than the reader allows.
    #[error("found a tar of {found} bytes, expected at most {limit}")]
    TooLarge {
        /// Length of the tar, in bytes.
        found: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// There is not enough memory.
    #[error(transparent)]
    Memory(#[from] NoMemory),
    /// There are more members than the reader allows.
    #[error("found more than {limit} members")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The tar ends within a member, or its end is not 1024 zeros.
    #[error("the tar is truncated or has trailing data at byte {at}")]
    Structure {
        /// The byte offset from the start of the tar.
        at: usize,
    },
    /// A header is not the canonical header of its member.
    #[error(
        "the header of member `{name}` is not canonical: found a link, a device, an extension, an owner, a mode or a \
         time"
    )]
    Header {
        /// The member's name, with invalid characters escaped.
        name: String,
    },
    /// A member's name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A member is out of order or a duplicate.
    #[error("member `{name}` is out of order or a duplicate")]
    Order {
        /// The member.
        name: String,
    },
}

/// A member read from an archive.
pub(crate) struct Taken {
    /// Length of the whole tar, in bytes.
    pub(crate) size: u64,
    /// The member's content; `None` if the archive has no such member.
    pub(crate) content: Option<Vec<u8>>,
}

impl Archive {
    /// Unpacks a frame and computes the digest of its content. Callers that expect a certain digest must compare it.
    ///
    /// # Errors
    ///
    /// The bytes are not an archive in canonical form, or exceed `limits`.
    pub fn unpack(frame: &[u8], limits: &Limits) -> Result<(Digest, Self), UnpackError> {
        let tar = decompress(frame, limits)?;
        let members = parse(&tar, limits)?.into_iter();
        let copied = |(name, place): (String, Range<usize>)| {
            let mut content = room(place.len())?;
            content.extend_from_slice(&tar[place]);
            Ok((name, content))
        };
        let members = members.map(copied).collect::<Result<_, UnpackError>>()?;
        Ok((digest(&tar), Self { members }))
    }

    /// Reads a frame like [`Archive::unpack`], and returns one member, reusing the tar's memory.
    pub(crate) fn member(frame: &[u8], limits: &Limits, name: &str) -> Result<(Digest, Taken), UnpackError> {
        let mut tar = decompress(frame, limits)?;
        let (digest, size) = (digest(&tar), tar.len() as u64);
        let Some(place) = parse(&tar, limits)?.remove(name) else {
            return Ok((digest, Taken { size, content: None }));
        };
        tar.truncate(place.end);
        tar.drain(..place.start);
        Ok((digest, Taken { size, content: Some(tar) }))
    }

    /// Reads a frame like [`Archive::unpack`], but returns only the digest.
    pub(crate) fn check(frame: &[u8], limits: &Limits) -> Result<(Digest, ()), UnpackError> {
        Self::measure(frame, limits).map(|(digest, _)| (digest, ()))
    }

    /// Reads a frame like [`Archive::check`]; also returns the length of the tar in bytes.
    pub(crate) fn measure(frame: &[u8], limits: &Limits) -> Result<(Digest, u64), UnpackError> {
        let tar = decompress(frame, limits)?;
        parse(&tar, limits)?;
        Ok((digest(&tar), tar.len() as u64))
    }
}

/// Returns the content size that a frame states, in bytes, if the frame is one whole frame with a checksum.
pub(crate) fn stated_size(frame: &[u8], limits: &Limits) -> Result<u64, UnpackError> {
    let refuse = |reason| Err(UnpackError::Frame { reason });
    if !frame.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
        return refuse("invalid magic");
    }
    // Bit 2 of the frame header descriptor is the checksum flag (RFC 8878, 3.1.1.1.1).
    if frame.get(4).is_none_or(|descriptor| descriptor & 4 == 0) {
        return refuse("missing checksum");
    }
    let Ok(Some(found)) = get_frame_content_size(frame) else { return refuse("missing content size") };
    if found > limits.size {
        return Err(UnpackError::TooLarge { found, limit: limits.size });
    }
    if find_frame_compressed_size(frame).ok() != Some(frame.len()) {
        return refuse("truncated, or followed by other data");
    }
    Ok(found)
}

fn decompress(frame: &[u8], limits: &Limits) -> Result<Vec<u8>, UnpackError> {
    let found = stated_size(frame, limits)?;
    let mut tar = room(usize::try_from(found).unwrap_or(usize::MAX))?;
    let decode = |decoder: &RefCell<Option<Decompressor<'static>>>| {
        let mut decoder = decoder.borrow_mut();
        let decoder = match &mut *decoder {
            Some(decoder) => decoder,
            none => none.insert(Decompressor::new()?),
        };
        decoder.decompress_to_buffer(frame, &mut tar)
    };
    // The thread-local decoder is gone once its thread is shutting down.
    let decoded = match DECODER.try_with(decode) {
        Ok(decoded) => decoded,
        Err(_) => Decompressor::new().and_then(|mut decoder| decoder.decompress_to_buffer(frame, &mut tar)),
    };
    decoded.map_err(|source| UnpackError::Decode { source })?;
    if tar.len() as u64 == found {
        return Ok(tar);
    }
    Err(UnpackError::Frame { reason: "content size mismatch" })
}

/// Finds the byte range of each member's content.
fn parse(tar: &[u8], limits: &Limits) -> Result<BTreeMap<String, Range<usize>>, UnpackError> {
    let mut members = BTreeMap::new();
    let mut at = 0;
    loop {
        let block = tar.get(at..at + 512).ok_or(UnpackError::Structure { at })?;
        if block.iter().all(|byte| *byte == 0) {
            break;
        }
        if members.len() == limits.members {
            return Err(UnpackError::TooMany { limit: limits.members });
        }
        let (name, size) = header_of(block)?;
        if members.last_key_value().is_some_and(|(last, _)| *last >= name) {
            return Err(UnpackError::Order { name });
        }
        let start = at + 512;
        let end = usize::try_from(size).ok().and_then(|size| start.checked_add(size));
        let end = end.filter(|end| *end <= tar.len()).ok_or(UnpackError::Structure { at })?;
        let next = end.next_multiple_of(512);
        let padding = tar.get(end..next).ok_or(UnpackError::Structure { at })?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(UnpackError::Structure { at });
        }
        members.insert(name, start..end);
        at = next;
    }
    if tar.len() != at + 1024 || tar[at..].iter().any(|byte| *byte != 0) {
        return Err(UnpackError::Structure { at });
    }
    check_all(&members)?;
    Ok(members)
}

/// Parses a header and checks that it is byte for byte canonical. Returns the name and size.
pub(crate) fn header_of(block: &[u8]) -> Result<(String, u64), UnpackError> {
    let found = Header::from_byte_slice(block);
    let bytes = found.path_bytes();
    let shown = || String::from_utf8_lossy(&bytes).escape_debug().to_string();
    let refuse = || UnpackError::Header { name: shown() };
    let name = std::str::from_utf8(&bytes).map_err(|_| NameError::Character { name: shown() })?;
    super::check_name(name)?;
    let size = found.entry_size().map_err(|_| refuse())?;
    if header(name, size)?.as_bytes().as_slice() != block {
        return Err(refuse());
    }
    Ok((name.to_owned(), size))
}
