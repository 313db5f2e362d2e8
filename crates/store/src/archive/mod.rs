//! The archive: the files of one build as a canonical tar in a zstd frame.
//!
//! A set of members has exactly one canonical tar, and [`Archive::unpack`] rejects any other form. A [`Digest`], the
//! hash of the *uncompressed* tar, therefore identifies the members and nothing else. The zstd frame is only transport:
//! libzstd versions may compress differently, and any valid frame is accepted.
//!
//! # Layout
//!
//! ```text
//! zstd frame: content size and checksum present, nothing after it
//! └─ tar: for every member, names strictly ascending by their bytes
//!    ├─ 512 bytes ustar header: name (or prefix + name), mode 0644, uid 0, gid 0, mtime 0, size, type '0',
//!    │                          no link, no user or group name, device 0
//!    ├─ the content, padded to 512 with zeros
//!    └─ … then 1024 zeros
//! ```
//!
//! Builders choose the member names. The store only requires that names are safe on every system ([`check_name`]) and
//! that the loaded member is [`SHARED_OBJECT`]. An archive cannot contain user names, host names, locations or times.

mod memory;
mod name;
mod pack;
mod unpack;

use std::collections::BTreeMap;

use crate::key::Digest;
pub use memory::NoMemory;
pub(crate) use name::check_all;
pub use name::{NameError, check_name};
pub use pack::PackError;
pub(crate) use pack::{CARRIED, compress, digest};
pub use unpack::{Limits, UnpackError};
pub(crate) use unpack::{header_of, stated_size};

/// The name of the shared object, which is loaded; the only member that a bundle carries.
pub const SHARED_OBJECT: &str = "unit.so";

/// The name of the object file, which is linked into static programs and combined with other objects for a bundle.
pub const OBJECT: &str = "unit.o";

/// The files of one build, in memory.
///
/// # Examples
///
/// ```
/// use precast_store::{Archive, Limits};
///
/// let mut archive = Archive::default();
/// archive.members.insert("unit.c".to_owned(), b"int x;\n".to_vec());
/// let (digest, frame) = archive.pack()?;
/// assert_eq!(Archive::unpack(&frame, &Limits::default())?, (digest, archive));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Archive {
    /// The content of each member, by name.
    pub members: BTreeMap<String, Vec<u8>>,
}

impl Archive {
    /// Returns a member's content.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.members.get(name).map(Vec::as_slice)
    }

    /// Computes the length of the canonical tar, in bytes; a record states it as its `size`.
    #[must_use]
    pub fn size(&self) -> u64 {
        let blocks = |len: usize| 1 + (len as u64).div_ceil(512);
        512 * (2 + self.members.values().map(|content| blocks(content.len())).sum::<u64>())
    }

    /// Computes the digest without compressing the archive.
    ///
    /// # Errors
    ///
    /// A member's name is invalid.
    pub fn digest(&self) -> Result<Digest, PackError> {
        self.tar().map(|tar| digest(&tar))
    }
}
