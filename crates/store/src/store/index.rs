//! Writes lists of names for servers without listings. `index/keys/ab`, `index/records/ab` and `index/roots/entry` list
//! the names below the directory of the same path, one per line. A long list is split into pages by further digits, so
//! that a query costs two short answers, however large the store is.
//!
//! Readers cache a list for a while. All its pages, including empty ones, are therefore written before the list that
//! refers to them. Pages of an earlier list are only removed by a later index run.
//!
//! Like pointers, the lists only say where to look. They are written when a store is uploaded to such a server; later
//! publishes and collections appear in them only after the next run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use walkdir::WalkDir;

use super::access::walk_error;
use super::batch::Batch;
use super::paths::RecordName;
use super::write::WriteError;
use super::{FindError, Store};
use crate::remote::Pages;

/// The directories with a list for each shard.
const KINDS: [&str; 2] = ["keys", "records"];

/// The minimum age of a list before unlisted pages are removed: no reader caches an older list.
const KEPT: Duration = Duration::from_secs(300);

impl Store {
    /// Writes the lists of names, replacing existing lists. Returns the number of lists and pages.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn write_index(&self) -> Result<usize, WriteError> {
        let _lease = self.lease();
        self.remove_pages()?;
        let (mut lists, mut pages) = (Lists::new(), Lists::new());
        for kind in KINDS {
            for shard in self.names(&self.paths.dir(kind))? {
                let directory = format!("{kind}/{shard}");
                let mut names = self.names_below(&directory)?;
                names.retain(|name| {
                    let last = name.rsplit('/').next().unwrap_or(name);
                    RecordName::parse(last).is_some()
                });
                self.add_lists(&directory, &names, &mut lists, &mut pages);
            }
        }
        let entries = self.names(&self.paths.entry_roots())?;
        lists.insert(self.paths.index("roots/entry"), text(&entries));
        self.write_lists(&pages)?;
        self.write_lists(&lists)?;
        self.remove_lists(&lists)?;
        Ok(lists.len() + pages.len())
    }

    fn write_lists(&self, lists: &Lists) -> Result<(), WriteError> {
        let mut batch = Batch::default();
        for (path, list) in lists {
            self.write(path, list.as_bytes(), &mut batch)?;
        }
        self.commit(batch).map_err(|(_, source)| source)
    }

    /// Adds the list of a directory; a long list is replaced by its pages and a note about them.
    fn add_lists(&self, directory: &str, names: &[String], lists: &mut Lists, all_pages: &mut Lists) {
        let list = text(names);
        let Some(pages) = Pages::of(list.len()) else {
            lists.insert(self.paths.index(directory), list);
            return;
        };
        lists.insert(self.paths.index(directory), pages.to_string());
        for page in pages.all(directory) {
            all_pages.insert(self.paths.index(&page), String::new());
        }
        for name in names {
            let page = self.paths.index(&pages.directory(directory, name));
            *all_pages.entry(page).or_default() += &format!("{name}\n");
        }
    }

    /// Removes lists of directories that no longer exist.
    fn remove_lists(&self, wanted: &Lists) -> Result<(), WriteError> {
        for directory in KINDS.map(|kind| self.paths.index(kind)) {
            for list in self.names(&directory)? {
                let path = directory.join(list);
                if !wanted.contains_key(&path) {
                    remove(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Removes pages that no reader looks for: their list was replaced a while ago, or is gone.
    fn remove_pages(&self) -> Result<(), WriteError> {
        for kind in KINDS {
            let pages = self.paths.index("pages").join(kind);
            for shard in self.names(&pages)? {
                let list = self.paths.index(kind).join(&shard);
                let written = fs_err::metadata(&list).and_then(|found| found.modified()).ok();
                if written.is_some_and(|written| written.elapsed().is_ok_and(|elapsed| elapsed < KEPT)) {
                    continue;
                }
                let named = fs_err::read_to_string(&list).ok().and_then(|list| Pages::find(&list));
                for page in self.names(&pages.join(&shard))? {
                    if !named.is_some_and(|named| named.has(&page)) {
                        remove(&pages.join(&shard).join(page))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the paths of the files below a directory, sorted, with `/` between names.
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

/// The content of lists or pages, by path.
type Lists = BTreeMap<PathBuf, String>;

fn remove(path: &Path) -> Result<(), WriteError> {
    fs_err::remove_file(path).map_err(|source| WriteError::new(path, source))
}

fn text(names: &[String]) -> String {
    names.iter().map(|name| format!("{name}\n")).collect()
}
