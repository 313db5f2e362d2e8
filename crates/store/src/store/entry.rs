//! Named graphs: a graph is a file named by its hash; a small file with the graph's name contains that hash.

use super::batch::Batch;
use super::find::confirm_file;
use super::write::WriteError;
use super::{FindError, Store};
use std::path::{Path, PathBuf};

use crate::event::{Event, chain};
use crate::export::Release;
use crate::key::RecordId;
use crate::record::{Entry, EntryNameError, Record, check_entry_name};

/// The reason why an entry was not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutEntryError {
    /// The name is not a valid file name.
    #[error(transparent)]
    Name(#[from] EntryNameError),
    /// The entry changes when it is written and read back.
    #[error("cannot represent entry `{name}` in JSON: unsupported float")]
    Lossy {
        /// The entry.
        name: String,
    },
    /// The file system refused.
    #[error("cannot store entry `{name}`")]
    Write {
        /// The entry.
        name: String,
        /// The write error.
        source: WriteError,
    },
    /// The file system refused to sync the files of several entries.
    #[error("cannot write entries to disk")]
    Sync(#[source] WriteError),
}

/// An upper bound for the size of an entry, in bytes.
const ENTRY_LIMIT: u64 = 64 << 20;

/// An upper bound for the size of a root, in bytes.
const ROOT_LIMIT: u64 = 1024;

impl Store {
    /// Stores an entry under its name. Readers see either the old or the new entry.
    ///
    /// # Errors
    ///
    /// The name is invalid, the graph's JSON is lossy, or the file system refuses.
    pub fn put_entry(&self, entry: &Entry) -> Result<RecordId, PutEntryError> {
        self.put_entries(&[(entry, "")])?;
        Ok(entry.id())
    }

    /// Stores several entries; their signatures are appended to existing ones.
    pub(crate) fn put_entries(&self, entries: &[(&Entry, &str)]) -> Result<(), PutEntryError> {
        let written = |entry: &Entry, source| PutEntryError::Write { name: entry.name.clone(), source };
        let _lease = self.lease();
        let mut batch = Batch::default();
        for (at, (entry, signatures)) in entries.iter().enumerate() {
            check_entry_name(&entry.name)?;
            let bytes = entry.to_bytes();
            if Entry::parse(&bytes).ok().as_ref() != Some(*entry) {
                return Err(PutEntryError::Lossy { name: entry.name.clone() });
            }
            let id = Record::id_of(&bytes);
            let (path, root) = (self.paths.entry(&id), self.paths.entry_roots().join(&entry.name));
            batch.begin(at);
            let put = self
                .put_bytes(&path, &bytes, &mut batch)
                .and_then(|_| self.add_signatures(&path, &bytes, signatures, &mut batch))
                .and_then(|()| self.put_root(&root, &id, &mut batch));
            put.map_err(|source| written(entry, source))?;
        }
        self.commit(batch).map_err(|(at, source)| match at.or((entries.len() == 1).then_some(0)) {
            Some(at) => written(entries[at].0, source),
            None => PutEntryError::Sync(source),
        })
    }

    /// Points a root to an entry. Roots change, so the file is replaced; its old content is not damage.
    fn put_root(&self, root: &Path, id: &RecordId, batch: &mut Batch) -> Result<(), WriteError> {
        let meaning = format!("{id}\n");
        if self.read(root, ROOT_LIMIT)?.is_some_and(|found| found.bytes == meaning.as_bytes()) {
            confirm_file(root);
            return Ok(());
        }
        self.write(root, meaning.as_bytes(), batch)
    }

    /// Returns the hash that a root contains; `None` if the root is missing or damaged.
    pub(super) fn meaning(&self, root: &Path) -> Result<Option<RecordId>, FindError> {
        let found = self.read(root, ROOT_LIMIT)?;
        Ok(found.and_then(|found| parse_root(&found.bytes)))
    }

    /// Returns whether a name refers to this entry, and the entry is intact and sufficiently signed.
    pub(crate) fn has_entry(&self, name: &str, id: &RecordId) -> bool {
        self.find_entry(name).is_ok_and(|found| found.is_some_and(|entry| entry.id() == *id))
    }

    /// Returns whether the store has this entry but its name refers to another one, so the name referred to it before.
    pub(crate) fn meant_before(&self, entry: &Entry) -> bool {
        let (root, id) = (self.paths.entry_roots().join(&entry.name), entry.id());
        let is_known = || self.read(&self.paths.entry(&id), ENTRY_LIMIT).is_ok_and(|found| found.is_some());
        self.meaning(&root).is_ok_and(|now| now.is_some_and(|now| now != id)) && is_known()
    }

    /// Finds the entry of a name: that of the served release, if one has the name, else the latest published one.
    ///
    /// # Errors
    ///
    /// The file system refuses, or the list of a release is damaged. Other damage is reported as an event and counts as a
    /// miss.
    pub fn find_entry(&self, name: &str) -> Result<Option<Entry>, FindError> {
        if check_entry_name(name).is_err() {
            return Ok(None);
        }
        match self.served()?.get(name) {
            Some(id) => self.entry_of(name, id),
            None => self.rooted(name),
        }
    }

    /// Reads the entry of a release. Damage is reported as an event and counts as a miss.
    pub(super) fn entry_of(&self, name: &str, id: &RecordId) -> Result<Option<Entry>, FindError> {
        let path = self.paths.entry(id);
        let Some(found) = self.read(&path, ENTRY_LIMIT)? else { return Ok(None) };
        if Record::id_of(&found.bytes) != *id {
            self.damaged(&path, "hash mismatch");
            return Ok(None);
        }
        self.parsed(name, &path, &path, &found.bytes)
    }

    /// Finds the latest published entry of a name.
    pub(super) fn rooted(&self, name: &str) -> Result<Option<Entry>, FindError> {
        let root = self.paths.entry_roots().join(name);
        let Some((path, bytes)) = self.read_meant(&root)? else { return Ok(None) };
        self.parsed(name, &root, &path, &bytes)
    }

    /// Parses an entry, to which `root` refers under this name.
    fn parsed(&self, name: &str, root: &Path, path: &Path, bytes: &[u8]) -> Result<Option<Entry>, FindError> {
        match Entry::parse(bytes) {
            Ok(entry) if entry.name == name => {
                return Ok(self.is_signed(path, bytes)?.then_some(entry));
            }
            Ok(entry) => self.damaged(root, format!("refers to an entry named `{}`", entry.name)),
            Err(error) => {
                let place = path.display().to_string();
                self.observer.tell(&Event::Unreadable { place, reason: chain(&error) });
            }
        }
        Ok(None)
    }

    /// Reads the graph of a root. Returns its path and bytes.
    fn read_meant(&self, root: &Path) -> Result<Option<(PathBuf, Vec<u8>)>, FindError> {
        let mut before = None;
        loop {
            let Some(meaning) = self.read(root, ROOT_LIMIT)? else { return Ok(None) };
            let Some(id) = parse_root(&meaning.bytes) else {
                self.damaged(root, "not the hash of an entry");
                return Ok(None);
            };
            let path = self.paths.entry(&id);
            match self.read(&path, ENTRY_LIMIT)? {
                Some(found) if Record::id_of(&found.bytes) == id => return Ok(Some((path, found.bytes))),
                Some(_) => {
                    self.damaged(&path, "hash mismatch");
                    return Ok(None);
                }
                // The name may now refer to another graph, and a collector may have removed this one. A collector may
                // also have removed both, and both may have been restored. So the root is read again once.
                None if before != Some(id) => before = Some(id),
                None => {
                    self.damaged(root, "refers to a missing entry");
                    return Ok(None);
                }
            }
        }
    }

    /// Returns the latest published entries, and those of all releases.
    pub(super) fn all_entries(&self) -> Result<Vec<Entry>, FindError> {
        let mut entries = Vec::new();
        for name in self.names(&self.paths.entry_roots())? {
            entries.extend(self.rooted(&name)?);
        }
        for deployed in self.deployed()? {
            for number in deployed.numbers {
                let release = Release { name: deployed.name.clone(), number };
                for (name, id) in self.entries_of(&release)?.unwrap_or_default() {
                    self.tell_lost(&release, &name, &id);
                    entries.extend(self.entry_of(&name, &id)?);
                }
            }
        }
        entries.sort_by_key(|entry| (entry.name.clone(), entry.id()));
        entries.dedup_by_key(|entry| entry.id());
        Ok(entries)
    }

    /// Returns all entries, sorted by name, of served releases or as last published.
    ///
    /// # Errors
    ///
    /// The file system refuses, or a file of a release is damaged. Other damage is reported as an event and skipped.
    pub fn entries(&self) -> Result<Vec<Entry>, FindError> {
        let mut names = self.names(&self.paths.entry_roots())?;
        names.extend(self.served()?.keys().cloned());
        names.sort();
        names.dedup();
        names.iter().filter_map(|name| self.find_entry(name).transpose()).collect()
    }
}

fn parse_root(bytes: &[u8]) -> Option<RecordId> {
    std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.parse().ok()
}
