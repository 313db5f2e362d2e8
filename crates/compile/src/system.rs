//! The system inputs of a unit, by content: the preprocessed text, and every file that the linker reads.
//!
//! The text is preprocessed once. The hashed result is then compiled (`unit.i`, `unit.ii`), so a header that changes in
//! between cannot bypass the key. Line markers contain paths of this machine. They are hashed only in builds with debug
//! information, which contains the paths as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use precast_store::Outside;
use precast_store::key::{ContentId, Profile};

use crate::earlier;
use crate::error::CompileError;
use crate::link;
use crate::loader;
use crate::object::preprocessed_name;
use crate::prepared::Prepared;
use crate::reads;
use crate::refused;
use crate::scratch::Scratch;
use crate::toolchain::{Watched, changed, host_target};

/// The system inputs of a unit.
#[derive(Default)]
pub(crate) struct System {
    /// Names and contents in the order of use, as inputs of the key.
    pub(crate) linked: Vec<(String, [u8; 32])>,
    /// The files.
    pub(crate) outside: Vec<Outside>,
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
        self.outside.push(Outside { path: path.display().to_string(), content: Some(content) });
        Ok((content, bytes))
    }

    /// Notes missing files that would take precedence over the files read.
    fn add_missing(&mut self, paths: BTreeSet<PathBuf>) {
        for path in paths {
            self.outside.push(Outside { path: path.display().to_string(), content: None });
            self.watched.push(Watched::look(path));
        }
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
    if !prepared.lean {
        let text = preprocess(prepared, scratch)?;
        system.linked.push(("preprocessed".to_owned(), text));
        let headers = reads::headers(prepared, scratch)?;
        let missing = earlier::headers(prepared, &headers);
        for file in headers {
            system.add(file)?;
        }
        system.add_missing(missing);
    }
    if prepared.flags.hosted_link {
        let files = link::files(prepared, scratch)?;
        let missing = earlier::libraries(prepared, &files);
        system.add_missing(missing);
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (content, bytes) = system.add(file.clone())?;
            if bytes.starts_with(THIN) {
                return Err(CompileError::ThinArchive { path: file });
            }
            if bytes.starts_with(ELF) && is_lost(&file, prepared) {
                return Err(CompileError::LostLibrary { path: file });
            }
            system.linked.push((format!("link/{name}"), *content.as_bytes()));
        }
    }
    Ok(system)
}

/// Preprocesses the unit into the scratch directory and hashes the result.
fn preprocess(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<[u8; 32], CompileError> {
    let name = preprocessed_name(prepared.unit.language());
    let mut arguments = prepared.flags.compile.clone();
    arguments.extend(prepared.places());
    arguments.extend(prepared.compiler.arguments.headers.iter().cloned());
    arguments.push("-E".to_owned());
    arguments.extend(reads::WRITE_HEADERS.map(str::to_owned));
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
        return Ok(*ContentId::of(plain).as_bytes());
    }
    Ok(*ContentId::of(text).as_bytes())
}
