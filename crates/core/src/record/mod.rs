//! A record: an immutable statement that binds module keys, action and archive digest, and lists the requirements of the
//! code. An entry: a named graph and the program that computes it.
//!
//! Both are named by the hash of their bytes ([`Record::id`]), which have one canonical form (`wire.rs`). A record is
//! small, because it is read on every look-up. The [`KeyDocument`]s of its members are stored separately, and only
//! `explain` and builders read them. Each hashes to its member's key, so it needs no other verification.
//!
//! # Layout
//!
//! ```text
//! record     kind action toolchain? target isa profile host_abi language | members | digest size u64 | requires
//!            | outside: path, content id | generation, from format 3 on
//! member     key slot u32 fingerprints signature
//! requires   arch os libc? libc_version? cpu needed undefined abi u32 u32
//! entry      name | program | declared: the graph in JSON | metadata, if there is any
//! documents  one per member: epoch u64 host_abi profile language ops text sources flags libraries versions
//! ```

mod documents;
mod entry;
mod error;
pub(crate) mod host;
mod requires;
pub(crate) mod wire;

use std::collections::BTreeSet;

pub use crate::key::KeyDocument;
use crate::key::{
    ActionKey, ActionKind, BuildKey, ContentId, Digest, Fingerprint, GenerationId, HostAbi, Language,
    Profile, RecordId, ToolchainId, context,
};
pub use documents::{documents_bytes, set_documents};
pub use entry::{Entry, EntryNameError, check_entry_name};
pub use error::ParseRecordError;
pub use host::Host;
pub use requires::{Requires, Unmet};
pub use wire::FORMAT;
use wire::{Kind, Reader, WITH_GENERATION, Writer};

/// One module of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Member {
    /// The key of the module.
    pub key: BuildKey,
    /// Its position in the unit's table.
    pub slot: u32,
    /// Aliases of `key`.
    pub fingerprints: Vec<Fingerprint>,
    /// The printable signature.
    pub signature: String,
    /// The document that hashes to `key`. Not part of the record's bytes: builders set it, `publish` stores it beside the
    /// record, and only some readers fill it in.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub document: Option<KeyDocument>,
}

/// A record of one archive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Record {
    /// The kind of the action.
    pub kind: ActionKind,
    /// The key of the action that built the archive.
    pub action: ActionKey,
    /// The toolchain, if one was used.
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
    /// The digest of the archive.
    pub digest: Digest,
    /// Length of the archive's uncompressed tar, in bytes.
    pub size: u64,
    /// The requirements of the code.
    pub requires: Requires,
    /// Files that the compiler read outside of the module sources: system headers and libraries.
    pub outside: Vec<Outside>,
    /// The identity of everything that was read outside of the sources; `None` if the module does not depend on it, and in
    /// records of formats before 3.
    pub generation: Option<GenerationId>,
}

/// A file outside of the sources, with its content at build time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Outside {
    /// Its absolute path.
    pub path: String,
    /// Its content.
    pub content: ContentId,
}

impl Member {
    fn write(writer: &mut Writer, Self { key, slot, fingerprints, signature, document: _ }: &Self) {
        writer.hash(key.as_bytes());
        writer.u32(*slot);
        writer.list(fingerprints.iter(), |writer, fingerprint| writer.hash(fingerprint.as_bytes()));
        writer.str(signature);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, ParseRecordError> {
        Ok(Self {
            key: BuildKey::from_bytes(reader.hash()?),
            slot: reader.u32()?,
            fingerprints: reader.list(|reader| Ok(Fingerprint::from_bytes(reader.hash()?)))?,
            signature: reader.str()?,
            document: None,
        })
    }
}

impl Record {
    /// Serializes the record.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Destructured without `..`, so that a new field cannot be forgotten here.
        let Self {
            kind,
            action,
            toolchain,
            target,
            isa,
            profile,
            host_abi,
            language,
            members,
            digest,
            size,
            requires,
            outside,
            generation,
        } = self;
        let format = if generation.is_some() { WITH_GENERATION } else { FORMAT };
        let mut writer = Writer::with_format(Kind::Record, format);
        writer.str(kind.name());
        writer.hash(action.as_bytes());
        writer.option(toolchain.as_ref(), |writer, toolchain| writer.hash(toolchain.as_bytes()));
        [target, isa].into_iter().for_each(|text| writer.str(text));
        [profile.name(), host_abi.name(), language.name()].into_iter().for_each(|name| writer.str(name));
        writer.list(members.iter(), Member::write);
        writer.hash(digest.as_bytes());
        writer.u64(*size);
        requires.write(&mut writer);
        writer.list(outside.iter(), |writer, Outside { path, content }| {
            writer.str(path);
            writer.hash(content.as_bytes());
        });
        if let Some(generation) = generation {
            writer.hash(generation.as_bytes());
        }
        writer.finish()
    }

    /// Computes the identity: the hash of [`Record::to_bytes`].
    #[must_use]
    pub fn id(&self) -> RecordId {
        Self::id_of(&self.to_bytes())
    }

    /// Hashes the bytes of a record or an entry.
    #[must_use]
    pub fn id_of(bytes: &[u8]) -> RecordId {
        RecordId::from_bytes(blake3::derive_key(context::RECORD, bytes))
    }

    /// Parses bytes that [`Record::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// The format is unknown, the bytes are not a record, or the record contradicts itself.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseRecordError> {
        let (mut reader, format) = Reader::up_to(WITH_GENERATION, Kind::Record, bytes)?;
        let record = Self {
            kind: reader.parsed("unknown kind")?,
            action: ActionKey::from_bytes(reader.hash()?),
            toolchain: reader.option(|reader| Ok(ToolchainId::from_bytes(reader.hash()?)))?,
            target: reader.str()?,
            isa: reader.str()?,
            profile: reader.parsed("unknown profile")?,
            host_abi: reader.parsed("unknown host ABI")?,
            language: reader.parsed("unknown language")?,
            members: reader.list(Member::read)?,
            digest: Digest::from_bytes(reader.hash()?),
            size: reader.u64()?,
            requires: Requires::read(&mut reader)?,
            outside: reader.list(|reader| {
                Ok(Outside { path: reader.str()?, content: ContentId::from_bytes(reader.hash()?) })
            })?,
            generation: match format {
                FORMAT => None,
                _ => Some(GenerationId::from_bytes(reader.hash()?)),
            },
        };
        reader.end()?;
        record.check()?;
        Ok(record)
    }

    /// Finds the member of this key.
    #[must_use]
    pub fn member(&self, key: &BuildKey) -> Option<&Member> {
        // Builders sort members by key. Members in another order are searched one by one.
        match self.members.binary_search_by(|member| member.key.cmp(key)) {
            Ok(at) => self.members.get(at),
            Err(_) => self.members.iter().find(|member| member.key == *key),
        }
    }

    /// Finds the member that has this fingerprint.
    #[must_use]
    pub fn member_by_fingerprint(&self, fingerprint: &Fingerprint) -> Option<&Member> {
        self.members.iter().find(|member| member.fingerprints.contains(fingerprint))
    }

    /// Returns whether the module depends on files outside of its sources, which no key covers.
    #[must_use]
    pub fn has_outside(&self) -> bool {
        self.generation.is_some() || !self.outside.is_empty()
    }

    /// Checks that each key and slot is used once, and that every document hashes to its member's key.
    ///
    /// # Errors
    ///
    /// One of these conditions is violated.
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
