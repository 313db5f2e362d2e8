//! Defines the paths of the files in a store.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::key::{ActionKey, BuildKey, Digest, RecordId};
use crate::record::Record;

/// The file that marks the root of a store.
pub(super) const STORE: &str = "STORE";

/// The directories of a store, below its root.
pub(super) const DIRECTORIES: [&str; 7] =
    ["objects", "records", "keys", "entries", "roots", "quarantine", "tmp"];

/// The directory of name lists, for servers without listings; only written by [`super::Store::write_index`].
pub(super) const INDEX: &str = "index";

/// The directory in which builds list their compiled modules; only for people.
pub(super) const BUILDS: &str = "builds";

/// The paths of one store.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    pub(crate) root: PathBuf,
}

/// The file name of a record, and of the pointers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordName {
    /// The action that produced the record's archive.
    pub action: ActionKey,
    /// The hash of the record's bytes.
    pub id: RecordId,
}

impl RecordName {
    /// Returns the name of a record.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        Self { action: record.action, id: record.id() }
    }

    /// Parses a file name; `None` if it is not the name of a record.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (action, id) = name.split_once('-')?;
        Some(Self { action: action.parse().ok()?, id: id.parse().ok()? })
    }
}

impl fmt::Display for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.action, self.id)
    }
}

/// Returns whether a file belongs to another program: a hidden file (`.DS_Store`, `.nfs…`), an editor's copy (`score~`,
/// `#score#`), or a thumbnail list. The store itself uses such names only in `tmp`.
pub(super) fn is_stray(name: &str) -> bool {
    name.starts_with(['.', '#', '~']) || name.ends_with('~') || ["Thumbs.db", "desktop.ini"].contains(&name)
}

/// Returns whether a file is litter, which file managers and file systems create in any directory. It does not show
/// that a directory belongs to another program.
pub(super) fn is_litter(name: &str) -> bool {
    [".DS_Store", "Thumbs.db", "desktop.ini"].contains(&name)
        || name.starts_with("._")
        || name.starts_with(".nfs")
}

/// The prefix of the files that name current generations ([`super::generation`]).
pub(super) const CURRENT: &str = "current-";

const OBJECT_SUFFIX: &str = ".tar.zst";

/// The suffix of a builder's statement about a record.
pub(super) const PROVENANCE_SUFFIX: &str = ".provenance";

impl Paths {
    pub(crate) fn store_file(&self) -> PathBuf {
        self.root.join(STORE)
    }

    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn object(&self, digest: &Digest) -> PathBuf {
        self.sharded("objects", &format!("{digest}{OBJECT_SUFFIX}"))
    }

    pub(crate) fn record(&self, name: &RecordName) -> PathBuf {
        self.sharded("records", &name.to_string())
    }

    pub(crate) fn documents(&self, name: &RecordName) -> PathBuf {
        self.sharded("records", &format!("{name}.documents"))
    }

    /// Returns the path of the builder's statement, beside the record.
    pub(crate) fn provenance(&self, name: &RecordName) -> PathBuf {
        self.sharded("records", &format!("{name}{PROVENANCE_SUFFIX}"))
    }

    /// Returns the path of the signatures, beside the record or entry.
    pub(crate) fn signatures(of: &Path) -> PathBuf {
        let mut name = of.as_os_str().to_owned();
        name.push(crate::keyring::SUFFIX);
        name.into()
    }

    /// Returns the shard that holds the records of an action.
    pub(crate) fn records_of(&self, action: &ActionKey) -> PathBuf {
        self.dir("records").join(&action.to_string()[..2])
    }

    /// Returns the directory of the pointers of a key or a fingerprint.
    pub(crate) fn pointers(&self, key: &str) -> PathBuf {
        self.sharded("keys", key)
    }

    /// Returns the path of the file that names a key's current generation for a target.
    pub(crate) fn current(&self, key: &BuildKey, target: &str) -> PathBuf {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let target = target.replace(|letter| !is_plain(letter), "_");
        self.pointers(&key.to_string()).join(format!("{CURRENT}{target}"))
    }

    pub(crate) fn entry(&self, id: &RecordId) -> PathBuf {
        self.sharded("entries", &id.to_string())
    }

    pub(crate) fn entry_roots(&self) -> PathBuf {
        self.dir("roots").join("entry")
    }

    pub(crate) fn deployed(&self) -> PathBuf {
        self.dir("roots").join("deployed")
    }

    pub(crate) fn releases(&self) -> PathBuf {
        self.dir("roots").join("release")
    }

    /// Returns the path of the list of names below a directory, for servers without listings.
    pub(crate) fn index(&self, directory: &str) -> PathBuf {
        self.dir(INDEX).join(directory)
    }

    fn sharded(&self, directory: &str, name: &str) -> PathBuf {
        self.dir(directory).join(&name[..2]).join(name)
    }
}

/// Parses the digest from an object's file name.
pub(crate) fn object_digest(path: &Path) -> Option<Digest> {
    path.file_name()?.to_str()?.strip_suffix(OBJECT_SUFFIX)?.parse().ok()
}
