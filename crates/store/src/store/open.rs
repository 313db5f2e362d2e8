//! Opens a store for reading: a few `stat` calls and one small read; creates nothing.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Store;
use super::access::{Contents, FindError, Passed};
use super::deployed::Snapshot;
use super::paths::{DIRECTORIES, Paths};
use crate::event::Observer;
use crate::keyring::Keyring;
use crate::trust::{Protection, TrustError, Untrusted, check_way, quoted, resolve};

/// The format of stores that this crate writes, and the newest format that it reads.
pub(super) const FORMAT: u32 = 2;

/// The content of `STORE`.
pub(crate) const STORE_FILE: &str = "format=2\nhash=blake3\nmin_reader=2\n";

/// The reason why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The directory is not a store.
    #[error("{}", missing(path, *is_lost))]
    Missing {
        /// The directory.
        path: PathBuf,
        /// Whether the directory has the folders of a store, and only the file `STORE` is missing.
        is_lost: bool,
    },
    /// The path is a file.
    #[error("no store at `{}`: expected a directory, found a file\nhint: use `--bundle FILE` for a bundle", path.display())]
    File {
        /// The file.
        path: PathBuf,
    },
    /// `STORE` has unexpected content.
    #[error("invalid `{}`: found {found}, expected {expected}\nhint: name another store, or, if only precast wrote to \
             this directory, run `rm -r {}` and rebuild", path.display(), quoted(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The content found.
        found: String,
        /// The expected content.
        expected: &'static str,
    },
    /// A newer precast wrote the store.
    #[error("store `{}` requires a reader of format {found}, expected at most {FORMAT}\nhint: update precast: a newer version wrote \
             the store", path.display())]
    Newer {
        /// The directory.
        path: PathBuf,
        /// The lowest format that a reader must know.
        found: u32,
    },
    /// Other users can write to the store.
    #[error(transparent)]
    Untrusted(#[from] Box<Untrusted>),
    /// The file system refused.
    #[error("cannot read store `{}`", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl OpenError {
    fn missing(path: PathBuf) -> Self {
        let is_lost = ["objects", "records"].iter().all(|name| path.join(name).is_dir());
        Self::Missing { path, is_lost }
    }
}

fn missing(path: &Path, is_lost: bool) -> String {
    let (shown, quoted) = (path.display(), quoted(path));
    if is_lost {
        return format!(
            "the store `{shown}` has lost its file `STORE`\nhint: run `precast build --store {quoted}` to recreate it"
        );
    }
    format!(
        "no store at `{shown}`: missing file `STORE`\nhint: run `precast build --store DIR` to create one"
    )
}

impl From<FindError> for OpenError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Untrusted(untrusted) => Self::Untrusted(untrusted),
            FindError::Io { path, source } => Self::Io { path, source },
            FindError::Damaged(damaged) => Self::Io {
                path: damaged.path.clone(),
                source: io::Error::new(io::ErrorKind::InvalidData, damaged),
            },
        }
    }
}

impl From<TrustError> for OpenError {
    fn from(error: TrustError) -> Self {
        FindError::from(error).into()
    }
}

impl Store {
    /// The format of stores that this crate writes.
    pub const FORMAT: u32 = FORMAT;

    /// Opens the store at `path` for reading, and for writing if file permissions allow it. Never creates anything.
    ///
    /// # Errors
    ///
    /// The path is not a store, a newer precast wrote the store, or other users can change it or a directory on its
    /// path: [`crate::trust`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_by(path.as_ref(), Protection::Permissions)
    }

    /// Opens the store at `path` for reading under a keyring: records and entries without enough signatures are misses.
    /// Their bytes are checked in memory, so the store may belong to anybody. It is not written to: [`crate::trust`].
    ///
    /// # Errors
    ///
    /// The path is not a store, or a newer precast wrote the store.
    pub fn open_signed(path: impl AsRef<Path>, keyring: Arc<Keyring>) -> Result<Self, OpenError> {
        Ok(Self::open_by(path.as_ref(), Protection::Signatures)?.trusting(keyring))
    }

    /// Opens the store at `path` to inspect it, even if anybody can change it. It is not written to. The caller must not
    /// run code from it.
    ///
    /// # Errors
    ///
    /// Fails as [`Store::open_signed`].
    pub fn inspect(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_by(path.as_ref(), Protection::Signatures)
    }

    fn open_by(path: &Path, protection: Protection) -> Result<Self, OpenError> {
        let paths = Paths { root: path.to_path_buf() };
        // This check comes before the trust checks: their hints are right for a store, but would harm another
        // directory.
        match fs_err::symlink_metadata(paths.store_file()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(OpenError::missing(paths.root));
            }
            Err(_) if paths.root.is_file() => return Err(OpenError::File { path: paths.root }),
            _ => {}
        }
        let store = Self::at(paths, protection)?;
        // A tree that was copied without its empty directories is valid.
        for directory in DIRECTORIES {
            store.has_dir(&store.paths.dir(directory))?;
        }
        check_store_file(&store)?;
        Ok(store)
    }

    /// Makes a handle for a store that may not exist yet, after checking the trust of its path.
    pub(super) fn at(paths: Paths, protection: Protection) -> Result<Self, OpenError> {
        let real = match protection {
            Protection::Permissions => check_way(&paths.root)?,
            Protection::Signatures => resolve(&paths.root)?,
        };
        let (observer, passed, served) = (Observer::default(), Passed::default(), Snapshot::default());
        Ok(Self { real, paths, observer, passed, served, protection, keyring: None })
    }
}

/// An upper bound for the size of `STORE`, in bytes.
const STORE_LIMIT: u64 = 1 << 16;

fn check_store_file(store: &Store) -> Result<(), OpenError> {
    let (paths, path) = (&store.paths, store.paths.store_file());
    if fs_err::symlink_metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_symlink()) {
        let found = "something other than a file".into();
        return Err(OpenError::Malformed { path, found, expected: "a file" });
    }
    let Some(Contents { bytes, .. }) = store.read(&path, STORE_LIMIT)? else {
        return Err(OpenError::missing(paths.root.clone()));
    };
    match read_format(&bytes) {
        Ok(()) => Ok(()),
        Err(Format::Newer { found }) => Err(OpenError::Newer { path: paths.root.clone(), found }),
        Err(Format::Malformed { found, expected }) => {
            Err(OpenError::Malformed { path: path.clone(), found, expected })
        }
    }
}

/// Checks the content of a remote `STORE`; the error is a message.
pub(crate) fn check_format(bytes: &[u8]) -> Result<(), String> {
    read_format(bytes).map_err(|problem| match problem {
        Format::Newer { found } => format!(
            "it requires a reader of format {found}, expected at most {FORMAT}\nhint: update precast: a newer version wrote the store"
        ),
        Format::Malformed { found, expected } => format!("`STORE` has {found}, expected {expected}"),
    })
}

/// A defect of `STORE`.
enum Format {
    Newer { found: u32 },
    Malformed { found: String, expected: &'static str },
}

fn read_format(bytes: &[u8]) -> Result<(), Format> {
    let malformed = |found: String, expected| Format::Malformed { found, expected };
    let text = std::str::from_utf8(bytes)
        .map_err(|_| malformed("bytes that are not UTF-8".into(), "lines `name=value`"))?;
    let values = values(text).map_err(|line| malformed(format!("line `{line}`"), LINES))?;
    let value = |name: &str, expected| {
        let found = values.get(name).copied();
        found.ok_or_else(|| malformed(format!("no `{name}`"), expected))
    };
    let number = |name: &'static str, expected| {
        let found = value(name, expected)?;
        let number = found.parse::<u32>().ok().filter(|number| number.to_string() == found);
        number.ok_or_else(|| malformed(format!("`{name}={found}`"), expected))
    };
    let min_reader = number("min_reader", "`min_reader=` and a number")?;
    if min_reader > FORMAT {
        return Err(Format::Newer { found: min_reader });
    }
    let format = number("format", "`format=` and a number")?;
    let hash = value("hash", "`hash=blake3`")?;
    if hash != "blake3" {
        return Err(malformed(format!("`hash={hash}`"), "`hash=blake3`"));
    }
    // A later format may add lines for its own readers.
    match values.keys().find(|name| !["format", "hash", "min_reader"].contains(*name)) {
        Some(name) if format <= FORMAT => Err(malformed(format!("line `{name}=…`"), LINES)),
        _ => Ok(()),
    }
}

/// A description of valid `STORE` content, for messages.
const LINES: &str = "`format`, `hash` and `min_reader`, each once as `name=value`";

/// Parses lines `name=value` with unique names; `Err` returns the first invalid line.
fn values(text: &str) -> Result<BTreeMap<&str, &str>, String> {
    let mut values = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let wrong = || line.chars().take(80).collect::<String>();
        let (name, value) = line.split_once('=').ok_or_else(wrong)?;
        if name.is_empty() || values.insert(name, value).is_some() {
            return Err(wrong());
        }
    }
    Ok(values)
}
