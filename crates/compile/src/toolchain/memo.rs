//! Remembers a resolved compiler while none of its files changed, so that a warm look-up costs some 150 `stat` calls.
//!
//! A file counts as unchanged by device, inode, size and modification time in nanoseconds. The memo lives in the process,
//! and, where there is a directory for it, in a file; a memo that is damaged, foreign or stale is as good as none.
//!
//! # Layout
//!
//! ```text
//! <cache>/toolchains-v1/<hash of target, language, CC…, PATH>.json
//! <cache> = $PRECAST_CACHE | $OUT_DIR/precast (build scripts write nowhere else) | $XDG_CACHE_HOME/precast | $HOME/.cache/precast
//! ```

use std::collections::BTreeMap;
use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use precast_store::key::Canonical;
use serde::{Deserialize, Serialize};

use super::Compiler;

/// Raised whenever probing or fingerprinting changes, so that an older program's memo is not believed.
const GENERATION: u64 = 2;

/// Everything that decides which program is taken, hashed.
pub(super) type Key = [u8; 32];

/// What identifies the content of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stat {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
}

/// A file and what it was when it was read; `None`: it was not there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Watched {
    path: PathBuf,
    stat: Option<Stat>,
}

impl Watched {
    /// Looks at a file.
    pub(super) fn look(path: PathBuf) -> Self {
        let stat = stat(&path);
        Self { path, stat }
    }

    fn is_unchanged(&self) -> bool {
        stat(&self.path) == self.stat
    }
}

#[cfg(unix)]
fn stat(path: &Path) -> Option<Stat> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs_err::metadata(path).ok()?;
    let modified_ns = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
    Some(Stat { device: found.dev(), inode: found.ino(), size: found.size(), modified_ns })
}

#[cfg(not(unix))]
fn stat(path: &Path) -> Option<Stat> {
    let found = fs_err::metadata(path).ok()?;
    let modified = found.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let modified_ns = i128::try_from(modified.as_nanos()).ok()?;
    Some(Stat { device: 0, inode: 0, size: found.len(), modified_ns })
}

/// A resolved compiler with what it was resolved from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Memo {
    /// The name that was looked for.
    pub(super) program: PathBuf,
    /// Where it was found; the driver may be another file, behind a compiler cache's link.
    found: PathBuf,
    pub(super) compiler: Compiler,
    watched: Vec<Watched>,
}

impl Memo {
    pub(super) fn new(program: PathBuf, found: PathBuf, compiler: Compiler, watched: Vec<Watched>) -> Self {
        Self { program, found, compiler, watched }
    }

    /// Tells whether the name is still found in the same place and no file changed.
    pub(super) fn is_valid(&self, found: Option<&Path>) -> bool {
        found == Some(&self.found) && self.watched.iter().all(Watched::is_unchanged)
    }
}

static MEMOS: Mutex<BTreeMap<Key, Memo>> = Mutex::new(BTreeMap::new());

/// Hashes what decides.
pub(super) fn key(parts: &[Option<String>]) -> Key {
    let start = Canonical::new("precast v1 toolchain memo").u64(GENERATION).list(parts.len());
    let all = parts.iter().fold(start, |encoder, part| match part {
        Some(part) => encoder.bool(true).str(part),
        None => encoder.bool(false),
    });
    all.finish()
}

/// Finds a memo, in the process or on disk; its validity is the caller's question.
pub(super) fn get(key: &Key) -> Option<Memo> {
    let known = MEMOS.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
    known.or_else(|| {
        let bytes = fs_err::read(file(key)?).ok()?;
        let memo: Memo = serde_json::from_slice(&bytes).ok()?;
        MEMOS.lock().unwrap_or_else(PoisonError::into_inner).insert(*key, memo.clone());
        Some(memo)
    })
}

/// Remembers, `on_disk` too if asked. A directory that cannot be written costs time on the next start, nothing else.
pub(super) fn put(key: &Key, memo: Memo, on_disk: bool) {
    if on_disk {
        let _ = write(key, &memo);
    }
    MEMOS.lock().unwrap_or_else(PoisonError::into_inner).insert(*key, memo);
}

fn write(key: &Key, memo: &Memo) -> Option<()> {
    let file = file(key)?;
    let directory = file.parent()?;
    fs_err::create_dir_all(directory).ok()?;
    let mut temporary = tempfile::NamedTempFile::new_in(directory).ok()?;
    temporary.write_all(&serde_json::to_vec(memo).ok()?).ok()?;
    temporary.persist(&file).ok()?;
    Some(())
}

fn file(key: &Key) -> Option<PathBuf> {
    let name: String = key[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    Some(cache()?.join("toolchains-v1").join(name + ".json"))
}

fn cache() -> Option<PathBuf> {
    let directory = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(chosen) = directory("PRECAST_CACHE") {
        return Some(chosen);
    }
    // Both are set by Cargo for build scripts; they must not write elsewhere.
    if let (Some(out), Some(_)) = (directory("OUT_DIR"), env::var_os("CARGO_MANIFEST_DIR")) {
        return Some(out.join("precast"));
    }
    // A home that is not there is a service's way to say that it has none: it is not made.
    let home = || directory("HOME").filter(|home| home.is_dir());
    let user =
        directory("XDG_CACHE_HOME").filter(|user| user.is_dir()).or_else(|| Some(home()?.join(".cache")))?;
    Some(user.join("precast"))
}
