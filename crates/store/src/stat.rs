//! What tells, without reading a file, that it is as it was.
//!
//! A file counts as unchanged by device, inode, size, and the times of its content and of its inode in nanoseconds. No
//! program can set the last one, so a file that is rewritten in place under its old time does not pass. Kernels keep these
//! times coarsely: what is younger than a [`TICK`] may change and keep them.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// How coarse a kernel's clock for files may be: a change within one tick of another has the same times.
pub const TICK: Duration = Duration::from_millis(20);

/// What identifies the content of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl Stat {
    /// Looks at a file, where there is one.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        Self::read(&fs_err::metadata(path).ok()?)
    }

    /// Takes it from what the file system said.
    #[cfg(unix)]
    #[must_use]
    pub fn read(found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let ns = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified_ns: ns(found.mtime(), found.mtime_nsec()),
            changed_ns: ns(found.ctime(), found.ctime_nsec()),
        })
    }

    /// Takes it from what the file system said, which is less than elsewhere.
    #[cfg(not(unix))]
    #[must_use]
    pub fn read(found: &Metadata) -> Option<Self> {
        let modified = found.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let modified_ns = i128::try_from(modified.as_nanos()).ok()?;
        Some(Self { device: 0, inode: 0, size: found.len(), modified_ns, changed_ns: modified_ns })
    }

    /// Returns whether a file's content may still be the same, though the time of its inode is another: a hard link or a
    /// change of mode sets only that time.
    #[must_use]
    pub fn differs_in_inode_time_only(&self, other: &Self) -> bool {
        self != other && Self { changed_ns: other.changed_ns, ..*self } == *other
    }

    /// Says how long before `now` the inode changed; `None` for a file that comes from the future.
    #[must_use]
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        let changed = u64::try_from(self.changed_ns).ok()?;
        now.duration_since(SystemTime::UNIX_EPOCH + Duration::from_nanos(changed)).ok()
    }
}
