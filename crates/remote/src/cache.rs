//! The local cache of a remote: a configured directory, else the user's cache directory. If neither is writable, the
//! cache is temporary and lives as long as its owner.
//!
//! Services and containers often have no home directory, a read-only one, or a full disk. The cache is
//! optional: fetched bytes are verified in any case. Without a cache, only the previous release of a
//! tag is unknown at the next start.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use precast_core::key::ContentId;
use precast_store::user_cache;

use crate::Options;
use crate::url::RemoteUrl;

/// The number of bytes written to check that a disk has room.
const PROBE: usize = 1 << 16;

/// Returns the cache directory of a remote. Each remote has its own, so that one cannot answer for another.
pub(crate) fn of(place: &RemoteUrl, options: &Options) -> io::Result<PathBuf> {
    let name = ContentId::of(place.to_string().as_bytes()).short();
    let users = || user_cache().map(|cache| cache.join("remote"));
    let cache = options.cache.clone().or_else(users);
    let none = || io::Error::new(io::ErrorKind::NotFound, "this user has no cache directory");
    cache.map(|cache| cache.join(name)).ok_or_else(none)
}

/// Creates a directory that only this user can write, and checks that a file can be written to it.
pub(crate) fn make(directory: &Path) -> io::Result<()> {
    precast_store::whole::create_dir_all(directory)?;
    let mut file = tempfile::tempfile_in(directory)?;
    file.write_all(&[0; PROBE])?;
    file.flush()
}

/// Returns the store that caches content of a remote, and the temporary directory that contains it, if any.
#[cfg(feature = "files")]
pub(crate) fn store(
    place: &RemoteUrl,
    options: &Options,
) -> Result<(precast_store::Store, Option<tempfile::TempDir>), crate::OpenRemoteError> {
    use crate::OpenRemoteError as Error;
    use precast_store::Store;
    let kept = |source| Error::Cache { place: place.to_string(), source };
    let none = match of(place, options).and_then(|cache| make(&cache).map(|()| cache)) {
        Ok(cache) => return Ok((Store::create(cache).map_err(kept)?, None)),
        Err(error) => error,
    };
    let path = std::env::temp_dir();
    let refused = |source| Error::Kept { place: place.to_string(), path: path.clone(), source };
    if options.cache.is_some() {
        return Err(Error::Kept {
            place: place.to_string(),
            path: of(place, options).unwrap_or_default(),
            source: none,
        });
    }
    let directory = private(&path).map_err(refused)?;
    make(directory.path()).map_err(refused)?;
    Ok((Store::create(directory.path().join("store")).map_err(kept)?, Some(directory)))
}

/// Creates a temporary directory that only this user can read or write.
#[cfg(feature = "files")]
fn private(path: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("precast-remote-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(path)
}
