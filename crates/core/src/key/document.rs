//! The key document: a [`BuildKey`] taken apart, small enough to be kept in every record.
//!
//! It serves two readers. A machine recomputes the key from it ([`KeyDocument::key`]). A person is told what a miss
//! differs in (`precast_store::key::Diff`); for that it also holds the printable signatures, which are not hashed.

use std::collections::BTreeMap;

use super::{BuildKey, Canonical, ContentId, HostAbi, Language, Profile, context};

/// Version of the module contract. Raising it makes every older artifact unreachable.
pub const FORMAT_EPOCH: u64 = 1;

/// An op of a module at a version, and the digests of the C that its author wrote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Versioned {
    /// Printable signature of the Apply, or the type.
    pub op: String,
    /// The version: `c_code_cache_version`.
    pub version: Vec<u32>,
    /// Logical name of a file, or of the method that gave the C, → content id.
    pub files: BTreeMap<String, ContentId>,
}

/// The inputs of a [`BuildKey`], long texts by their content id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct KeyDocument {
    /// The [`FORMAT_EPOCH`] under which the key was made.
    pub epoch: u64,
    /// The host ABI.
    pub host_abi: HostAbi,
    /// The profile.
    pub profile: Profile,
    /// The language of the text.
    pub language: Language,
    /// One printable signature an Apply, such as `add(f32[..], f32[..]) -> f32[..]`. For people: not in the key.
    pub ops: Vec<String>,
    /// Content id of the module's text.
    pub text: ContentId,
    /// Logical name → content id of the SourceSet.
    pub sources: BTreeMap<String, ContentId>,
    /// Flags that the ops ask for, in order.
    pub flags: Vec<String>,
    /// Library names, in order.
    pub libraries: Vec<String>,
    /// What authors gave a version, with the digests of its C. A promise that is checked (`precast_store::key::stale`): not in
    /// the key.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub versions: Vec<Versioned>,
}

impl KeyDocument {
    /// Computes the key that this document is the preimage of.
    #[must_use]
    pub fn key(&self) -> BuildKey {
        // Destructured whole, so that a new field cannot be forgotten here.
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
