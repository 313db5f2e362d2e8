//! Records misses as declarations in the manifest that `precast build` reads.
//!
//! ```text
//! miss ─▶ declaration: `[[op]]` for a single Apply, else `[[graph]] json = …`
//!            └▶ file: lock ─▶ read ─▶ new? ─▶ write the whole new text ─▶ rename over the old file
//! ```
//! The identity of a declaration is the key of the missing module, so it is written once, however many processes have
//! the miss. The file is replaced by a rename, so it is a complete manifest at any time, even after a crash. A failed
//! write is an event, not an error of the program, whose results do not depend on the recording.
//!
//! | variable | meaning |
//! |---|---|
//! | `PRECAST_RECORD` | the manifest that misses are added to; created if missing |
//! | `PRECAST_RECORD_SERVE` | the modules to compile for a graph: `whole` (the default), `groups`, `ops`, separated by commas |
//! | `PRECAST_RECORD_REPORT` | a file that gets a line for each declaration that was not written; set by `precast record` |

mod declaration;
mod error;
mod file;

pub use error::RecordError;
pub(crate) use file::Recorded;

use crate::cover::{Answer, By, Segment};
use declaration::Declaration;
use precast_graph::{FunctionGraph, encode};
use precast_ops::{Ops, Serve};
use precast_store::BuildKey;
use precast_store::key::ContentId;
use std::collections::BTreeSet;
use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const FILE: &str = "PRECAST_RECORD";
const SERVE: &str = "PRECAST_RECORD_SERVE";
const REPORT: &str = "PRECAST_RECORD_REPORT";

/// The settings and the state of a recording.
#[derive(Debug)]
pub(crate) struct Recording {
    path: PathBuf,
    serve: Result<BTreeSet<Serve>, String>,
    report: Option<PathBuf>,
    /// The declarations that this process has handled.
    seen: Mutex<BTreeSet<String>>,
}

impl Recording {
    /// Creates a recording to a file. The path is made absolute, because the program may change its directory later.
    pub(crate) fn new(path: &Path, serve: BTreeSet<Serve>) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { path, serve: Ok(serve), report: None, seen: Mutex::default() }
    }

    /// Returns the recording that the environment requests, if any.
    pub(crate) fn from_environment() -> Option<Self> {
        let path = env::var_os(FILE).filter(|path| !path.is_empty())?;
        let words = env::var(SERVE).unwrap_or_default();
        let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
        let serve = words.map(|word| word.parse().map_err(|error| precast_core::event::chain(&error)));
        let report = env::var_os(REPORT).map(PathBuf::from);
        let serve = serve.map(|word: Result<Serve, String>| word).collect();
        Some(Self { serve, report, ..Self::new(Path::new(&path), BTreeSet::new()) })
    }

    /// Returns the path of the manifest.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the file, if it exists, can be extended.
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        file::check(&self.path)
    }

    /// Records a graph with missing modules.
    pub(crate) fn add(
        &self,
        graph: &FunctionGraph,
        answer: &Answer,
        ops: &Ops,
    ) -> Result<Recorded, RecordError> {
        if answer.unserved().any(|module| module.unpublished) {
            return Err(RecordError::Unpublished);
        }
        let serve = self.serve.as_ref().map_err(|problem| RecordError::Serve { problem: problem.clone() })?;
        let name = name(answer);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.contains(&name) {
            return Ok(Recorded::Before);
        }
        let declaration = Declaration::new(graph, &answer.lowered, &name, serve, ops);
        let recorded = file::append(&self.path, &declaration)?;
        seen.insert(name);
        Ok(recorded)
    }

    /// Reports a failed write to the process that started this one.
    pub(crate) fn report(&self, signature: &str, reason: &str) {
        let Some(path) = &self.report else { return };
        let line = format!("`{signature}`: {}\n", reason.replace('\n', " "));
        // The report is for people; if it cannot be written either, nothing more can be done here.
        if let Ok(mut file) = fs_err::OpenOptions::new().append(true).open(path) {
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// Returns the identity of a graph: the key of its module, or for several segments a digest of the lowered graph and
/// their keys.
fn name(answer: &Answer) -> String {
    let key = |segment: &Segment| match &segment.by {
        By::Own(key) => Some(*key),
        By::Applies(_) => segment.missing.as_ref().map(|missing| missing.module.key()),
    };
    let keys: Vec<BuildKey> = answer.segments.iter().filter_map(key).collect();
    if let [key] = &keys[..] {
        return key.short();
    }
    let mut all = encode::canonical(&answer.lowered);
    keys.iter().for_each(|key| all.extend(key.as_bytes()));
    ContentId::of(&all).short()
}
