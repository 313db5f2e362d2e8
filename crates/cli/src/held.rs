//! What lock files name: held against what stores have.

use std::path::PathBuf;

use precast_build::{Lock, LockError};
use precast_store::{Record, Store};
use serde_json::{Value, json};

use crate::error::Failure;
use crate::print;

/// What came of it.
#[derive(Default)]
pub(crate) struct Held {
    /// How many things are as they should be.
    same: usize,
    pub(crate) problems: Vec<String>,
}

/// Everything that lock files name is there: graphs, modules, and the archives that are pinned.
pub(crate) fn locks(files: &[PathBuf], stores: &[PathBuf]) -> Result<Held, Failure> {
    let stores = &stores.iter().map(Store::open).collect::<Result<Vec<_>, _>>()?;
    let mut held = Held::default();
    for path in files {
        let lock = Lock::read(path)?.ok_or_else(|| LockError::Missing { path: path.clone() })?;
        let of = |what: String| format!("{what}, which `{}` names, is not here", path.display());
        for (name, key) in &lock.entries {
            let found = stores.iter().map(|store| store.find_entry(name)).collect::<Result<Vec<_>, _>>()?;
            let found: Vec<_> = found.iter().flatten().collect();
            let is_it = found.iter().any(|entry| Lock::entry_key(entry) == *key);
            held.check(is_it, || match found.is_empty() {
                true => of(format!("graph `{name}`")),
                false => format!("graph `{name}` is another than `{}` names", path.display()),
            });
        }
        for (signature, key) in &lock.modules {
            let is_there = any(stores, |store| store.find(key), |_| true)?;
            held.check(is_there, || of(format!("module `{signature}`")));
        }
        for pin in &lock.pins {
            let is_there = any(stores, |s| s.find_action(&pin.action), |r| r.digest == pin.digest)?;
            held.check(is_there, || of(format!("archive `{}` for `{}`", pin.digest.short(), pin.isa)));
        }
    }
    Ok(held)
}

/// Whether a store has a record of this kind, and its archive.
fn any(
    stores: &[Store],
    find: impl Fn(&Store) -> Result<Vec<Record>, precast_store::FindError>,
    is_it: impl Fn(&Record) -> bool,
) -> Result<bool, Failure> {
    for store in stores {
        for record in find(store)?.iter().filter(|record| is_it(record)) {
            if store.holds(record)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

impl Held {
    fn check(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if holds {
            self.same += 1;
        } else {
            self.problems.push(problem());
        }
    }

    /// Whether there was nothing to look at, which is no success.
    pub(crate) fn is_empty(&self) -> bool {
        self.same == 0 && self.problems.is_empty()
    }

    pub(crate) fn text(&self) -> String {
        let same = print::count(self.same, "thing is as it should be", "things are as they should be");
        let problems = self.problems.iter().map(|problem| format!("  {problem}\n"));
        format!("locked: {same}\n{}", problems.collect::<String>())
    }

    pub(crate) fn json(&self) -> Value {
        json!({"same": self.same, "problems": self.problems})
    }
}
