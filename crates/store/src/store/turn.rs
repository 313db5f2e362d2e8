//! Turns: of several processes that would compile one module, one does, and the others find what it published.
//!
//! A turn is a lock on the directory that holds the pointers of the key and of its neighbours, so nothing is left behind,
//! however its holder ends. Nothing relies on it: who has waited long enough, or is on a file system without locks, compiles
//! too, and publishes the same bytes.

use std::fs::TryLockError;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Store;
use crate::key::BuildKey;

/// How often the lock is looked at.
const STEP: Duration = Duration::from_millis(5);

/// The right to compile a module, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _lock: Option<fs_err::File>,
    waited: bool,
}

impl Turn {
    /// Whether another one had it: then the module may be there.
    #[must_use]
    pub fn waited(&self) -> bool {
        self.waited
    }
}

impl Store {
    /// Waits until nobody else has the turn of a key, at most for `patience`.
    #[must_use]
    pub fn turn(&self, key: &BuildKey, patience: Duration) -> Turn {
        let pointers = self.paths.pointers(&key.to_string());
        let shard = pointers.parent().filter(|shard| self.make_dir(shard).is_ok());
        shard.map_or(Turn { _lock: None, waited: false }, |shard| wait(shard, patience))
    }
}

fn wait(shard: &Path, patience: Duration) -> Turn {
    let (begin, mut waited) = (Instant::now(), false);
    let Ok(file) = fs_err::File::open(shard) else { return Turn { _lock: None, waited } };
    loop {
        match file.file().try_lock() {
            Ok(()) => return Turn { _lock: Some(file), waited },
            Err(TryLockError::Error(_)) => return Turn { _lock: None, waited },
            Err(TryLockError::WouldBlock) => waited = true,
        }
        if begin.elapsed() >= patience {
            return Turn { _lock: None, waited };
        }
        sleep(STEP);
    }
}
