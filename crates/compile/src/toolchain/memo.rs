//! Remembers a resolved compiler while none of its files change, so that a warm lookup costs only about 300 `stat`
//! calls.
//!
//! The memo is kept in the process and, if a cache directory exists, in a file. A corrupt, foreign or stale memo is
//! ignored. A memo names a program to start, so it is trusted only if no other user could have written it ([`private`]).
//!
//! # Layout
//!
//! ```text
//! <cache>/toolchains-v1/<hash of target, language, CC…, PATH>.json
//! <cache> = $PRECAST_CACHE | $XDG_CACHE_HOME/precast | $HOME/.cache/precast
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use precast_store::key::Canonical;
use serde::{Deserialize, Serialize};

use super::Compiler;
use crate::private;
use crate::watch::{self, Watched};
use precast_store::user_cache;

/// The version of probing and fingerprinting. It is increased with every change, so that memos of older programs are
/// ignored.
const GENERATION: u64 = 7;

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
        let memo: Memo = private::read_json(&file(key)?)?;
        MEMOS.lock().unwrap_or_else(PoisonError::into_inner).insert(*key, memo.clone());
        Some(memo)
    })
}

/// Stores a memo, also on disk if requested. If the directory is not writable, only the next start is slower.
pub(super) fn put(key: &Key, memo: Memo, on_disk: bool) {
    if on_disk {
        let _ = file(key).and_then(|file| private::write_json(&file, &memo));
    }
    MEMOS.lock().unwrap_or_else(PoisonError::into_inner).insert(*key, memo);
}

fn file(key: &Key) -> Option<PathBuf> {
    let name: String = key[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    Some(user_cache()?.join("toolchains-v1").join(name + ".json"))
}
