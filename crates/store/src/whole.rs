//! Files that appear whole: written under a random name, then renamed, so that a reader finds the old one or the new one.
//!
//! ```text
//! Whole::beside(target) ─▶ write … ─▶ [sync] ─▶ rename(target)
//!        └ dropped before the rename, it leaves nothing
//! ```
//! Everything that precast leaves on disk is written so: results, manifests, what a build script makes, stores. What differs
//! is who may read it, and whether it is to survive a crash of the system.

use std::io::{self, Write};
use std::path::Path;

use precast_core::file::check_size_limit;
use tempfile::{NamedTempFile, TempPath};

/// A file without its name.
#[derive(Debug)]
pub struct Whole {
    file: NamedTempFile,
    /// Bytes that were written.
    written: u64,
}

impl Whole {
    /// Makes an empty file in the directory of `target`, which only its owner can write, whatever the umask says: what others can
    /// write, readers refuse. The umask may take more.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn beside(target: &Path) -> io::Result<Self> {
        Self::make(directory(target), 0o644)
    }

    /// Makes an empty file in `directory`, which is of the target's file system, with exactly the permissions `mode`.
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

    /// Puts what was written on the disk. After an error the pages may be marked clean: give the file up, and do not sync it
    /// again.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_file().sync_all()
    }

    /// Gives the file its name, in place of one that has it. The directory's own sync is left to the caller.
    ///
    /// # Errors
    ///
    /// The file system refuses; nothing is left.
    pub fn rename(self, target: &Path) -> io::Result<()> {
        self.file.persist(target).map(drop).map_err(|error| error.error)
    }
}

/// A file that was written and closed, and has no name yet. Dropped before the rename, it leaves nothing.
#[derive(Debug)]
pub struct Closed(TempPath);

impl Whole {
    /// Closes the file: many may wait for their names, and descriptors are few.
    #[must_use]
    pub fn close(self) -> Closed {
        Closed(self.file.into_temp_path())
    }
}

impl Closed {
    /// Where it is until then.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Gives the file its name, in place of one that has it.
    ///
    /// # Errors
    ///
    /// The file system refuses; nothing is left.
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

/// Takes the random name out of what `tempfile` says: nobody asked for that file, and callers say which one was.
fn unnamed(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((said, _)) => io::Error::new(error.kind(), said),
        None => error,
    }
}

/// Writes `bytes` to `path` unless the file holds them already. Makes the directory.
///
/// Tells whether anything was written. An unchanged file keeps its time, so nothing that depends on it is built again.
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

/// Makes a directory and those above it, none of them writable by group or others, whatever the umask says.
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

/// The directory that a path is in; a bare name is in the current one.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_renamed_leaves_nothing() {
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

    /// In a directory that is gone, since root may write to every other.
    #[test]
    fn a_refusal_names_no_file_that_nobody_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let error = Whole::beside(&directory.path().join("gone/x")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains(".precast-"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_mode_is_exact() {
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
