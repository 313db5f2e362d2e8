//! Sessions: files that a build has published or reused are not collected before the build ends, however short the
//! grace.
//!
//! A build publishes its records one after the other, and the entry that names them last. It therefore keeps a locked
//! file in `tmp/`, dated when the build began. A collector treats everything as young that is not older than the oldest
//! locked file. The lock ends with its holder, and the file of a killed build is collected like anything in `tmp/`. All
//! users can read the file, because the lock can only be tested on an open file. A file that cannot be opened counts as
//! locked.

use std::fs::TryLockError;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

use super::lease::{Share, lock};
use super::{FindError, Store};

/// The prefix of session files; a random suffix follows.
const PREFIX: &str = ".session-";

/// The time for which a build waits for a collector that tests its file.
const PATIENCE: Duration = Duration::from_secs(1);

/// A running build; it ends when dropped.
#[derive(Debug)]
pub struct Session {
    /// `None` if the store is not writable; then this user cannot collect anything either.
    _file: Option<NamedTempFile>,
    _lock: Option<super::lease::Lock>,
}

impl Store {
    /// Begins a build: everything published or reused from now on is kept until the build ends.
    #[must_use]
    pub fn begin(&self) -> Session {
        loop {
            let session = self.leave_file();
            // A collector may have deleted the file as a leftover before it was locked.
            if session._file.as_ref().is_none_or(|file| fs_err::symlink_metadata(file.path()).is_ok()) {
                return session;
            }
        }
    }

    fn leave_file(&self) -> Session {
        let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(self.paths.dir("tmp")).ok();
        let _ = file.as_ref().map(|file| readable(file.path()));
        let lock = file.as_ref().map(|file| lock(file.path(), Share::Alone, PATIENCE));
        // A collector may have tested the file before it was locked, and then relies on its time.
        let _ = file.as_ref().map(|file| file.as_file().set_modified(SystemTime::now()));
        Session { _file: file, _lock: lock }
    }

    /// Returns the start time of the oldest running build, if any.
    pub(super) fn building_since(&self) -> Result<Option<SystemTime>, FindError> {
        let directory = self.paths.dir("tmp");
        let mut oldest = None;
        for name in self.all_names(&directory)?.iter().filter(|name| name.starts_with(PREFIX)) {
            let path = directory.join(name);
            if !is_held(&path) {
                continue;
            }
            let began = match fs_err::symlink_metadata(&path).and_then(|found| found.modified()) {
                Ok(began) => began,
                // The build has just ended.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(source) => return Err(FindError::Io { path, source }),
            };
            oldest = Some(oldest.map_or(began, |oldest: SystemTime| oldest.min(began)));
        }
        Ok(oldest)
    }
}

/// Makes a file readable for all users, so that they can test its lock; temporary files are private by default.
fn readable(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    fs_err::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    Ok(())
}

/// The maximum duration of a build. A file that is older and cannot be opened was left by a killed build.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// An error: the build is still running.
pub(super) struct Held;

/// Takes the lock of a build that has ended, so that its file can be deleted. A build that starts with this file waits
/// for the lock, and then finds the file gone. Returns `None` for other files, and for files that cannot be opened or
/// locked.
pub(super) fn ended(path: &Path) -> Result<Option<fs_err::File>, Held> {
    let is_session =
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
    let Some(file) = is_session.then(|| fs_err::File::open(path).ok()).flatten() else { return Ok(None) };
    match file.file().try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Held),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Returns whether the file belongs to a running build, or may belong to one.
pub(super) fn is_held(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX))
        && match fs_err::File::open(path) {
            // A file system without locks has no sessions, so the grace must suffice.
            Ok(file) => matches!(file.file().try_lock_shared(), Err(TryLockError::WouldBlock)),
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(_) => {
                let touched = fs_err::symlink_metadata(path).and_then(|found| found.modified());
                touched.is_ok_and(|touched| touched.elapsed().map_or(true, |age| age < LONGEST))
            }
        }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn session_file_is_visible_or_counts_as_running() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path().join("store")).unwrap();
        assert_eq!(store.building_since().unwrap(), None);
        let session = store.begin();
        let path = session._file.as_ref().unwrap().path().to_owned();
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        assert!(is_held(&path) && store.building_since().unwrap().is_some());
        drop(session);
        assert!(!is_held(&path), "it is gone");
        // Opening a link to itself fails, even for root, with an error other than "not found", like opening another
        // user's file.
        symlink(&path, &path).unwrap();
        assert!(is_held(&path) && store.building_since().unwrap().is_some());
    }
}
