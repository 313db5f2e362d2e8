//! Compiles a unit into its archive and record.
//!
//! # Layout
//!
//! ```text
//! manifest.json       description: members by slot, toolchain, variant, flags, system files; no archive digest, no paths
//! unit.c | unit.cc    the text
//! include/<name>      the SourceSet
//! unit.o              the object with local symbols, for static linking
//! unit.so             the shared object, which exports `precast_module_v1`
//! ```

use precast_codegen::Unit;
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::{ARCHIVE_EPOCH, ActionInputs, ActionKind, ContentId, HostAbi, Language};
use precast_store::{ActionKey, Archive, GenerationId, Member, Outside, Record, Requires, ToolchainId};
use serde::Serialize;

use crate::error::CompileError;
use crate::isa::Variant;
use crate::link::{self, Tools};
use crate::object::object;
use crate::prepared::Prepared;
use crate::refused;
use crate::requires;
use crate::stack;
use crate::system;
use crate::toolchain::{Compiler, Toolchain};

/// The result of compiling a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The files.
    pub archive: Archive,
    /// The record of the files. Fingerprints are not known here; callers that know them add them to the members.
    pub record: Record,
}

/// Compiles a unit.
///
/// The archive depends only on the unit's [`ActionKey`]: it is the same in every directory, for every user, at any
/// time.
///
/// # Errors
///
/// Fails if the compiler or the linker rejects the unit or cannot run; see [`CompileError`].
pub fn compile(unit: &Unit, toolchain: &Toolchain, variant: &Variant) -> Result<Compiled, CompileError> {
    let prepared = Prepared::new(unit, toolchain, variant)?;
    let scratch = prepared.unpack()?;
    let system = system::read(&prepared, &scratch)?;
    let inputs = prepared.inputs(system.linked.clone());
    let action = inputs.key();
    object(&prepared, &scratch, &action, &[])?;
    stack::check(&prepared, &scratch, &action)?;
    let tools = Tools { toolchain, compiler: prepared.compiler, scratch: &scratch };
    tools.localise(prepared.exports(), unit.language())?;
    link::link(&prepared, &scratch)?;
    let (object, shared) = (scratch.read(OBJECT)?, scratch.read(SHARED_OBJECT)?);
    let refused = |symbol: &str| refused::undefined(&prepared, symbol);
    let requires = requires::read(variant, &shared, &prepared.shown(), prepared.flags.hosted_link, refused)?;
    // A file that changed during the compilation may have affected these bytes, but the key was computed from its old
    // content.
    let changed = toolchain.changed(unit.language())?.or_else(|| system.changed());
    if let Some(path) = changed {
        return Err(CompileError::Changed { path: path.to_owned() });
    }
    let members = (0_u32..).zip(unit.members()).map(|(slot, (key, module))| Member {
        key: *key,
        slot,
        fingerprints: Vec::new(),
        signature: module.signature.clone(),
        document: Some(module.document()),
    });
    let made = Made {
        members: members.collect(),
        host_abi: unit.first().build_inputs().host_abi,
        language: unit.language(),
        requires,
        outside: system.outside,
        generation: system.generation,
    };
    let headers = prepared.sources.iter().map(|(name, content)| (name.as_str(), content.as_bytes()));
    let files = Files { text: (prepared.file, prepared.text.as_bytes()), headers, object, shared };
    pack(&inputs, prepared.compiler, variant, made, files)
}

#[derive(Serialize)]
struct Manifest<'a> {
    format: u64,
    kind: ActionKind,
    action: ActionKey,
    toolchain: ManifestToolchain<'a>,
    target: &'a str,
    isa: &'a str,
    members: Vec<ManifestMember<'a>>,
    flags: &'a [String],
    linked: Vec<(&'a str, ContentId)>,
    requires: &'a Requires,
}

/// The compiler's description and identity.
#[derive(Serialize)]
struct ManifestToolchain<'a> {
    description: &'a str,
    id: Option<ToolchainId>,
}

#[derive(Serialize)]
struct ManifestMember<'a> {
    slot: u32,
    signature: &'a str,
    ops: &'a [String],
    entry: String,
}

impl<'a> ManifestMember<'a> {
    fn new(member: &'a Member, host: HostAbi) -> Self {
        let ops = member.document.as_ref().map_or(&[][..], |document| &document.ops);
        let entry = match host {
            HostAbi::Native => Unit::entry_symbol(&member.key),
            HostAbi::Cpython => Unit::init_symbol(&member.key),
        };
        Self { slot: member.slot, signature: &member.signature, ops, entry }
    }
}

/// The properties of an artifact that are not part of its action inputs.
pub(crate) struct Made {
    pub(crate) members: Vec<Member>,
    pub(crate) host_abi: HostAbi,
    pub(crate) language: Language,
    pub(crate) requires: Requires,
    /// The files read outside the sources.
    pub(crate) outside: Vec<Outside>,
    pub(crate) generation: Option<GenerationId>,
}

/// The files of an archive, without its manifest.
pub(crate) struct Files<'a, H> {
    /// The name and content of the text.
    pub(crate) text: (&'a str, &'a [u8]),
    /// The names and contents of the headers.
    pub(crate) headers: H,
    pub(crate) object: Vec<u8>,
    pub(crate) shared: Vec<u8>,
}

/// Packs the archive and creates its record.
pub(crate) fn pack<'a>(
    inputs: &ActionInputs,
    compiler: &Compiler,
    variant: &Variant,
    made: Made,
    files: Files<'a, impl Iterator<Item = (&'a str, &'a [u8])>>,
) -> Result<Compiled, CompileError> {
    let action = inputs.key();
    let Made { members, host_abi, language, requires, outside, generation } = made;
    let manifest = Manifest {
        format: ARCHIVE_EPOCH,
        kind: inputs.kind,
        action,
        toolchain: ManifestToolchain { description: &compiler.description, id: inputs.toolchain },
        target: &inputs.target,
        isa: &inputs.isa,
        members: members.iter().map(|member| ManifestMember::new(member, host_abi)).collect(),
        flags: &inputs.flags,
        linked: inputs
            .linked
            .iter()
            .map(|(name, content)| (name.as_str(), ContentId::from_bytes(*content)))
            .collect(),
        requires: &requires,
    };
    let mut json =
        serde_json::to_vec(&manifest).map_err(|error| CompileError::Module { what: error.to_string() })?;
    json.push(b'\n');
    let mut archive = Archive::default();
    let mut add = |name: &str, content: Vec<u8>| archive.members.insert(name.to_owned(), content);
    add("manifest.json", json);
    add(files.text.0, files.text.1.to_vec());
    add(OBJECT, files.object);
    add(SHARED_OBJECT, files.shared);
    for (name, content) in files.headers {
        add(&format!("include/{name}"), content.to_vec());
    }
    let record = Record {
        kind: inputs.kind,
        action,
        toolchain: inputs.toolchain,
        target: inputs.target.clone(),
        isa: inputs.isa.clone(),
        profile: variant.profile,
        host_abi,
        language,
        members,
        digest: archive.digest().map_err(|source| CompileError::Pack { source })?,
        size: archive.size(),
        requires,
        outside,
        generation,
    };
    Ok(Compiled { archive, record })
}
