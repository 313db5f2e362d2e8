//! Reports damaged files, and moves them away if the tree is writable and its permissions protect it.
//!
//! If two processes find the same damage, one moves the file and the other finds it gone. If a writer has replaced the
//! file in the meantime, the good file may be moved too. That is a miss, which the next publish repairs, and never a
//! wrong answer.

use std::path::{Path, PathBuf};

use super::Store;
use super::write::create_dir;
use crate::event::Event;
use crate::step::step;
use crate::trust::Protection;

impl Store {
    /// Quarantines `path` and reports the damage to the observer.
    pub(super) fn damaged(&self, path: &Path, reason: impl Into<String>) {
        let quarantined = self.quarantine(path);
        let place = path.display().to_string();
        self.observer.tell(&Event::Damaged { place, reason: reason.into(), quarantined });
    }

    fn quarantine(&self, path: &Path) -> Option<PathBuf> {
        // In a directory that another user can change, the path may lead to another file by now.
        if self.protection == Protection::Signatures {
            return None;
        }
        let name = path.file_name()?;
        let prefix = format!("{}.", name.to_str()?);
        let quarantine = self.paths.dir("quarantine");
        // The quarantine directory itself may be lost. Errors are ignored, because the store may be read-only.
        let _ = create_dir(&quarantine);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
        let directory = builder.tempdir_in(quarantine).ok()?;
        let target = directory.path().join(name);
        step();
        fs_err::rename(path, &target).ok()?;
        // From here on the directory is kept.
        let _ = directory.keep();
        Some(target)
    }
}
