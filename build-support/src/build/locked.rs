//! Compares the plan of a build script with the package's lock file, or writes the file.

use super::BuildError;
use super::environment::Environment;
use crate::lock::{Lock, LockError};
use crate::plan::Plan;
use std::collections::BTreeSet;
use std::path::Path;

/// Compares a plan with the lock file: a difference is an error if the build is locked, else a warning. In update
/// mode it writes the file.
pub(super) fn locked(
    plan: &Plan,
    environment: &Environment,
    warnings: &mut Vec<String>,
) -> Result<Option<Lock>, BuildError> {
    let path = environment.lock();
    if environment.updates_lock {
        return update(plan, &path, warnings).map(Some);
    }
    let lock = Lock::read(&path)?;
    if let Some(lock) = &lock {
        match lock.check(plan, &path) {
            Err(error) if environment.is_locked => return Err(error.into()),
            Err(error) => warnings.push(error.to_string()),
            Ok(()) => {}
        }
    } else if environment.is_locked {
        return Err(LockError::Missing { path }.into());
    }
    Ok(lock)
}

/// Writes the lock file of a plan.
fn update(plan: &Plan, path: &Path, warnings: &mut Vec<String>) -> Result<Lock, BuildError> {
    let (present, why) = Lock::read_to_replace(path)?;
    let (present, is_broken) = (present.unwrap_or_default(), why.is_some());
    warnings.extend(why.map(|why| format!("rewrote invalid `{}` without pins: {why}", path.display())));
    let (lock, changes) = Lock::following(&present, plan);
    lock.write(path)?;
    let dropped = present.pins.len() - lock.pins.len();
    if !is_broken && dropped > 0 {
        warnings.push(format!(
            "removed {dropped} archive pin(s) from `{}`: their modules are no longer declared",
            path.display()
        ));
    }
    // New items are not pinned yet; this build compiles them.
    let pins = if changes.is_empty() { lock.pins } else { BTreeSet::new() };
    Ok(Lock { pins, ..lock })
}
