//! The generation of a unit: the identity of everything that its compilation reads outside of its sources.
//!
//! ```text
//! unit ── cc -E for each ISA level ──▶ text without line markers ┐
//!      └─ ld -t ──▶ the content of each library                  ┴▶ GenerationId
//! ```
//! No key covers system headers, libraries and the directories in which they are searched. Records of one key that have
//! different generations were built from different states of them. The generation is the same for all levels, so that a
//! store can tell which records belong together. It is computed from the compiler's own reading of the files, so every
//! change counts that changes the code: another file that comes first in a search, `__has_include`, a linker script.
//! Changes of comments do not count.
//!
//! The result is remembered while no file and no directory in which headers are searched changes: in the process, and in
//! `<cache>/generations-v2/<hash>.json`, which only the current user can write. It is trusted only after two readings with
//! the same result, the second of which began and ended with the same metadata of all these paths. A unit is read each
//! time if it names libraries, whose search is not known here, or if it may test for files in other directories.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::SystemTime;

use precast_codegen::Unit;
use precast_store::key::{Canonical, ContentId, GenerationId, context};
use precast_store::stat::{Stat, TICK};
use precast_store::user_cache;
use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use crate::error::CompileError;
use crate::includes;
use crate::isa::{Isa, Variant};
use crate::link;
use crate::prepared::Prepared;
use crate::private;
use crate::reads;
use crate::scratch::Scratch;
use crate::system::preprocess;
use crate::toolchain::Toolchain;

/// The contents that a unit reads outside of its sources. They are remembered, and valid while the state of the paths is
/// the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Generation {
    /// The hash of the preprocessed text for each ISA level; zeros for a level that the compiler refuses.
    texts: BTreeMap<String, ContentId>,
    /// The files that the linker reads, in order.
    pub(crate) libraries: Vec<(PathBuf, ContentId)>,
    /// The files that were read, and the directories in which files were searched.
    paths: BTreeSet<PathBuf>,
    /// The hash of the metadata of all paths.
    state: ContentId,
    /// Whether the paths had this state before and after a reading.
    is_confirmed: bool,
}

/// Returns the generation of a unit on this host; `None` if the unit reads nothing outside of its sources.
///
/// # Errors
///
/// Fails like [`compile`](crate::compile()), except for errors of the later steps.
pub(crate) fn generation(unit: &Unit, toolchain: &Toolchain) -> Result<Option<GenerationId>, CompileError> {
    let Some(isa) = levels(toolchain.target()).next() else { return Ok(None) };
    let variant = variant(unit, toolchain, isa);
    let found = Generation::of(&Prepared::new(unit, toolchain, &variant)?, |_| true)?;
    Ok(found.map(|generation| generation.id()))
}

/// The most paths to remember. A unit with more is preprocessed each time.
const MOST: usize = 20_000;

static KNOWN: Mutex<BTreeMap<[u8; 32], Generation>> = Mutex::new(BTreeMap::new());

fn known() -> MutexGuard<'static, BTreeMap<[u8; 32], Generation>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Generation {
    /// Returns the generation of a unit, which was prepared for any level. One that is remembered and for which `fits` is
    /// false is read again.
    pub(crate) fn of(
        prepared: &Prepared<'_>,
        fits: impl Fn(&Self) -> bool,
    ) -> Result<Option<Self>, CompileError> {
        if prepared.lean && !prepared.flags.hosted_link {
            return Ok(None);
        }
        let key = key(prepared);
        let remembered = known().get(&key).cloned().or_else(|| private::read_json(&file(&key)?));
        let unchanged = remembered.filter(|generation| state(&generation.paths) == generation.state);
        match unchanged {
            Some(generation) if generation.is_confirmed && fits(&generation) => {
                known().insert(key, generation.clone());
                Ok(Some(generation))
            }
            earlier => Self::read(prepared, &key, earlier).map(Some),
        }
    }

    /// Computes the identity. Names of directories are not part of it.
    pub(crate) fn id(&self) -> GenerationId {
        let start = Canonical::new(context::GENERATION).list(self.texts.len());
        let texts =
            self.texts.iter().fold(start, |encoder, (isa, text)| encoder.str(isa).bytes(text.as_bytes()));
        let libraries =
            self.libraries.iter().fold(texts.list(self.libraries.len()), |encoder, (path, content)| {
                encoder.str(&path.file_name().unwrap_or_default().to_string_lossy()).bytes(content.as_bytes())
            });
        GenerationId::from_bytes(libraries.finish())
    }

    /// Returns whether the text of a level is this one.
    pub(crate) fn has_text(&self, isa: Isa, text: &ContentId) -> bool {
        self.texts.get(isa.name()) == Some(text)
    }

    /// Reads all contents, and remembers them. `earlier` is the result of the last reading, if no path changed since.
    fn read(prepared: &Prepared<'_>, key: &[u8; 32], earlier: Option<Self>) -> Result<Self, CompileError> {
        let began = SystemTime::now();
        let scratch = prepared.unpack()?;
        let (texts, headers) = texts(prepared, &scratch)?;
        let libraries =
            if prepared.flags.hosted_link { link::files(prepared, &scratch)? } else { Vec::new() };
        let libraries = libraries.into_iter().map(|path| match ContentId::of_file(&path) {
            Ok(content) => Ok((path, content)),
            Err(source) => Err(CompileError::Read { path, source }),
        });
        let libraries: Vec<(PathBuf, ContentId)> = libraries.collect::<Result<_, _>>()?;
        let files: BTreeSet<PathBuf> =
            headers.iter().chain(libraries.iter().map(|(path, _)| path)).cloned().collect();
        let paths = if may_search_elsewhere(prepared, &headers) { None } else { watched(prepared, files) };
        let is_watched = paths.is_some();
        let paths = paths.unwrap_or_default();
        let mut generation = Self { texts, libraries, state: state(&paths), paths, is_confirmed: false };
        if is_watched {
            let is_older = |path: &PathBuf| match Stat::of(path) {
                Some(stat) => stat.age(began).is_some_and(|age| age > TICK),
                None => true,
            };
            let is_same =
                earlier.is_some_and(|earlier| Self { is_confirmed: false, ..earlier } == generation);
            generation.is_confirmed = is_same && generation.paths.iter().all(is_older);
            let _ = file(key).and_then(|file| private::write_json(&file, &generation));
            known().insert(*key, generation.clone());
        }
        Ok(generation)
    }
}

/// Returns whether a unit may depend on files outside of the directories in which headers are searched: on libraries, or
/// on files that the preprocessor tests for but does not report.
fn may_search_elsewhere(prepared: &Prepared<'_>, headers: &BTreeSet<PathBuf>) -> bool {
    let (first, compiler) = (prepared.unit.first(), prepared.compiler);
    if ![&first.libraries, &first.lib_dirs, &compiler.arguments.link].iter().all(|list| list.is_empty()) {
        return true;
    }
    let read = |path: &PathBuf| fs_err::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let Ok(headers) = headers.iter().map(read).collect::<Result<Vec<String>, _>>() else { return true };
    let own = prepared.sources.values().map(|text| &**text).chain([&*prepared.text]);
    includes::may_search_elsewhere(own.chain(headers.iter().map(String::as_str)))
}

fn file(key: &[u8; 32]) -> Option<PathBuf> {
    Some(user_cache()?.join("generations-v2").join(format!("{}.json", ContentId::from_bytes(*key).short())))
}

/// Returns the hash of the metadata of paths, and of the links that lead to them.
fn state(paths: &BTreeSet<PathBuf>) -> ContentId {
    let links = |path: &Path| -> String {
        let links = path.ancestors().filter_map(|part| fs_err::symlink_metadata(part).ok());
        links.filter(|found| found.is_symlink()).map(|found| format!("{:?}", Stat::read(&found))).collect()
    };
    let states = paths.iter().map(|path| format!("{:?} {} {:?}\n", Stat::of(path), links(path), path));
    ContentId::of(states.collect::<String>())
}

/// Returns the hash of everything that determines a generation, except for the files.
fn key(prepared: &Prepared<'_>) -> [u8; 32] {
    let Prepared { unit, toolchain, compiler, .. } = prepared;
    let first = unit.first();
    let start = Canonical::new("precast v2 generation memo").str(env!("CARGO_PKG_VERSION"));
    let members = unit.members();
    let keyed =
        members.iter().fold(start.list(members.len()), |encoder, (key, _)| encoder.bytes(key.as_bytes()));
    let keyed = keyed.strs(&first.header_dirs).strs(&first.lib_dirs).strs(&first.libraries);
    let keyed = keyed.str(toolchain.target()).str(&format!("{:?}", compiler.arguments));
    keyed.str(&format!("{:?}", compiler.system_headers)).bytes(compiler.id.as_bytes()).finish()
}

/// Returns the files, and the paths whose metadata change if a search for a header may find another file: the searched
/// directories, nested ones, and the links in them. `None` if a directory cannot be listed, or the paths are too many.
fn watched(prepared: &Prepared<'_>, files: BTreeSet<PathBuf>) -> Option<BTreeSet<PathBuf>> {
    let compiler = prepared.compiler;
    let named = prepared.header_dirs().map(|(_, directory)| PathBuf::from(directory));
    let given = compiler.arguments.headers.iter().map(PathBuf::from).filter(|path| path.is_absolute());
    let system = compiler.system_headers.iter().filter(|directory| **directory != compiler.own_headers);
    let mut paths: BTreeSet<PathBuf> =
        files.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
    paths.extend(files);
    for directory in named.chain(given).chain(system.cloned()).filter(|_| !prepared.lean) {
        for entry in WalkDir::new(&directory).follow_links(true) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() || entry.path_is_symlink() => {
                    paths.insert(entry.into_path())
                }
                Ok(_) => false,
                // A missing directory, or a link to a missing file.
                Err(error) if error.io_error().is_some_and(|error| error.kind() == ErrorKind::NotFound) => {
                    paths.insert(error.path()?.to_owned())
                }
                Err(_) => return None,
            };
            if paths.len() > MOST {
                return None;
            }
        }
        paths.insert(directory);
    }
    Some(paths)
}

fn levels(target: &str) -> impl Iterator<Item = Isa> {
    let arch = target.split('-').next().unwrap_or(target).to_owned();
    Isa::ALL.iter().copied().filter(move |level| level.arch() == arch)
}

fn variant(unit: &Unit, toolchain: &Toolchain, isa: Isa) -> Variant {
    Variant { target: toolchain.target().to_owned(), isa, profile: unit.first().profile }
}

/// Preprocesses a unit for each level. Returns the hashes of the texts, and all headers that were read.
fn texts(
    prepared: &Prepared<'_>,
    scratch: &Scratch,
) -> Result<(BTreeMap<String, ContentId>, BTreeSet<PathBuf>), CompileError> {
    let (mut texts, mut files) = (BTreeMap::new(), BTreeSet::new());
    if prepared.lean {
        return Ok((texts, files));
    }
    let all: Vec<_> = thread::scope(|scope| {
        let levels = levels(prepared.toolchain.target());
        let threads: Vec<_> =
            levels.map(|isa| (isa, scope.spawn(move || text(prepared, scratch, isa)))).collect();
        threads.into_iter().map(|(isa, thread)| (isa, thread.join())).collect()
    });
    let (mut refused, mut is_possible) = (None, false);
    for (isa, text) in all {
        let text = match text.unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
            Ok((text, read)) => {
                files.extend(read);
                is_possible = true;
                text
            }
            // A level may be impossible, as long as another one is possible.
            Err(error) if error.is_of_unit() => {
                refused = Some(error);
                ContentId::from_bytes([0; 32])
            }
            Err(error) => return Err(error),
        };
        texts.insert(isa.name().to_owned(), text);
    }
    match refused {
        Some(error) if !is_possible => Err(error),
        _ => Ok((texts, files)),
    }
}

/// Returns the hash of a unit's preprocessed text for a level, and the headers that were read.
fn text(
    prepared: &Prepared<'_>,
    scratch: &Scratch,
    isa: Isa,
) -> Result<(ContentId, Vec<PathBuf>), CompileError> {
    let variant = variant(prepared.unit, prepared.toolchain, isa);
    let prepared = Prepared::new(prepared.unit, prepared.toolchain, &variant)?;
    let (output, report) = (format!("{isa}.i"), format!("{isa}.d"));
    let text = preprocess(&prepared, scratch, &output, &report)?;
    Ok((text, reads::reported(&prepared, scratch, &report)?))
}
