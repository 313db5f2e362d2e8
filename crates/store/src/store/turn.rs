//! Turns: of several processes that would compile one module, one does, and the others find what it published.
//!
//! A turn is a lock on the directory that holds the pointers of the key and of its neighbours, so nothing is left behind,
//! however its holder ends. Nothing relies on it: who has waited long enough, or is on a file system without locks, compiles
//! too, and publishes the same bytes.

use std::time::Duration;

use super::Store;
use super::lease::{Lock, Share, lock};
use crate::key::BuildKey;

/// The right to compile a module, until it is dropped.
#[derive(Debug)]
pub struct Turn(Lock);

impl Turn {
    /// Whether another one had it: then the module may be there.
    #[must_use]
    pub fn waited(&self) -> bool {
        self.0.waited
    }
}

impl Store {
    /// Waits until nobody else has the turn of a key, at most for `patience`.
    #[must_use]
    pub fn turn(&self, key: &BuildKey, patience: Duration) -> Turn {
        let pointers = self.paths.pointers(&key.to_string());
        let shard = pointers.parent().filter(|shard| self.make_dir(shard).is_ok());
        Turn(shard.map_or_else(Lock::none, |shard| lock(shard, Share::Alone, patience)))
    }
}
