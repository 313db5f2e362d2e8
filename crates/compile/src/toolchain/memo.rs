//! Remembers a resolved compiler while none of its files changed, so that a warm look-up costs some 300 `stat` calls.
//!
//! The memo lives in the process, and, where there is a directory for it, in a file; a memo that is damaged, foreign or
//! stale is as good as none. It names a program to be started, so it is believed only where nobody else could have written
//! it: file and directory are ours, not writable by others, and not behind a link.
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

/// Raised whenever probing or fingerprinting changes, so that an older program's memo is not believed.
const GENERATION: u64 = 4;

/// Everything that decides which program is taken, hashed.
pub(super) type Key = [u8; 32];

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
        found == Some(&self.found) && self.changed().is_none()
    }

    /// Lists what was looked at.
    pub(super) fn files(&self) -> Vec<&Path> {
        self.watched.iter().map(Watched::path).collect()
    }

    /// Finds the first file that is no longer what the compiler's identity was made of.
    pub(super) fn changed(&self) -> Option<&Path> {
        watch::changed(&self.watched)
    }
}

static MEMOS: Mutex<BTreeMap<Key, Memo>> = Mutex::new(BTreeMap::new());

/// Hashes what decides.
pub(super) fn key(parts: &[Option<OsString>]) -> Key {
    let start = Canonical::new("precast v1 toolchain memo").u64(GENERATION).list(parts.len());
    let all = parts.iter().fold(start, |encoder, part| match part {
        Some(part) => encoder.bool(true).bytes(part.as_encoded_bytes()),
        None => encoder.bool(false),
    });
    all.finish()
}

/// Finds a memo, in the process or on disk; its validity is the caller's question.
pub(super) fn get(key: &Key) -> Option<Memo> {
    let known = MEMOS.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
    known.or_else(|| {
        let memo: Memo = serde_json::from_slice(&read(&file(key)?)?).ok()?;
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
    whole::create_dir_all(directory).ok()?;
    // Whatever the umask is, others only read it: [`read`] refuses what they could have written.
    let mut whole = Whole::with_mode(directory, 0o644).ok()?;
    whole.write_all(&serde_json::to_vec(memo).ok()?).ok()?;
    whole.rename(&file).ok()
}

/// Reads a file that nobody else can have written.
#[cfg(unix)]
fn read(file: &Path) -> Option<Vec<u8>> {
    use rustix::fs::{Mode, OFlags, fstat, open, openat};
    let is_ours = |file: &std::os::fd::OwnedFd| {
        let found = fstat(file).ok()?;
        let mine = found.st_uid == rustix::process::geteuid().as_raw() && found.st_mode & 0o022 == 0;
        mine.then_some(())
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let directory = open(file.parent()?, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
    is_ours(&directory)?;
    let opened = openat(&directory, file.file_name()?, flags, Mode::empty()).ok()?;
    is_ours(&opened)?;
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
    fn only_what_nobody_else_can_write_is_read() {
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
