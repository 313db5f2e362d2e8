//! How everything reaches the disk: what belongs together is written without names, put on the disk at once, and only then
//! gets its names.
//!
//! ```text
//! each: object, documents, record ─▶ files without a name, not synced      pointers ─▶ noted
//! then: sync ─▶ renames, in the order of a publish ─▶ pointers ─▶ sync
//! ```
//! A file is on the disk before it has its name, so after a crash a name means a whole file. Two syncs of the file system serve
//! a thousand publishes. A few files, those of one publish say, are synced by themselves, all of them at once, so as not to wait for what
//! others write; with their directories' names that is two commits of a journal, and as many as two plain files take.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::Store;
use super::lease::Lock;
use super::write::{FEW_DIRECTORIES, FEW_FILES, WriteError, sync_all, touch};
use crate::key::{ActionKey, Digest};
use crate::step::step;
use crate::whole::{Closed, Whole};

/// What is written and waits for its name.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// A directory of the file system, opened before anything was written.
    disk: Option<fs_err::File>,
    /// Position of the item that is written now.
    item: usize,
    /// Each with the position of its item.
    files: Vec<(usize, Closed, PathBuf)>,
    pointers: Vec<(usize, PathBuf)>,
    /// The objects that are there, or get their names with this batch.
    pub(super) objects: BTreeSet<Digest>,
    /// What actions gave in this batch.
    pub(super) results: BTreeMap<ActionKey, Vec<Digest>>,
    /// Locks on directories, until everything has its name.
    pub(super) turns: BTreeMap<PathBuf, Lock>,
}

/// What was not written, and the position of the item that it is of, unless it is all of them.
pub(super) type Refused = (Option<usize>, WriteError);

impl Batch {
    /// Says that what follows is of the item at this position.
    pub(super) fn begin(&mut self, item: usize) {
        self.item = item;
    }

    /// Adds pointers, which get their names after all files.
    pub(super) fn point(&mut self, pointers: &[PathBuf]) {
        self.pointers.extend(pointers.iter().map(|pointer| (self.item, pointer.clone())));
    }
}

impl Store {
    /// Writes a file that gets its name with the others of a batch.
    pub(super) fn write(&self, path: &Path, bytes: &[u8], batch: &mut Batch) -> Result<(), WriteError> {
        let tmp = self.paths.dir("tmp");
        let refused = |source| WriteError::new(&tmp, source);
        if batch.disk.is_none() {
            batch.disk = Some(fs_err::File::open(&tmp).map_err(refused)?);
        }
        step();
        let mut file = Whole::with_mode(&tmp, 0o444).map_err(refused)?;
        file.write_all(bytes).map_err(|source| WriteError::new(path, source))?;
        batch.files.push((batch.item, file.close(), path.to_owned()));
        Ok(())
    }

    /// Gives everything its name, durably.
    pub(super) fn commit(&self, Batch { disk, files, pointers, turns, .. }: Batch) -> Result<(), Refused> {
        if files.is_empty() && pointers.is_empty() {
            return Ok(());
        }
        let all = |source| (None, source);
        let tmp = self.paths.dir("tmp");
        let open = || fs_err::File::open(&tmp).map_err(|source| all(WriteError::new(&tmp, source)));
        let disk = disk.map_or_else(open, Ok)?;
        let written: Vec<&Path> = files.iter().map(|(_, file, _)| file.path()).collect();
        sync_all(&disk, &written, FEW_FILES).map_err(all)?;
        let mut changed = BTreeSet::new();
        for (item, file, target) in files {
            let of = |source| (Some(item), source);
            changed.extend(self.make_parent(&target).map_err(of)?);
            step();
            file.rename(&target).map_err(|source| of(WriteError::new(&target, source)))?;
        }
        for (item, pointer) in &pointers {
            let of = |source| (Some(*item), source);
            changed.extend(self.make_parent(pointer).map_err(of)?);
            touch(pointer).map_err(of)?;
        }
        let changed: Vec<&Path> = changed.iter().map(PathBuf::as_path).collect();
        let synced = sync_all(&disk, &changed, FEW_DIRECTORIES);
        drop(turns);
        synced.map_err(all)
    }

    /// Writes one file, durably.
    pub(super) fn write_alone(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        let mut batch = Batch::default();
        self.write(path, bytes, &mut batch)?;
        self.commit(batch).map_err(|(_, source)| source)
    }

    /// Makes the directory of a file; gives it, and those that have a new one.
    fn make_parent(&self, path: &Path) -> Result<Vec<PathBuf>, WriteError> {
        let Some(parent) = path.parent() else { return Ok(Vec::new()) };
        let missing: Vec<&Path> = parent.ancestors().take_while(|above| !above.is_dir()).collect();
        let made = if self.make_dir(parent)? { parent.parent() } else { None };
        let above = missing.iter().filter_map(|missing| missing.parent()).chain(made);
        let above = above.filter(|above| above.starts_with(&self.paths.root));
        Ok(above.chain([parent]).map(Path::to_owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directory_that_has_a_new_one_is_synced() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path().join("store")).unwrap();
        let root = store.path().to_owned();
        let path = root.join("a/b/c/file");
        let mut synced = store.make_parent(&path).unwrap();
        synced.sort();
        synced.dedup();
        assert_eq!(synced, [root.clone(), root.join("a"), root.join("a/b"), root.join("a/b/c")]);
        assert_eq!(store.make_parent(&path).unwrap(), [root.join("a/b/c")]);
    }
}
