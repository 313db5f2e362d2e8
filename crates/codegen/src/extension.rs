//! Extension modules of CPython, whose C++ another generator wrote whole: PyTensor's.
//!
//! Such a module has no table and no tasks. It is a text with one function for its host, `PyInit_<name>`, and becomes a unit of
//! its own. All else is as for any module: its text and own headers are its key, it is compiled by the one `compile()`, and
//! what comes out is an artifact.

use crate::module::{Module, SourceSet};
use crate::template::escape;
use precast_core::NoNative;
use precast_store::key::{HostAbi, Language, Profile};

/// The process that loads and calls a module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// A runtime of ours.
    Native,
    /// CPython, with what of it a module's machine code depends on.
    Cpython {
        /// Such as `cpython-312-x86_64-linux-gnu` and `numpy-c-abi-0x2000000`. Part of the key.
        versions: Vec<String>,
    },
}

impl Host {
    pub(crate) const fn abi(&self) -> HostAbi {
        match self {
            Self::Native => HostAbi::Native,
            Self::Cpython { .. } => HostAbi::Cpython,
        }
    }

    pub(crate) fn versions(&self) -> &[String] {
        match self {
            Self::Native => &[],
            Self::Cpython { versions } => versions,
        }
    }
}

/// What another generator says of an extension module.
#[derive(Debug, Clone)]
pub struct Extension {
    /// One printable signature for each Apply. For people: not in the key.
    pub ops: Vec<String>,
    /// The whole C++ text.
    pub text: String,
    /// The module's name as the text has it, in `PyInit_<name>` and elsewhere. It is replaced.
    pub name: String,
    /// The own headers that the text reaches: name → content.
    pub sources: SourceSet,
    /// Arguments for the compiler, in order.
    pub flags: Vec<String>,
    /// Arguments of the compiler's own that are taken away.
    pub removed_flags: Vec<String>,
    /// Directories of headers that are the host's: CPython's and NumPy's.
    pub header_dirs: Vec<String>,
    /// Libraries to link.
    pub libraries: Vec<String>,
    /// Directories searched for libraries.
    pub lib_dirs: Vec<String>,
    /// See [`Host::Cpython`].
    pub versions: Vec<String>,
}

impl Module {
    /// Makes a module of another generator's text; `None` if the text has no function `PyInit_<name>`.
    #[must_use]
    pub fn extension(extension: Extension) -> Option<Self> {
        let Extension { ops, text, name, sources, flags, removed_flags, .. } = extension;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_name) || !text.contains(&format!("PyInit_{name}")) {
            return None;
        }
        Some(Self {
            signature: ops.join("; "),
            ops,
            includes: Vec::new(),
            body: escape(&text).replace(&name, "@M@"),
            language: Language::Cxx,
            host: Host::Cpython { versions: extension.versions },
            sources,
            flags,
            removed_flags,
            header_dirs: extension.header_dirs,
            libraries: extension.libraries,
            lib_dirs: extension.lib_dirs,
            profile: Profile::Release,
            unpublished: false,
            is_alone: true,
            versions: Vec::new(),
            native: Err(NoNative::Body),
        })
    }
}
