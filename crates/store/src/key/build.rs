//! The inputs of a [`BuildKey`]: everything that decides the results of a module, and nothing about how it is built.
//!
//! The key is the hash of the [`KeyDocument`], in which long texts are replaced by their [`ContentId`]. The document
//! that a record keeps for `explain` is therefore the preimage of the key, and readers can check one against the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{BuildKey, ContentId, FORMAT_EPOCH, HostAbi, KeyDocument, Language, Profile};

/// All inputs that decide the results of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildInputs {
    /// The host ABI.
    pub host_abi: HostAbi,
    /// The profile.
    pub profile: Profile,
    /// The language of `text`.
    pub language: Language,
    /// The generated module, with `@M@` as a placeholder for its own name.
    pub text: String,
    /// Logical name → content of every C file and header that the text includes, directly or indirectly; system headers
    /// are not listed.
    pub sources: BTreeMap<String, Arc<str>>,
    /// The normalised flags that the ops require; the order matters.
    pub flags: Vec<String>,
    /// The system libraries that the ops require, without `lib` and suffix; the order matters.
    pub libraries: Vec<String>,
}

impl BuildInputs {
    /// Computes the module's key.
    #[must_use]
    pub fn key(&self) -> BuildKey {
        self.document(Vec::new()).key()
    }

    /// Builds the key document. `ops` are the printable signatures of the module's Applies; they help to explain a
    /// miss.
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
