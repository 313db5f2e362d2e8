//! Reads files from untrusted paths safely.
//!
//! Paths come from command lines, manifests and environment variables. They may name a FIFO without a writer, an endless
//! device, a directory, or a file larger than memory. So a file is opened without blocking and its type is checked through
//! its descriptor, so that it cannot be replaced in between. Its memory is allocated fallibly, up to a limit. An unusable
//! file is rejected at once, with a hint.

use crate::native::file_size_limit;
use std::fmt;
use std::fs::FileType;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Maximum size of a text file, such as a manifest, a graph or a source file, in bytes.
pub const TEXT_LIMIT: u64 = 64 << 20;

/// Checks that this process may write a file of `bytes` bytes. Beyond that limit, the kernel would kill the program with
/// SIGXFSZ.
///
/// # Errors
/// `bytes` exceeds the limit.
pub fn check_size_limit(bytes: u64) -> io::Result<()> {
    if let Some(limit) = file_size_limit().filter(|limit| bytes > *limit) {
        let text = format!(
            "cannot write {bytes} bytes to a file: this process may write at most {limit} (RLIMIT_FSIZE)\nhint: raise \
             the limit with `ulimit -f`, or `LimitFSIZE=` of systemd"
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(())
}

/// The reason why an existing path cannot be read as a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotReadable {
    /// A directory, a FIFO, a socket or a device.
    #[error("`{}` is {found}, expected a regular file\nhint: {}", path.display(), found.remedy())]
    Kind {
        /// The path.
        path: PathBuf,
        /// The kind of file.
        found: Kind,
    },
    /// The file is longer than the limit.
    #[error("`{}` has {found} bytes, expected at most {limit}", path.display())]
    Long {
        /// The file.
        path: PathBuf,
        /// Its length, in bytes.
        found: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The file does not fit in memory.
    #[error("`{}` has {found} bytes, which do not fit into memory", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// Its length, in bytes.
        found: u64,
    },
    /// The file is not UTF-8.
    #[error("`{}` is not UTF-8: invalid byte at offset {at}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Offset of the first invalid byte.
        at: usize,
    },
}

/// The kind of a file that is not a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A directory.
    Directory,
    /// A named or unnamed pipe.
    Fifo,
    /// A Unix socket.
    Socket,
    /// A terminal, `/dev/zero` or a similar device.
    CharacterDevice,
    /// A block device, such as a disk.
    BlockDevice,
    /// Any other kind.
    Other,
}

impl Kind {
    /// Returns the kind of a file, or `None` for a regular file.
    #[must_use]
    pub fn of(kind: FileType) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt as _;
            let special = [
                (kind.is_fifo(), Self::Fifo),
                (kind.is_socket(), Self::Socket),
                (kind.is_char_device(), Self::CharacterDevice),
                (kind.is_block_device(), Self::BlockDevice),
            ];
            if let Some((_, found)) = special.into_iter().find(|(is, _)| *is) {
                return Some(found);
            }
        }
        match kind {
            _ if kind.is_file() => None,
            _ if kind.is_dir() => Some(Self::Directory),
            _ => Some(Self::Other),
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Directory => "name a file in this directory",
            _ => "copy its contents to a regular file and name that",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "a directory",
            Self::Fifo => "a FIFO",
            Self::Socket => "a socket",
            Self::CharacterDevice => "a character device",
            Self::BlockDevice => "a block device",
            Self::Other => "not a file",
        })
    }
}

impl From<NotReadable> for io::Error {
    fn from(error: NotReadable) -> Self {
        let kind = match &error {
            NotReadable::Kind { found: Kind::Directory, .. } => io::ErrorKind::IsADirectory,
            NotReadable::Kind { .. } => io::ErrorKind::InvalidInput,
            NotReadable::Long { .. } => io::ErrorKind::FileTooLarge,
            NotReadable::Memory { .. } => io::ErrorKind::OutOfMemory,
            NotReadable::Text { .. } => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// Opens a regular file for reading without blocking.
///
/// # Errors
///
/// The file does not exist, is not readable, or is not a regular file: [`NotReadable::Kind`].
pub fn open(path: &Path) -> io::Result<fs_err::File> {
    let mut options = fs_err::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use fs_err::os::unix::fs::OpenOptionsExt as _;
        // Opening a FIFO would block until it has a writer, and a terminal would become our controlling terminal. Both
        // flags have no effect on regular files.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let special = |found| NotReadable::Kind { path: path.to_owned(), found }.into();
    let file = options.open(path).map_err(|error| {
        // A socket cannot be opened, and the system's error does not say that the file is one.
        let kind = fs_err::metadata(path).ok().and_then(|found| Kind::of(found.file_type()));
        kind.map_or(error, special)
    })?;
    match Kind::of(file.metadata()?.file_type()) {
        None => Ok(file),
        Some(kind) => Err(special(kind)),
    }
}

/// Reads a whole regular file of at most `limit` bytes.
///
/// # Errors
///
/// As [`open()`], or the file is longer than the limit or does not fit in memory.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_opened(open(path)?, limit)
}

/// Reads an opened file to its end, if it has at most `limit` bytes.
///
/// # Errors
///
/// As [`read()`].
pub fn read_opened(file: fs_err::File, limit: u64) -> io::Result<Vec<u8>> {
    let (path, found) = (file.path().to_owned(), file.metadata()?.len());
    if found > limit {
        return Err(NotReadable::Long { path, found, limit }.into());
    }
    let mut bytes = Vec::new();
    let room = usize::try_from(found).map_err(drop).and_then(|n| bytes.try_reserve_exact(n).map_err(drop));
    if room.is_err() {
        return Err(NotReadable::Memory { path, found }.into());
    }
    // A file that grows during the read is still limited.
    let read = file.file().take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| {
        io::Error::new(error.kind(), format!("failed to read from file `{}`: {error}", path.display()))
    })?;
    match bytes.len() as u64 {
        found if found > limit => Err(NotReadable::Long { path, found, limit }.into()),
        _ => Ok(bytes),
    }
}

/// Reads a whole text file of at most [`TEXT_LIMIT`] bytes.
///
/// # Errors
///
/// As [`read()`], or the file is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, TEXT_LIMIT)?).map_err(|error| {
        NotReadable::Text { path: path.to_owned(), at: error.utf8_error().valid_up_to() }.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path) -> String {
        read(path, 100).unwrap_err().to_string()
    }

    #[test]
    fn files_are_read_whole_up_to_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        fs_err::write(&path, [7; 100]).unwrap();
        assert_eq!(read(&path, 100).unwrap(), [7; 100]);
        assert!(read(&path, 99).unwrap_err().to_string().contains("100 bytes, expected at most 99"));
        fs_err::File::create(&path).unwrap().set_len(1 << 43).unwrap();
        assert_eq!(read(&path, u64::MAX).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(read_text(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        fs_err::write(&path, b"a\xff").unwrap();
        assert!(read_text(&path).unwrap_err().to_string().contains("offset 1"));
        assert_eq!(read(&directory.path().join("y"), 1).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn special_files_are_rejected_at_once() {
        let directory = tempfile::tempdir().unwrap();
        assert!(refusal(directory.path()).contains("a directory"));
        assert!(refusal(Path::new("/dev/zero")).contains("a character device"));
        let (fifo, socket) = (directory.path().join("fifo"), directory.path().join("socket"));
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(refusal(&socket).contains("a socket"));
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(refusal(&fifo).contains("a FIFO") && refusal(&fifo).contains("\nhint: "));
        std::os::unix::fs::symlink(&fifo, directory.path().join("link")).unwrap();
        assert!(refusal(&directory.path().join("link")).contains("a FIFO"));
    }
}
