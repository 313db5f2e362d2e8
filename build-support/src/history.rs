//! A log of the latest builds that compiled something into a store: the compiled units and the reasons, for later
//! questions.
//!
//! ```text
//! <store>/builds/<seconds>-<process>.json       the latest twenty
//! ```
//! Nothing depends on these files; write errors are ignored.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use precast_store::Store;
use precast_store::whole::{self, Whole};
use serde::{Deserialize, Serialize};

use crate::execute::{Compilation, Executed};

/// The number of builds kept.
const KEPT: usize = 20;

/// The size limit of a log, in bytes; real logs are far smaller.
const LIMIT: u64 = 64 << 20;

/// A build that compiled something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The end of the build, in seconds since 1970.
    pub when: u64,
    /// The build's subject: a manifest, or a package's directory.
    pub what: String,
    /// The number of artifacts that the store already had.
    pub hits: usize,
    /// The compiled units.
    pub compilations: Vec<Compilation>,
}

/// Logs a build if it compiled anything.
pub fn remember(store: &Store, what: &Path, executed: &Executed) {
    if executed.compilations.is_empty() {
        return;
    }
    let when = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let build = Build {
        when,
        what: what.display().to_string(),
        hits: executed.hits,
        compilations: executed.compilations.clone(),
    };
    let directory = store.path().join("builds");
    // A failure to write the log must not fail the build.
    let _ = write(&directory, &format!("{when:012}-{}.json", std::process::id()), &build);
    let mut all = list(&directory);
    all.truncate(all.len().saturating_sub(KEPT));
    all.iter().for_each(|path| drop(fs_err::remove_file(path)));
}

fn write(directory: &Path, name: &str, build: &Build) -> std::io::Result<()> {
    whole::create_dir_all(directory)?;
    let mut file = Whole::with_mode(directory, 0o644)?;
    file.write_all(&serde_json::to_vec_pretty(build)?)?;
    file.rename(&directory.join(name))
}

/// Returns the latest build that compiled something into a store, if its log can be read.
#[must_use]
pub fn last(store: &Path) -> Option<Build> {
    let latest = list(&store.join("builds")).pop()?;
    serde_json::from_slice(&precast_store::file::read(&latest, LIMIT).ok()?).ok()
}

/// Lists the log files, oldest first.
fn list(directory: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    files
}
