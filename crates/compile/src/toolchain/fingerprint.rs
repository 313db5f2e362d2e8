//! What the toolchain is by content: every file that can change a byte of the machine code, under a name of its role.
//!
//! | role | why |
//! |---|---|
//! | driver, back end (`cc1`, `cc1plus`), `as`, `ld`, `objcopy` | they make the bytes |
//! | `lib/…` of these: `libbfd`, `libopcodes`, `libmpfr`, `libgmp`, `libmpc`, `libisl`, `libLLVM`, `libclang` | much of the assembler and linker is in `libbfd`; constants are folded by `libmpfr` |
//! | `include/…`, the compiler's own headers | lean units include them |
//! | specs | options that the driver adds |
//!
//! The C library that these programs themselves run on is left out: its updates change none of their answers. Start files
//! and libraries that a unit links enter that unit's `ActionKey`. No path enters: the same compiler installed elsewhere is
//! the same toolchain.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use precast_store::ToolchainId;
use precast_store::key::{Canonical, ContentId, Language, context};
use walkdir::WalkDir;

use super::memo::Watched;
use super::probe::Probed;
use super::{Family, FindToolchainError};
use crate::run::{RunError, run};

/// Libraries of the tools that take part in what the tools answer.
const LIBRARIES: &[&str] = &[
    "libbfd",
    "libopcodes",
    "libmpfr",
    "libgmp",
    "libmpc",
    "libisl",
    "libLLVM",
    "libclang",
    "libctf",
    "libsframe",
];

/// How long a tool may take to list its libraries.
const LIMIT: Duration = Duration::from_secs(30);

/// The identity with what it was made of.
pub(super) struct Fingerprint {
    pub(super) id: ToolchainId,
    /// Every file read, and those whose appearing would change the answer.
    pub(super) watched: Vec<Watched>,
}

/// Reads and hashes the parts of a toolchain.
pub(super) fn fingerprint(probed: &Probed, language: Language) -> Result<Fingerprint, FindToolchainError> {
    let mut directories = Vec::new();
    let parts = parts(probed, &mut directories)?;
    let family = match probed.compiler().family {
        Family::Gcc => "gcc",
        Family::Clang => "clang",
    };
    let mut encoder = Canonical::new(context::TOOLCHAIN)
        .str(family)
        .str(language.name())
        .bytes(ContentId::of(&probed.specs).as_bytes())
        .list(parts.len());
    // A header that is added or taken away changes its directory.
    let mut watched: Vec<Watched> = directories.into_iter().map(Watched::look).collect();
    for (role, path) in parts {
        // Looked at before it is read: a file that changes meanwhile does not fit the memo.
        watched.push(Watched::look(path.clone()));
        let content = fs_err::read(&path).map_err(|source| FindToolchainError::Read { path, source })?;
        encoder = encoder.str(&role).bytes(ContentId::of(content).as_bytes());
    }
    // A file of this name would replace gcc's built-in specs.
    if let Some(directory) = probed.compiler().own_headers.parent() {
        watched.push(Watched::look(directory.join("specs")));
    }
    Ok(Fingerprint { id: ToolchainId::from_bytes(encoder.finish()), watched })
}

/// Lists (role, file), sorted by role, and the directories that were walked.
fn parts(
    probed: &Probed,
    directories: &mut Vec<PathBuf>,
) -> Result<Vec<(String, PathBuf)>, FindToolchainError> {
    let compiler = probed.compiler();
    let tools = [
        ("driver", Some(&compiler.driver)),
        ("back end", probed.back_end.as_ref()),
        ("as", probed.assembler.as_ref()),
        ("ld", Some(&compiler.ld)),
        ("objcopy", Some(&compiler.objcopy)),
    ];
    let mut parts = Vec::new();
    for (role, path) in tools {
        let Some(path) = path else { continue };
        parts.extend(libraries(path)?);
        parts.push((role.to_owned(), path.clone()));
    }
    for entry in WalkDir::new(&compiler.own_headers).follow_links(true).sort_by_file_name() {
        let entry = entry.map_err(|error| FindToolchainError::Read {
            path: compiler.own_headers.clone(),
            source: error.into(),
        })?;
        if entry.file_type().is_dir() {
            directories.push(entry.into_path());
        } else if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(&compiler.own_headers).unwrap_or(entry.path());
            parts.push((format!("include/{}", name.display()), entry.path().to_owned()));
        }
    }
    parts.sort();
    parts.dedup();
    Ok(parts)
}

/// Lists the libraries of a tool that count, as its loader finds them. A tool that tells nothing has none that count.
fn libraries(tool: &Path) -> Result<Vec<(String, PathBuf)>, FindToolchainError> {
    // An identity must not depend on whether there was room to find it out.
    let scratch = tempfile::tempdir()
        .map_err(|source| FindToolchainError::Scratch { directory: std::env::temp_dir(), source })?;
    // glibc's loader then lists what it loads and does not start the program. Another loader starts it: without input,
    // in a directory of its own.
    let mut command = Command::new(tool);
    command.env_clear().env("LD_TRACE_LOADED_OBJECTS", "1").current_dir(scratch.path());
    let program = || tool.to_owned();
    let ended = run(&mut command, LIMIT).map_err(|error| match error {
        RunError::Start(source) => FindToolchainError::Start { program: program(), source },
        RunError::Timeout => {
            FindToolchainError::Broken { program: program(), what: "it does not end".to_owned() }
        }
    })?;
    let mut counting = Vec::new();
    for (name, place) in ended.stdout.lines().filter_map(|line| line.split_once(" => ")) {
        let name = name.trim().to_owned();
        if place.trim() == "not found" {
            return Err(FindToolchainError::Library { tool: tool.to_owned(), library: name });
        }
        let file = PathBuf::from(place.split(" (").next().unwrap_or_default().trim());
        if LIBRARIES.iter().any(|library| name.starts_with(library)) && file.is_file() {
            counting.push((format!("lib/{name}"), file));
        }
    }
    Ok(counting)
}
