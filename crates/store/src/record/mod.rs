//! The record: the immutable statement that binds what was wanted, how it was made and what came out, and says what the
//! code needs to run.
//!
//! A record is canonical JSON (struct order, no whitespace, map keys sorted), named by the hash of its bytes
//! ([`Record::id`]). It is small on purpose, as it is read on every look-up. The [`KeyDocument`]s of its members are not in
//! it: each is the preimage of its member's key, so it vouches for itself and can stand beside the record, where only
//! `explain` and builders read it.
//!
//! # Layout
//!
//! ```text
//! {"format":1,"record":{"kind":…,"action":…,"toolchain":…,"target":…,"isa":…,"profile":…,"host_abi":…,"language":…,
//!   "members":[{"key":…,"slot":…,"fingerprints":[…],"signature":…},…],"digest":…,"size":…,
//!   "requires":{"arch":…,"os":…,"libc":…,"libc_version":…,"cpu":[…],"needed":[…],"undefined":[…],"abi":[min,max]},
//!   "outside":[{"path":…,"content":…},…]}}
//! ```

mod documents;
mod entry;
mod format;
mod requires;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use crate::key::KeyDocument;
use crate::key::{
    ActionKey, ActionKind, BuildKey, ContentId, Digest, Fingerprint, HostAbi, Language, Profile, RecordId,
    ToolchainId, context,
};
pub(crate) use documents::{documents_bytes, set_documents};
pub use entry::{Entry, EntryNameError, check_entry_name};
pub use format::{FORMAT, ParseRecordError};
pub use requires::{Host, Requires, Unmet};

/// One module of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// What the module computes.
    pub key: BuildKey,
    /// Its place in the unit's table.
    pub slot: u32,
    /// Aliases of `key`.
    pub fingerprints: Vec<Fingerprint>,
    /// The printable signature.
    pub signature: String,
    /// The preimage of `key`. Not in the record's bytes: a builder gives it, `publish` stores it beside the record, and
    /// reads say whether they fill it in.
    #[serde(skip)]
    pub document: Option<KeyDocument>,
}

/// The statement about one archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What the action did.
    pub kind: ActionKind,
    /// How the archive was made.
    pub action: ActionKey,
    /// The toolchain, where one was used.
    pub toolchain: Option<ToolchainId>,
    /// The target triple.
    pub target: String,
    /// The ISA level.
    pub isa: String,
    /// The profile of every member.
    pub profile: Profile,
    /// The host ABI of every member.
    pub host_abi: HostAbi,
    /// The language of every member.
    pub language: Language,
    /// The modules of the unit.
    pub members: Vec<Member>,
    /// What came out.
    pub digest: Digest,
    /// Length of the archive's uncompressed tar, in bytes.
    pub size: u64,
    /// What the code needs to run.
    pub requires: Requires,
    /// The files outside of the modules' sources that were read: headers and libraries of the system.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Outside>,
}

/// A file outside of the sources, as it was when it was read. A host that could compile compares it with its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outside {
    /// Its absolute path.
    pub path: String,
    /// Its content.
    pub content: ContentId,
}

impl Record {
    /// Renders the canonical bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        format::render("record", self)
    }

    /// Computes the identity: the hash of [`Record::to_bytes`].
    #[must_use]
    pub fn id(&self) -> RecordId {
        Self::id_of(&self.to_bytes())
    }

    /// Hashes the bytes of a record or an entry.
    pub(crate) fn id_of(bytes: &[u8]) -> RecordId {
        RecordId::from_bytes(blake3::derive_key(context::RECORD, bytes))
    }

    /// Reads canonical bytes.
    ///
    /// # Errors
    ///
    /// The format is newer than this reader, the JSON is of another form or not canonical, or the record contradicts
    /// itself.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseRecordError> {
        let record: Self = format::parse("record", bytes)?;
        if record.to_bytes() != bytes {
            return Err(ParseRecordError::NotCanonical);
        }
        record.check()?;
        Ok(record)
    }

    /// Finds the member of this key.
    #[must_use]
    pub fn member(&self, key: &BuildKey) -> Option<&Member> {
        self.members.iter().find(|member| member.key == *key)
    }

    /// Finds the member that has this fingerprint.
    #[must_use]
    pub fn member_by_fingerprint(&self, fingerprint: &Fingerprint) -> Option<&Member> {
        self.members.iter().find(|member| member.fingerprints.contains(fingerprint))
    }

    /// Checks that keys and slots are each used once, and that every document is the preimage of its key.
    ///
    /// # Errors
    ///
    /// They are not.
    pub fn check(&self) -> Result<(), ParseRecordError> {
        let (mut keys, mut slots) = (BTreeSet::new(), BTreeSet::new());
        for member in &self.members {
            if !keys.insert(member.key) || !slots.insert(member.slot) {
                return Err(ParseRecordError::Twice { key: member.key, slot: member.slot });
            }
            if member.document.as_ref().is_some_and(|document| document.key() != member.key) {
                return Err(ParseRecordError::Document { key: member.key });
            }
        }
        Ok(())
    }
}
