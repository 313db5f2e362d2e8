//! Opens a store for reading: a few `stat`s and one small read, nothing created.

use std::io;
use std::path::{Path, PathBuf};

use super::Store;
use super::find::read;
use super::layout::{DIRECTORIES, Layout};
use precast_core::event::Observer;

/// The format of stores that this crate writes, and the newest that it reads.
pub(super) const FORMAT: u32 = 2;

/// The content of `STORE`.
pub(super) const STORE_FILE: &str = "format=2\nhash=blake3\nmin_reader=2\n";

/// Says why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no store.
    #[error("no store at `{}`: it has no file `STORE`\nhint: `precast build --store DIR` creates one", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// `STORE` is not what it should be.
    #[error("cannot understand `{}`: found {found}, expected {expected}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What it has.
        found: String,
        /// What it should have.
        expected: &'static str,
    },
    /// A newer precast wrote the store.
    #[error("store `{}` needs a reader of format {found}, expected at most {FORMAT}\nhint: a newer precast wrote it; update this one", path.display())]
    Newer {
        /// The directory.
        path: PathBuf,
        /// The lowest format that a reader must know.
        found: u32,
    },
    /// Anybody could put code there.
    #[error("directory `{}` of the store can be written by everybody\nhint: `chmod o-w` it, once you trust what is in it", path.display())]
    WorldWritable {
        /// The directory.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot read store `{}`", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Store {
    /// Opens the store at `path` for reading, and for writing where the file system lets us. Never creates anything.
    ///
    /// # Errors
    ///
    /// There is no store, a newer precast wrote it, or one of its directories can be written by everybody.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let layout = Layout { root: path.as_ref().to_path_buf() };
        check_store_file(&layout)?;
        check_modes(&layout)?;
        Ok(Self { layout, observer: Observer::default() })
    }
}

/// No `STORE` comes near this size, in bytes.
const STORE_LIMIT: u64 = 1 << 16;

fn check_store_file(layout: &Layout) -> Result<(), OpenError> {
    let path = layout.store_file();
    let bytes = match read(&path, STORE_LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(OpenError::Missing { path: layout.root.clone() }),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(OpenError::Missing { path: layout.root.clone() });
        }
        Err(source) => return Err(OpenError::Io { path, source }),
    };
    let text = String::from_utf8(bytes).map_err(|_| OpenError::Malformed {
        path: path.clone(),
        found: "bytes that are not text".into(),
        expected: "lines `name=value`",
    })?;
    let value = |name: &str| {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| line.split_once('='))
            .find(|(found, _)| found.trim() == name)
            .map(|(_, value)| value.trim())
    };
    let malformed = |name: &str, expected| {
        let found = value(name).map_or_else(|| format!("no `{name}`"), |value| format!("`{name}={value}`"));
        OpenError::Malformed { path: path.clone(), found, expected }
    };
    let number = |name: &str| value(name).and_then(|value| value.parse::<u32>().ok());
    let min_reader =
        number("min_reader").ok_or_else(|| malformed("min_reader", "`min_reader=` and a number"))?;
    if min_reader > FORMAT {
        return Err(OpenError::Newer { path: layout.root.clone(), found: min_reader });
    }
    number("format").ok_or_else(|| malformed("format", "`format=` and a number"))?;
    if value("hash") != Some("blake3") {
        return Err(malformed("hash", "`hash=blake3`"));
    }
    Ok(())
}

#[cfg(unix)]
fn check_modes(layout: &Layout) -> Result<(), OpenError> {
    use std::os::unix::fs::PermissionsExt;

    let below = DIRECTORIES.iter().map(|name| layout.dir(name));
    for path in std::iter::once(layout.root.clone()).chain(below) {
        match fs_err::metadata(&path) {
            Ok(metadata) if metadata.permissions().mode() & 0o002 != 0 => {
                return Err(OpenError::WorldWritable { path });
            }
            Ok(_) => {}
            // A tree that was copied without its empty directories is fine.
            Err(source) if source.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(OpenError::Io { path, source }),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_modes(_: &Layout) -> Result<(), OpenError> {
    Ok(())
}
