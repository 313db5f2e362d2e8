//! Executes a plan in batches under an exclusive lock, and checks each victim again before deleting it.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use walkdir::WalkDir;

use super::super::paths::{CURRENT, Paths, RecordName};
use super::super::session::ended;
use super::super::{Store, WriteError};
use super::named::Named;
use super::plan::{length, modified};
use super::{GcPlan, Going, Guard, Victim};
use crate::stat::TICK;
use crate::step::step;

/// The minimum number of victims in a batch; publishers get a turn between batches.
const BATCH: usize = 64;

/// The maximum number of batches, unless they would become too long: all names are read again before each batch.
const BATCHES: usize = 16;

/// The maximum number of victims in a batch, so that publishers wait only seconds.
const LONGEST: usize = 4096;

/// The time for which a collector waits for publishers, each of which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// The number of deleted victims.
    pub removed: usize,
    /// The number of bytes freed.
    pub bytes: u64,
    /// The number of victims kept because they were built or used since the plan was made.
    pub spared: usize,
    /// The number of victims left because publishers were active all the time.
    pub left: usize,
}

impl Store {
    /// Deletes the victims of a plan whose conditions still hold. Any number of readers, publishers and other
    /// collectors may run at the same time. An interrupted sweep has deleted a part of the victims.
    ///
    /// # Errors
    ///
    /// The file system refuses to delete a file.
    pub fn sweep(&self, plan: &GcPlan) -> Result<Swept, WriteError> {
        let mut swept = Swept::default();
        for batch in plan.victims.chunks(batch_of(plan.victims.len())) {
            let alone = self.alone(PATIENCE);
            if alone.busy {
                swept.left += batch.len();
                continue;
            }
            let (mut named, mut real) = (self.named(plan)?, Real::new());
            let building = self.building_since()?;
            for victim in batch {
                if !victim.guards.iter().all(|guard| guard.holds(&named, building)) {
                    swept.spared += 1;
                    continue;
                }
                let ended: Result<Vec<_>, _> = victim.files.iter().map(|path| ended(path)).collect();
                let Ok(_ended) = ended else {
                    swept.spared += 1;
                    continue;
                };
                swept.bytes += self.delete(victim, &mut named, &mut real)?;
                swept.removed += 1;
            }
        }
        Ok(swept)
    }
}

/// Returns the number of victims per batch.
fn batch_of(victims: usize) -> usize {
    victims.div_ceil(BATCHES).clamp(BATCH, LONGEST)
}

impl Guard {
    /// Returns whether the condition still holds. `building` is the start of the oldest running build. Files written
    /// since then are kept, because the plan may have seen their new time already.
    fn holds(&self, named: &Named, building: Option<SystemTime>) -> bool {
        match self {
            Self::Same(path, planned) => {
                modified(path) == Some(*planned) && building.is_none_or(|began| *planned + TICK < began)
            }
            Self::Absent(path) => modified(path).is_none(),
            Self::Unnamed(digest) => !named.has_archive(digest),
            Self::Meaningless(graph) => !named.has_graph(graph),
            Self::Unreleased(graph) => !named.is_released(graph),
            Self::NotServed(release) => !named.is_served(release),
        }
    }
}

impl Store {
    /// Deletes a victim. Returns the number of bytes freed.
    fn delete(&self, victim: &Victim, named: &mut Named, real: &mut Real) -> Result<u64, WriteError> {
        let mut freed = 0;
        for path in &victim.files {
            freed += self.remove(path, real)?;
        }
        let Some(Going { name, keys, archive }) = &victim.record else { return Ok(freed) };
        let mut files = self.beside_record(name, keys);
        let documents = files.split_off(keys.len());
        for path in files.iter().chain([&self.paths.record(name)]).chain(&documents) {
            freed += self.remove(path, real)?;
        }
        named.forget(name, archive);
        if !named.has_archive(archive) {
            freed += self.remove(&self.paths.object(archive), real)?;
        }
        Ok(freed)
    }

    /// Returns the files that are deleted with a record: its pointers, one per key, and then the files next to it.
    pub(super) fn beside_record(&self, name: &RecordName, keys: &BTreeSet<String>) -> Vec<PathBuf> {
        let pointers = keys.iter().map(|key| self.paths.pointers(key).join(name.to_string()));
        let (documents, provenance) = (self.paths.documents(name), self.paths.provenance(name));
        pointers.chain([documents, provenance, Paths::signatures(&self.paths.record(name))]).collect()
    }

    /// Deletes a file or directory, and the directory of a key if its last pointer was deleted. Other directories stay.
    fn remove(&self, path: &Path, real: &mut Real) -> Result<u64, WriteError> {
        let Some(directory) = path.parent() else { return Ok(0) };
        self.owns(directory, real)?;
        let bytes = remove(path).map_err(|source| WriteError::new(path, source))?;
        if is_of_a_key(directory) {
            self.remove_current(directory)?;
            step();
            if fs_err::remove_dir(directory).is_ok() {
                real.remove(directory);
            }
        }
        Ok(bytes)
    }

    /// Deletes the names of current generations if no pointer is left.
    fn remove_current(&self, directory: &Path) -> Result<(), WriteError> {
        let names = self.all_names(directory)?;
        if names.iter().all(|name| name.starts_with(CURRENT)) {
            for path in names.iter().map(|name| directory.join(name)) {
                remove(&path).map_err(|source| WriteError::new(&path, source))?;
            }
        }
        Ok(())
    }

    /// Checks that no directory on the path is a link: files behind a link do not belong to the store and are not
    /// deleted.
    fn owns(&self, directory: &Path, real: &mut Real) -> Result<(), WriteError> {
        for directory in directory.ancestors().take_while(|directory| *directory != self.paths.root) {
            if real.contains(directory) {
                break;
            }
            if fs_err::symlink_metadata(directory).is_ok_and(|found| found.is_symlink()) {
                let why = "it is a link, and link targets are not deleted; replace it with a directory";
                return Err(WriteError::new(directory, io::Error::other(why)));
            }
        }
        real.extend(directory.ancestors().take_while(|above| *above != self.paths.root).map(Path::to_owned));
        Ok(())
    }
}

/// The directories of the store that are known not to be links, with all their parents. Valid under the exclusive lock.
type Real = HashSet<PathBuf>;

fn is_of_a_key(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name.len() == 64)
}

/// Deletes a file or directory if it exists. Returns the number of bytes freed.
fn remove(path: &Path) -> io::Result<u64> {
    step();
    let removed = fs_err::symlink_metadata(path).and_then(|found| {
        if !found.is_dir() {
            return fs_err::remove_file(path).map(|()| found.len());
        }
        let bytes = WalkDir::new(path).into_iter().flatten().map(|found| length(found.path())).sum();
        fs_err::remove_dir_all(path).map(|()| bytes)
    });
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_batches_stay_within_lock_timeout() {
        for (victims, batch) in [(0, 64), (1000, 64), (3200, 200), (65536, 4096), (1 << 30, 4096)] {
            assert_eq!(batch_of(victims), batch, "{victims}");
        }
    }
}
