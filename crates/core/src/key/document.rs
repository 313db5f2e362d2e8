//! The key document: the inputs of a [`BuildKey`], small enough to be stored beside every record.
//!
//! A machine recomputes the key from it ([`KeyDocument::key`]). For people, `precast_store::key::Diff` shows the
//! differences that caused a miss. For that it also holds the printable signatures, which are not hashed.

use std::collections::BTreeMap;

use super::{BuildKey, Canonical, ContentId, HostAbi, Language, Profile, context};

/// Version of the module contract. Raising it invalidates all older artifacts.
pub const FORMAT_EPOCH: u64 = 1;

/// A versioned op of a module, with the digests of the C code that its author wrote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Versioned {
    /// Printable signature of the Apply, or the type.
    pub op: String,
    /// The version: `c_code_cache_version`.
    pub version: Vec<u32>,
    /// Maps the logical name of a file, or of the method that returned the C code, to its content id.
    pub files: BTreeMap<String, ContentId>,
}

/// The inputs of a [`BuildKey`]. Long texts are replaced by their content ids.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct KeyDocument {
    /// The [`FORMAT_EPOCH`] that the key was computed with.
    pub epoch: u64,
    /// The host ABI.
    pub host_abi: HostAbi,
    /// The profile.
    pub profile: Profile,
    /// The language of the text.
    pub language: Language,
    /// One printable signature per Apply, such as `add(f32[..], f32[..]) -> f32[..]`. For people; not in the key.
    pub ops: Vec<String>,
    /// Content id of the module's text.
    pub text: ContentId,
    /// Maps logical names to content ids: the SourceSet.
    pub sources: BTreeMap<String, ContentId>,
    /// Flags that the ops request, in order.
    pub flags: Vec<String>,
    /// Library names, in order.
    pub libraries: Vec<String>,
    /// Ops and types with author-given versions, and the digests of their C code. The versions are promises that
    /// `precast_store::key::stale` checks; not in the key.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub versions: Vec<Versioned>,
}

impl KeyDocument {
    /// Computes the key of this document.
    #[must_use]
    pub fn key(&self) -> BuildKey {
        // Destructured without `..`, so that a new field cannot be forgotten here.
        let Self { epoch, host_abi, profile, language, ops: _, text, sources, flags, libraries, versions: _ } =
            self;
        let mut encoder = Canonical::new(context::BUILD_KEY)
            .u64(*epoch)
            .str(host_abi.name())
            .str(profile.name())
            .str(language.name())
            .bytes(text.as_bytes())
            .list(sources.len());
        for (name, content) in sources {
            encoder = encoder.str(name).bytes(content.as_bytes());
        }
        BuildKey::from_bytes(encoder.strs(flags).strs(libraries).finish())
    }
}
