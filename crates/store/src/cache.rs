//! Where this user keeps what can be made again: `$PRECAST_CACHE`, else `$XDG_CACHE_HOME/precast`, else `~/.cache/precast`.

use std::env;
use std::path::PathBuf;

/// The directory of this user's caches; `None` where there is no home. It need not exist, or be ours.
#[must_use]
pub fn user_cache() -> Option<PathBuf> {
    let directory = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(chosen) = directory("PRECAST_CACHE") {
        return Some(chosen);
    }
    // A home that is not there is a service's way to say that it has none: it is not made.
    let home = || directory("HOME").filter(|home| home.is_dir());
    let user =
        directory("XDG_CACHE_HOME").filter(|user| user.is_dir()).or_else(|| Some(home()?.join(".cache")))?;
    Some(user.join("precast"))
}
