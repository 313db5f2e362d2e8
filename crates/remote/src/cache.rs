//! Where what comes from a place is kept: in a directory that is named, in this user's cache, or, where neither can be, as long as
//! somebody holds it.
//!
//! Services and containers often have no home, or one that cannot be written, or a full disk. A cache is a convenience: what comes
//! is verified as ever, and only what a tag meant before is not known the next time.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use precast_core::key::ContentId;
use precast_store::user_cache;

use crate::Options;
use crate::url::Place;

/// As many bytes as are written to find out whether a disk has room.
const PROBE: usize = 1 << 16;

/// The directory of a place: each has its own, so that none answers for another.
pub(crate) fn of(place: &Place, options: &Options) -> io::Result<PathBuf> {
    let name = ContentId::of(place.to_string().as_bytes()).short();
    let users = || user_cache().map(|cache| cache.join("remote"));
    let cache = options.cache.clone().or_else(users);
    let none = || io::Error::new(io::ErrorKind::NotFound, "this user has no cache directory");
    cache.map(|cache| cache.join(name)).ok_or_else(none)
}

/// Makes a directory that nobody else can write, and finds out whether it takes a file.
pub(crate) fn make(directory: &Path) -> io::Result<()> {
    precast_store::whole::create_dir_all(directory)?;
    let mut file = tempfile::tempfile_in(directory)?;
    file.write_all(&[0; PROBE])?;
    file.flush()
}

/// The store that keeps what comes from a place, and the temporary directory that it is in, if it is in one.
#[cfg(feature = "files")]
pub(crate) fn store(
    place: &Place,
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

/// A temporary directory that nobody else can write, or look into.
#[cfg(feature = "files")]
fn private(path: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("precast-remote-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(path)
}
