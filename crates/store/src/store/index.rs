//! Lists of names for servers that list none: `index/keys/ab`, `index/records/ab` and `index/roots/entry` have the names below the
//! directories that they are called after, one a line.
//!
//! They say where to look, as pointers do, and are written by whoever puts a store on such a server: what is published or
//! collected later is in them when they are written again.

use std::collections::BTreeSet;

use walkdir::WalkDir;

use super::access::walk_error;
use super::batch::Batch;
use super::paths::RecordName;
use super::write::WriteError;
use super::{FindError, Store};

impl Store {
    /// Writes the lists of names, in place of those that are there. Gives their number.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn write_index(&self) -> Result<usize, WriteError> {
        let _lease = self.lease();
        let mut batch = Batch::default();
        let mut wanted = BTreeSet::new();
        for kind in ["keys", "records"] {
            for shard in self.names(&self.paths.dir(kind))? {
                let directory = format!("{kind}/{shard}");
                let mut names = self.names_below(&directory)?;
                names.retain(|name| {
                    let last = name.rsplit('/').next().unwrap_or(name);
                    RecordName::parse(last).is_some()
                });
                self.write_list(&directory, &names, &mut batch)?;
                wanted.insert(self.paths.index(&directory));
            }
        }
        let entries = self.names(&self.paths.entry_roots())?;
        self.write_list("roots/entry", &entries, &mut batch)?;
        wanted.insert(self.paths.index("roots/entry"));
        self.commit(batch).map_err(|(_, source)| source)?;
        for directory in ["keys", "records"] {
            for shard in self.names(&self.paths.index(directory))? {
                let path = self.paths.index(directory).join(shard);
                if !wanted.contains(&path) {
                    fs_err::remove_file(&path).map_err(|source| WriteError::new(&path, source))?;
                }
            }
        }
        Ok(wanted.len())
    }

    fn write_list(&self, directory: &str, names: &[String], batch: &mut Batch) -> Result<(), WriteError> {
        let text: String = names.iter().map(|name| format!("{name}\n")).collect();
        self.write(&self.paths.index(directory), text.as_bytes(), batch)
    }

    /// The paths of the files below a directory, sorted, with `/` between names.
    fn names_below(&self, directory: &str) -> Result<Vec<String>, FindError> {
        let root = self.paths.dir(directory);
        let mut names = Vec::new();
        for entry in WalkDir::new(&root).min_depth(1).max_depth(2).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    let path = entry.path().strip_prefix(&root).ok().and_then(|path| path.to_str());
                    names.extend(path.map(|path| path.replace(std::path::MAIN_SEPARATOR, "/")));
                }
                Ok(_) => {}
                Err(error) => walk_error(&root, error).map_or(Ok(()), Err)?,
            }
        }
        Ok(names)
    }
}
