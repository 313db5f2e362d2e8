//! A unit ready to compile: checked, with its final text and flags.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use precast_codegen::{Host, Module, Origins, SourceSet, Unit};
use precast_store::key::{ActionInputs, ActionKind, BuildKey};

use crate::diagnostics::Locator;
use crate::error::CompileError;
use crate::flags::{Flags, Wanted, flags};
use crate::includes;
use crate::isa::Variant;
use crate::scratch::{SEEN_AS, Scratch};
use crate::toolchain::{Compiler, Toolchain};

/// A unit that passed all checks.
pub(crate) struct Prepared<'a> {
    pub(crate) unit: &'a Unit,
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) variant: &'a Variant,
    pub(crate) compiler: &'a Compiler,
    /// `unit.c` or `unit.cc`.
    pub(crate) file: &'static str,
    pub(crate) text: String,
    pub(crate) origins: Origins,
    pub(crate) sources: SourceSet,
    pub(crate) flags: Flags,
    /// Whether the unit includes no system headers; see [`crate::includes`].
    pub(crate) lean: bool,
}

impl<'a> Prepared<'a> {
    /// Checks a unit against the toolchain and the variant, and determines its text and flags.
    pub(crate) fn new(
        unit: &'a Unit,
        toolchain: &'a Toolchain,
        variant: &'a Variant,
    ) -> Result<Self, CompileError> {
        let language = unit.language();
        check(unit, toolchain, variant)?;
        let compiler = toolchain.compiler(language)?;
        let file = unit.file_name();
        let ((text, origins), sources) = (unit.text_and_origins(), unit.sources());
        let first = unit.first();
        let more = includes::check(file, &text, &sources).map_err(|error| {
            let find = |words: &str| Locator::new(unit, file, &text, &origins).find_words(words);
            match error {
                CompileError::Embed { at: Some(at), what } if at == file => {
                    CompileError::Embed { at: find(&what[1..]).or(Some(at)), what }
                }
                CompileError::HasInclude { at, name } if at == file => {
                    CompileError::HasInclude { at: find(&name).unwrap_or(at), name }
                }
                other => other,
            }
        })?;
        check_names(first)?;
        let outside = [&first.libraries, &first.lib_dirs, &first.header_dirs];
        // An extension module calls functions of its host.
        let lean = more.is_none() && first.host == Host::Native && outside.iter().all(|list| list.is_empty());
        let flags = flags(&Wanted {
            language,
            family: compiler.family,
            profile: variant.profile,
            isa: variant.isa,
            target: &variant.target,
            lean,
            host: &first.host,
            added: &first.flags,
            removed: &first.removed_flags,
            of: &first.signature,
        })?;
        Ok(Self { unit, toolchain, variant, compiler, file, text, origins, sources, flags, lean })
    }

    /// Returns the symbols that stay global in the object.
    pub(crate) fn exports(&self) -> BTreeSet<String> {
        match self.shown() {
            Shown::Table => exports(self.unit.members().iter().map(|(key, _)| key)),
            Shown::Init(name) => BTreeSet::from([name]),
        }
    }

    /// Returns the symbol that the shared object exports to its host.
    pub(crate) fn shown(&self) -> Shown {
        match (&self.unit.first().host, self.unit.members()) {
            (Host::Cpython { .. }, [(key, _), ..]) => Shown::Init(Unit::init_symbol(key)),
            _ => Shown::Table,
        }
    }

    /// Returns a locator for the text.
    pub(crate) fn locator(&self) -> Locator<'_> {
        Locator::new(self.unit, self.file, &self.text, &self.origins)
    }

    /// Writes exactly the unit's files into a fresh directory.
    pub(crate) fn unpack(&self) -> Result<Scratch, CompileError> {
        let scratch = Scratch::new()?;
        scratch.write(self.file, &self.text)?;
        for (name, content) in &self.sources {
            scratch.write(&format!("include/{name}"), content.as_bytes())?;
        }
        scratch.link(OWN_HEADERS, &self.compiler.own_headers)?;
        for (name, directory) in self.header_dirs() {
            scratch.link(&name, Path::new(directory))?;
        }
        Ok(scratch)
    }

    /// Returns the inputs of the `ActionKey`; `linked` are the inputs from the system.
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

    /// Returns all flags, with a placeholder for the key itself.
    pub(crate) fn portable_flags(&self) -> Vec<String> {
        portable(&self.flags, &self.places())
    }

    /// Returns the arguments for the header directories, and for the name of the unit's directory in the object.
    pub(crate) fn places(&self) -> Vec<String> {
        let mut list = if self.lean { lean_places() } else { own_place() };
        list.extend(self.header_dirs().map(|(name, _)| format!("-I{name}")));
        list
    }

    /// Returns the directories that ops name, with their names in the unit's directory.
    pub(crate) fn header_dirs(&self) -> impl Iterator<Item = (String, &str)> {
        let named = self.unit.first().header_dirs.iter().enumerate();
        named.map(|(index, directory)| (format!("dirs/{index}"), directory.as_str()))
    }

    /// Converts a path in the unit's directory to its real path, if it goes through a link.
    pub(crate) fn real_path(&self, path: &Path) -> PathBuf {
        let own = (OWN_HEADERS.to_owned(), &*self.compiler.own_headers);
        let named = self.header_dirs().map(|(name, directory)| (name, Path::new(directory)));
        let mut links = named.chain(std::iter::once(own));
        let found = links.find_map(|(name, directory)| Some(directory.join(path.strip_prefix(name).ok()?)));
        found.unwrap_or_else(|| path.to_owned())
    }

    /// Replaces the links to directories that ops name with their real paths in a compiler's output.
    pub(crate) fn with_real_dirs(&self, words: &str) -> String {
        self.header_dirs().fold(words.to_owned(), |words, (name, directory)| {
            let directory = directory.trim_end_matches('/');
            let mut text = words.replace(&format!(" {name}/"), &format!(" {directory}/"));
            text = text.replace(&format!("\n{name}/"), &format!("\n{directory}/"));
            match text.strip_prefix(&name).and_then(|rest| rest.strip_prefix('/')) {
                Some(rest) => format!("{directory}/{rest}"),
                None => text,
            }
        })
    }
}

/// Returns the arguments for the unit's own headers, and for the name of the unit's directory in the object.
fn own_place() -> Vec<String> {
    vec![format!("-ffile-prefix-map={SEEN_AS}=/precast"), "-Iinclude".to_owned()]
}

/// Returns the header arguments of a lean unit: its own headers and the compiler's.
pub(crate) fn lean_places() -> Vec<String> {
    own_place().into_iter().chain(["-isystem", OWN_HEADERS].map(str::to_owned)).collect()
}

/// Returns all flags, with a placeholder for the key itself.
pub(crate) fn portable(flags: &Flags, places: &[String]) -> Vec<String> {
    let fixed = ["-frandom-seed=key".to_owned()];
    let link = flags.link.iter().map(|flag| format!("link:{flag}"));
    flags.compile.iter().chain(places).cloned().chain(fixed).chain(link).collect()
}

/// The name of the compiler's own header directory in the unit's directory.
pub(crate) const OWN_HEADERS: &str = "own";

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

/// Checks that the names that become arguments are valid: an empty name would consume the next argument.
fn check_names(module: &Module) -> Result<(), CompileError> {
    let refuse = |option: &str, name: &str, remedy| {
        Err(CompileError::Flag { flag: format!("{option}{name}"), of: module.signature.clone(), remedy })
    };
    let is_plain = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_+.-:".contains(&byte);
        !name.is_empty() && !name.starts_with('-') && name.bytes().all(plain)
    };
    let mut libraries = module.libraries.iter();
    if let Some(name) = libraries.find(|name| !is_plain(name)) {
        return refuse("-l", name, "write the library name as for the linker: `m`, or `:libm.so.6`");
    }
    let is_path = |name: &str| name.starts_with('/') && !name.contains(char::is_control);
    let dirs = [("-I", &module.header_dirs), ("-L", &module.lib_dirs)];
    let mut dirs = dirs.iter().flat_map(|(option, list)| list.iter().map(move |name| (*option, name)));
    match dirs.find(|(_, name)| !is_path(name)) {
        Some((option, name)) => refuse(option, name, "use the directory's absolute path"),
        None => Ok(()),
    }
}

/// Returns the symbols that stay global in an object: the table, and each member's entry for static linking.
pub(crate) fn exports<'a>(members: impl IntoIterator<Item = &'a BuildKey>) -> BTreeSet<String> {
    let entries = members.into_iter().map(Unit::entry_symbol);
    entries.chain(std::iter::once(TABLE.to_owned())).collect()
}

/// The symbol that a shared object exports to its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// [`TABLE`], for the precast runtime.
    Table,
    /// The init function that CPython calls.
    Init(String),
}

impl Shown {
    pub(crate) fn symbol(&self) -> &str {
        match self {
            Self::Table => TABLE,
            Self::Init(name) => name,
        }
    }
}

/// The symbol that the precast runtime looks up.
pub(crate) const TABLE: &str = "precast_module_v1";
