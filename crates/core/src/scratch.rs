//! Temporary directories, which are removed even if the process is killed.
//!
//! ```text
//! $TMPDIR/precast-scratch-<random>/   0700, locked with flock by the process that works in it
//! ```
//! The lock ends with the process, so a directory without a lock was left by a killed process. The first directory that a
//! process creates removes such directories. Directories in use are never removed. A sweeper removes only directories that
//! it has locked, and a creator that has locked its new directory checks that it still exists. On file systems without
//! locks, such as Lustre without `-o flock`, directories are not locked and nothing is swept.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

const PREFIX: &str = "precast-scratch-";

/// The directories in use by this process.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A directory that only this user can enter. It is removed on drop.
#[derive(Debug)]
pub struct Scratch {
    directory: PathBuf,
    _lock: fs_err::File,
}

impl Scratch {
    /// Creates a directory in the system's directory for temporary files.
    ///
    /// # Errors
    ///
    /// The directory cannot be created.
    pub fn new() -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        let place = std::env::temp_dir();
        SWEPT.call_once(|| sweep(&place));
        loop {
            let directory = make(&place)?;
            let lock = match fs_err::File::open(&directory) {
                // A sweeper removed it, because it had no lock yet.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            locked(lock.file().lock())?;
            // A sweeper that was faster holds the lock until it has removed the directory.
            if is_at(&lock, &directory) {
                LIVE.lock().unwrap_or_else(PoisonError::into_inner).insert(directory.clone());
                return Ok(Self { directory, _lock: lock });
            }
        }
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Scratch {
    /// Removes the directory while it is still locked.
    fn drop(&mut self) {
        // The next process sweeps a directory that cannot be removed now.
        let _ = fs_err::remove_dir_all(&self.directory);
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.directory);
    }
}

/// Returns the hint for an error of a scratch directory, or of a file in one.
#[must_use]
pub fn remedy(error: &io::Error) -> &'static str {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => "set TMPDIR to a directory with space",
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => "set TMPDIR to a writable directory",
        Kind::NotFound | Kind::NotADirectory => "set TMPDIR to a directory that exists",
        Kind::Unsupported => "set TMPDIR to a directory of a local file system",
        _ => "set TMPDIR to another directory",
    }
}

/// Ignores the error of a file system without locks.
fn locked(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if has_no_locks(&error) => Ok(()),
        other => other,
    }
}

/// Returns whether the error says that locks are not supported: ENOSYS, EOPNOTSUPP, ENOLCK.
fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    let is_without = error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error());
    #[cfg(not(unix))]
    let is_without = false;
    is_without || error.kind() == io::ErrorKind::Unsupported
}

/// Creates a directory with a new, unpredictable name.
fn make(place: &Path) -> io::Result<PathBuf> {
    loop {
        let path = place.join(format!("{PREFIX}{:016x}", RandomState::new().build_hasher().finish()));
        match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
}

#[cfg(unix)]
fn create(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> io::Result<()> {
    fs_err::create_dir(path)
}

/// Removes all directories of this process, for a program that is about to exit without dropping them.
pub fn remove_all() {
    for path in std::mem::take(&mut *LIVE.lock().unwrap_or_else(PoisonError::into_inner)) {
        // The next process sweeps a directory that cannot be removed now.
        let _ = fs_err::remove_dir_all(path);
    }
}

/// Removes the directories of killed processes in `place`.
fn sweep(place: &Path) {
    let Ok(entries) = fs_err::read_dir(place) else { return };
    let named = |entry: &fs_err::DirEntry| entry.file_name().to_string_lossy().starts_with(PREFIX);
    for entry in entries.flatten().filter(named) {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Directories of other users cannot be opened.
        let Ok(lock) = fs_err::File::open(&path) else { continue };
        if lock.file().try_lock().is_ok() && is_at(&lock, &path) {
            let _ = fs_err::remove_dir_all(&path);
        }
    }
}

/// Returns whether a path, without following a link, still refers to an opened directory.
fn is_at(opened: &fs_err::File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let place = |found: std::fs::Metadata| (found.dev(), found.ino());
        let (mine, now) = (opened.metadata().map(place), fs_err::symlink_metadata(path).map(place));
        matches!((mine, now), (Ok(mine), Ok(now)) if mine == now)
    }
    #[cfg(not(unix))]
    {
        let _ = opened;
        path.exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_directories_are_removed_and_used_ones_kept() {
        let place = tempfile::tempdir().unwrap();
        let [left, used, foreign] = [&format!("{PREFIX}left"), &format!("{PREFIX}used"), "other"]
            .map(|name: &str| place.path().join(name));
        for directory in [&left, &used, &foreign] {
            fs_err::create_dir_all(directory.join("deep")).unwrap();
        }
        let lock = fs_err::File::open(&used).unwrap();
        lock.file().lock().unwrap();
        sweep(place.path());
        assert_eq!([left.exists(), used.exists(), foreign.exists()], [false, true, true]);
        drop(lock);
        sweep(place.path());
        assert!(!used.exists());
    }

    #[cfg(unix)]
    #[test]
    fn directory_works_without_file_locks() {
        use rustix::io::Errno;
        let refused = |errno: Errno| locked(Err(io::Error::from_raw_os_error(errno.raw_os_error())));
        for errno in [Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOLCK] {
            refused(errno).unwrap();
        }
        for errno in [Errno::IO, Errno::INTR, Errno::ACCESS, Errno::BADF] {
            assert!(refused(errno).is_err(), "{errno:?}");
        }
    }

    #[test]
    fn directory_is_removed_on_drop() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        fs_err::write(path.join("file"), "x").unwrap();
        sweep(path.parent().unwrap());
        assert!(path.join("file").exists());
        drop(scratch);
        assert!(!path.exists());
    }
}
