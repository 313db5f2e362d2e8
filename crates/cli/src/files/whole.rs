//! Files that a command line names, written as a whole ([`precast_store::whole`]) if possible.
//!
//! A symbolic link keeps its target. A character device (`/dev/null`, a terminal) and a pipe with a reader
//! (`/dev/stdout` in a pipeline) are written in place. Other special files are rejected, and so are files of another
//! kind than the new contents, e.g. a key or a manifest.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use precast_store::file::Kind as Special;
use precast_store::keyring::SUFFIX;
use precast_store::trust::{self, PathCheck, Protection};
use precast_store::whole::Whole;
#[cfg(unix)]
use rustix::fs::OFlags;

use crate::kind::Kind;
use crate::term;

/// An error of writing a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum WriteError {
    /// The file system returned an error.
    #[error("cannot write `{}`{}", path.display(), hint(source))]
    Io { path: PathBuf, source: io::Error },
    /// The target is a special file that accepts no bytes.
    #[error(
        "cannot write `{}`: it is {found}{}\nhint: name a regular file",
        path.display(), if *found == Special::Fifo { " without a reader" } else { "" }
    )]
    Kind { path: PathBuf, found: Special },
    /// The target is a file of another kind.
    #[error(
        "cannot write `{}`: it is {found}, and would be replaced by {wanted}\nhint: name another file{}",
        path.display(), if *found == Kind::SecretKey { "" } else { ", or delete this file first" }
    )]
    Other { path: PathBuf, found: Kind, wanted: Kind },
    /// The name of an array that cannot be a member of an archive.
    #[error(
        "cannot write array `{}` to `{}`: a member name must not contain `/`, `\\` or NUL\nhint: rename the output, \
         or write it to a `.npy` file",
        name.escape_debug(), path.display()
    )]
    Member { path: PathBuf, name: String },
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "\nhint: free some space",
        _ => "\nhint: name a file in an existing, writable directory",
    }
}

/// A complete file that waits for its rename. Dropping it without [`Pending::commit`] leaves no file behind.
#[derive(Debug)]
pub(crate) struct Pending {
    target: PathBuf,
    /// `None` if the target is a special file, which was written in place.
    file: Option<Whole>,
}

/// Checks that a file of this kind may be written at a path, which must be missing, empty, or of this kind.
pub(crate) fn check(path: &Path, wanted: Kind) -> Result<(), WriteError> {
    let is_file = fs_err::metadata(path).is_ok_and(|found| found.is_file());
    let found = if is_file { Kind::at(path) } else { Ok(Kind::Empty) };
    match found.map_err(|source| WriteError::Io { path: path.to_owned(), source })? {
        Kind::Empty => Ok(()),
        found if found == wanted => Ok(()),
        found => Err(WriteError::Other { path: path.to_owned(), found, wanted }),
    }
}

/// Returns whether a regular file has these bytes, belongs to this user, and nobody else can write to it. Such a file need
/// not be written again.
pub(crate) fn has(path: &Path, bytes: &[u8]) -> bool {
    let is_safe = matches!(
        fs_err::canonicalize(path).and_then(|path| trust::open_file(&path, Protection::Permissions)),
        Ok(PathCheck::Trusted((_, metadata))) if metadata.len() == bytes.len() as u64
    );
    is_safe && fs_err::read(path).is_ok_and(|found| found == bytes)
}

/// Removes the signatures of a file that is about to be replaced: they cannot be valid for other bytes.
pub(crate) fn forget_signatures(path: &Path) -> Result<(), WriteError> {
    let target = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let beside = |path: &Path| {
        let mut name = path.as_os_str().to_owned();
        name.push(SUFFIX);
        PathBuf::from(name)
    };
    let mut places = vec![beside(path), beside(&target)];
    places.dedup();
    for place in places {
        // Another file with this name belongs to the user.
        if !place.is_file() || !Kind::at(&place).is_ok_and(|kind| kind == Kind::Signatures) {
            continue;
        }
        fs_err::remove_file(&place).map_err(|source| WriteError::Io { path: place.clone(), source })?;
        term::note(&format!("removed `{}`, which signed the previous file", place.display()));
    }
    Ok(())
}

/// Writes the output of `fill` to a temporary file next to `path`.
pub(crate) fn write(
    path: &Path,
    kind: Kind,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Pending, WriteError> {
    let at = |source| WriteError::Io { path: path.to_owned(), source };
    let target = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    check(path, kind)?;
    if let Some(found) = fs_err::metadata(&target).ok().and_then(|found| Special::of(found.file_type())) {
        let refused = || WriteError::Kind { path: path.to_owned(), found };
        let mut file = open_stream(&target, found).map_err(at)?.ok_or_else(refused)?;
        buffered(&mut file, fill).map_err(at)?;
        return Ok(Pending { target, file: None });
    }
    let mut file = Whole::beside(&target).map_err(at)?;
    buffered(&mut file, fill).map_err(at)?;
    Ok(Pending { target, file: Some(file) })
}

/// Opens a stream (a device or a pipe) without waiting for a reader; `None` for any other file.
fn open_stream(path: &Path, kind: Special) -> io::Result<Option<File>> {
    // The error number matters, and `fs_err` does not keep it.
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    if kind == Special::Fifo {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        return match options.open(path) {
            Ok(file) => {
                // From here on a reader may take its time.
                rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
                Ok(Some(file))
            }
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => Ok(None),
            Err(error) => Err(error),
        };
    }
    if kind == Special::CharacterDevice { options.open(path).map(Some) } else { Ok(None) }
}

fn buffered(file: &mut dyn Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::new(file);
    fill(&mut out)?;
    out.flush()
}

impl Pending {
    /// Renames the file into place.
    pub(crate) fn commit(self) -> Result<(), WriteError> {
        let Self { target, file } = self;
        let Some(file) = file else { return Ok(()) };
        file.rename(&target).map_err(|source| WriteError::Io { path: target, source })
    }

    /// Renames the file into place after it is on the disk, for files that are deployed, signed or exported.
    pub(crate) fn commit_durably(self) -> Result<(), WriteError> {
        let target = self.target.clone();
        let at = |source| WriteError::Io { path: target.clone(), source };
        let Some(file) = &self.file else { return Ok(()) };
        file.sync().map_err(at)?;
        self.commit()?;
        #[cfg(unix)]
        if let Some(directory) = target.parent() {
            let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            fs_err::File::open(directory).and_then(|directory| directory.sync_all()).map_err(at)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_write_leaves_the_old_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        write(&path, Kind::Text, |out| out.write_all(b"old")).unwrap().commit_durably().unwrap();
        drop(write(&path, Kind::Text, |out| out.write_all(b"new")).unwrap());
        write(&path, Kind::Text, |_| Err(io::Error::other("half way"))).unwrap_err();
        assert_eq!(fs_err::read(&path).unwrap(), b"old");
        assert_eq!(directory.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_directory_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        assert!(write(directory.path(), Kind::Text, |_| Ok(())).is_err());
    }

    #[test]
    fn files_of_other_kinds_are_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let files = ["[[op]]\n", "precastb", "\u{93}", "untrusted comment: key\nRWSS", "a\0"];
        for (found, wanted) in files.iter().flat_map(|found| [Kind::Export, Kind::Npy].map(|w| (found, w))) {
            fs_err::write(&path, found).unwrap();
            let refused = write(&path, wanted, |out| out.write_all(b"new")).unwrap_err().to_string();
            assert!(refused.contains("and would be replaced by"), "{refused}");
            assert_eq!(refused.contains("delete this file"), !found.starts_with("untrusted"), "{refused}");
            assert_eq!(fs_err::read(&path).unwrap(), found.as_bytes());
        }
        // A picture may replace a picture, but not a manifest.
        fs_err::write(&path, "[[graph]]\n").unwrap();
        let refused = write(&path, Kind::Text, |out| out.write_all(b"<svg>")).unwrap_err().to_string();
        assert!(refused.contains("it is a manifest, and would be replaced by a text file"), "{refused}");
        fs_err::write(&path, "<svg>").unwrap();
        write(&path, Kind::Text, |out| out.write_all(b"<svg >")).unwrap().commit().unwrap();
        fs_err::write(&path, "").unwrap();
        write(&path, Kind::Npy, |out| out.write_all(b"\x93NUMPY")).unwrap().commit().unwrap();
        write(&path, Kind::Npy, |out| out.write_all(b"\x93NUMPY")).unwrap().commit().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_in_place() {
        write(Path::new("/dev/null"), Kind::Text, |out| out.write_all(b"gone"))
            .unwrap()
            .commit_durably()
            .unwrap();
        assert!(!fs_err::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_keeps_pointing_to_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs_err::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, Kind::Text, |out| out.write_all(b"new")).unwrap().commit().unwrap();
        assert_eq!(fs_err::read(&file).unwrap(), b"new");
        assert!(fs_err::symlink_metadata(&link).unwrap().is_symlink());
    }
}
