//! Detects whether files that a result depends on have changed, without reading them.
//!
//! [`Stat`] documents the detected changes. Missing files are watched too, since a file that appears earlier on a
//! search path would take precedence. If only the inode's change time differs, because of a new hard link, the file is
//! read again and its content decides.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use precast_store::key::ContentId;
use precast_store::stat::{Stat, TICK};
use serde::{Deserialize, Serialize};

/// A file and its state when it was read; `None` if it was missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Watched {
    path: PathBuf,
    stat: Option<Stat>,
    /// The hash of the content, if the file was read.
    content: Option<[u8; 32]>,
}

impl Watched {
    /// Records the current state of a file.
    pub(crate) fn look(path: PathBuf) -> Self {
        let stat = Stat::of(&path);
        Self { path, stat, content: None }
    }

    /// Hashes a file and records the hash, so that it can be compared by content if only the inode's change time
    /// differs.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(crate) fn hash(&mut self) -> std::io::Result<ContentId> {
        let content = ContentId::of_file(&self.path)?;
        self.content = Some(*content.as_bytes());
        Ok(content)
    }

    /// Reads a file and records its hash, as [`hash`](Self::hash) does.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(crate) fn read(&mut self) -> std::io::Result<(ContentId, Vec<u8>)> {
        let bytes = fs_err::read(&self.path)?;
        let content = ContentId::of(&bytes);
        self.content = Some(*content.as_bytes());
        Ok((content, bytes))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn is_unchanged(&self) -> bool {
        let now = Stat::of(&self.path);
        now == self.stat || self.is_same_content(now)
    }

    /// Returns whether the file has the content that was read, if only the inode's change time differs.
    fn is_same_content(&self, now: Option<Stat>) -> bool {
        let (Some(now), Some(then), Some(content)) = (now, self.stat, self.content) else { return false };
        let found = || ContentId::of_file(&self.path).ok();
        now.differs_in_inode_time_only(&then) && found().is_some_and(|found| *found.as_bytes() == content)
    }

    /// Returns the time since the last inode change; `None` if the file is missing or its time is in the future.
    fn age(&self, now: SystemTime) -> Option<Duration> {
        self.stat?.age(now)
    }
}

/// Returns the first file that changed.
pub(crate) fn changed(watched: &[Watched]) -> Option<&Path> {
    watched.iter().find(|file| !file.is_unchanged()).map(|file| &*file.path)
}

/// Waits until every file is old enough that a later change is certain to alter its times.
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
    fn file_rewritten_with_old_time_is_changed() {
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
    fn hard_link_is_not_a_change() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tool");
        fs_err::write(&path, "one").unwrap();
        let time = fs_err::metadata(&path).unwrap().modified().unwrap();
        let mut watched = Watched::look(path.clone());
        settle(std::slice::from_ref(&watched));
        let unread = watched.clone();
        watched.hash().unwrap();
        std::fs::hard_link(&path, directory.path().join("link")).unwrap();
        assert_eq!(changed(std::slice::from_ref(&watched)), None);
        assert_eq!(changed(&[unread]), Some(&*path));
        fs_err::write(&path, "two").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        assert_eq!(changed(&[watched]), Some(&*path));
    }

    #[test]
    fn new_file_is_detected() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("as");
        let watched = [Watched::look(path.clone())];
        assert_eq!(changed(&watched), None);
        fs_err::write(&path, "").unwrap();
        assert_eq!(changed(&watched), Some(&*path));
    }
}
