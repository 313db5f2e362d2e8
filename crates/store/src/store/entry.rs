//! Named graphs: the graph is a file named by its hash, the name a small file that says which.

use super::batch::Batch;
use super::find::confirm_file;
use super::write::WriteError;
use super::{FindError, Store};
use std::path::{Path, PathBuf};

use crate::event::{Event, chain};
use crate::key::RecordId;
use crate::record::{Entry, EntryNameError, Record, check_entry_name};

/// Says why an entry was not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutEntryError {
    /// The name cannot be a file's.
    #[error(transparent)]
    Name(#[from] EntryNameError),
    /// What would be read back is another entry.
    #[error("entry `{name}` does not survive its JSON form: a float in it is not written as text")]
    Lossy {
        /// The entry.
        name: String,
    },
    /// The file system refused.
    #[error("cannot store entry `{name}`")]
    Write {
        /// The entry.
        name: String,
        /// What was refused.
        source: WriteError,
    },
    /// The file system refused to put on the disk what was written of several entries.
    #[error("cannot put entries on the disk")]
    Sync(#[source] WriteError),
}

/// No entry comes near this size, in bytes.
const ENTRY_LIMIT: u64 = 64 << 20;

/// No root comes near this size, in bytes.
const ROOT_LIMIT: u64 = 1024;

impl Store {
    /// Stores an entry and lets its name mean it from now on. Readers see the old one or the new one.
    ///
    /// # Errors
    ///
    /// The name is refused, the graph's JSON is lossy, or the file system refuses.
    pub fn put_entry(&self, entry: &Entry) -> Result<RecordId, PutEntryError> {
        self.put_entries(&[(entry, "")])?;
        Ok(entry.id())
    }

    /// Stores several entries, each with signatures that go behind those that are there.
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

    /// Lets a root mean an entry. A root changes, so it is written over: what it meant before is no damage.
    fn put_root(&self, root: &Path, id: &RecordId, batch: &mut Batch) -> Result<(), WriteError> {
        let meaning = format!("{id}\n");
        if self.read(root, ROOT_LIMIT)?.is_some_and(|found| found.bytes == meaning.as_bytes()) {
            confirm_file(root);
            return Ok(());
        }
        self.write(root, meaning.as_bytes(), batch)
    }

    /// The hash that a root gives; none where there is no root, or a damaged one.
    pub(super) fn meaning(&self, root: &Path) -> Result<Option<RecordId>, FindError> {
        let found = self.read(root, ROOT_LIMIT)?;
        Ok(found.and_then(|found| parse_root(&found.bytes)))
    }

    /// Tells whether a name means this entry, which is whole and signed as it has to be.
    pub(crate) fn has_entry(&self, name: &str, id: &RecordId) -> bool {
        self.find_entry(name).is_ok_and(|found| found.is_some_and(|entry| entry.id() == *id))
    }

    /// Tells whether the name of an entry means another one now, and this one is known: then it meant this before.
    pub(crate) fn meant_before(&self, entry: &Entry) -> bool {
        let (root, id) = (self.paths.entry_roots().join(&entry.name), entry.id());
        let is_known = || self.read(&self.paths.entry(&id), ENTRY_LIMIT).is_ok_and(|found| found.is_some());
        self.meaning(&root).is_ok_and(|now| now.is_some_and(|now| now != id)) && is_known()
    }

    /// Finds the entry that a name means.
    ///
    /// # Errors
    ///
    /// The file system refuses; damage is told as an event and is a miss.
    pub fn find_entry(&self, name: &str) -> Result<Option<Entry>, FindError> {
        if check_entry_name(name).is_err() {
            return Ok(None);
        }
        let root = self.paths.entry_roots().join(name);
        let Some((path, bytes)) = self.read_meant(&root)? else { return Ok(None) };
        match Entry::parse(&bytes) {
            Ok(entry) if entry.name == name => {
                return Ok(self.is_signed(&path, &bytes)?.then_some(entry));
            }
            Ok(entry) => self.damaged(&root, format!("means an entry called `{}`", entry.name)),
            Err(error) => {
                let place = path.display().to_string();
                self.observer.tell(&Event::Unreadable { place, reason: chain(&error) });
            }
        }
        Ok(None)
    }

    /// Reads the graph that a root means, and where it is.
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
                    self.damaged(&path, "its bytes do not hash to its name");
                    return Ok(None);
                }
                // The name may mean another graph by now, and a collector have taken this one; or have taken both, which are back.
                None if before != Some(id) => before = Some(id),
                None => {
                    self.damaged(root, "names an entry that is missing");
                    return Ok(None);
                }
            }
        }
    }

    /// Gives every entry, sorted by name.
    ///
    /// # Errors
    ///
    /// The file system refuses; damage is told as an event and skipped.
    pub fn entries(&self) -> Result<Vec<Entry>, FindError> {
        let names = self.names(&self.paths.entry_roots())?;
        names.iter().filter_map(|name| self.find_entry(name).transpose()).collect()
    }
}

fn parse_root(bytes: &[u8]) -> Option<RecordId> {
    std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.parse().ok()
}
