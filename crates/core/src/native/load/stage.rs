//! Stages verified bytes as an immutable file that a dynamic linker can open.
//!
//! The file is a sealed memory file, or otherwise a file in a directory that only this user can enter. Linkers identify a
//! library by the path that it was opened with, and descriptor numbers are reused. So each file has a unique spelling of
//! its path. It must exist only while it is opened.

use super::error::LoadLibraryError;
use crate::file::check_size_limit;
use crate::scratch::Scratch;
use rustix::io::Errno;
use std::ffi::CStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// A staged file, deleted on drop. Libraries loaded from it stay loaded.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    _kept: Kept,
}

/// The owner of the file.
#[derive(Debug)]
enum Kept {
    Memory { _file: File },
    Private { _scratch: Scratch },
}

impl Staged {
    /// Stages bytes that the caller has verified.
    ///
    /// # Errors
    /// No file can be created.
    pub fn new(bytes: &[u8]) -> Result<Self, LoadLibraryError> {
        check_size(bytes)?;
        Self::in_memory(bytes, c"precast").or_else(|memory| Self::private(bytes, memory))
    }

    /// Returns the path to open.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the kernel maps the file as executable, or `true` if that is unknown.
    pub(super) fn can_be_executed(&self) -> bool {
        can_be_executed(&self.path)
    }

    /// Creates a memory file. The kernel shows it as `name`.
    pub(super) fn in_memory(bytes: &[u8], name: &CStr) -> io::Result<Self> {
        let file = memory_file(bytes, name)?;
        Ok(Self { path: descriptor(&file)?, _kept: Kept::Memory { _file: file } })
    }

    /// Creates a file that only this user can read. `memory` is the reason why a memory file is not possible.
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

/// Creates a sealed memory file that contains `bytes`.
fn memory_file(bytes: &[u8], name: &CStr) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know EXEC; some later ones reject files without it.
    let fd = memfd_create(name, flags | MemfdFlags::EXEC).or_else(|_| memfd_create(name, flags))?;
    let mut file = File::from(fd);
    file.write_all(bytes)?;
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// Checks that this process may write a file of this size. The limit also applies to memory files.
pub(super) fn check_size(bytes: &[u8]) -> Result<(), LoadLibraryError> {
    check_size_limit(bytes.len() as u64).map_err(|source| LoadLibraryError::Size { source })
}

/// Returns a unique spelling of a descriptor's path. It contains the process id and not `self`, so that debuggers can
/// follow it. The id is read from `/proc/self`, because `/proc` may belong to another PID namespace, in which this process
/// has another id.
fn descriptor(file: &File) -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let process = fs_err::read_link("/proc/self")?;
    let mut path = format!("/proc/{}/fd/", process.display());
    // The bits of two numbers, each spelled so that the path stays the same: of the file, because a process may contain
    // several copies of this code with counters of their own, and of the counter.
    let mut spell = |bit: bool| path += if bit { ".//" } else { "./" };
    let inode = file.metadata()?.ino();
    (0..u32::BITS).for_each(|at| spell(inode >> at & 1 == 1));
    let mut bits = COUNT.fetch_add(1, Ordering::Relaxed);
    while bits > 0 {
        spell(bits & 1 == 1);
        bits >>= 1;
    }
    // Writing to a string cannot fail.
    let _ = write!(path, "{}", file.as_raw_fd());
    let path = PathBuf::from(path);
    check_same(file, &path)?;
    Ok(path)
}

/// Checks that a path refers to an open file.
fn check_same(file: &File, path: &Path) -> io::Result<()> {
    let place = |found: std::fs::Metadata| (found.dev(), found.ino());
    if place(file.metadata()?) == place(fs_err::metadata(path)?) {
        return Ok(());
    }
    Err(io::Error::other(format!("`{}` is a different file", path.display())))
}

/// Returns whether the kernel maps a file as executable, or `true` if that is unknown.
fn can_be_executed(path: &Path) -> bool {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let Ok(file) = fs_err::File::open(path) else { return true };
    let (protection, flags) = (ProtFlags::READ | ProtFlags::EXEC, MapFlags::PRIVATE);
    // SAFETY: a new mapping at an address that the kernel chooses.
    match unsafe { mmap(ptr::null_mut(), 1, protection, flags, file.file(), 0) } {
        // SAFETY: the mapping from above, which nothing refers to.
        Ok(mapped) => unsafe { munmap(mapped, 1) }.is_ok(),
        Err(error) => !matches!(error, Errno::PERM | Errno::ACCESS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staged_file_has_unique_name_and_is_immutable() {
        let read = |staged: &Staged| fs_err::read(staged.path()).unwrap();
        let mut spelled = std::collections::BTreeSet::new();
        for byte in 0..9_u8 {
            // Dropped at once, so the descriptor number is reused.
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
    fn path_to_another_file_is_rejected() {
        let [one, other] = [memory_file(b"x", c"x").unwrap(), memory_file(b"x", c"x").unwrap()];
        let path = descriptor(&one).unwrap();
        check_same(&one, &path).unwrap();
        assert!(check_same(&other, &path).is_err());
        let process = fs_err::read_link("/proc/self").unwrap();
        assert!(path.starts_with(Path::new("/proc").join(process)), "{}", path.display());
    }

    #[test]
    fn noexec_file_system_has_its_own_error() {
        let staged = Staged::new(b"x").unwrap();
        assert!(staged.can_be_executed());
        use rustix::fs::{StatVfsMountFlags, statvfs};
        let place = Path::new("/dev/shm");
        if statvfs(place).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::NOEXEC)) {
            let file = tempfile::NamedTempFile::new_in(place).unwrap();
            assert!(!can_be_executed(file.path()));
        }
    }

    #[test]
    fn private_file_is_removed_with_its_directory() {
        let staged = Staged::private(b"x", io::ErrorKind::Unsupported.into()).unwrap();
        let path = staged.path().to_owned();
        assert_eq!(fs_err::read(&path).unwrap(), b"x");
        drop(staged);
        assert!(!path.exists());
    }
}
