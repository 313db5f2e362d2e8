//! CPython extension modules with C++ code written entirely by another generator, PyTensor.
//!
//! Such a module has no table and no tasks. It is a C++ text with one function for its host, `PyInit_<name>`, and gets
//! its own unit. Otherwise it is treated like any module: its text and own headers form the key, `compile()` compiles
//! it, and the result is an artifact.

use crate::module::{Module, SourceSet};
use crate::template::escape;
use precast_core::NoNative;
use precast_store::key::{HostAbi, Language, Profile};

/// The process that loads and calls a module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// A precast runtime.
    Native,
    /// CPython, with the versions that a module's machine code depends on.
    Cpython {
        /// Version tags such as `cpython-312-x86_64-linux-gnu` and `numpy-c-abi-0x2000000`; part of the key.
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

impl Module {
    /// Creates a module from another generator's text. `name` is the name the text uses for itself, in `PyInit_<name>`
    /// and other places; it is replaced. `ops` are printable signatures for people, and `versions` is as in
    /// [`Host::Cpython`]. The caller may set the remaining public fields. Returns `None` if the text has no function
    /// `PyInit_<name>`.
    #[must_use]
    pub fn extension(name: &str, text: &str, ops: Vec<String>, versions: Vec<String>) -> Option<Self> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_name) || !text.contains(&format!("PyInit_{name}")) {
            return None;
        }
        Some(Self {
            signature: ops.join("; "),
            ops,
            includes: Vec::new(),
            body: escape(text).replace(name, "@M@"),
            language: Language::Cxx,
            host: Host::Cpython { versions },
            sources: SourceSet::new(),
            flags: Vec::new(),
            removed_flags: Vec::new(),
            header_dirs: Vec::new(),
            libraries: Vec::new(),
            lib_dirs: Vec::new(),
            profile: Profile::Release,
            unpublished: false,
            is_alone: true,
            versions: Vec::new(),
            native: Err(NoNative::Body),
        })
    }
}
