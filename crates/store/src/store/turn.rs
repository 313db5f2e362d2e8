//! Turns: of several processes that would compile one module, one does, and the others find what it published.
//!
//! A turn is a lock on the directory that holds the pointers of the key and of its neighbours, so nothing is left behind,
//! however its holder ends. Nothing relies on it: who has waited long enough, or is on a file system without locks, compiles
//! too, and publishes the same bytes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::Store;
use super::lease::{Lock, Share, lock};
use crate::key::BuildKey;

/// The right to compile a module, until it is dropped.
#[derive(Debug)]
pub struct Turn(Lock);

impl Turn {
    /// Whether another process has it still.
    fn is_busy(&self) -> bool {
        self.0.busy
    }

    /// Whether another process had it: then the module may be there.
    #[must_use]
    pub fn waited(&self) -> bool {
        self.0.waited
    }
}

impl Store {
    /// Waits until no other process has the turn of a key, at most for `patience`.
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

/// The turns of many keys, taken one after the other without waiting. Keys that share a lock share a turn.
#[derive(Debug)]
pub struct Turns<'s> {
    store: &'s Store,
    shards: BTreeMap<PathBuf, Turn>,
}

impl<'s> Turns<'s> {
    /// Starts with none.
    #[must_use]
    pub fn new(store: &'s Store) -> Self {
        Self { store, shards: BTreeMap::new() }
    }

    /// Takes the turn of a key; `false` if another process has it.
    pub fn take(&mut self, key: &BuildKey) -> bool {
        let turn = self.shards.entry(self.store.shard(key));
        !turn.or_insert_with(|| self.store.turn(key, Duration::ZERO)).is_busy()
    }

    /// Waits for the turn of a key, at most for `patience`; `false` if another process has it still.
    pub fn wait(&mut self, key: &BuildKey, patience: Duration) -> bool {
        let turn = self.store.turn(key, patience);
        let is_taken = !turn.is_busy();
        self.shards.insert(self.store.shard(key), turn);
        is_taken
    }
}
