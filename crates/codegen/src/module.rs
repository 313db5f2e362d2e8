//! The source of a module: what a BuildKey is made of.

use crate::extension::Host;
use precast_core::NoNative;
use precast_store::key::{BuildInputs, BuildKey, KeyDocument, Language, Profile, Versioned};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Own C files and headers: logical name → content. What these include is in the set too.
pub type SourceSet = BTreeMap<String, Arc<str>>;

/// The generated C of one graph, with everything that decides what it computes.
///
/// The text carries two marks, `@M@` for the module's name and `@KEY@` for its key, so that it does not depend on its own
/// hash; [`crate::Unit`] fills them in.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// Printable signature: `add(f32[..], f32[..]) -> f32[..]`.
    pub signature: String,
    /// One printable signature for each Apply, in order.
    pub ops: Vec<String>,
    /// Headers, `<math.h>` or `precast/ops/monoid.h`, in order.
    pub includes: Vec<String>,
    /// Everything after the includes.
    pub body: String,
    /// C, or C++ as soon as one fragment asks for it.
    pub language: Language,
    /// Who loads and calls it.
    pub host: Host,
    /// The own files that the includes reach.
    pub sources: SourceSet,
    /// Arguments that ops and types ask of the compiler, in order.
    pub flags: Vec<String>,
    /// Arguments of the compiler's own that ops and types take away.
    pub removed_flags: Vec<String>,
    /// Directories for headers outside the SourceSet; part of the flags' meaning, not of the key.
    pub header_dirs: Vec<String>,
    /// Libraries to link.
    pub libraries: Vec<String>,
    /// Directories searched for libraries.
    pub lib_dirs: Vec<String>,
    /// How the code is meant to be compiled.
    pub profile: Profile,
    /// Whether some op wants its code kept in this process only.
    pub unpublished: bool,
    /// Whether it is compiled alone: C++, and text of authors whose names another module of the unit may have.
    pub is_alone: bool,
    /// What authors gave a version, with the digests of its C; not in the key.
    pub versions: Vec<Versioned>,
    /// The CEP 1000 signature of the native function, or why there is none; it is in the text.
    pub native: Result<String, NoNative>,
}

impl Module {
    /// Everything that decides what the module computes.
    #[must_use]
    pub fn build_inputs(&self) -> BuildInputs {
        // The key and its document have one list, in which no compiler's argument looks like these.
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

    /// The hash of [`Module::build_inputs`].
    #[must_use]
    pub fn key(&self) -> BuildKey {
        self.build_inputs().key()
    }

    /// The readable form of the key's inputs, which a miss is compared against.
    #[must_use]
    pub fn document(&self) -> KeyDocument {
        KeyDocument { versions: self.versions.clone(), ..self.build_inputs().document(self.ops.clone()) }
    }

    /// The whole text, with its marks.
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

/// The `#include` line of a header.
pub(crate) fn include_line(header: &str) -> String {
    let mut line = String::new();
    let bracketed = header.starts_with('<') || header.starts_with('"');
    // Writing to a string cannot fail.
    let _ =
        if bracketed { writeln!(line, "#include {header}") } else { writeln!(line, "#include <{header}>") };
    line
}

/// The headers that the code of the built-in types calls.
pub(crate) fn support_headers() -> SourceSet {
    let own = [("precast/link.h", include_str!("../c/precast/link.h"))];
    own.iter().chain(precast_abi::HEADERS).map(|(name, text)| ((*name).to_owned(), (*text).into())).collect()
}
