//! The toolchain's identity by content: every file that can change a byte of the machine code, identified by its role.
//!
//! | role | reason |
//! |---|---|
//! | driver, the driver started by a script, back end (`cc1`, `cc1plus`), `as`, `ld`, `objcopy` | they write the bytes |
//! | `collect2`, `collect-ld`, `lto-wrapper`, `lto1`, `liblto_plugin.so` | a link through the driver starts them |
//! | `lib/…`: libraries of these programs | `libbfd` has much of the assembler and linker; `libmpfr` or `libm` folds constants |
//! | `lib/…`: libraries in `/etc/ld.so.preload` | they can change any behavior |
//! | `include/…`, the compiler's own headers | lean units include them |
//! | built-in specs, `configuration …` (a `specs` file, `clang.cfg`) | they add options to the driver's |
//!
//! Start files and libraries that a unit links are part of that unit's `ActionKey`. Paths are not included: the same
//! compiler installed in a different place is the same toolchain.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use object::Endianness;
use object::ReadCache;
use object::elf::ProgramHeader64;
use object::read::elf::{ElfFile64, ProgramHeader as _};
use precast_store::ToolchainId;
use precast_store::key::{Canonical, ContentId, Language, context};
use precast_store::scratch::Scratch;
use walkdir::WalkDir;

use super::probe::Probed;
use super::search::is_executable;
use super::{Family, FindToolchainError};
use crate::run::{RunError, command, run};
use crate::watch::{Watched, settle};

/// The time limit for a tool to list its libraries.
const LIMIT: Duration = Duration::from_secs(30);

/// The identity of a toolchain and the files it depends on.
pub(super) struct Fingerprint {
    pub(super) id: ToolchainId,
    /// Every file that was read, and every file whose appearance would change the result.
    pub(super) watched: Vec<Watched>,
}

/// Reads and hashes the parts of a toolchain.
pub(super) fn fingerprint(probed: &Probed, language: Language) -> Result<Fingerprint, FindToolchainError> {
    let mut watched: Vec<PathBuf> = probed.candidates.clone();
    let parts = parts(probed, &mut watched)?;
    watched.extend(parts.iter().map(|(_, path)| path.clone()));
    watched.sort();
    watched.dedup();
    // The files are examined before they are read, so that the memo does not match a file that changes in between.
    let mut watched: Vec<Watched> = watched.into_iter().map(Watched::look).collect();
    settle(&watched);
    let family = match probed.compiler().family {
        Family::Gcc => "gcc",
        Family::Clang => "clang",
        Family::Zig => "zig",
    };
    let mut encoder = Canonical::new(context::TOOLCHAIN)
        .str(family)
        .str(language.name())
        .bytes(ContentId::of(&probed.specs).as_bytes())
        .list(parts.len());
    // The only arguments in the identity are those that name no file.
    for argument in &probed.compiler().arguments.plain {
        encoder = encoder.str(argument);
    }
    for (role, path) in parts {
        // Every part is in the sorted list `watched`.
        let found = watched.binary_search_by(|watched| watched.path().cmp(&path));
        let hashed = found.map_or_else(|_| Watched::look(path.clone()).hash(), |at| watched[at].hash());
        let content = hashed.map_err(|source| FindToolchainError::Read { path, source })?;
        encoder = encoder.str(&role).bytes(content.as_bytes());
    }
    Ok(Fingerprint { id: ToolchainId::from_bytes(encoder.finish()), watched })
}

/// Lists (role, file), sorted by role, and adds all other files that affect this list to `watched`.
fn parts(probed: &Probed, watched: &mut Vec<PathBuf>) -> Result<Vec<(String, PathBuf)>, FindToolchainError> {
    let compiler = probed.compiler();
    let mut parts = probed.parts.clone();
    for (_, path) in &probed.parts {
        parts.extend(libraries(path, watched)?);
    }
    for entry in WalkDir::new(&compiler.own_headers).follow_links(true).sort_by_file_name() {
        let entry = entry.map_err(|error| FindToolchainError::Read {
            path: compiler.own_headers.clone(),
            source: error.into(),
        })?;
        if entry.file_type().is_dir() {
            // Adding or removing a header changes its directory.
            watched.push(entry.into_path());
        } else if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(&compiler.own_headers).unwrap_or(entry.path());
            parts.push((format!("include/{}", name.display()), entry.path().to_owned()));
        }
    }
    parts.sort();
    parts.dedup();
    Ok(parts)
}

/// Lists the libraries of a tool as its loader finds them, and adds the places searched to `watched`. Only a static
/// tool, or one with a loader other than glibc's, may list none: an identity without libraries would match a different
/// toolchain.
fn libraries(tool: &Path, watched: &mut Vec<PathBuf>) -> Result<Vec<(String, PathBuf)>, FindToolchainError> {
    // A configuration file or a plugin is not started.
    if !is_executable(tool) {
        return Ok(Vec::new());
    }
    let program = || tool.to_owned();
    let lists = is_listed(tool).map_err(|source| FindToolchainError::Read { path: program(), source })?;
    // The identity must not depend on whether there was disk space to compute it.
    let scratch = Scratch::new()
        .map_err(|source| FindToolchainError::Scratch { directory: std::env::temp_dir(), source })?;
    // With this variable, glibc's loader lists the loaded libraries and does not start the program. Other loaders start
    // it, without input and in its own directory.
    let mut command = command(tool, OsStr::new(""));
    command.env("LD_TRACE_LOADED_OBJECTS", "1").env("LD_DEBUG", "libs").current_dir(scratch.path());
    let ended = run(&mut command, LIMIT).map_err(|error| match error {
        RunError::Start(source) => FindToolchainError::Start { program: program(), source },
        _ => FindToolchainError::Broken { program: program(), what: "it did not finish".to_owned() },
    })?;
    let place = |line: &str| {
        let (_, place) = ["trying file=", "search cache="].iter().find_map(|mark| line.split_once(mark))?;
        Some(PathBuf::from(place.trim()))
    };
    watched.extend(ended.stderr.lines().filter_map(place));
    watched.push(PathBuf::from("/etc/ld.so.preload"));
    let mut found = Vec::new();
    for line in ended.stdout.lines().filter(|line| line.starts_with('\t')) {
        // `libz.so.1 => /lib/libz.so.1 (0x…)`; the loader itself and preloaded libraries have no arrow.
        let (name, place) = line.split_once(" => ").unwrap_or((line, line));
        if place.trim() == "not found" {
            let library = name.trim().to_owned();
            return Err(FindToolchainError::Library { tool: tool.to_owned(), library });
        }
        let file = PathBuf::from(place.split(" (").next().unwrap_or_default().trim());
        if file.is_file() {
            let name = file.file_name().unwrap_or_default().display().to_string();
            found.push((format!("lib/{name}"), file));
        }
    }
    if lists && found.is_empty() {
        let what = format!("its dynamic linker lists no libraries ({})", ended.status);
        return Err(FindToolchainError::Broken { program: program(), what });
    }
    Ok(found)
}

/// Returns whether glibc's dynamic linker starts the program, so that it can list its libraries.
fn is_listed(tool: &Path) -> std::io::Result<bool> {
    let bytes = ReadCache::new(fs_err::File::open(tool)?);
    let Ok(file) = ElfFile64::<Endianness, _>::parse(&bytes) else { return Ok(false) };
    let interpreter = |header: &ProgramHeader64<Endianness>| {
        header.interpreter(file.endian(), &bytes).ok().flatten().map(<[u8]>::to_vec)
    };
    let interpreter = file.elf_program_headers().iter().find_map(interpreter).unwrap_or_default();
    Ok(String::from_utf8_lossy(&interpreter).contains("/ld-linux"))
}
