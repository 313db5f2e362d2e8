//! The inputs of a [`BuildKey`]: everything that decides what a module computes, and nothing about how it is built.
//!
//! The hash is taken through the [`KeyDocument`], which holds long texts by their [`ContentId`]: the document that a record
//! keeps for `explain` is thereby the preimage of the key, and a reader can check one against the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{BuildKey, ContentId, FORMAT_EPOCH, HostAbi, KeyDocument, Language, Profile};

/// Everything that decides what a module computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildInputs {
    /// The host ABI.
    pub host_abi: HostAbi,
    /// The profile.
    pub profile: Profile,
    /// The language of `text`.
    pub language: Language,
    /// The generated module, with `@M@` where its own name will stand.
    pub text: String,
    /// Logical name → content of every own C file and header that the text includes, however deep.
    pub sources: BTreeMap<String, Arc<str>>,
    /// Flags that the ops ask for, normalised; their order counts.
    pub flags: Vec<String>,
    /// System libraries that the ops ask for, without `lib` and suffix; their order counts.
    pub libraries: Vec<String>,
}

impl BuildInputs {
    /// Computes what is wanted.
    #[must_use]
    pub fn key(&self) -> BuildKey {
        self.document(Vec::new()).key()
    }

    /// Makes the document that a miss is diffed against; `ops` are the printable signatures of the module's Applies.
    #[must_use]
    pub fn document(&self, ops: Vec<String>) -> KeyDocument {
        let sources = self.sources.iter().map(|(name, text)| (name.clone(), ContentId::of(text.as_bytes())));
        KeyDocument {
            epoch: FORMAT_EPOCH,
            host_abi: self.host_abi,
            profile: self.profile,
            language: self.language,
            ops,
            text: ContentId::of(&self.text),
            sources: sources.collect(),
            flags: self.flags.clone(),
            libraries: self.libraries.clone(),
            versions: Vec::new(),
        }
    }
}
