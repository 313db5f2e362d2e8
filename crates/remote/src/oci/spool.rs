//! Buffers content from a registry until its signatures are verified: short content in memory, long content in an
//! unnamed file.
//!
//! Unverified content therefore costs at most [`IN_MEMORY`] bytes of memory, and disk space that can run out. Digests
//! of blobs are computed while they arrive.

use std::io::{self, Read, Seek, SeekFrom, Write};

use precast_store::{Keyring, Unsigned};

use crate::gather::{append, no_memory};

/// The number of bytes in memory before a file is used.
const IN_MEMORY: usize = 64 << 20;

/// The bytes of a release.
#[derive(Debug)]
pub(crate) enum Spool {
    Memory(Vec<u8>),
    File { file: fs_err::File, length: u64 },
}

impl Spool {
    pub(crate) const fn new() -> Self {
        Self::Memory(Vec::new())
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { length, .. } => *length,
        }
    }

    /// Adds a part.
    pub(crate) fn add(&mut self, part: &[u8]) -> io::Result<()> {
        self.add_beyond(part, IN_MEMORY)
    }

    fn add_beyond(&mut self, part: &[u8], in_memory: usize) -> io::Result<()> {
        if let Self::Memory(bytes) = self {
            if bytes.len() + part.len() <= in_memory {
                return append(bytes, part);
            }
            let file = tempfile::tempfile().map_err(told)?;
            let mut file = fs_err::File::from_parts(file, std::env::temp_dir());
            file.write_all(bytes).map_err(told)?;
            *self = Self::File { file, length: bytes.len() as u64 };
        }
        if let Self::File { file, length } = self {
            file.write_all(part).map_err(told)?;
            *length += part.len() as u64;
        }
        Ok(())
    }

    /// Truncates the content to its first `keep` bytes, before a part is requested again.
    pub(crate) fn cut(&mut self, keep: u64) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => bytes.truncate(usize::try_from(keep).unwrap_or(usize::MAX)),
            Self::File { file, length } => {
                file.set_len(keep)?;
                file.seek(SeekFrom::Start(keep))?;
                *length = keep;
            }
        }
        Ok(())
    }

    /// Checks that enough keys have signed the content; a file is read part by part.
    pub(crate) fn check<'k>(
        &mut self,
        keyring: &'k Keyring,
        signatures: &str,
    ) -> io::Result<Result<Vec<&'k str>, Box<Unsigned>>> {
        match self {
            Self::Memory(bytes) => Ok(keyring.check(bytes, signatures)),
            Self::File { file, .. } => keyring.check_read(file, signatures),
        }
    }

    /// Returns the whole content, in memory that is reserved first.
    pub(crate) fn into_bytes(self) -> io::Result<Vec<u8>> {
        let (mut file, length) = match self {
            Self::Memory(bytes) => return Ok(bytes),
            Self::File { file, length } => (file, length),
        };
        let mut bytes = Vec::new();
        let room = usize::try_from(length).ok().and_then(|length| bytes.try_reserve_exact(length).ok());
        room.ok_or_else(|| no_memory(length))?;
        file.rewind()?;
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Adds the directory of the file that could not be written to an error.
fn told(error: io::Error) -> io::Error {
    let directory = std::env::temp_dir();
    io::Error::new(
        error.kind(),
        format!("cannot write a temporary file in `{}`: {error}", directory.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_form_one_file_without_repeats() {
        for in_memory in [0, 4, 5, 100] {
            let mut spool = Spool::new();
            let add = |spool: &mut Spool, part: &[u8]| spool.add_beyond(part, in_memory).unwrap();
            add(&mut spool, b"abc");
            add(&mut spool, b"dexx");
            spool.cut(5).unwrap();
            add(&mut spool, b"fg");
            assert_eq!((spool.len(), matches!(spool, Spool::File { .. })), (7, in_memory < 7));
            assert_eq!(spool.into_bytes().unwrap(), b"abcdefg");
        }
    }
}
