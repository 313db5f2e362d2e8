//! Compiles what an archive holds once more, from the archive alone: no manifest, no generator.
//!
//! An archive has its text, its headers and, in its record's documents, the flags that its ops asked for; everything else follows
//! from target, ISA level, profile and toolchain. That it all is as it was is seen by the [`ActionKey`](precast_store::ActionKey),
//! which has to come out the same. Nothing that the archive says becomes an argument unless it is on the list of flags that ops may
//! ask for, and what comes out is compared, and never run.

use std::sync::Arc;

use precast_codegen::{Host, SourceSet};
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::{ActionInputs, ActionKind, HostAbi, Language};
use precast_store::{Archive, Record};

use crate::error::CompileError;
use crate::flags::{Flags, Wanted, flags};
use crate::includes;
use crate::link::{RAW, Tools, shared_object};
use crate::prepared::{OWN_HEADERS, exports, lean_places, portable};
use crate::reads;
use crate::scratch::Scratch;
use crate::toolchain::{Compiler, Toolchain};

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recompiled {
    /// Its `unit.o`.
    pub object: Vec<u8>,
    /// Its `unit.so`.
    pub shared_object: Vec<u8>,
}

/// Says why an archive was not compiled again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecompileError {
    /// That cannot be done from the archive alone, or not here.
    #[error("{why}")]
    NotAlone {
        /// Why not.
        why: &'static str,
    },
    /// The compiler refuses it, or cannot be run.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// How a document writes a flag that ops take away.
const WITHOUT: &str = "--precast-without=";

/// Compiles an archive again.
///
/// # Errors
///
/// It takes files of the system, or is made of other archives; another compiler made it, or another version of precast; or the
/// compiler refuses it.
pub fn recompile(
    record: &Record,
    archive: &Archive,
    toolchain: &Toolchain,
) -> Result<Recompiled, RecompileError> {
    let refuse = |why| Err(RecompileError::NotAlone { why });
    if record.kind != ActionKind::Compile {
        return refuse("it was linked from other archives");
    }
    if record.host_abi != HostAbi::Native || !record.outside.is_empty() {
        return refuse("it takes files of the system");
    }
    let compiler = toolchain.compiler(record.language).map_err(CompileError::from)?;
    if record.target != toolchain.target() || record.toolchain != Some(compiler.id) {
        return refuse("another compiler made it than is here");
    }
    let (file, text, sources) = files(record.language, archive)?;
    if !includes::check(file, &text, &sources)? {
        return refuse("it takes files of the system");
    }
    let flags = flags_of(record, compiler)?;
    let inputs = ActionInputs {
        kind: record.kind,
        inputs: record.members.iter().map(|member| *member.key.as_bytes()).collect(),
        target: record.target.clone(),
        isa: record.isa.clone(),
        flags: portable(&flags, &lean_places()),
        toolchain: record.toolchain,
        linked: Vec::new(),
    };
    if inputs.key() != record.action {
        return refuse("another version of precast made it");
    }
    let scratch = Scratch::new()?;
    scratch.write(file, &text)?;
    for (name, content) in &sources {
        scratch.write(&format!("include/{name}"), content.as_bytes())?;
    }
    scratch.link(OWN_HEADERS, &compiler.own_headers)?;
    let tools = Tools { toolchain, compiler, scratch: &scratch };
    let mut arguments = flags.compile.clone();
    arguments.extend(lean_places());
    arguments.push(format!("-frandom-seed={}", record.action));
    arguments.extend(reads::WRITE_HEADERS.map(str::to_owned));
    arguments.extend(reads::write_assembler(compiler.family).map(str::to_owned));
    arguments.extend(["-pipe", "-c", file, "-o", RAW].map(str::to_owned));
    tools.run(&compiler.driver, &arguments)?;
    tools.localise(exports(record.members.iter().map(|member| &member.key)), record.language)?;
    tools.run(&compiler.ld, &shared_object(&flags))?;
    Ok(Recompiled { object: scratch.read(OBJECT)?, shared_object: scratch.read(SHARED_OBJECT)? })
}

/// The text with its name, and the headers.
fn files(language: Language, archive: &Archive) -> Result<(&'static str, String, SourceSet), RecompileError> {
    let file = match language {
        Language::C => "unit.c",
        Language::Cxx => "unit.cc",
    };
    let is_text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let wrong = RecompileError::NotAlone { why: "its sources are not there, or no text" };
    let Some(text) = archive.get(file).and_then(is_text) else { return Err(wrong) };
    let mut sources = SourceSet::new();
    for (name, content) in &archive.members {
        let Some(name) = name.strip_prefix("include/") else { continue };
        let Some(content) = is_text(content) else { return Err(wrong) };
        sources.insert(name.to_owned(), Arc::from(content));
    }
    Ok((file, text, sources))
}

/// The flags, as they were made for the unit.
fn flags_of(record: &Record, compiler: &Compiler) -> Result<Flags, RecompileError> {
    let refuse = |why| RecompileError::NotAlone { why };
    let isa = record.isa.parse().map_err(|_| refuse("its ISA level is unknown"))?;
    let first = record.members.first().ok_or(refuse("it has no module"))?;
    let document = first.document.as_ref().ok_or(refuse("its documents are lost"))?;
    let (removed, added): (Vec<String>, Vec<String>) =
        document.flags.iter().cloned().partition(|flag| flag.starts_with(WITHOUT));
    let removed: Vec<String> = removed.iter().map(|flag| flag[WITHOUT.len()..].to_owned()).collect();
    let flags = flags(&Wanted {
        language: record.language,
        family: compiler.family,
        profile: record.profile,
        isa,
        target: &record.target,
        lean: true,
        host: &Host::Native,
        added: &added,
        removed: &removed,
        of: &first.signature,
    })?;
    if flags.hosted_link { Err(refuse("it takes files of the system")) } else { Ok(flags) }
}
