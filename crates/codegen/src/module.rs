//! The source of a module, from which its `BuildKey` is computed.

use crate::extension::Host;
use precast_core::NoNative;
use precast_store::key::{BuildInputs, BuildKey, KeyDocument, Language, Profile, Versioned};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Source files and headers: logical name → content. The set includes all files that its files include.
pub type SourceSet = BTreeMap<String, Arc<str>>;

/// The generated C code of one graph, with everything that affects its result.
///
/// The text contains two marks, `@M@` for the module's name and `@KEY@` for its key, so that it does not depend on its
/// own hash. [`crate::Unit`] replaces them.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// The printable signature: `add(f32[..], f32[..]) -> f32[..]`.
    pub signature: String,
    /// One printable signature for each Apply, in order.
    pub ops: Vec<String>,
    /// Included headers, `<math.h>` or `precast/ops/monoid.h`, in order.
    pub includes: Vec<String>,
    /// The text after the includes.
    pub body: String,
    /// C, or C++ if any fragment requires it.
    pub language: Language,
    /// The process that loads and calls the module.
    pub host: Host,
    /// The source files that the includes reach.
    pub sources: SourceSet,
    /// Compiler arguments that ops and types add, in order.
    pub flags: Vec<String>,
    /// Default compiler arguments that ops and types remove.
    pub removed_flags: Vec<String>,
    /// Directories of headers outside the `SourceSet`. They affect the meaning of the flags, but are not part of the
    /// key.
    pub header_dirs: Vec<String>,
    /// Libraries to link.
    pub libraries: Vec<String>,
    /// Directories to search for libraries.
    pub lib_dirs: Vec<String>,
    /// The profile to compile the code for.
    pub profile: Profile,
    /// Whether an op requests that its code is not shared with other processes.
    pub unpublished: bool,
    /// Whether it is compiled alone: C++, or author-written text with names that could conflict with other modules of
    /// the unit.
    pub is_alone: bool,
    /// The versions that authors assigned, with the digests of the C code; not part of the key.
    pub versions: Vec<Versioned>,
    /// The CEP 1000 signature of the native function, or the reason why it has none. It is part of the text.
    pub native: Result<String, NoNative>,
}

impl Module {
    /// Returns everything that affects the module's result.
    #[must_use]
    pub fn build_inputs(&self) -> BuildInputs {
        // The key and its document have a single list of flags, so these entries use a form that no compiler argument
        // has.
        let removed = self.removed_flags.iter().map(|flag| format!("--precast-without={flag}"));
        let host = self.host.versions().iter().map(|version| format!("--precast-host={version}"));
        BuildInputs {
            host_abi: self.host.abi(),
            profile: self.profile,
            language: self.language,
            text: self.text(),
            sources: self.sources.clone(),
            flags: self.flags.iter().cloned().chain(removed).chain(host).collect(),
            libraries: self.libraries.clone(),
        }
    }

    /// Returns the hash of [`Module::build_inputs`].
    #[must_use]
    pub fn key(&self) -> BuildKey {
        self.build_inputs().key()
    }

    /// Returns the readable form of the key's inputs, which is used to explain cache misses.
    #[must_use]
    pub fn document(&self) -> KeyDocument {
        KeyDocument { versions: self.versions.clone(), ..self.build_inputs().document(self.ops.clone()) }
    }

    /// Returns the whole text, including its marks.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.body.len() + 256);
        for include in &self.includes {
            text.push_str(&include_line(include));
        }
        text.push_str(&self.body);
        text
    }
}

/// Returns the `#include` line of a header.
pub(crate) fn include_line(header: &str) -> String {
    let mut line = String::new();
    let bracketed = header.starts_with('<') || header.starts_with('"');
    // Writing to a string cannot fail.
    let _ =
        if bracketed { writeln!(line, "#include {header}") } else { writeln!(line, "#include <{header}>") };
    line
}

/// Returns the headers that the code of the built-in types needs.
pub(crate) fn support_headers() -> SourceSet {
    let own = [("precast/link.h", include_str!("../c/precast/link.h"))];
    own.iter().chain(precast_abi::HEADERS).map(|(name, text)| ((*name).to_owned(), (*text).into())).collect()
}
