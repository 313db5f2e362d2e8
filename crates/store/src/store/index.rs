//! Lists of names for servers that list none: `index/keys/ab`, `index/records/ab` and `index/roots/entry` have the names below the
//! directories that they are called after, one a line. One that has become long is cut in pages by more digits, so that a question
//! costs two short answers however large the store is.
//!
//! They say where to look, as pointers do, and are written by whoever puts a store on such a server: what is published or
//! collected later is in them when they are written again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use walkdir::WalkDir;

use super::access::walk_error;
use super::batch::Batch;
use super::paths::RecordName;
use super::write::WriteError;
use super::{FindError, Store};
use crate::remote::Pages;

/// The directories whose shards have lists.
const KINDS: [&str; 2] = ["keys", "records"];

impl Store {
    /// Writes the lists of names, in place of those that are there. Gives the number of lists and pages.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn write_index(&self) -> Result<usize, WriteError> {
        let _lease = self.lease();
        let mut batch = Batch::default();
        let mut lists: BTreeMap<PathBuf, String> = BTreeMap::new();
        for kind in KINDS {
            for shard in self.names(&self.paths.dir(kind))? {
                let directory = format!("{kind}/{shard}");
                let mut names = self.names_below(&directory)?;
                names.retain(|name| {
                    let last = name.rsplit('/').next().unwrap_or(name);
                    RecordName::parse(last).is_some()
                });
                self.add_lists(&directory, &names, &mut lists);
            }
        }
        let entries = self.names(&self.paths.entry_roots())?;
        lists.insert(self.paths.index("roots/entry"), text(&entries));
        for (path, list) in &lists {
            self.write(path, list.as_bytes(), &mut batch)?;
        }
        self.commit(batch).map_err(|(_, source)| source)?;
        self.remove_lists(&lists.keys().cloned().collect())?;
        Ok(lists.len())
    }

    /// The list of a directory; or its pages, and what says that there are some.
    fn add_lists(&self, directory: &str, names: &[String], lists: &mut BTreeMap<PathBuf, String>) {
        let list = text(names);
        let Some(pages) = Pages::of(list.len()) else {
            lists.insert(self.paths.index(directory), list);
            return;
        };
        lists.insert(self.paths.index(directory), pages.to_string());
        for name in names {
            let page = self.paths.index(&pages.directory(directory, name));
            *lists.entry(page).or_default() += &format!("{name}\n");
        }
    }

    /// Removes lists that are no more.
    fn remove_lists(&self, wanted: &BTreeSet<PathBuf>) -> Result<(), WriteError> {
        let mut directories: Vec<PathBuf> = KINDS.map(|kind| self.paths.index(kind)).to_vec();
        for kind in KINDS {
            let pages = self.paths.index("pages").join(kind);
            directories.extend(self.names(&pages)?.iter().map(|shard| pages.join(shard)));
        }
        for directory in directories {
            for list in self.names(&directory)? {
                let path = directory.join(list);
                if !wanted.contains(&path) {
                    fs_err::remove_file(&path).map_err(|source| WriteError::new(&path, source))?;
                }
            }
        }
        Ok(())
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

fn text(names: &[String]) -> String {
    names.iter().map(|name| format!("{name}\n")).collect()
}
