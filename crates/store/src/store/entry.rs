//! Named graphs: the graph is a file named by its hash, the name a small file that says which.

use super::Store;
use super::find::{FindError, names, read};
use super::write::{WriteError, create_parent, sync_dir, write_file};
use precast_core::event::{Event, chain};
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
    /// What is there cannot be read.
    #[error("cannot look at what the store has")]
    Find(#[from] FindError),
    /// The file system refused.
    #[error("cannot store entry `{name}`")]
    Write {
        /// The entry.
        name: String,
        /// What was refused.
        source: WriteError,
    },
}

/// No entry comes near this size, in bytes.
const ENTRY_LIMIT: u64 = 64 << 20;

impl Store {
    /// Stores an entry and lets its name mean it from now on. Readers see the old one or the new one.
    ///
    /// # Errors
    ///
    /// The name is refused, the graph's JSON is lossy, or the file system refuses.
    pub fn put_entry(&self, entry: &Entry) -> Result<RecordId, PutEntryError> {
        check_entry_name(&entry.name)?;
        let bytes = entry.to_bytes();
        if Entry::parse(&bytes).ok().as_ref() != Some(entry) {
            return Err(PutEntryError::Lossy { name: entry.name.clone() });
        }
        let id = Record::id_of(&bytes);
        let written = |source| PutEntryError::Write { name: entry.name.clone(), source };
        let (path, root) = (self.layout.entry(&id), self.layout.entry_roots().join(&entry.name));
        create_parent(&path).map_err(written)?;
        if self.put_bytes(&path, &bytes)?.map_err(written)? {
            path.parent().map_or(Ok(()), sync_dir).map_err(written)?;
        }
        let meaning = format!("{id}\n");
        if read(&root, 1024).ok().flatten().as_deref() == Some(meaning.as_bytes()) {
            return Ok(id);
        }
        create_parent(&root).map_err(written)?;
        write_file(&self.layout.dir("tmp"), &root, meaning.as_bytes(), 0o444).map_err(written)?;
        sync_dir(&self.layout.entry_roots()).map_err(written)?;
        Ok(id)
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
        let root = self.layout.entry_roots().join(name);
        let io = |path: &std::path::Path| {
            let path = path.to_path_buf();
            move |source| FindError::Io { path, source }
        };
        let Some(meaning) = read(&root, 1024).map_err(io(&root))? else { return Ok(None) };
        let id = std::str::from_utf8(&meaning).ok().and_then(|text| text.strip_suffix('\n')?.parse().ok());
        let Some(id): Option<RecordId> = id else {
            self.damaged(&root, "not the hash of an entry");
            return Ok(None);
        };
        let path = self.layout.entry(&id);
        let Some(bytes) = read(&path, ENTRY_LIMIT).map_err(io(&path))? else {
            self.damaged(&root, "names an entry that is missing");
            return Ok(None);
        };
        if Record::id_of(&bytes) != id {
            self.damaged(&path, "its bytes do not hash to its name");
            return Ok(None);
        }
        match Entry::parse(&bytes) {
            Ok(entry) if entry.name == name => return Ok(Some(entry)),
            Ok(entry) => self.damaged(&root, format!("means an entry called `{}`", entry.name)),
            Err(error) => {
                let place = path.display().to_string();
                self.observer.tell(&Event::Unreadable { place, reason: chain(&error) });
            }
        }
        Ok(None)
    }

    /// Gives every entry, sorted by name.
    ///
    /// # Errors
    ///
    /// The file system refuses; damage is told as an event and skipped.
    pub fn entries(&self) -> Result<Vec<Entry>, FindError> {
        let names = names(&self.layout.entry_roots())?;
        names.iter().filter_map(|name| self.find_entry(name).transpose()).collect()
    }
}
