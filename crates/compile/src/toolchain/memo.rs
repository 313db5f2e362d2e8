//! Remembers a resolved compiler while none of its files change, so that a warm lookup costs only about 300 `stat`
//! calls.
//!
//! The memo is kept in the process and, if a cache directory exists, in a file. A corrupt, foreign or stale memo is
//! ignored. A memo names a program to start, so it is trusted only if no other user could have written it. The file and
//! its directory must belong to the current user, must not be writable by other users, and must not be symbolic links.
//!
//! # Layout
//!
//! ```text
//! <cache>/toolchains-v1/<hash of target, language, CC…, PATH>.json
//! <cache> = $PRECAST_CACHE | $XDG_CACHE_HOME/precast | $HOME/.cache/precast
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use precast_store::key::Canonical;
use precast_store::whole::{self, Whole};
use serde::{Deserialize, Serialize};

use super::Compiler;
use super::watch::{self, Watched};
use precast_store::user_cache;

/// The version of probing and fingerprinting. It is increased with every change, so that memos of older programs are
/// ignored.
const GENERATION: u64 = 6;

/// The hash of all inputs that determine the program.
pub(super) type Key = [u8; 32];

/// A resolved compiler with the files it was resolved from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Memo {
    /// The path where it was found. The driver may be a different file, after a link to a compiler cache.
    found: PathBuf,
    pub(super) compiler: Compiler,
    watched: Vec<Watched>,
}

impl Memo {
    pub(super) fn new(found: PathBuf, compiler: Compiler, watched: Vec<Watched>) -> Self {
        Self { found, compiler, watched }
    }

    /// Returns whether the name still resolves to the same path and no file changed.
    pub(super) fn is_valid(&self, found: &Path) -> bool {
        found == self.found && self.changed().is_none()
    }

    /// Returns the examined files.
    pub(super) fn files(&self) -> Vec<&Path> {
        self.watched.iter().map(Watched::path).collect()
    }

    /// Returns the first file that changed since the compiler's identity was computed.
    pub(super) fn changed(&self) -> Option<&Path> {
        watch::changed(&self.watched)
    }
}

static MEMOS: Mutex<BTreeMap<Key, Memo>> = Mutex::new(BTreeMap::new());

/// Computes the key from its inputs.
pub(super) fn key(parts: &[Option<OsString>]) -> Key {
    let start = Canonical::new("precast v1 toolchain memo").u64(GENERATION).list(parts.len());
    let all = parts.iter().fold(start, |encoder, part| match part {
        Some(part) => encoder.bool(true).bytes(part.as_encoded_bytes()),
        None => encoder.bool(false),
    });
    all.finish()
}

/// Looks up a memo in the process or on disk; the caller must check its validity.
pub(super) fn get(key: &Key) -> Option<Memo> {
    let known = MEMOS.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
    known.or_else(|| {
        let memo: Memo = serde_json::from_slice(&read(&file(key)?)?).ok()?;
        MEMOS.lock().unwrap_or_else(PoisonError::into_inner).insert(*key, memo.clone());
        Some(memo)
    })
}

/// Stores a memo, also on disk if requested. If the directory is not writable, only the next start is slower.
pub(super) fn put(key: &Key, memo: Memo, on_disk: bool) {
    if on_disk {
        let _ = write(key, &memo);
    }
    MEMOS.lock().unwrap_or_else(PoisonError::into_inner).insert(*key, memo);
}

fn write(key: &Key, memo: &Memo) -> Option<()> {
    let file = file(key)?;
    let directory = file.parent()?;
    whole::create_dir_all(directory).ok()?;
    // Other users can only read the file, whatever the umask: [`read`] rejects a file they could have written.
    let mut whole = Whole::with_mode(directory, 0o644).ok()?;
    whole.write_all(&serde_json::to_vec(memo).ok()?).ok()?;
    whole.rename(&file).ok()
}

/// Opens a directory that only the current user can change.
#[cfg(unix)]
fn open_private(directory: &Path) -> Option<std::os::fd::OwnedFd> {
    let flags = OPEN | rustix::fs::OFlags::DIRECTORY;
    let opened = rustix::fs::open(directory, flags, rustix::fs::Mode::empty()).ok()?;
    is_ours(&opened).then_some(opened)
}

#[cfg(unix)]
const OPEN: rustix::fs::OFlags = {
    use rustix::fs::OFlags;
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK)
};

#[cfg(unix)]
fn is_ours(file: &std::os::fd::OwnedFd) -> bool {
    let mine = rustix::process::geteuid().as_raw();
    rustix::fs::fstat(file).is_ok_and(|found| found.st_uid == mine && found.st_mode & 0o022 == 0)
}

/// Returns whether a directory exists that only the current user can change.
#[cfg(unix)]
pub(super) fn is_private(directory: &Path) -> bool {
    open_private(directory).is_some()
}

#[cfg(not(unix))]
pub(super) fn is_private(directory: &Path) -> bool {
    directory.is_dir()
}

/// Reads a file that no other user can have written.
#[cfg(unix)]
fn read(file: &Path) -> Option<Vec<u8>> {
    use rustix::fs::{Mode, openat};
    let directory = open_private(file.parent()?)?;
    let opened = openat(&directory, file.file_name()?, OPEN, Mode::empty()).ok()?;
    is_ours(&opened).then_some(())?;
    let mut opened = fs_err::File::from_parts(opened.into(), file);
    let mut bytes = Vec::new();
    opened.metadata().ok().filter(|found| found.is_file())?;
    std::io::Read::read_to_end(&mut opened, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(not(unix))]
fn read(file: &Path) -> Option<Vec<u8>> {
    fs_err::read(file).ok()
}

fn file(key: &Key) -> Option<PathBuf> {
    let name: String = key[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    Some(user_cache()?.join("toolchains-v1").join(name + ".json"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn memo_is_read_only_if_private() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("toolchains-v1");
        whole::create_dir_all(&directory).unwrap();
        let file = directory.join("memo.json");
        let mode = |path: &Path, mode: u32| {
            fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        fs_err::write(&file, "x").unwrap();
        mode(&file, 0o600);
        assert_eq!(read(&file).as_deref(), Some(&b"x"[..]));
        for (path, bad, good) in
            [(&file, 0o622, 0o600), (&directory, 0o777, 0o755), (&directory, 0o775, 0o755)]
        {
            mode(path, bad);
            assert_eq!(read(&file), None, "{} {bad:o}", path.display());
            mode(path, good);
            assert!(read(&file).is_some());
        }
        let link = directory.join("link.json");
        fs_err::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read(&link), None);
        let behind = root.path().join("behind");
        fs_err::os::unix::fs::symlink(&directory, &behind).unwrap();
        assert_eq!(read(&behind.join("memo.json")), None);
        assert_eq!(read(&directory), None);
    }
}
