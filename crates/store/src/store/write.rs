//! Writes files atomically, and creates directories that other users cannot write.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::FindError;
use crate::step::step;
use crate::trust::quoted;
use crate::whole::{self, Whole};

/// The reason why a write failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The disk or the quota is full.
    #[error("no space left for `{}`\nhint: free some space, or use another store", path.display())]
    NoSpace {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file system is mounted read-only.
    #[error("`{}` is on a read-only file system\nhint: use a writable store", path.display())]
    ReadOnly {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The process lacks write permission.
    #[error("no permission to write `{}`\nhint: use a writable store, or change its owner", path.display())]
    Permission {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A directory exists in place of a file, or a file in place of a directory, and could not be moved away.
    #[error("cannot write `{}`: a file or directory of another kind is in the way\nhint: run `rm -r {}` and rebuild", path.display(), quoted(path))]
    InTheWay {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Existing files cannot be read, or other users can change them.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Any other error.
    #[error("cannot write `{}`", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl WriteError {
    pub(super) fn new(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { path, source },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, source },
            io::ErrorKind::PermissionDenied => Self::Permission { path, source },
            io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::DirectoryNotEmpty => Self::InTheWay { path, source },
            _ => Self::Io { path, source },
        }
    }
}

/// The maximum number of files that are synced individually. One sync of the whole file system waits for one journal
/// commit less. However, it also waits for the writes of other programs, and writes the file system's own blocks.
pub(super) const FEW_FILES: usize = 8;

/// The maximum number of directories that are synced individually. Without a journal, each directory takes as long as
/// all of them together.
pub(super) const FEW_DIRECTORIES: usize = 2;

fn at(path: &Path) -> impl Fn(io::Error) -> WriteError {
    move |source| WriteError::new(path, source)
}

/// Creates a directory and its missing parents, not writable by group or other users, whatever the umask.
pub(super) fn create_dir(path: &Path) -> Result<(), WriteError> {
    step();
    whole::create_dir_all(path).map_err(at(path))
}

/// Writes a file atomically: a random name in `tmp`, fsync, rename. The caller syncs the directory, because it may
/// write several files into it.
pub(super) fn write_file(tmp: &Path, target: &Path, bytes: &[u8], mode: u32) -> Result<(), WriteError> {
    let mut file = Whole::with_mode(tmp, mode).map_err(at(tmp))?;
    file.write_all(bytes).and_then(|()| file.sync()).map_err(at(target))?;
    file.rename(target).map_err(at(target))
}

/// Syncs files, or the entries of directories. Up to `few` paths are synced individually, more by one sync of their
/// file system. `disk` is a directory of that file system. It must have been opened before the writes, so that earlier
/// write errors of the system are reported here.
///
/// For a few paths, writeback of all of them starts before the first wait, so that one journal commit can serve all.
pub(super) fn sync_all(disk: &fs_err::File, paths: &[&Path], few: usize) -> Result<(), WriteError> {
    #[cfg(target_os = "linux")]
    if paths.len() > few {
        use rustix::io::Errno;
        match rustix::fs::syncfs(disk.file()) {
            Ok(()) => return Ok(()),
            // A sandbox forbids `syncfs`, or the file system does not support it.
            Err(Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP | Errno::INVAL) => {}
            Err(error) => return Err(WriteError::new(disk.path(), error.into())),
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = disk;
    paths.chunks(few).try_for_each(sync_few)
}

/// Syncs files, or the entries of directories, individually.
pub(super) fn sync_few(paths: &[&Path]) -> Result<(), WriteError> {
    let open = |path: &&Path| fs_err::File::open(path).map_err(at(path));
    let opened = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    opened.iter().for_each(start);
    // The last file that was started finishes last.
    opened.iter().rev().try_for_each(|file| file.sync_all().map_err(at(file.path())))
}

/// Starts writeback of a file without waiting. This only affects how long the sync takes.
fn start(file: &fs_err::File) {
    // `DontNeed` makes the kernel write dirty pages before it drops them.
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(file.file(), 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Checks that a file can be created in `directory`.
pub(super) fn probe(directory: &Path) -> Result<(), WriteError> {
    tempfile::tempfile_in(directory).map(drop).map_err(at(directory))
}

/// Creates an empty file that only its owner can write, whatever the umask; replaces a file that is not empty.
pub(super) fn touch(path: &Path) -> Result<(), WriteError> {
    if fs_err::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0) {
        step();
        remove_if_there(path)?;
    }
    step();
    let mut options = fs_err::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(WriteError::new(path, source)),
    }
}

fn remove_if_there(path: &Path) -> Result<(), WriteError> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(WriteError::new(path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn write_errors_have_distinct_kinds() {
        let error = |code| WriteError::new(Path::new("p"), io::Error::from_raw_os_error(code));
        let (enospc, edquot, erofs, eacces, eio) = (28, 122, 30, 13, 5);
        assert!(matches!(error(enospc), WriteError::NoSpace { .. }));
        assert!(matches!(error(edquot), WriteError::NoSpace { .. }));
        assert!(matches!(error(erofs), WriteError::ReadOnly { .. }));
        assert!(matches!(error(eacces), WriteError::Permission { .. }));
        assert!(matches!(error(eio), WriteError::Io { .. }));
        assert!(error(enospc).to_string().contains("\nhint: "));
    }

    /// Runs in a child process, because the umask applies to the whole process.
    #[cfg(unix)]
    #[test]
    fn files_are_private_under_any_umask() {
        use std::os::unix::fs::PermissionsExt as _;
        let name = "store::write::tests::files_are_private_under_any_umask";
        let Some(root) = std::env::var_os("PRECAST_TEST_UMASK").map(PathBuf::from) else {
            let directory = tempfile::tempdir().unwrap();
            let mut again = std::process::Command::new("sh");
            again.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
            again.args([name, "--exact"]).env("PRECAST_TEST_UMASK", directory.path());
            let output = again.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            let all = walkdir::WalkDir::new(directory.path()).min_depth(1).into_iter().map(Result::unwrap);
            assert!(all.count() > 4, "nothing was tried");
            return;
        };
        create_dir(&root.join("a/b")).unwrap();
        touch(&root.join("a/pointer")).unwrap();
        whole::write_if_changed(&root.join("c/d/file"), b"x").unwrap();
        for entry in walkdir::WalkDir::new(&root).min_depth(1) {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o022, 0, "{} {mode:o}", entry.path().display());
        }
    }

    #[test]
    fn failed_write_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("missing").join("file");
        assert!(write_file(directory.path(), &target, b"x", 0o444).is_err());
        assert_eq!(walkdir::WalkDir::new(directory.path()).min_depth(1).into_iter().count(), 0);
    }
}
