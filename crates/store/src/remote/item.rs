//! The files of a store by their meaning: the names that transports use.

use std::path::PathBuf;

use super::RecordName;
use crate::archive::Limits;
use crate::key::{ActionKey, BuildKey, Digest, Fingerprint, RecordId};
use crate::keyring::SIGNATURES_LIMIT;
use crate::record::Record;
use crate::store::Paths;

/// A file of a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Item {
    /// The file that marks a store.
    Store,
    /// An archive.
    Object(Digest),
    /// A record.
    Record(RecordName),
    /// The preimages of the keys of a record's members.
    Documents(RecordName),
    /// The signatures of a record.
    RecordSignatures(RecordName),
    /// A builder's statement about a record.
    Provenance(RecordName),
    /// An empty pointer by which a record is found for a key or a fingerprint.
    Pointer(Wanted, RecordName),
    /// The current generation of a key for a target; only for modules that read files outside of their sources.
    Current(BuildKey, String),
    /// A named graph.
    Entry(RecordId),
    /// The signatures of an entry.
    EntrySignatures(RecordId),
    /// The file that maps a name to an entry.
    Root(String),
    /// The list of names below a directory, for servers without listings; or a note that the list is split into pages.
    Index(String),
    /// A page of such a list ([`super::Pages::directory`]).
    Page(String),
}

/// A query for records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// Records with this module.
    Key(BuildKey),
    /// Records with a module of this fingerprint.
    Fingerprint(Fingerprint),
    /// Records of this action.
    Action(ActionKey),
}

impl Item {
    /// Returns the path below the root of a store, with `/` between names.
    #[must_use]
    pub fn path(&self) -> String {
        let paths = Paths { root: PathBuf::new() };
        let path = match self {
            Self::Store => paths.store_file(),
            Self::Object(digest) => paths.object(digest),
            Self::Record(name) => paths.record(name),
            Self::Documents(name) => paths.documents(name),
            Self::RecordSignatures(name) => Paths::signatures(&paths.record(name)),
            Self::Provenance(name) => paths.provenance(name),
            Self::Pointer(wanted, name) => {
                return format!("{}/{}{name}", wanted.directory(), wanted.prefix());
            }
            Self::Current(key, target) => paths.current(key, target),
            Self::Entry(id) => paths.entry(id),
            Self::EntrySignatures(id) => Paths::signatures(&paths.entry(id)),
            Self::Root(name) => paths.entry_roots().join(name),
            Self::Index(directory) | Self::Page(directory) => paths.index(directory),
        };
        path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
    }

    /// Returns the maximum length of an item of this kind, in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        match self {
            Self::Object(_) => Limits::default().size,
            Self::Record(_) => 1 << 20,
            Self::Documents(_) | Self::Provenance(_) | Self::Entry(_) => 64 << 20,
            Self::Index(_) | Self::Page(_) => 16 << 20,
            Self::RecordSignatures(_) | Self::EntrySignatures(_) => SIGNATURES_LIMIT,
            Self::Store => 1 << 16,
            Self::Root(_) | Self::Pointer(..) | Self::Current(..) => 1024,
        }
    }
}

impl Wanted {
    /// Returns the directory that lists the matching records; it has an index ([`Item::Index`]).
    #[must_use]
    pub fn directory(&self) -> String {
        let (kind, hash) = match self {
            Self::Key(key) => ("keys", key.to_string()),
            Self::Fingerprint(fingerprint) => ("keys", fingerprint.to_string()),
            Self::Action(action) => ("records", action.to_string()),
        };
        format!("{kind}/{}", &hash[..2])
    }

    /// Returns the prefix of the matching records' paths below [`Wanted::directory`].
    #[must_use]
    pub fn prefix(&self) -> String {
        match self {
            Self::Key(key) => format!("{key}/"),
            Self::Fingerprint(fingerprint) => format!("{fingerprint}/"),
            Self::Action(action) => format!("{action}-"),
        }
    }

    /// Returns whether a record matches.
    #[must_use]
    pub fn is_of(&self, record: &Record) -> bool {
        match self {
            Self::Key(key) => record.member(key).is_some(),
            Self::Fingerprint(fingerprint) => record.member_by_fingerprint(fingerprint).is_some(),
            Self::Action(action) => record.action == *action,
        }
    }

    /// Parses the name of a matching record from a path below [`Wanted::directory`].
    #[must_use]
    pub fn find(&self, path: &str) -> Option<RecordName> {
        match self {
            Self::Key(_) | Self::Fingerprint(_) => RecordName::parse(path.strip_prefix(&self.prefix())?),
            Self::Action(action) => RecordName::parse(path).filter(|name| name.action == *action),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_paths_match_the_documentation() {
        let (action, id) = (ActionKey::from_bytes([7; 32]), RecordId::from_bytes([7; 32]));
        let name = RecordName { action, id };
        let key = BuildKey::from_bytes([7; 32]);
        let items = [
            Item::Store,
            Item::Object(Digest::from_bytes([7; 32])),
            Item::Record(name),
            Item::Documents(name),
            Item::RecordSignatures(name),
            Item::Provenance(name),
            Item::Pointer(Wanted::Key(key), name),
            Item::Current(key, "x86_64-unknown-linux-gnu".to_owned()),
            Item::Entry(id),
            Item::EntrySignatures(id),
        ];
        assert_eq!(items.iter().map(|item| item.path().len()).max(), Some(202));
        assert_eq!(Item::Root("x".repeat(255)).path().len(), 12 + 255);
    }
}
