//! Opens a store for reading: a few `stat`s and one small read, nothing created.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Store;
use super::access::{Contents, FindError, Passed};
use super::paths::{DIRECTORIES, Paths};
use crate::event::Observer;
use crate::trust::{TrustError, Untrusted, check_way, quoted};

/// The format of stores that this crate writes, and the newest that it reads.
pub(super) const FORMAT: u32 = 2;

/// The content of `STORE`.
pub(crate) const STORE_FILE: &str = "format=2\nhash=blake3\nmin_reader=2\n";

/// Says why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no store.
    #[error("{}", missing(path, *is_lost))]
    Missing {
        /// The directory.
        path: PathBuf,
        /// Whether the directory has what a store has, except the file `STORE`.
        is_lost: bool,
    },
    /// A file stands where a store should be.
    #[error("no store at `{}`: a store is a directory, and this is a file\nhint: a bundle is named otherwise: `--bundle FILE`", path.display())]
    File {
        /// The file.
        path: PathBuf,
    },
    /// `STORE` is not what it should be.
    #[error("cannot understand `{}`: found {found}, expected {expected}\nhint: name another store; or, if only precast wrote here, `rm -r {}` and build again", path.display(), quoted(path))]
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
    /// Others can put code there.
    #[error(transparent)]
    Untrusted(#[from] Box<Untrusted>),
    /// The file system refused.
    #[error("cannot read store `{}`", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
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
            "the store `{shown}` has lost its file `STORE`\nhint: `precast build --store {quoted}` writes it again"
        );
    }
    format!("no store at `{shown}`: it has no file `STORE`\nhint: `precast build --store DIR` creates one")
}

impl From<FindError> for OpenError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Untrusted(untrusted) => Self::Untrusted(untrusted),
            FindError::Io { path, source } => Self::Io { path, source },
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

    /// Opens the store at `path` for reading, and for writing where the file system lets us. Never creates anything.
    ///
    /// # Errors
    ///
    /// There is no store, a newer precast wrote it, or others can change what is in it or on the way to it: [`crate::trust`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let paths = Paths { root: path.as_ref().to_path_buf() };
        // Before anything is said of who may write to it: what helps a store would harm another directory.
        match fs_err::symlink_metadata(paths.store_file()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(OpenError::missing(paths.root));
            }
            Err(_) if paths.root.is_file() => return Err(OpenError::File { path: paths.root }),
            _ => {}
        }
        let store = Self::at(paths)?;
        // A tree that was copied without its empty directories is fine.
        for directory in DIRECTORIES {
            store.has_dir(&store.paths.dir(directory))?;
        }
        check_store_file(&store)?;
        Ok(store)
    }

    /// A store that may be made yet; the way to it is ours.
    pub(super) fn at(paths: Paths) -> Result<Self, OpenError> {
        let real = check_way(&paths.root)?;
        Ok(Self { real, paths, observer: Observer::default(), passed: Passed::default(), keyring: None })
    }
}

/// No `STORE` comes near this size, in bytes.
const STORE_LIMIT: u64 = 1 << 16;

fn check_store_file(store: &Store) -> Result<(), OpenError> {
    let (paths, path) = (&store.paths, store.paths.store_file());
    if fs_err::symlink_metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_symlink()) {
        let found = "something that is no file".into();
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

/// Checks the content of a `STORE` that is not on this machine; says in words why it will not do.
pub(crate) fn check_format(bytes: &[u8]) -> Result<(), String> {
    read_format(bytes).map_err(|problem| match problem {
        Format::Newer { found } => format!(
            "it needs a reader of format {found}, expected at most {FORMAT}\nhint: a newer precast wrote it; update this one"
        ),
        Format::Malformed { found, expected } => format!("`STORE` has {found}, expected {expected}"),
    })
}

/// What is wrong with a `STORE`.
enum Format {
    Newer { found: u32 },
    Malformed { found: String, expected: &'static str },
}

fn read_format(bytes: &[u8]) -> Result<(), Format> {
    let malformed = |found: String, expected| Format::Malformed { found, expected };
    let text = std::str::from_utf8(bytes)
        .map_err(|_| malformed("bytes that are not text".into(), "lines `name=value`"))?;
    let values = values(text).map_err(|line| malformed(format!("the line `{line}`"), LINES))?;
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
    // A later format may say more to those who know it.
    match values.keys().find(|name| !["format", "hash", "min_reader"].contains(*name)) {
        Some(name) if format <= FORMAT => Err(malformed(format!("the line `{name}=…`"), LINES)),
        _ => Ok(()),
    }
}

/// What `STORE` consists of.
const LINES: &str = "`format`, `hash` and `min_reader`, each once as `name=value`";

/// Reads lines `name=value`, each name once; `Err` gives the first that is none.
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
