//! Finds the current user's cache: `$PRECAST_CACHE`, else `$XDG_CACHE_HOME/precast`, else `~/.cache/precast`.

use std::env;
use std::path::{Path, PathBuf};

use crate::Store;

/// Returns the cache directory of the current user; `None` without a home directory. The directory may not exist yet,
/// or may belong to another user.
#[must_use]
pub fn user_cache() -> Option<PathBuf> {
    let directory = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(chosen) = directory("PRECAST_CACHE") {
        return Some(chosen);
    }
    // Services set HOME to a missing directory to say that they have no home, so it is not created.
    let home = || directory("HOME").filter(|home| home.is_dir());
    let user =
        directory("XDG_CACHE_HOME").filter(|user| user.is_dir()).or_else(|| Some(home()?.join(".cache")))?;
    Some(user.join("precast"))
}

/// Returns the path of the user's store, shared by build scripts, the runtime and Python; `None` without a home
/// directory. The store may not exist yet.
#[must_use]
pub fn user_store() -> Option<PathBuf> {
    user_cache().map(|cache| store_in(&cache))
}

/// Lists the stores of older formats in the user's cache, sorted. Builds of this version neither read nor write them.
///
/// # Errors
/// The cache directory cannot be listed.
pub fn outdated_user_stores() -> std::io::Result<Vec<PathBuf>> {
    let Some(cache) = user_cache() else { return Ok(Vec::new()) };
    let entries = match fs_err::read_dir(&cache) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() && path.file_name().and_then(|name| name.to_str()).is_some_and(is_outdated) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn store_in(cache: &Path) -> PathBuf {
    cache.join(format!("{VERSIONED}{}", Store::FORMAT))
}

/// The prefix of a user store's name; the format version follows.
const VERSIONED: &str = "store-v";

/// Returns whether a folder of the cache is a store of an older format. Python's store was once named `store`, without
/// a number.
fn is_outdated(name: &str) -> bool {
    let format = name.strip_prefix(VERSIONED).and_then(|format| format.parse().ok());
    name == "store" || format.is_some_and(|format: u32| format < Store::FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_with_older_formats_are_outdated() {
        let current = store_in(Path::new("/cache"));
        assert!(!is_outdated(current.file_name().unwrap().to_str().unwrap()));
        assert!(["store", "store-v0", "store-v1"].into_iter().all(is_outdated));
        assert!(!["store-v4000000000", "store-vx", "remote", "toolchains-v1"].into_iter().any(is_outdated));
    }
}
