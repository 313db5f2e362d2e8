//! Turns the compiler's object into `unit.o` (with local symbols) and `unit.so` (with one exported symbol).
//!
//! A unit without libraries is linked directly by `ld`, in a third of the driver's time. Its only undefined symbols may
//! be the functions that compilers call implicitly: `memcpy`, `memmove`, `memset`, `memcmp`. A unit with system headers
//! or libraries is linked by the driver against a C library, and must have no undefined symbols.

use std::collections::BTreeSet;
use std::path::PathBuf;

use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::Language;

use crate::error::CompileError;
use crate::flags::Flags;
use crate::loader;
use crate::object::RAW;
use crate::prepared::Prepared;
use crate::refused;
use crate::scratch::Scratch;
use crate::stack;
use crate::symbols;
use crate::toolchain::{Compiler, Family, Tool, Toolchain};

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
    pub(crate) fn run(self, tool: &Tool, arguments: &[String]) -> Result<(), CompileError> {
        let ended = self.scratch.run(self.toolchain, &self.compiler.path, tool, arguments)?;
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
        let Some(objcopy) = &self.compiler.objcopy else {
            let exported: BTreeSet<String> = exported.into_iter().collect();
            let object = symbols::localize(self.scratch.read(RAW)?, &exported)?;
            return self.scratch.write(OBJECT, object);
        };
        let list: String = exported.into_iter().flat_map(|name| [name, "\n".to_owned()]).collect();
        self.scratch.write(KEEP, list)?;
        let mut arguments = vec![format!("--keep-global-symbols={KEEP}"), RAW.to_owned(), OBJECT.to_owned()];
        if language == Language::Cxx {
            // Inline functions and templates are in groups. A linker keeps only the first group of each name,
            // regardless of its content, which in a static program could come from another unit.
            arguments.insert(0, "--remove-section=.group".to_owned());
        }
        self.run(objcopy, &arguments)
    }
}

/// Links the shared object.
pub(crate) fn link(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<(), CompileError> {
    let compiler = prepared.compiler;
    let mut arguments = shared_object(&prepared.flags);
    if prepared.flags.hosted_link {
        arguments.extend(libraries(prepared)?);
        // Makes the linker print the names of linked archive members.
        arguments.extend([trace(compiler), trace(compiler)].map(str::to_owned));
    }
    let tool = if prepared.flags.hosted_link { hosted(compiler) } else { &compiler.ld };
    let ended = scratch.run(prepared.toolchain, &compiler.path, tool, &arguments)?;
    if !ended.status.success() || ended.stderr.lines().any(is_open) {
        return Err(refusal(prepared, &ended.stderr));
    }
    stack::check_members(&ended.stdout)
}

/// Returns the tool that links with a C library. The driver of zig would refuse most arguments.
fn hosted(compiler: &Compiler) -> &Tool {
    if compiler.family == Family::Zig { &compiler.ld } else { &compiler.driver }
}

/// Returns the argument that makes the linker list the files that it reads.
fn trace(compiler: &Compiler) -> &'static str {
    if compiler.family == Family::Zig { "-t" } else { "-Wl,-t" }
}

/// Returns whether the linker warns about an undefined symbol that does not belong to CPython.
fn is_open(line: &str) -> bool {
    undefined(line).is_some_and(|symbol| !symbol.starts_with("Py") && !symbol.starts_with("_Py"))
}

/// Returns the symbol that a linker (GNU ld, lld) reports as undefined.
fn undefined(line: &str) -> Option<&str> {
    let marks = ["undefined reference to ", "undefined symbol: "];
    let found = marks.iter().find_map(|mark| line.split_once(mark));
    found.map(|(_, symbol)| symbol.trim_matches(QUOTES))
}

const QUOTES: [char; 3] = ['`', '\'', '"'];

/// Returns the arguments that link [`SHARED_OBJECT`] from [`OBJECT`].
pub(crate) fn shared_object(flags: &Flags) -> Vec<String> {
    let files = ["-o", SHARED_OBJECT, OBJECT].map(str::to_owned);
    flags.link.iter().cloned().chain(files).collect()
}

/// Returns the arguments for the libraries of ops, and for the C library.
fn libraries(prepared: &Prepared<'_>) -> Result<Vec<String>, CompileError> {
    let first = prepared.unit.first();
    let directories = first.lib_dirs.iter().map(|directory| format!("-L{directory}"));
    let own = first.libraries.iter().map(|name| loader::argument(name, &first.lib_dirs));
    let system = prepared.toolchain.libraries(prepared.unit.language())?;
    // Of the C library's arguments, `-L` must come before the libraries of ops.
    let (places, files): (Vec<String>, Vec<String>) =
        system.into_iter().partition(|argument| argument.starts_with("-L"));
    Ok(directories.chain(places).chain(own).chain(files).collect())
}

/// Lists the files that a hosted link reads in addition to the object: start files, libraries, linker scripts.
pub(crate) fn files(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<Vec<PathBuf>, CompileError> {
    let compiler = prepared.compiler;
    let mut arguments = prepared.flags.link.clone();
    let is_zig = compiler.family == Family::Zig;
    let keep = if is_zig { "--no-as-needed" } else { "-Wl,--no-as-needed" };
    arguments.extend([trace(compiler), keep, "-o", "trial.so"].map(str::to_owned));
    let start = libraries(prepared)?;
    // The driver rejects a link without inputs; `-lc` is linked in any case.
    arguments.extend(if start.is_empty() { vec!["-lc".to_owned()] } else { start });
    let ended = scratch.run(prepared.toolchain, &compiler.path, hosted(compiler), &arguments)?;
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
    let library = |line| after(line, "cannot find -l").or_else(|| after(line, "unable to find library -l"));
    if let Some(name) = words.lines().find_map(library) {
        let name = name.split([':', ' ']).next().unwrap_or_default().to_owned();
        return CompileError::Library { name, searched: prepared.unit.first().lib_dirs.clone() };
    }
    let open = words.lines().find(|line| is_open(line));
    if let Some(symbol) = open.and_then(undefined) {
        return refused::undefined(prepared, symbol);
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
