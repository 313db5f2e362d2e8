//! Checks stores against lock files.

use std::path::{Path, PathBuf};

use precast_build::Lock;
use precast_store::{Record, Store};

use crate::compared::Compared;
use crate::error::Failure;
use crate::term;

/// Checks that stores have everything that lock files name: graphs, modules, and the pinned archives.
pub(crate) fn locks(files: &[PathBuf], stores: &[PathBuf]) -> Result<Compared, Failure> {
    let stores = &stores.iter().map(Store::open).collect::<Result<Vec<_>, _>>()?;
    let mut held = Compared::new("compared with lock files", "locked");
    for path in files {
        let mut is_whole = true;
        let mut check = |holds: bool, problem: &dyn Fn() -> String| match holds {
            true => held.same += 1,
            false => {
                held.lack(problem());
                is_whole = false;
            }
        };
        let lock = Lock::read(path)?.ok_or_else(|| missing(path))?;
        let of = |what: String| format!("{what} of `{}` is missing", path.display());
        for (name, key) in &lock.entries {
            let found = stores.iter().map(|store| store.find_entry(name)).collect::<Result<Vec<_>, _>>()?;
            let found: Vec<_> = found.iter().flatten().collect();
            let is_it = found.iter().any(|entry| Lock::entry_key(entry) == *key);
            check(is_it, &|| match found.is_empty() {
                true => of(format!("graph `{name}`")),
                false => format!("graph `{name}` differs from `{}`", path.display()),
            });
        }
        for (signature, key) in &lock.modules {
            let is_there = any(stores, |store| store.find(key), |_| true)?;
            check(is_there, &|| of(format!("module `{signature}`")));
        }
        for pin in &lock.pins {
            let is_there = any(stores, |s| s.find_action(&pin.action), |r| pin.is_of(r))?;
            check(is_there, &|| of(format!("archive `{}` for `{}`", pin.digest.short(), pin.isa)));
        }
        if let Some(version) = lock.other_version().filter(|_| !is_whole) {
            let shown = path.display();
            term::warning(&format!("`{shown}` was written by {version}, which may name other modules"));
        }
    }
    Ok(held)
}

/// Returns the failure for a named lock file that does not exist. No new file is written in its place.
pub(crate) fn missing(path: &Path) -> Failure {
    Failure::new(format!("lock file `{}` not found", path.display()))
        .hint("name the lock file of a release, or write one with `precast update`")
}

/// Returns whether a store has a matching record and its archive.
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
