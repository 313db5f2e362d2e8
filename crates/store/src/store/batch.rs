//! Writes batches durably: files are written under temporary names, synced together, and only then renamed.
//!
//! ```text
//! each item: object, documents, record ─▶ temporary files, not synced      pointers ─▶ noted
//! commit: sync ─▶ renames, in the order of a publish ─▶ pointers ─▶ sync
//! ```
//! A file is on disk before it has its name, so after a crash every named file is complete. Two syncs of the file
//! system serve a thousand publishes. A few files, such as those of one publish, are synced individually but
//! concurrently, so that they do not wait for writes of other programs. Including the directories' names, this takes
//! two journal commits, as many as two plain files take.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::Store;
use super::lease::Lock;
use super::write::{FEW_DIRECTORIES, FEW_FILES, WriteError, sync_all, touch};
use crate::key::{ActionKey, Digest};
use crate::step::step;
use crate::whole::{Closed, Whole};

/// Written data that waits for its names.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// A directory of the file system, opened before anything was written.
    disk: Option<fs_err::File>,
    /// The position of the current item.
    item: usize,
    /// Each file with the position of its item.
    files: Vec<(usize, Closed, PathBuf)>,
    pointers: Vec<(usize, PathBuf)>,
    /// The objects that exist or will be named by this batch.
    pub(super) objects: BTreeSet<Digest>,
    /// The results of actions in this batch.
    pub(super) results: BTreeMap<ActionKey, Vec<Digest>>,
    /// Locks on directories, held until all files have their names.
    pub(super) turns: BTreeMap<PathBuf, Lock>,
}

/// A write error and the position of its item; no position if it concerns the whole batch.
pub(super) type Refused = (Option<usize>, WriteError);

impl Batch {
    /// Sets the position of the item for the following writes.
    pub(super) fn begin(&mut self, item: usize) {
        self.item = item;
    }

    /// Adds pointers, which are created after all files are renamed.
    pub(super) fn point(&mut self, pointers: &[PathBuf]) {
        self.pointers.extend(pointers.iter().map(|pointer| (self.item, pointer.clone())));
    }
}

impl Store {
    /// Writes a file that is named when the batch is committed.
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

    /// Renames all files durably.
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

    /// Writes a single file durably.
    pub(super) fn write_alone(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        let mut batch = Batch::default();
        self.write(path, bytes, &mut batch)?;
        self.commit(batch).map_err(|(_, source)| source)
    }

    /// Creates the directory of a file. Returns that directory and all directories that gained a new entry.
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
    fn every_parent_directory_is_synced() {
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
