//! Deletes what a plan says, a batch at a time, alone with the store, after another look at what is named.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use walkdir::WalkDir;

use super::super::{Store, WriteError};
use super::named::Named;
use super::plan::{length, modified};
use super::{GcPlan, Guard, Victim};
use crate::stat::TICK;
use crate::step::step;

/// How many things are deleted at least before publishers have a turn. In a large store there are more, so that looking at all
/// names once a batch costs little.
const BATCH: usize = 64;

/// How long a collector waits for publishers, each of which is done in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many of the plan's victims are gone.
    pub removed: usize,
    /// How much that freed, in bytes.
    pub bytes: u64,
    /// How many were built or used since the plan was made, and stay.
    pub spared: usize,
    /// How many are left since others were publishing all the time.
    pub left: usize,
}

impl Store {
    /// Deletes what can go, if it is still as it was when the plan was made. Safe beside any number of readers, publishers and
    /// other collectors; interrupted, it has deleted less.
    ///
    /// # Errors
    ///
    /// The file system refuses to delete something.
    pub fn sweep(&self, plan: &GcPlan) -> Result<Swept, WriteError> {
        let mut swept = Swept::default();
        for batch in plan.victims.chunks(BATCH.max(plan.digests.len() / BATCH)) {
            let alone = self.alone(PATIENCE);
            if alone.busy {
                swept.left += batch.len();
                continue;
            }
            let mut named = self.named(plan)?;
            let building = self.building_since()?;
            for victim in batch {
                if !victim.guards.iter().all(|guard| guard.holds(&named, building)) {
                    swept.spared += 1;
                    continue;
                }
                swept.bytes += self.delete(victim, &mut named)?;
                swept.removed += 1;
            }
        }
        Ok(swept)
    }
}

impl Guard {
    /// Whether it still holds, where builds that go on began at `building`: what these published while the plan was made has the
    /// time that the plan saw.
    fn holds(&self, named: &Named, building: Option<SystemTime>) -> bool {
        match self {
            Self::Same(path, planned) => {
                modified(path) == Some(*planned) && building.is_none_or(|began| *planned + TICK < began)
            }
            Self::Absent(path) => modified(path).is_none(),
            Self::Unnamed(digest) => !named.has_archive(digest),
            Self::Meaningless(graph) => !named.has_graph(graph),
        }
    }
}

impl Store {
    /// Deletes; gives how much that frees, in bytes.
    fn delete(&self, victim: &Victim, named: &mut Named) -> Result<u64, WriteError> {
        let mut freed = 0;
        for path in &victim.files {
            freed += self.remove(path)?;
            // The directory of a key whose last pointer this was; every other directory stays.
            let directory = path.parent().filter(|directory| is_of_a_key(directory));
            step();
            let _ = directory.map(fs_err::remove_dir);
        }
        if let Some((name, digest)) = &victim.archive {
            named.forget(name, digest);
            if !named.has_archive(digest) {
                freed += self.remove(&self.paths.object(digest))?;
            }
        }
        Ok(freed)
    }

    fn remove(&self, path: &Path) -> Result<u64, WriteError> {
        self.owns(path)?;
        let bytes = WalkDir::new(path).into_iter().flatten().map(|found| length(found.path())).sum();
        remove(path).map_err(|source| WriteError::new(path, source))?;
        Ok(bytes)
    }

    /// What lies behind a link is not the store's, and not deleted.
    fn owns(&self, path: &Path) -> Result<(), WriteError> {
        let above = path.ancestors().skip(1).take_while(|directory| *directory != self.paths.root);
        for directory in above {
            if fs_err::symlink_metadata(directory).is_ok_and(|found| found.is_symlink()) {
                let why = "it is a link, and what is behind it is not deleted; put a directory in its place";
                return Err(WriteError::new(directory, io::Error::other(why)));
            }
        }
        Ok(())
    }
}

fn is_of_a_key(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name.len() == 64)
}

fn remove(path: &Path) -> io::Result<()> {
    step();
    let removed = match fs_err::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs_err::remove_dir_all(path),
        Ok(_) => fs_err::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
