//! Looks records up: pointers say where, the records themselves say whether.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::Store;
use super::layout::RecordName;
use precast_core::event::{Event, chain};
use crate::key::{ActionKey, BuildKey, Fingerprint};
use crate::record::{Record, set_documents};

/// Says that the file system kept us from looking. What is damaged or missing is no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// The file system refused.
    #[error("cannot read `{}` in the store", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// No record or entry comes near this size, in bytes.
const RECORD_LIMIT: u64 = 64 << 20;

/// Reads a whole file; `None` when there is none. What is longer than `limit` bytes is cut, what is no file (a pipe would
/// be waited on for ever) reads as empty: both fail their hash.
pub(super) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    match fs_err::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Ok(Some(Vec::new())),
        _ => {}
    }
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let limit = limit.min(file.metadata()?.len().saturating_add(1));
    let mut bytes = Vec::with_capacity(usize::try_from(limit).unwrap_or(0));
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Lists the names in a directory, sorted; none when the directory is missing.
pub(super) fn names(directory: &Path) -> Result<Vec<String>, FindError> {
    let mut names = Vec::new();
    for entry in WalkDir::new(directory).min_depth(1).max_depth(1).sort_by_file_name() {
        match entry {
            Ok(entry) => names.extend(entry.file_name().to_str().map(str::to_owned)),
            Err(error) => {
                if let Some(error) = walk_error(directory, error) {
                    return Err(error);
                }
            }
        }
    }
    Ok(names)
}

/// Turns an error of a walk into ours; `None` for something that is not there, or no longer.
pub(super) fn walk_error(root: &Path, error: walkdir::Error) -> Option<FindError> {
    let path = error.path().unwrap_or(root).to_path_buf();
    let source = io::Error::from(error);
    (source.kind() != io::ErrorKind::NotFound).then_some(FindError::Io { path, source })
}

impl Store {
    /// Finds the records that have a module of this key, the last built or confirmed first. Their documents are not filled in.
    ///
    /// # Errors
    ///
    /// The file system refuses; damage is told as an event and skipped.
    pub fn find(&self, key: &BuildKey) -> Result<Vec<Record>, FindError> {
        self.pointed(&key.to_string(), |record| record.member(key).is_some())
    }

    /// Finds the records that have a module of this fingerprint, each with the module's key. Their documents are not filled
    /// in.
    ///
    /// # Errors
    ///
    /// The file system refuses; damage is told as an event and skipped.
    pub fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Vec<(Record, BuildKey)>, FindError> {
        let listed = |record: &Record| record.member_by_fingerprint(fingerprint).map(|member| member.key);
        let records = self.pointed(&fingerprint.to_string(), |record| listed(record).is_some())?;
        Ok(records.into_iter().filter_map(|record| listed(&record).map(|key| (record, key))).collect())
    }

    /// Finds the record of an action, with its documents. A record whose documents are lost is a miss: building again puts
    /// them back.
    ///
    /// # Errors
    ///
    /// The file system refuses; damage is told as an event and skipped.
    pub fn find_action(&self, action: &ActionKey) -> Result<Option<Record>, FindError> {
        for name in self.record_names(action)? {
            if let Some(mut record) = self.read_record(&name)?
                && self.fill_documents(&name, &mut record)?
            {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Lists the records of an action.
    pub(super) fn record_names(&self, action: &ActionKey) -> Result<Vec<RecordName>, FindError> {
        let names = names(&self.layout.records_of(action))?;
        Ok(names
            .iter()
            .filter_map(|name| RecordName::parse(name))
            .filter(|name| name.action == *action)
            .collect())
    }

    fn pointed(&self, key: &str, listed: impl Fn(&Record) -> bool) -> Result<Vec<Record>, FindError> {
        let directory = self.layout.pointers(key);
        let mut records = Vec::new();
        for pointer in names(&directory)? {
            let path = directory.join(&pointer);
            let Some(name) = RecordName::parse(&pointer) else {
                self.damaged(&path, "not the name of a record");
                continue;
            };
            match self.read_record(&name)? {
                Some(record) if listed(&record) => {
                    let built = fs_err::metadata(self.layout.record(&name)).and_then(|data| data.modified());
                    records.push((built.ok(), record));
                }
                Some(_) => self.damaged(&path, "points to a record that does not list the key"),
                None if self.layout.record(&name).exists() => {}
                None => self.damaged(&path, "points to a record that is missing"),
            }
        }
        records.sort_by_key(|(built, _)| std::cmp::Reverse(*built));
        Ok(records.into_iter().map(|(_, record)| record).collect())
    }

    /// Says that a build came to this record again, so that it is found before others of its keys. They differ in what no
    /// BuildKey knows: the compiler, or files outside of the sources (headers and static libraries of the system), as they
    /// are now. A store that cannot be written keeps its order.
    pub fn confirm(&self, record: &Record) {
        for name in self.record_names(&record.action).unwrap_or_default() {
            let file = fs_err::File::open(self.layout.record(&name));
            let _ = file.and_then(|file| file.set_modified(std::time::SystemTime::now()));
        }
    }

    /// Reads a record and holds it against its name. `None` when it is missing, damaged (told) or unreadable (told).
    pub(super) fn read_record(&self, name: &RecordName) -> Result<Option<Record>, FindError> {
        let path = self.layout.record(name);
        let Some(bytes) =
            read(&path, RECORD_LIMIT).map_err(|source| FindError::Io { path: path.clone(), source })?
        else {
            return Ok(None);
        };
        if Record::id_of(&bytes) != name.id {
            self.damaged(&path, "its bytes do not hash to its name");
            return Ok(None);
        }
        match Record::parse(&bytes) {
            Ok(record) if record.action == name.action => Ok(Some(record)),
            Ok(_) => {
                self.damaged(&path, "it is named after another action");
                Ok(None)
            }
            Err(error) => {
                // The bytes are as they were written, by somebody who knows more than we do.
                let place = path.display().to_string();
                self.observer.tell(&Event::Unreadable { place, reason: chain(&error) });
                Ok(None)
            }
        }
    }

    /// Fills in a record's documents. Tells whether they were there and intact.
    pub(super) fn fill_documents(&self, name: &RecordName, record: &mut Record) -> Result<bool, FindError> {
        let path = self.layout.documents(name);
        let Some(bytes) =
            read(&path, RECORD_LIMIT).map_err(|source| FindError::Io { path: path.clone(), source })?
        else {
            return Ok(false);
        };
        match set_documents(record, &bytes) {
            Ok(()) => Ok(true),
            Err(error) => {
                self.damaged(&path, chain(&error));
                Ok(false)
            }
        }
    }
}
