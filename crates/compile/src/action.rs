//! A unit made ready: checked, its text and flags fixed, and the inputs of its [`ActionKey`](precast_store::ActionKey).
//!
//! A lean unit's key needs no process. What another unit includes and links is found by running the preprocessor and the
//! linker once ([`crate::system`]).

use std::collections::BTreeSet;

use precast_codegen::{SourceSet, Unit};
use precast_store::key::{ActionInputs, ActionKind};

use crate::diagnostics::Locator;
use crate::error::CompileError;
use crate::flags::{Flags, Wanted, flags};
use crate::includes;
use crate::isa::Variant;
use crate::scratch::Scratch;
use crate::system;
use crate::toolchain::{Compiler, Toolchain};

/// A unit that may be compiled.
pub(crate) struct Prepared<'a> {
    pub(crate) unit: &'a Unit,
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) variant: &'a Variant,
    pub(crate) compiler: &'a Compiler,
    /// `unit.c` or `unit.cc`.
    pub(crate) file: &'static str,
    pub(crate) text: String,
    pub(crate) sources: SourceSet,
    pub(crate) flags: Flags,
    /// Whether the unit includes nothing of the system; see [`crate::includes`].
    pub(crate) lean: bool,
}

impl<'a> Prepared<'a> {
    /// Checks a unit against toolchain and variant, and fixes its text and flags.
    pub(crate) fn new(
        unit: &'a Unit,
        toolchain: &'a Toolchain,
        variant: &'a Variant,
    ) -> Result<Self, CompileError> {
        let language = unit.language();
        check(unit, toolchain, variant)?;
        let compiler = toolchain.compiler(language)?;
        let file = unit.file_name();
        let (text, sources) = (unit.text(), unit.sources());
        let first = unit.first();
        let includes_own = includes::check(file, &text, &sources).map_err(|error| match error {
            CompileError::Embed { file: at, what } if at == file => {
                let found = Locator::new(unit, file, &text).find_words(what.trim_start_matches(['.', '#']));
                CompileError::Embed { file: found.unwrap_or(at), what }
            }
            other => other,
        })?;
        let outside = [&first.libraries, &first.lib_dirs, &first.header_dirs];
        let lean = includes_own && outside.iter().all(|list| list.is_empty());
        let flags = flags(&Wanted {
            language,
            family: compiler.family,
            profile: variant.profile,
            isa: variant.isa,
            target: &variant.target,
            lean,
            asked: &first.flags,
        })?;
        Ok(Self { unit, toolchain, variant, compiler, file, text, sources, flags, lean })
    }

    /// Puts the unit's files, and nothing else, into a fresh directory.
    pub(crate) fn unpack(&self) -> Result<Scratch, CompileError> {
        let scratch = Scratch::new()?;
        scratch.write(self.file, &self.text)?;
        for (name, content) in &self.sources {
            scratch.write(&format!("include/{name}"), content.as_bytes())?;
        }
        Ok(scratch)
    }

    /// Gives the inputs of the ActionKey; `linked` is what comes from the system.
    pub(crate) fn inputs(&self, linked: Vec<(String, [u8; 32])>) -> ActionInputs {
        ActionInputs {
            kind: ActionKind::Compile,
            inputs: self.unit.members().iter().map(|(key, _)| *key.as_bytes()).collect(),
            target: self.variant.target.clone(),
            isa: self.variant.isa.to_string(),
            flags: self.portable_flags(),
            toolchain: Some(self.compiler.id),
            linked,
        }
    }

    /// All flags, with words in the places of paths and of the key itself.
    pub(crate) fn portable_flags(&self) -> Vec<String> {
        let fixed = ["-ffile-prefix-map=.=/precast", "-frandom-seed=key", "-Iinclude"].map(str::to_owned);
        let link = self.flags.link.iter().map(|flag| format!("link:{flag}"));
        self.flags.compile.iter().cloned().chain(fixed).chain(link).collect()
    }

    /// The arguments that say where headers are and what their paths are called in the object.
    pub(crate) fn paths(&self, scratch: &Scratch) -> Vec<String> {
        let mut list =
            vec![format!("-ffile-prefix-map={}=/precast", scratch.root().display()), "-Iinclude".to_owned()];
        if self.lean {
            list.extend(["-isystem".to_owned(), self.compiler.own_headers.display().to_string()]);
        }
        for (index, directory) in self.unit.first().header_dirs.iter().enumerate() {
            list.push(format!("-I{directory}"));
            list.push(format!("-ffile-prefix-map={directory}=/precast/dirs/{index}"));
        }
        list
    }
}

fn check(unit: &Unit, toolchain: &Toolchain, variant: &Variant) -> Result<(), CompileError> {
    let Variant { target, isa, profile } = variant;
    if target != toolchain.target() {
        return Err(CompileError::Target { wanted: target.clone(), found: toolchain.target().to_owned() });
    }
    if target.split('-').next() != Some(isa.arch()) {
        return Err(CompileError::Isa { isa: *isa, target: target.clone() });
    }
    let mut others = unit.members().iter().filter(|(_, module)| module.profile != *profile);
    match others.next() {
        Some((_, module)) => Err(CompileError::Profile {
            signature: module.signature.clone(),
            found: module.profile,
            wanted: *profile,
        }),
        None => Ok(()),
    }
}

/// Gives what decides the bytes of a unit's archive, without compiling it.
///
/// For a lean unit nothing is started. Where system headers or libraries are used, the preprocessor runs, and the linker
/// names the libraries' files.
///
/// # Errors
///
/// As [`compile`](crate::compile()), as far as it gets.
pub fn action(unit: &Unit, toolchain: &Toolchain, variant: &Variant) -> Result<ActionInputs, CompileError> {
    let prepared = Prepared::new(unit, toolchain, variant)?;
    if prepared.lean && !prepared.flags.hosted_link {
        return Ok(prepared.inputs(Vec::new()));
    }
    let scratch = prepared.unpack()?;
    let linked = system::linked(&prepared, &scratch)?;
    Ok(prepared.inputs(linked))
}

/// The names that stay global in a unit's object: the table, and each member's entry for static linking.
pub(crate) fn exports(unit: &Unit) -> BTreeSet<String> {
    let entries = unit.members().iter().map(|(key, _)| Unit::entry_symbol(key));
    entries.chain(std::iter::once(TABLE.to_owned())).collect()
}

/// The one symbol of a shared object.
pub(crate) const TABLE: &str = "precast_module_v1";
