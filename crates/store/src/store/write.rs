//! The only place that writes: files that appear whole, and directories that others cannot write.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::FindError;
use crate::step::step;
use crate::trust::quoted;
use crate::whole::{self, Whole};

/// Says why the file system did not take a write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The disk or the quota is full.
    #[error("no space left for `{}`\nhint: free some, or name another store", path.display())]
    NoSpace {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file system is mounted read-only.
    #[error("`{}` is on a read-only file system\nhint: name a store that can be written", path.display())]
    ReadOnly {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// We may not write there.
    #[error("no permission to write `{}`\nhint: name a store that can be written, or change its owner", path.display())]
    Permission {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A directory stands where a file belongs, or a file where a directory does, and it could not be moved away.
    #[error("something else is in the place of `{}`\nhint: `rm -r {}`, then build again", path.display(), quoted(path))]
    InTheWay {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What is there cannot be looked at, or others can change it.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Something else.
    #[error("cannot write `{}`", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
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

/// How many files are put on the disk one by one. One sync of the file system for all has a commit less to wait for, but waits for
/// whatever others have written, and writes the file system's own blocks.
pub(super) const FEW_FILES: usize = 8;

/// How many directories are: where there is no journal, each takes as long as all of them.
pub(super) const FEW_DIRECTORIES: usize = 2;

fn at(path: &Path) -> impl Fn(io::Error) -> WriteError {
    move |source| WriteError::new(path, source)
}

/// Makes a directory and those above it, none of them writable by group or others whatever the umask says.
pub(super) fn create_dir(path: &Path) -> Result<(), WriteError> {
    step();
    whole::create_dir_all(path).map_err(at(path))
}

/// Writes a file so that it is either absent or whole: a random name in `tmp`, fsync, rename. The directory's own fsync is
/// left to the caller, who may write several files into it.
pub(super) fn write_file(tmp: &Path, target: &Path, bytes: &[u8], mode: u32) -> Result<(), WriteError> {
    let mut file = Whole::with_mode(tmp, mode).map_err(at(tmp))?;
    file.write_all(bytes).and_then(|()| file.sync()).map_err(at(target))?;
    file.rename(target).map_err(at(target))
}

/// Puts files, or the names in directories, on the disk: up to `few` one by one, more by one sync of their file system, which is
/// that of `disk`: a directory that was opened before they were written, so that an error which the system met while it wrote
/// them is told here.
///
/// Of a few, all are on their way before the first is waited for: then its commit of the journal is that of the others too.
pub(super) fn sync_all(disk: &fs_err::File, paths: &[&Path], few: usize) -> Result<(), WriteError> {
    #[cfg(target_os = "linux")]
    if paths.len() > few {
        use rustix::io::Errno;
        match rustix::fs::syncfs(disk.file()) {
            Ok(()) => return Ok(()),
            // A sandbox does not allow it, or the file system does not know it.
            Err(Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP | Errno::INVAL) => {}
            Err(error) => return Err(WriteError::new(disk.path(), error.into())),
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = disk;
    paths.chunks(few).try_for_each(sync_few)
}

/// Puts files, or the names in directories, on the disk one by one.
pub(super) fn sync_few(paths: &[&Path]) -> Result<(), WriteError> {
    let open = |path: &&Path| fs_err::File::open(path).map_err(at(path));
    let opened = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    opened.iter().for_each(start);
    // The last that was started ends last.
    opened.iter().rev().try_for_each(|file| file.sync_all().map_err(at(file.path())))
}

/// Lets the system begin to write a file, and does not wait. Whether it does decides how long a sync takes, and nothing else.
fn start(file: &fs_err::File) {
    // What says that pages are not needed any more makes the system write those that were not written.
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(file.file(), 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Finds out whether a file can be made in `directory`.
pub(super) fn probe(directory: &Path) -> Result<(), WriteError> {
    tempfile::tempfile_in(directory).map(drop).map_err(at(directory))
}

/// Makes an empty file that only its owner can write, whatever the umask says, or leaves the one that is there. Tells whether it
/// was missing.
pub(super) fn touch(path: &Path) -> Result<bool, WriteError> {
    step();
    let mut options = fs_err::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    match options.open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(WriteError::new(path, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn refusals_of_the_system_are_told_apart() {
        let error = |code| WriteError::new(Path::new("p"), io::Error::from_raw_os_error(code));
        let (enospc, edquot, erofs, eacces, eio) = (28, 122, 30, 13, 5);
        assert!(matches!(error(enospc), WriteError::NoSpace { .. }));
        assert!(matches!(error(edquot), WriteError::NoSpace { .. }));
        assert!(matches!(error(erofs), WriteError::ReadOnly { .. }));
        assert!(matches!(error(eacces), WriteError::Permission { .. }));
        assert!(matches!(error(eio), WriteError::Io { .. }));
        assert!(error(enospc).to_string().contains("\nhint: "));
    }

    /// In a process of its own: the umask is the whole process's.
    #[cfg(unix)]
    #[test]
    fn others_can_write_nothing_whatever_the_umask_says() {
        use std::os::unix::fs::PermissionsExt as _;
        let name = "store::write::tests::others_can_write_nothing_whatever_the_umask_says";
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
    fn a_write_that_fails_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("missing").join("file");
        assert!(write_file(directory.path(), &target, b"x", 0o444).is_err());
        assert_eq!(walkdir::WalkDir::new(directory.path()).min_depth(1).into_iter().count(), 0);
    }
}
