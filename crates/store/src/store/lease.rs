//! Leases: publishers share a lock on the store, and a collector holds it exclusively for short moments.
//!
//! Between the time when a publish finds an existing object and the time when it writes its record, nothing else shows
//! that the object is in use. A publish therefore holds a lease from its first read to its last pointer, and
//! [`Store::sweep`](super::Store::sweep) deletes only while there are no leases. Readers hold none: they either find a
//! file or miss.
//!
//! A lease is a lock on the root directory, so it ends with its holder. Publishers pass a gate first, a lock on `tmp`.
//! A waiting collector closes the gate; otherwise it would never get a turn beside many publishers. On a file system
//! without locks, and after [`PATIENCE`], work continues without a lease. The worst consequence is a miss, which the
//! next publish repairs.

use std::fs::TryLockError;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Store;
use crate::step::{pause, step};

/// The interval between attempts to take a lock.
const STEP: Duration = Duration::from_millis(5);

/// The time for which a publish waits for a collector, whose batches take milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// The outcome of waiting for a lock, which is held until dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// `None` if the file system has no locks, or patience ended.
    _held: Option<fs_err::File>,
    /// Whether another process held the lock.
    pub(super) waited: bool,
    /// Whether another process still holds the lock.
    pub(super) busy: bool,
}

/// The mode of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// Exclusive.
    Alone,
    /// Shared with other holders of this kind.
    Others,
}

/// Waits for the lock on a directory, at most for `patience`.
pub(super) fn lock(directory: &Path, share: Share, patience: Duration) -> Lock {
    let mut lock = Lock::none();
    let begin = Instant::now();
    let Ok(file) = fs_err::File::open(directory) else { return lock };
    loop {
        step();
        let tried = match share {
            Share::Alone => file.file().try_lock(),
            Share::Others => file.file().try_lock_shared(),
        };
        match tried {
            Ok(()) => return Lock { _held: Some(file), ..lock },
            Err(TryLockError::Error(_)) => return lock,
            Err(TryLockError::WouldBlock) => lock.waited = true,
        }
        if begin.elapsed() >= patience {
            return Lock { busy: true, ..lock };
        }
        pause(STEP);
    }
}

impl Lock {
    /// Returns a lock on nothing.
    pub(super) fn none() -> Self {
        Self { _held: None, waited: false, busy: false }
    }
}

impl Store {
    /// Prevents collectors from deleting, until dropped.
    pub(super) fn lease(&self) -> Lock {
        let _gate = lock(&self.paths.dir("tmp"), Share::Others, PATIENCE);
        lock(&self.paths.root, Share::Others, PATIENCE)
    }

    /// Waits until there are no leases, at most for `patience`. Prevents new leases until dropped.
    pub(super) fn alone(&self, patience: Duration) -> Lock {
        let _gate = lock(&self.paths.dir("tmp"), Share::Alone, patience);
        lock(&self.paths.root, Share::Alone, patience)
    }
}
