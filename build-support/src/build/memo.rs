//! Detects that nothing changed: maps a hash of all inputs to the hash of the bundle.
//!
//! ```text
//! {"inputs":   hash of declarations, variants, generator, store and its `STORE` file
//!  "program":  the build script itself: its content, and device, inode, size and times as a short cut to it
//!  "toolchains": [[language, ToolchainId]…]
//!  "bundle", "index", "library": hashes of the files      "counts": […]}
//! ```
//! A hit requires equal inputs, and output files whose hashes match the memo. The content of the script covers all
//! code (ops written in Rust, this crate, the formats). Builds that use system libraries or headers are not stored. A
//! hit does not check that each object is still in the store; `precast verify` reads them.

use super::Counts;
use precast_compile::Toolchain;
use precast_store::ToolchainId;
use precast_store::key::{Canonical, ContentId, Language};
use precast_store::stat::Stat;
use precast_store::whole::write_if_changed;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The inputs and output paths of a build.
#[derive(Debug, Clone)]
pub(super) struct Question<'a> {
    pub(super) file: PathBuf,
    /// A hash of declarations and variants.
    pub(super) inputs: ContentId,
    pub(super) store: &'a Path,
    pub(super) toolchain: &'a Toolchain,
    pub(super) bundle: &'a Path,
    pub(super) index: &'a Path,
    /// The library of a static program.
    pub(super) library: Option<&'a Path>,
}

#[derive(Serialize, Deserialize)]
struct Memo {
    inputs: ContentId,
    program: Program,
    toolchains: Vec<(Language, ToolchainId)>,
    bundle: ContentId,
    index: ContentId,
    library: Option<ContentId>,
    counts: Counts,
}

/// The build script's executable.
#[derive(Serialize, Deserialize)]
struct Program {
    stat: Option<Stat>,
    content: ContentId,
}

/// Returns the counts of the previous build if its output is still up to date.
pub(super) fn get(question: &Question<'_>) -> Option<Counts> {
    let memo: Memo = serde_json::from_slice(&fs_err::read(&question.file).ok()?).ok()?;
    let same_toolchain = |(language, id): &(Language, ToolchainId)| {
        question.toolchain.id(*language).is_ok_and(|now| now == *id)
    };
    let fits = memo.inputs == inputs(question)
        && memo.toolchains.iter().all(same_toolchain)
        && memo.program.is_running()
        && content(question.bundle) == Some(memo.bundle)
        && content(question.index) == Some(memo.index)
        && question.library.map(content) == memo.library.map(Some);
    fits.then_some(memo.counts)
}

/// Stores a build. A failure only costs time.
pub(super) fn put(question: &Question<'_>, languages: impl IntoIterator<Item = Language>, counts: Counts) {
    let _ = make(question, languages, counts).map(|bytes| write_if_changed(&question.file, &bytes));
}

/// Deletes the memo before any file that it describes is written.
pub(super) fn forget(question: &Question<'_>) {
    let _ = fs_err::remove_file(&question.file);
}

fn make(
    question: &Question<'_>,
    languages: impl IntoIterator<Item = Language>,
    counts: Counts,
) -> Option<Vec<u8>> {
    let toolchains =
        languages.into_iter().map(|language| Some((language, question.toolchain.id(language).ok()?)));
    let memo = Memo {
        inputs: inputs(question),
        program: Program::running()?,
        toolchains: toolchains.collect::<Option<_>>()?,
        bundle: content(question.bundle)?,
        index: content(question.index)?,
        library: match question.library {
            None => None,
            Some(path) => Some(content(path)?),
        },
        counts,
    };
    serde_json::to_vec(&memo).ok()
}

fn inputs(question: &Question<'_>) -> ContentId {
    let store = Stat::of(&question.store.join("STORE"));
    let encoder = Canonical::new("precast v1 build memo")
        .bytes(question.inputs.as_bytes())
        .str(&question.store.to_string_lossy())
        .str(&format!("{store:?}"));
    ContentId::from_bytes(encoder.finish())
}

fn content(path: &Path) -> Option<ContentId> {
    ContentId::of_file(path).ok()
}

impl Program {
    fn running() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        Some(Self { stat: Stat::of(&program), content: content(&program)? })
    }

    /// Returns whether this is the running program, by its stat or by its content.
    fn is_running(&self) -> bool {
        let Ok(program) = std::env::current_exe() else { return false };
        (self.stat.is_some() && self.stat == Stat::of(&program)) || content(&program) == Some(self.content)
    }
}
