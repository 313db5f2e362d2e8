//! Leases: who publishes holds a store's lock with others, who collects garbage has it alone for a moment at a time.
//!
//! Between the object that a publish found and the record that it writes, nothing else says that the object is wanted. So a
//! publish holds a lease from its first look to its last pointer, and [`Store::sweep`](super::Store::sweep) deletes only while
//! nobody has one. Readers hold none: what they find is either there or a miss.
//!
//! A lease is a lock on the root's directory, so it ends with its holder. Publishers come to it through a gate, a lock on `tmp`,
//! which a collector closes while it waits: else it would never have its moment beside many of them. On a file system without locks, and after
//! [`PATIENCE`], work goes on without: the worst that can follow is a miss, which the next publish mends.

use std::fs::TryLockError;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Store;
use crate::step::{pause, step};

/// How often a lock is looked at.
const STEP: Duration = Duration::from_millis(5);

/// How long a publish waits for a collector, which is done with a batch in milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// What came of waiting for a lock; held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// None where there are no locks, or patience ended.
    _held: Option<fs_err::File>,
    /// Whether another one had it.
    pub(super) waited: bool,
    /// Whether another one has it still.
    pub(super) busy: bool,
}

/// With whom a lock is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// With nobody.
    Alone,
    /// With others of this kind.
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
    /// A lock on nothing.
    pub(super) fn none() -> Self {
        Self { _held: None, waited: false, busy: false }
    }
}

impl Store {
    /// Keeps collectors from deleting, until it is dropped.
    pub(super) fn lease(&self) -> Lock {
        let _gate = lock(&self.paths.dir("tmp"), Share::Others, PATIENCE);
        lock(&self.paths.root, Share::Others, PATIENCE)
    }

    /// Waits until nobody has a lease, at most for `patience`; until it is dropped nobody gets one.
    pub(super) fn alone(&self, patience: Duration) -> Lock {
        let _gate = lock(&self.paths.dir("tmp"), Share::Alone, patience);
        lock(&self.paths.root, Share::Alone, patience)
    }
}
