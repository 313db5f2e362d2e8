//! Turns the compiler's object into `unit.o` (with local symbols) and `unit.so` (with one exported symbol).
//!
//! A unit without libraries is linked directly by `ld`, in a third of the driver's time. Its only undefined symbols may
//! be the functions that compilers call implicitly: `memcpy`, `memmove`, `memset`, `memcmp`. A unit with system headers
//! or libraries is linked by the driver against a C library, and must have no undefined symbols.

use std::path::{Path, PathBuf};

use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::Language;

use crate::error::CompileError;
use crate::flags::Flags;
use crate::loader;
use crate::prepared::Prepared;
use crate::refused;
use crate::scratch::Scratch;
use crate::stack;
use crate::toolchain::{Compiler, Toolchain};

/// The object file that the compiler writes.
pub(crate) const RAW: &str = "raw.o";
const KEEP: &str = "keep.txt";

/// The tools of one compiler, run in one directory.
#[derive(Clone, Copy)]
pub(crate) struct Tools<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) compiler: &'a Compiler,
    pub(crate) scratch: &'a Scratch,
}

impl Tools<'_> {
    /// Runs a tool; the error contains its first line of output.
    pub(crate) fn run(self, program: &Path, arguments: &[String]) -> Result<(), CompileError> {
        let ended = self.scratch.run(self.toolchain, &self.compiler.path, program, arguments)?;
        if ended.status.success() {
            return Ok(());
        }
        Err(CompileError::Link { words: first_words(&ended.stderr) })
    }

    /// Creates [`OBJECT`] from [`RAW`] by making all symbols local except the exported ones.
    pub(crate) fn localise(
        self,
        exported: impl IntoIterator<Item = String>,
        language: Language,
    ) -> Result<(), CompileError> {
        let list: String = exported.into_iter().flat_map(|name| [name, "\n".to_owned()]).collect();
        self.scratch.write(KEEP, list)?;
        let mut arguments = vec![format!("--keep-global-symbols={KEEP}"), RAW.to_owned(), OBJECT.to_owned()];
        if language == Language::Cxx {
            // Inline functions and templates are in groups. A linker keeps only the first group of each name,
            // regardless of its content, which in a static program could come from another unit.
            arguments.insert(0, "--remove-section=.group".to_owned());
        }
        self.run(&self.compiler.objcopy, &arguments)
    }
}

/// Links the shared object.
pub(crate) fn link(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<(), CompileError> {
    let compiler = prepared.compiler;
    let mut arguments = shared_object(&prepared.flags);
    let program = if prepared.flags.hosted_link {
        arguments.extend(libraries(prepared));
        // Makes the linker print the names of linked archive members.
        arguments.extend(["-Wl,-t", "-Wl,-t"].map(str::to_owned));
        &compiler.driver
    } else {
        &compiler.ld
    };
    let ended = scratch.run(prepared.toolchain, &compiler.path, program, &arguments)?;
    if !ended.status.success() || ended.stderr.lines().any(is_open) {
        return Err(refusal(prepared, &ended.stderr));
    }
    stack::check_members(&ended.stdout)
}

/// Returns whether the linker warns about an undefined symbol that does not belong to CPython.
fn is_open(line: &str) -> bool {
    let symbol = line.split_once("undefined reference to ").map(|(_, symbol)| symbol.trim_matches(QUOTES));
    symbol.is_some_and(|symbol| !symbol.starts_with("Py") && !symbol.starts_with("_Py"))
}

const QUOTES: [char; 3] = ['`', '\'', '"'];

/// Returns the arguments that link [`SHARED_OBJECT`] from [`OBJECT`].
pub(crate) fn shared_object(flags: &Flags) -> Vec<String> {
    let files = ["-o", SHARED_OBJECT, OBJECT].map(str::to_owned);
    flags.link.iter().cloned().chain(files).collect()
}

fn libraries(prepared: &Prepared<'_>) -> Vec<String> {
    let first = prepared.unit.first();
    let directories = first.lib_dirs.iter().map(|directory| format!("-L{directory}"));
    directories.chain(first.libraries.iter().map(|name| loader::argument(name, &first.lib_dirs))).collect()
}

/// Lists the files that a hosted link reads in addition to the object: start files, libraries, linker scripts.
pub(crate) fn files(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<Vec<PathBuf>, CompileError> {
    let compiler = prepared.compiler;
    let mut arguments = prepared.flags.link.clone();
    arguments.extend(["-Wl,-t", "-Wl,--no-as-needed", "-o", "trial.so"].map(str::to_owned));
    let start = libraries(prepared);
    // The driver rejects a link without inputs; `-lc` is linked in any case.
    arguments.extend(if start.is_empty() { vec!["-lc".to_owned()] } else { start });
    let ended = scratch.run(prepared.toolchain, &compiler.path, &compiler.driver, &arguments)?;
    if !ended.status.success() {
        return Err(refusal(prepared, &ended.stderr));
    }
    let mut files: Vec<PathBuf> = Vec::new();
    // Scratch files of the driver have relative names and are not system files.
    for line in ended.stdout.lines().map(str::trim).filter(|line| line.starts_with('/')) {
        let file = PathBuf::from(line);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

/// Determines the cause of a linker error.
fn refusal(prepared: &Prepared<'_>, words: &str) -> CompileError {
    let after = |line: &str, mark: &str| line.split_once(mark).map(|(_, rest)| rest.to_owned());
    if let Some(name) = words.lines().find_map(|line| after(line, "cannot find -l")) {
        let name = name.split([':', ' ']).next().unwrap_or_default().to_owned();
        return CompileError::Library { name, searched: prepared.unit.first().lib_dirs.clone() };
    }
    let open = words.lines().find(|line| is_open(line));
    if let Some(symbol) = open.and_then(|line| after(line, "undefined reference to ")) {
        return refused::undefined(prepared, symbol.trim_matches(QUOTES));
    }
    if let Some(path) = words.lines().find_map(without_pic) {
        return CompileError::NotPic { path };
    }
    CompileError::Link { words: first_words(words) }
}

/// Returns the archive with a member compiled for a fixed address: `ld: lib/libown.a(own.o): … relocation …`.
fn without_pic(line: &str) -> Option<PathBuf> {
    let told = ["recompile with -fPIC", "making a shared object", "read-only section"];
    let is_relocation = line.contains("relocation") && told.iter().any(|words| line.contains(words));
    let (before, _) = line.split_once(".a(").filter(|_| is_relocation)?;
    let from = before.rfind(": ").map_or(0, |at| at + 2);
    Some(format!("{}.a", &before[from..]).into())
}

fn first_words(words: &str) -> String {
    words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no message").to_owned()
}
