//! Verified bytes as a file that a dynamic linker can open, and nobody can change.
//!
//! A sealed file in memory; where there is none, a file in a directory that only this user can enter. Linkers know a library by
//! the path that it was opened by, and a number of a descriptor is used again. So each file has a spelling of its path of its
//! own, and needs to be there only while it is opened.

use super::library::LoadLibraryError;
use crate::scratch::Scratch;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The file; gone with the value. What was loaded from it stays.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    _kept: Kept,
}

/// What keeps the file there.
#[derive(Debug)]
enum Kept {
    Memory { _file: File },
    Private { _scratch: Scratch },
}

impl Staged {
    /// Stages bytes, which the caller has verified.
    ///
    /// # Errors
    /// There is no place for them.
    pub fn new(bytes: &[u8]) -> Result<Self, LoadLibraryError> {
        Self::in_memory(bytes).or_else(|memory| Self::private(bytes, memory))
    }

    /// The path to open.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn in_memory(bytes: &[u8]) -> io::Result<Self> {
        let file = memory_file(bytes)?;
        Ok(Self { path: descriptor(&file)?, _kept: Kept::Memory { _file: file } })
    }

    /// A file that only this user can reach; `memory` says why it is not in memory.
    pub(super) fn private(bytes: &[u8], memory: io::Error) -> Result<Self, LoadLibraryError> {
        let write = || -> io::Result<Self> {
            let scratch = Scratch::new()?;
            let path = scratch.path().join("module.so");
            fs_err::write(&path, bytes)?;
            Ok(Self { path, _kept: Kept::Private { _scratch: scratch } })
        };
        write().map_err(|file| LoadLibraryError::Stage { memory, directory: std::env::temp_dir(), file })
    }
}

/// A sealed file in memory that holds `bytes`.
fn memory_file(bytes: &[u8]) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know EXEC; some later ones refuse files without it.
    let fd =
        memfd_create(c"precast", flags | MemfdFlags::EXEC).or_else(|_| memfd_create(c"precast", flags))?;
    let mut file = File::from(fd);
    file.write_all(bytes)?;
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// The path of a descriptor, spelled as no other. It names the process, not `self`: debuggers follow it.
fn descriptor(file: &File) -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut path = format!("/proc/{}/fd/", std::process::id());
    // The bits of a number, each written so that it leads nowhere else.
    let mut bits = COUNT.fetch_add(1, Ordering::Relaxed);
    while bits > 0 {
        path += if bits & 1 == 0 { "./" } else { ".//" };
        bits >>= 1;
    }
    // Writing to a string cannot fail.
    let _ = write!(path, "{}", file.as_raw_fd());
    let path = PathBuf::from(path);
    fs_err::metadata(&path).map(|_| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_spelled_as_no_other_and_cannot_be_changed() {
        let read = |staged: &Staged| fs_err::read(staged.path()).unwrap();
        let mut spelled = std::collections::BTreeSet::new();
        for byte in 0..9_u8 {
            // Dropped at once: the number of the descriptor is used again.
            let staged = Staged::new(&[byte]).unwrap();
            assert_eq!(read(&staged), [byte]);
            assert!(spelled.insert(staged.path().as_os_str().to_owned()), "{}", staged.path().display());
            assert!(
                std::fs::OpenOptions::new()
                    .append(true)
                    .open(staged.path())
                    .and_then(|mut f| f.write_all(b"x"))
                    .is_err()
            );
        }
    }

    #[test]
    fn a_private_file_goes_with_its_directory() {
        let staged = Staged::private(b"x", io::ErrorKind::Unsupported.into()).unwrap();
        let path = staged.path().to_owned();
        assert_eq!(fs_err::read(&path).unwrap(), b"x");
        drop(staged);
        assert!(!path.exists());
    }
}
