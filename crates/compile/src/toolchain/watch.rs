//! Files that an answer was made from, and how to tell without reading them that they are as they were.
//!
//! A file counts as unchanged by device, inode, size, and the times of its content and of its inode in nanoseconds. No
//! program can set the last one, so a tool that is rewritten in place under its old time does not pass. A file that is not
//! there is watched too: one that appears earlier on a search path would be taken instead.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// How coarse a kernel's clock for files may be: a change within one tick of another has the same times.
const TICK: Duration = Duration::from_millis(20);

/// What identifies the content of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stat {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
    changed_ns: i128,
}

/// A file and what it was when it was read; `None`: it was not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Watched {
    path: PathBuf,
    stat: Option<Stat>,
}

impl Watched {
    /// Looks at a file.
    pub(crate) fn look(path: PathBuf) -> Self {
        let stat = stat(&path);
        Self { path, stat }
    }

    fn is_unchanged(&self) -> bool {
        stat(&self.path) == self.stat
    }

    /// How long ago its inode changed; `None` for a file that is not there or comes from the future.
    fn age(&self, now: SystemTime) -> Option<Duration> {
        let changed = u64::try_from(self.stat?.changed_ns).ok()?;
        now.duration_since(SystemTime::UNIX_EPOCH + Duration::from_nanos(changed)).ok()
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

#[cfg(unix)]
fn stat(path: &Path) -> Option<Stat> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs_err::metadata(path).ok()?;
    let ns = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Some(Stat {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified_ns: ns(found.mtime(), found.mtime_nsec()),
        changed_ns: ns(found.ctime(), found.ctime_nsec()),
    })
}

#[cfg(not(unix))]
fn stat(path: &Path) -> Option<Stat> {
    let found = fs_err::metadata(path).ok()?;
    let modified = found.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let modified_ns = i128::try_from(modified.as_nanos()).ok()?;
    Some(Stat { device: 0, inode: 0, size: found.len(), modified_ns, changed_ns: modified_ns })
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
