//! Where everything is in a store. No path is put together anywhere else.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::key::{ActionKey, Digest, RecordId};

/// The file at the root: what has it is a store.
pub(super) const STORE: &str = "STORE";

/// The directories of a store, below its root.
pub(super) const DIRECTORIES: [&str; 7] =
    ["objects", "records", "keys", "entries", "roots", "quarantine", "tmp"];

/// Where the names of files are listed, for servers that list none; made by [`super::Store::write_index`] only.
pub(super) const INDEX: &str = "index";

/// Where builds remember what they compiled; whether it is there matters to people only.
pub(super) const BUILDS: &str = "builds";

/// The paths of one store.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    pub(crate) root: PathBuf,
}

/// The file name of a record, and of the pointers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordName {
    /// What the record's archive was made by.
    pub action: ActionKey,
    /// The hash of the record's bytes.
    pub id: RecordId,
}

impl RecordName {
    /// Reads a file name, or gives `None` for the name of something else.
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

/// Whether a file belongs to another program: a hidden file (`.DS_Store`, `.nfs…`), a copy of an editor (`score~`, `#score#`), a list
/// of pictures. No name that the store gives is one, but for those in `tmp`.
pub(super) fn is_stray(name: &str) -> bool {
    name.starts_with(['.', '#', '~']) || name.ends_with('~') || ["Thumbs.db", "desktop.ini"].contains(&name)
}

/// Whether a file says nothing of who made its directory: file managers and file systems leave it in any.
pub(super) fn is_litter(name: &str) -> bool {
    [".DS_Store", "Thumbs.db", "desktop.ini"].contains(&name)
        || name.starts_with("._")
        || name.starts_with(".nfs")
}

const OBJECT_SUFFIX: &str = ".tar.zst";

/// The ending of what a builder states of a record.
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

    /// What a builder states of a record, beside it.
    pub(crate) fn provenance(&self, name: &RecordName) -> PathBuf {
        self.sharded("records", &format!("{name}{PROVENANCE_SUFFIX}"))
    }

    /// The signatures of a record or an entry, beside it.
    pub(crate) fn signatures(of: &Path) -> PathBuf {
        let mut name = of.as_os_str().to_owned();
        name.push(crate::keyring::SUFFIX);
        name.into()
    }

    /// The shard that holds the records of an action.
    pub(crate) fn records_of(&self, action: &ActionKey) -> PathBuf {
        self.dir("records").join(&action.to_string()[..2])
    }

    /// The directory of the pointers of a key or a fingerprint.
    pub(crate) fn pointers(&self, key: &str) -> PathBuf {
        self.sharded("keys", key)
    }

    pub(crate) fn entry(&self, id: &RecordId) -> PathBuf {
        self.sharded("entries", &id.to_string())
    }

    pub(crate) fn entry_roots(&self) -> PathBuf {
        self.dir("roots").join("entry")
    }

    pub(crate) fn releases(&self) -> PathBuf {
        self.dir("roots").join("release")
    }

    /// The names below a directory of the store, for servers that list none.
    pub(crate) fn index(&self, directory: &str) -> PathBuf {
        self.dir(INDEX).join(directory)
    }

    fn sharded(&self, directory: &str, name: &str) -> PathBuf {
        self.dir(directory).join(&name[..2]).join(name)
    }
}

/// Reads the digest from the name of an object.
pub(crate) fn object_digest(path: &Path) -> Option<Digest> {
    path.file_name()?.to_str()?.strip_suffix(OBJECT_SUFFIX)?.parse().ok()
}
