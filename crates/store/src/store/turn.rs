//! Turns: if several processes would compile one module, one compiles it and the rest find the published result.
//!
//! A turn is a lock on the directory that holds the pointers of the key and its neighbours, so it leaves nothing behind
//! however its holder ends. Correctness does not depend on it. A process that waited long enough, or uses a file system
//! without locks, also compiles, and publishes the same bytes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::Store;
use super::lease::{Lock, Share, lock};
use crate::key::BuildKey;

/// The right to compile a module, held until dropped.
#[derive(Debug)]
pub struct Turn(Lock);

impl Turn {
    /// Returns whether another process still holds the turn.
    fn is_busy(&self) -> bool {
        self.0.busy
    }

    /// Returns whether another process held the turn; the module may then be published already.
    #[must_use]
    pub fn waited(&self) -> bool {
        self.0.waited
    }
}

impl Store {
    /// Waits until no other process holds the turn of a key, at most for `patience`.
    #[must_use]
    pub fn turn(&self, key: &BuildKey, patience: Duration) -> Turn {
        let shard = self.shard(key);
        let shard = Some(&shard).filter(|shard| self.make_dir(shard).is_ok());
        Turn(shard.map_or_else(Lock::none, |shard| lock(shard, Share::Alone, patience)))
    }

    fn shard(&self, key: &BuildKey) -> PathBuf {
        let mut pointers = self.paths.pointers(&key.to_string());
        pointers.pop();
        pointers
    }
}

/// The turns of many keys, taken one after the other without waiting. Keys in the same directory share a turn.
#[derive(Debug)]
pub struct Turns<'s> {
    store: &'s Store,
    shards: BTreeMap<PathBuf, Turn>,
}

impl<'s> Turns<'s> {
    /// Creates an empty set of turns.
    #[must_use]
    pub fn new(store: &'s Store) -> Self {
        Self { store, shards: BTreeMap::new() }
    }

    /// Takes the turn of a key; `false` if another process holds it.
    pub fn take(&mut self, key: &BuildKey) -> bool {
        let turn = self.shards.entry(self.store.shard(key));
        !turn.or_insert_with(|| self.store.turn(key, Duration::ZERO)).is_busy()
    }

    /// Waits for the turn of a key, at most for `patience`; `false` if another process still holds it.
    pub fn wait(&mut self, key: &BuildKey, patience: Duration) -> bool {
        let turn = self.store.turn(key, patience);
        let is_taken = !turn.is_busy();
        self.shards.insert(self.store.shard(key), turn);
        is_taken
    }
}
