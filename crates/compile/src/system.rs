//! The system inputs of a unit, by content: the preprocessed text, and every file that the linker reads.
//!
//! The text is preprocessed once. The hashed result is then compiled (`unit.i`, `unit.ii`), so a header that changes in
//! between cannot bypass the key. Line markers contain paths of this machine. They are hashed only in builds with debug
//! information, which contains the paths as well. The key also contains the unit's generation, so that records of one
//! action have one generation.

use std::path::{Path, PathBuf};

use precast_store::key::{ContentId, Profile};
use precast_store::{GenerationId, Outside};

use crate::error::CompileError;
use crate::generation::Generation;
use crate::loader;
use crate::object::preprocessed_name;
use crate::prepared::Prepared;
use crate::reads;
use crate::refused;
use crate::scratch::Scratch;
use crate::toolchain::host_target;
use crate::watch::{Watched, changed};

/// The system inputs of a unit.
#[derive(Default)]
pub(crate) struct System {
    /// Names and contents in the order of use, as inputs of the key.
    pub(crate) linked: Vec<(String, [u8; 32])>,
    /// The files.
    pub(crate) outside: Vec<Outside>,
    pub(crate) generation: Option<GenerationId>,
    watched: Vec<Watched>,
}

impl System {
    /// Returns the first file that changed since it was read.
    pub(crate) fn changed(&self) -> Option<&Path> {
        changed(&self.watched)
    }

    /// Reads a system file.
    fn add(&mut self, path: PathBuf) -> Result<(ContentId, Vec<u8>), CompileError> {
        let mut watched = Watched::look(path.clone());
        let read = watched.read();
        let (content, bytes) = read.map_err(|source| CompileError::Read { path: path.clone(), source })?;
        self.watched.push(watched);
        self.outside.push(Outside { path: path.display().to_string(), content });
        Ok((content, bytes))
    }
}

/// The magic bytes of a thin archive, which contains names of files instead of members.
const THIN: &[u8] = b"!<thin>\n";

/// The magic bytes of an object or a shared library.
const ELF: &[u8] = b"\x7fELF";

/// Returns whether a file from an op's own library directories is a shared library that no program would find at load
/// time.
fn is_lost(file: &Path, prepared: &Prepared<'_>) -> bool {
    let is_shared = file.file_name().is_some_and(|name| name.to_string_lossy().contains(".so"));
    let own = prepared.unit.first().lib_dirs.iter().any(|directory| file.starts_with(directory));
    is_shared && own && prepared.variant.target == host_target() && !loader::finds(file)
}

/// Reads the system inputs of a unit.
pub(crate) fn read(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<System, CompileError> {
    let mut system = System::default();
    let mut text = None;
    if !prepared.lean {
        let name = preprocessed_name(prepared.unit.language());
        let content = preprocess(prepared, scratch, name, reads::HEADERS)?;
        system.linked.push(("preprocessed".to_owned(), *content.as_bytes()));
        for file in reads::headers(prepared, scratch)? {
            system.add(file)?;
        }
        text = Some(content);
    }
    let fits = |known: &Generation| text.is_none_or(|text| known.has_text(prepared.variant.isa, &text));
    let Some(generation) = Generation::of(prepared, fits)? else { return Ok(system) };
    if !fits(&generation) {
        let path = system.watched.first().map_or(prepared.file.as_ref(), Watched::path);
        return Err(CompileError::Changed { path: path.to_owned() });
    }
    for (file, known) in &generation.libraries {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (content, bytes) = system.add(file.clone())?;
        if content != *known {
            return Err(CompileError::Changed { path: file.clone() });
        }
        if bytes.starts_with(THIN) {
            return Err(CompileError::ThinArchive { path: file.clone() });
        }
        if bytes.starts_with(ELF) && is_lost(file, prepared) {
            return Err(CompileError::LostLibrary { path: file.clone() });
        }
        system.linked.push((format!("link/{name}"), *content.as_bytes()));
    }
    system.linked.push(("generation".to_owned(), *generation.id().as_bytes()));
    system.generation = Some(generation.id());
    Ok(system)
}

/// Preprocesses the unit into a file of the scratch directory, and hashes the result. `report` lists the headers.
pub(crate) fn preprocess(
    prepared: &Prepared<'_>,
    scratch: &Scratch,
    name: &str,
    report: &str,
) -> Result<ContentId, CompileError> {
    let mut arguments = prepared.flags.compile.clone();
    arguments.extend(prepared.places());
    arguments.extend(prepared.compiler.arguments.headers.iter().cloned());
    arguments.push("-E".to_owned());
    arguments.extend(reads::write_headers(report));
    arguments.extend([prepared.file, "-o", name].map(str::to_owned));
    let compiler = prepared.compiler;
    let ended = scratch.run(prepared.toolchain, &compiler.path, &compiler.driver, &arguments)?;
    if !ended.status.success() {
        return Err(refused::rejected(prepared, &ended.stderr));
    }
    let text = scratch.read(name)?;
    if prepared.variant.profile == Profile::Release {
        let shown = String::from_utf8_lossy(&text);
        let marker = |line: &str| {
            line.strip_prefix("# ").is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
        };
        let plain: String =
            shown.lines().filter(|line| !marker(line)).flat_map(|line| [line, "\n"]).collect();
        return Ok(ContentId::of(plain));
    }
    Ok(ContentId::of(text))
}
