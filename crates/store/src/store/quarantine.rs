//! Moves what is damaged out of the way, where the tree can be written, and tells of it in any case.
//!
//! Two processes may find the same damage; one of them moves the file, the other finds it gone. When a writer has meanwhile
//! put a good file in its place, that file may be moved too: a miss, which the next publish mends, never a wrong answer.

use std::path::{Path, PathBuf};

use super::Store;
use super::write::create_dir;
use crate::event::Event;
use crate::step::step;

impl Store {
    /// Quarantines `path` and tells the observer.
    pub(super) fn damaged(&self, path: &Path, reason: impl Into<String>) {
        let quarantined = self.quarantine(path);
        let place = path.display().to_string();
        self.observer.tell(&Event::Damaged { place, reason: reason.into(), quarantined });
    }

    fn quarantine(&self, path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?;
        let prefix = format!("{}.", name.to_str()?);
        let quarantine = self.paths.dir("quarantine");
        // It may be what was lost; and it may be that nothing can be made here.
        let _ = create_dir(&quarantine);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
        let directory = builder.tempdir_in(quarantine).ok()?;
        let target = directory.path().join(name);
        step();
        fs_err::rename(path, &target).ok()?;
        // From here on the directory stays.
        let _ = directory.keep();
        Some(target)
    }
}
