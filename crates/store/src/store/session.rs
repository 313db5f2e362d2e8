//! Sessions: what a build has published or come to is not collected before the build is done, however short the grace.
//!
//! A build publishes records one after the other and their entry last; until then nothing names them. So it leaves a file in
//! `tmp/`, locked for as long as it lives and dated when it began. A collector counts as young what is not older than the oldest of
//! them. The lock ends with its holder, and the file of one that was killed is collected like anything in `tmp/`. Everybody may read
//! such a file, since a lock is seen by opening it: what cannot be opened counts as held.

use std::fs::TryLockError;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

use super::lease::{Share, lock};
use super::{FindError, Store};

/// What such a file is called, and something random.
const PREFIX: &str = ".session-";

/// How long a build waits for a collector that looks at its file.
const PATIENCE: Duration = Duration::from_secs(1);

/// A build that goes on, until it is dropped.
#[derive(Debug)]
pub struct Session {
    /// None where nothing can be written, and so nothing collected by this user.
    _file: Option<NamedTempFile>,
    _lock: Option<super::lease::Lock>,
}

impl Store {
    /// Begins a build: what is published or reused from now on stays until it is done.
    #[must_use]
    pub fn begin(&self) -> Session {
        loop {
            let session = self.leave_file();
            // A collector may have taken the file for one that was left, and deleted it before it was locked.
            if session._file.as_ref().is_none_or(|file| fs_err::symlink_metadata(file.path()).is_ok()) {
                return session;
            }
        }
    }

    fn leave_file(&self) -> Session {
        let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(self.paths.dir("tmp")).ok();
        let _ = file.as_ref().map(|file| readable(file.path()));
        let lock = file.as_ref().map(|file| lock(file.path(), Share::Alone, PATIENCE));
        // A collector may have looked before it was locked, and goes by the time.
        let _ = file.as_ref().map(|file| file.as_file().set_modified(SystemTime::now()));
        Session { _file: file, _lock: lock }
    }

    /// When the oldest of the builds that go on began, if there are any.
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
                // It has just ended.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(source) => return Err(FindError::Io { path, source }),
            };
            oldest = Some(oldest.map_or(began, |oldest: SystemTime| oldest.min(began)));
        }
        Ok(oldest)
    }
}

/// Lets others see that a file is locked; temporary files are their owner's alone.
fn readable(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    fs_err::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    Ok(())
}

/// No build takes longer. What cannot be opened and is older was left by one that was killed.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Says that a build goes on.
pub(super) struct Held;

/// Takes the lock of a build that has ended, for its file to be deleted: who begins with it waits, and then finds it gone. There is no
/// lock to take of another file, nor of one that cannot be opened.
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

/// Whether the file is that of a build that goes on, or that cannot be told.
pub(super) fn is_held(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX))
        && match fs_err::File::open(path) {
            // On a file system without locks there are no sessions, and the grace has to do.
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
    fn a_session_is_seen_by_others_and_one_that_cannot_be_opened_is_held() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path().join("store")).unwrap();
        assert_eq!(store.building_since().unwrap(), None);
        let session = store.begin();
        let path = session._file.as_ref().unwrap().path().to_owned();
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        assert!(is_held(&path) && store.building_since().unwrap().is_some());
        drop(session);
        assert!(!is_held(&path), "it is gone");
        // As with a file of another user, opening it fails otherwise than for want of a file, root included.
        symlink(&path, &path).unwrap();
        assert!(is_held(&path) && store.building_since().unwrap().is_some());
    }
}
