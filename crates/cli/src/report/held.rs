//! Checks stores and bundles against lock files.

use std::path::{Path, PathBuf};

use precast_build::Lock;
use precast_store::Record;

use crate::compared::Compared;
use crate::error::Failure;
use crate::searched::Searched;
use crate::term;

/// Checks that stores and bundles have everything that lock files name: graphs, modules, and the pinned archives.
pub(crate) fn locks(files: &[PathBuf], places: &[Searched]) -> Result<Compared, Failure> {
    let mut held = Compared::new("compared with lock files", "locked");
    let mut joined = 0;
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
            let found = places.iter().map(|place| place.find_entry(name)).collect::<Result<Vec<_>, _>>()?;
            let found: Vec<_> = found.iter().flatten().collect();
            let is_it = found.iter().any(|entry| Lock::entry_key(entry) == *key);
            check(is_it, &|| match found.is_empty() {
                true => of(format!("graph `{name}`")),
                false => format!("graph `{name}` differs from `{}`", path.display()),
            });
        }
        for (signature, key) in &lock.modules {
            let is_there = any(places, |place| place.find(key), |_| true)?;
            check(is_there, &|| of(format!("module `{signature}`")));
        }
        let is_pinned = |record: &Record| lock.pins.iter().any(|pin| pin.is_of(record));
        let are_joined = places.iter().all(|place| place.is_joined(is_pinned));
        for pin in &lock.pins {
            let is_there = any(places, |place| place.find_action(&pin.action), |r| pin.is_of(r))?;
            if !is_there && are_joined {
                joined += 1;
                continue;
            }
            check(is_there, &|| of(format!("archive `{}` for `{}`", pin.digest.short(), pin.isa)));
        }
        if let Some(version) = lock.other_version().filter(|_| !is_whole) {
            let shown = path.display();
            term::warning(&format!("`{shown}` was written by {version}, which may name other modules"));
        }
    }
    (0..joined).for_each(|_| held.skip("pinned archives, whose modules are joined in the bundle"));
    Ok(held)
}

/// Returns the failure for a named lock file that does not exist. No new file is written in its place.
pub(crate) fn missing(path: &Path) -> Failure {
    Failure::new(format!("lock file `{}` not found", path.display()))
        .hint("name the lock file of a release, or write one with `precast update`")
}

/// Returns whether a place has a matching record and its code.
fn any(
    places: &[Searched],
    find: impl Fn(&Searched) -> Result<Vec<Record>, Failure>,
    is_it: impl Fn(&Record) -> bool,
) -> Result<bool, Failure> {
    for place in places {
        for record in find(place)?.iter().filter(|record| is_it(record)) {
            if place.holds(record)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
