//! Detects that a file is unchanged without reading it.
//!
//! A file counts as unchanged if its device, inode, size, content time and inode time (in nanoseconds) are the same.
//! Programs cannot set the inode time, so a file rewritten in place with its old content time is detected. Kernel
//! timestamps are coarse: a file younger than a [`TICK`] may change and keep its times.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// The coarsest file clock of a kernel: two changes within one tick can have the same times.
pub const TICK: Duration = Duration::from_millis(20);

/// The metadata that identifies the content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl Stat {
    /// Returns the metadata of a file, or `None` if it cannot be read.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        Self::read(&fs_err::metadata(path).ok()?)
    }

    /// Converts file-system metadata.
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

    /// Converts file-system metadata. Device, inode and inode time are not available on this platform.
    #[cfg(not(unix))]
    #[must_use]
    pub fn read(found: &Metadata) -> Option<Self> {
        let modified = found.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let modified_ns = i128::try_from(modified.as_nanos()).ok()?;
        Some(Self { device: 0, inode: 0, size: found.len(), modified_ns, changed_ns: modified_ns })
    }

    /// Returns whether two values differ only in the inode time. The content may still be the same: adding a hard link
    /// or changing the mode sets only that time.
    #[must_use]
    pub fn differs_in_inode_time_only(&self, other: &Self) -> bool {
        self != other && Self { changed_ns: other.changed_ns, ..*self } == *other
    }

    /// Returns the time between the last inode change and `now`; `None` if the change is in the future.
    #[must_use]
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        let changed = u64::try_from(self.changed_ns).ok()?;
        now.duration_since(SystemTime::UNIX_EPOCH + Duration::from_nanos(changed)).ok()
    }
}
