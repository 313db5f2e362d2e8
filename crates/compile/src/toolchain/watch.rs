//! Files that an answer was made from, and how to tell without reading them that they are as they were.
//!
//! [`Stat`] says which change is seen. A file that is not there is watched too: one that appears earlier on a search path
//! would be taken instead.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use precast_store::stat::{Stat, TICK};
use serde::{Deserialize, Serialize};

/// A file and what it was when it was read; `None`: it was not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Watched {
    path: PathBuf,
    stat: Option<Stat>,
}

impl Watched {
    /// Looks at a file.
    pub(crate) fn look(path: PathBuf) -> Self {
        let stat = Stat::of(&path);
        Self { path, stat }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn is_unchanged(&self) -> bool {
        Stat::of(&self.path) == self.stat
    }

    /// How long ago its inode changed; `None` for a file that is not there or comes from the future.
    fn age(&self, now: SystemTime) -> Option<Duration> {
        self.stat?.age(now)
    }
}

/// Finds the first file that is not as it was.
pub(crate) fn changed(watched: &[Watched]) -> Option<&Path> {
    watched.iter().find(|file| !file.is_unchanged()).map(|file| &*file.path)
}

/// Waits until no file is so young that a change from now on could have its times.
pub(crate) fn settle(watched: &[Watched]) {
    let now = SystemTime::now();
    if let Some(youngest) = watched.iter().filter_map(|file| file.age(now)).min() {
        thread::sleep(TICK.saturating_sub(youngest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_rewritten_in_place_under_its_old_time_is_another() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tool");
        fs_err::write(&path, "one").unwrap();
        let time = fs_err::metadata(&path).unwrap().modified().unwrap();
        let watched = [Watched::look(path.clone())];
        settle(&watched);
        assert_eq!(changed(&watched), None);
        fs_err::write(&path, "two").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        assert_eq!(changed(&watched), Some(&*path));
    }

    #[test]
    fn a_file_that_appears_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("as");
        let watched = [Watched::look(path.clone())];
        assert_eq!(changed(&watched), None);
        fs_err::write(&path, "").unwrap();
        assert_eq!(changed(&watched), Some(&*path));
    }
}
