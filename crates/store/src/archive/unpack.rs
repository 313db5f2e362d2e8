//! Reads a frame that nobody vouches for: every length is checked before it is used, and only the canonical tar passes.
//!
//! The frame states its content size, so memory is bounded by [`Limits::size`] before the first byte is decoded, however
//! small the input: the decoder writes into a buffer of that size and stops at its end. Headers are not interpreted but
//! *compared* with the one header that the member may have; links, devices, extensions, owners and times thereby cannot
//! enter, whatever the tar crate would make of them.

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
    /// What decodes, kept for the next archive: its memory takes as long to get as a small archive to decode.
    static DECODER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// What an archive may cost its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest tar, in bytes.
    pub size: u64,
    /// Largest number of members.
    pub members: usize,
}

impl Default for Limits {
    /// 512 MiB and 65 536 members: far above any build, far below what hurts.
    fn default() -> Self {
        Self { size: 512 << 20, members: 1 << 16 }
    }
}

impl Limits {
    /// Those of the archive of a record that states this size, in bytes, where nobody vouches for the record.
    pub(crate) fn stated(size: u64) -> Self {
        let all = Self::default();
        Self { size: size.min(all.size), ..all }
    }

    /// Length of the longest frame that holds such a tar, in bytes: compressed it is hardly longer.
    pub(crate) fn frame(&self) -> u64 {
        self.size.saturating_add(self.size / 64).saturating_add(64 << 10)
    }
}

/// Says why bytes are not an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// There is no whole zstd frame, or it lacks its size or checksum, or something follows it.
    #[error("not one zstd frame with content size and checksum: {reason}")]
    Frame {
        /// Which of it.
        reason: &'static str,
    },
    /// The frame cannot be decoded.
    #[error("cannot decode the zstd frame")]
    Decode {
        /// What zstd said.
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
    #[error("the tar is cut or has more than its members, at byte {at}")]
    Structure {
        /// Where, counted from the start of the tar.
        at: usize,
    },
    /// A header is not the one that its member may have.
    #[error(
        "the header of member `{name}` is not canonical: a link, a device, an extension, an owner, a mode or a time"
    )]
    Header {
        /// The member, with what is not text replaced.
        name: String,
    },
    /// A member's name is refused.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A member does not come after the one before it.
    #[error("member `{name}` is out of order or a duplicate")]
    Order {
        /// The member.
        name: String,
    },
}

/// A member that was taken out of an archive.
pub(crate) struct Taken {
    /// Length of the whole tar, in bytes.
    pub(crate) size: u64,
    /// The member's content, if there is one of the name.
    pub(crate) content: Option<Vec<u8>>,
}

impl Archive {
    /// Unpacks a frame and computes the digest of what is in it. Callers that expect a certain digest compare.
    ///
    /// # Errors
    ///
    /// The bytes are not an archive in canonical form, or go beyond `limits`.
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

    /// Reads a frame as [`Archive::unpack`] does, and takes one member out of it, in the tar's own memory.
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

    /// Reads a frame as [`Archive::unpack`] does, and gives the digest of what is in it alone.
    pub(crate) fn check(frame: &[u8], limits: &Limits) -> Result<(Digest, ()), UnpackError> {
        Self::measure(frame, limits).map(|(digest, _)| (digest, ()))
    }

    /// As [`Archive::check`], with the length of the tar in bytes.
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
        return refuse("wrong magic");
    }
    // Bit 2 of the frame header descriptor is the checksum flag (RFC 8878, 3.1.1.1.1).
    if frame.get(4).is_none_or(|descriptor| descriptor & 4 == 0) {
        return refuse("no checksum");
    }
    let Ok(Some(found)) = get_frame_content_size(frame) else { return refuse("no content size") };
    if found > limits.size {
        return Err(UnpackError::TooLarge { found, limit: limits.size });
    }
    if find_frame_compressed_size(frame).ok() != Some(frame.len()) {
        return refuse("cut, or followed by other bytes");
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
    // The decoder of a thread that is about to end is gone.
    let decoded = match DECODER.try_with(decode) {
        Ok(decoded) => decoded,
        Err(_) => Decompressor::new().and_then(|mut decoder| decoder.decompress_to_buffer(frame, &mut tar)),
    };
    decoded.map_err(|source| UnpackError::Decode { source })?;
    if tar.len() as u64 == found {
        return Ok(tar);
    }
    Err(UnpackError::Frame { reason: "another length than it states" })
}

/// Where the content of each member is.
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

/// Reads the name and size of a header that is byte for byte the canonical one.
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
