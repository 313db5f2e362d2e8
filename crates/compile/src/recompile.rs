//! Recompiles an archive from its own content, without a manifest or the code generator.
//!
//! An archive contains its text and its headers, and the documents of its record contain the flags that its ops
//! requested. Everything else follows from target, ISA level, profile and toolchain. A flag from the archive becomes an
//! argument only if it is in the list of allowed flags. The result is compared, never executed.
//!
//! # Verified claims
//!
//! | claim | verified by |
//! |---|---|
//! | the machine code is that of the archive's text, from this compiler with these flags | comparing the bytes |
//! | flags, target, ISA level, compiler and members are the action's | recomputing the [`ActionKey`](precast_store::ActionKey) |
//! | the headers are exactly those from which the members' keys were computed | their documents, which hash to these keys |
//! | no other file was read: no header, no `.incbin` | the reports of preprocessor and assembler |
//! | the text matches its keys | **not verified**: `verify --rebuild` or `verify --regen` regenerate the text |
//!
//! A key is a hash of text that contains marks instead of names and line numbers. The marks cannot be recovered from
//! the finished text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use precast_codegen::{Host, SourceSet};
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::{ActionInputs, ActionKind, ContentId, HostAbi, Language};
use precast_store::{Archive, Record};

use crate::error::CompileError;
use crate::flags::{Flags, Wanted, flags};
use crate::includes;
use crate::link::{Tools, shared_object};
use crate::object::RAW;
use crate::prepared::{OWN_HEADERS, exports, lean_places, portable};
use crate::reads;
use crate::scratch::Scratch;
use crate::toolchain::{Compiler, Toolchain};

/// The result of recompiling an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recompiled {
    /// Its `unit.o`.
    pub object: Vec<u8>,
    /// Its `unit.so`.
    pub shared_object: Vec<u8>,
}

/// The reason why an archive was not recompiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecompileError {
    /// The archive cannot be recompiled by itself, or not on this machine.
    #[error("{why}")]
    NotAlone {
        /// The reason.
        why: Cow<'static, str>,
    },
    /// A header does not match the keys of its modules.
    #[error("`include/{name}` {what}")]
    Header {
        /// Its name.
        name: String,
        /// A description of the problem.
        what: &'static str,
    },
    /// The text reads a file that is not in the archive.
    #[error("its text reads `{}`, which is not in the archive and which no key covers", path.display())]
    Outside {
        /// The file.
        path: PathBuf,
    },
    /// The compiler rejected the text or could not run.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// The prefix in a document for a flag that ops remove.
const WITHOUT: &str = "--precast-without=";

/// Recompiles an archive.
///
/// # Errors
///
/// Fails in these cases:
/// * the archive uses system files, or was linked from other archives;
/// * it was compiled by a different compiler or a different version of precast;
/// * its headers do not match its keys;
/// * it reads a file that it does not contain;
/// * the compiler rejects it.
pub fn recompile(
    record: &Record,
    archive: &Archive,
    toolchain: &Toolchain,
) -> Result<Recompiled, RecompileError> {
    let refuse = |why: &'static str| Err(RecompileError::NotAlone { why: why.into() });
    if record.kind != ActionKind::Compile {
        return refuse("it is linked from other archives");
    }
    if record.host_abi != HostAbi::Native || record.has_outside() {
        return refuse("it uses system files");
    }
    let compiler = toolchain.compiler(record.language).map_err(CompileError::from)?;
    if record.target != toolchain.target() || record.toolchain != Some(compiler.id) {
        return refuse("it was compiled by another compiler");
    }
    let (file, text, sources) = files(record.language, archive)?;
    check_headers(record, &sources)?;
    if let Some(what) = includes::check(file, &text, &sources)? {
        return Err(RecompileError::NotAlone { why: format!("it uses {what}, which is not in it").into() });
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
        return refuse("it was built by another version of precast");
    }
    let scratch = Scratch::new()?;
    scratch.write(file, &text)?;
    for (name, content) in &sources {
        scratch.write(&format!("include/{name}"), content.as_bytes())?;
    }
    scratch.link(OWN_HEADERS, &compiler.own_headers)?;
    let tools = Tools { toolchain, compiler, scratch: &scratch };
    let mut arguments = arguments_of(&flags);
    arguments.push(format!("-frandom-seed={}", record.action));
    arguments.extend(reads::write_headers(reads::HEADERS));
    arguments.extend(reads::write_assembler(compiler.family).map(str::to_owned));
    arguments.extend(["-pipe", "-c", file, "-o", RAW].map(str::to_owned));
    tools.run(&compiler.driver, &arguments)?;
    let reader = reads::Reader { toolchain, compiler, scratch: &scratch, arguments: &arguments_of(&flags) };
    if let Some(path) = reader.outside(file)? {
        return Err(RecompileError::Outside { path });
    }
    tools.localise(exports(record.members.iter().map(|member| &member.key)), record.language)?;
    tools.run(&compiler.ld, &shared_object(&flags))?;
    Ok(Recompiled { object: scratch.read(OBJECT)?, shared_object: scratch.read(SHARED_OBJECT)? })
}

/// Returns the flags and the header directories.
fn arguments_of(flags: &Flags) -> Vec<String> {
    let mut arguments = flags.compile.clone();
    arguments.extend(lean_places());
    arguments
}

/// Checks that the headers are those from which the members' keys were computed.
fn check_headers(record: &Record, sources: &SourceSet) -> Result<(), RecompileError> {
    let wrong = |name: &str, what| Err(RecompileError::Header { name: name.to_owned(), what });
    let mut stated: BTreeMap<&str, ContentId> = BTreeMap::new();
    for member in &record.members {
        let document = member.document.as_ref().filter(|document| document.key() == member.key);
        let lost = || RecompileError::NotAlone { why: "its documents are missing".into() };
        for (name, id) in &document.ok_or_else(lost)?.sources {
            if stated.insert(name, *id).is_some_and(|other| other != *id) {
                return wrong(name, "differs between its keys");
            }
        }
    }
    for (name, content) in sources {
        match stated.remove(name.as_str()) {
            Some(id) if id == ContentId::of(&**content) => {}
            Some(_) => return wrong(name, "does not match its keys"),
            None => return wrong(name, "is not in its keys"),
        }
    }
    stated.into_keys().next().map_or(Ok(()), |name| wrong(name, "is missing, but in its keys"))
}

/// Returns the text with its name, and the headers.
fn files(language: Language, archive: &Archive) -> Result<(&'static str, String, SourceSet), RecompileError> {
    let file = match language {
        Language::C => "unit.c",
        Language::Cxx => "unit.cc",
    };
    let is_text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let wrong = RecompileError::NotAlone { why: "its sources are missing or not UTF-8".into() };
    let Some(text) = archive.get(file).and_then(is_text) else { return Err(wrong) };
    let mut sources = SourceSet::new();
    for (name, content) in &archive.members {
        let Some(name) = name.strip_prefix("include/") else { continue };
        let Some(content) = is_text(content) else { return Err(wrong) };
        sources.insert(name.to_owned(), Arc::from(content));
    }
    Ok((file, text, sources))
}

/// Reconstructs the flags of the unit.
fn flags_of(record: &Record, compiler: &Compiler) -> Result<Flags, RecompileError> {
    let refuse = |why: &'static str| RecompileError::NotAlone { why: why.into() };
    let isa = record.isa.parse().map_err(|_| refuse("unknown ISA level"))?;
    let first = record.members.first().ok_or(refuse("it has no modules"))?;
    let document = first.document.as_ref().ok_or(refuse("its documents are missing"))?;
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
    if flags.hosted_link { Err(refuse("it uses system files")) } else { Ok(flags) }
}
