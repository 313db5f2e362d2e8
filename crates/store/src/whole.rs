//! Writes files atomically: under a random name, then renamed, so readers see either the old or the new file.
//!
//! ```text
//! Whole::beside(target) ─▶ write … ─▶ [sync] ─▶ rename(target)
//!        └ dropped before the rename, it leaves nothing
//! ```
//! precast writes everything on disk this way: results, manifests, build script output, stores. The uses differ in the
//! file's permissions, and in whether the file must survive a system crash.

use std::io::{self, Write};
use std::path::Path;

use precast_core::file::check_size_limit;
use tempfile::{NamedTempFile, TempPath};

/// A temporary file that has no final name yet.
#[derive(Debug)]
pub struct Whole {
    file: NamedTempFile,
    /// The number of bytes written.
    written: u64,
}

impl Whole {
    /// Creates an empty file in the directory of `target`. Only its owner can write it, whatever the umask, because
    /// readers reject files that other users can write. The umask can remove further permissions.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn beside(target: &Path) -> io::Result<Self> {
        Self::make(directory(target), 0o644)
    }

    /// Creates an empty file in `directory` with exactly the permissions `mode`. The directory must be on the target's
    /// file system.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn with_mode(directory: &Path, mode: u32) -> io::Result<Self> {
        let file = Self::make(directory, 0o600)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            file.file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
        #[cfg(not(unix))]
        let _ = mode;
        Ok(file)
    }

    fn make(directory: &Path, mode: u32) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".precast-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = mode;
        let made = builder.tempfile_in(directory).map_err(unnamed)?;
        Ok(Self { file: made, written: 0 })
    }

    /// Flushes the file to disk. After an error, the kernel may mark unwritten pages as clean: discard the file and do
    /// not retry.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_file().sync_all()
    }

    /// Renames the file to `target`, replacing an existing file. The caller must sync the directory.
    ///
    /// # Errors
    ///
    /// The file system refuses; the temporary file is removed.
    pub fn rename(self, target: &Path) -> io::Result<()> {
        self.file.persist(target).map(drop).map_err(|error| error.error)
    }
}

/// A file that was written and closed, but has no final name yet. It is deleted if dropped before the rename.
#[derive(Debug)]
pub struct Closed(TempPath);

impl Whole {
    /// Closes the file. Many files may wait for their rename, and file descriptors are limited.
    #[must_use]
    pub fn close(self) -> Closed {
        Closed(self.file.into_temp_path())
    }
}

impl Closed {
    /// Returns the temporary path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Renames the file to `target`, replacing an existing file.
    ///
    /// # Errors
    ///
    /// The file system refuses; the temporary file is removed.
    pub fn rename(self, target: &Path) -> io::Result<()> {
        self.0.persist(target).map_err(|error| error.error)
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_size_limit(self.written.saturating_add(bytes.len() as u64))?;
        let count = self.file.as_file_mut().write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// Removes the random file name from an error of `tempfile`: the user never chose that file, and callers name the
/// target.
fn unnamed(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((said, _)) => io::Error::new(error.kind(), said),
        None => error,
    }
}

/// Writes `bytes` to `path` unless the file already holds them. Creates the directory if needed.
///
/// Returns whether the file was written. An unchanged file keeps its modification time, so its dependents are not
/// rebuilt.
///
/// # Errors
///
/// The file system refuses.
pub fn write_if_changed(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    if fs_err::read(path).is_ok_and(|found| found == bytes) {
        return Ok(false);
    }
    create_dir_all(directory(path))?;
    let mut file = Whole::beside(path)?;
    file.write_all(bytes)?;
    file.rename(path)?;
    Ok(true)
}

/// Creates a directory and its missing parents, not writable by group or other users, whatever the umask.
///
/// # Errors
///
/// The file system refuses.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(path)
}

/// Returns the directory of a path; the current directory for a bare file name.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_file_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let put = |text: &[u8]| {
            let mut file = Whole::beside(&path).unwrap();
            file.write_all(text).map(|()| file).unwrap()
        };
        put(b"old").rename(&path).unwrap();
        drop(put(b"new"));
        put(b"new").rename(&directory.path().join("missing/x")).unwrap_err();
        assert_eq!(fs_err::read(&path).unwrap(), b"old");
        assert_eq!(directory.path().read_dir().unwrap().count(), 1);
    }

    /// Uses a missing directory, because root can write to any existing one.
    #[test]
    fn rejection_names_only_requested_files() {
        let directory = tempfile::tempdir().unwrap();
        let error = Whole::beside(&directory.path().join("gone/x")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains(".precast-"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn file_mode_is_exact() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        for mode in [0o444, 0o666] {
            let path = directory.path().join("x");
            let mut file = Whole::with_mode(directory.path(), mode).unwrap();
            file.write_all(b"x").unwrap();
            file.rename(&path).unwrap();
            assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
    }

    #[test]
    fn an_unchanged_file_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b");
        assert!(write_if_changed(&path, b"one").unwrap());
        assert!(!write_if_changed(&path, b"one").unwrap());
        assert!(write_if_changed(&path, b"two").unwrap());
        assert_eq!(fs_err::read(&path).unwrap(), b"two");
        assert_eq!(walkdir::WalkDir::new(directory.path().join("a")).into_iter().count(), 2);
    }
}
