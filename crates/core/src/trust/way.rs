//! Path checks: every directory and link on the way to a store or a bundle.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::{Fault, TrustError, Untrusted, fault};

/// The maximum number of links on a path, as in Linux.
const LINKS: usize = 40;

/// Checks the directories and links that lead to `path`, and returns the path without links.
///
/// A directory at the end of the path is checked like its parents. A file is not checked here, but after it is opened.
/// Components that do not exist have no faults.
///
/// # Errors
///
/// Another user can redirect the path, or the file system returns an error.
pub fn check_way(path: &Path) -> Result<PathBuf, TrustError> {
    let Way { real, faults } = walk(path)?;
    match faults.first() {
        None => Ok(real),
        Some((wrong, fault)) => Err(Untrusted::new(wrong, *fault, path).into()),
    }
}

/// Returns a path without links, whoever can redirect it.
///
/// # Errors
///
/// The file system returns an error.
pub fn resolve(path: &Path) -> Result<PathBuf, TrustError> {
    Ok(walk(path)?.real)
}

/// The path without links, and the faults on the way to it.
pub(super) struct Way {
    pub(super) real: PathBuf,
    pub(super) faults: Vec<(PathBuf, Fault)>,
}

/// Resolves a path as the operating system does, from the root down.
pub(super) fn walk(path: &Path) -> Result<Way, TrustError> {
    let at = |path: &Path| {
        let path = path.to_path_buf();
        move |source| TrustError::Io { path, source }
    };
    let absolute = std::path::absolute(path).map_err(at(path))?;
    let mut way = Way { real: PathBuf::from("/"), faults: Vec::new() };
    let mut ahead = reversed(&absolute);
    let mut links = 0;
    step(&mut way).map_err(at(Path::new("/")))?;
    while let Some(part) = ahead.pop() {
        if part == ".." {
            way.real.pop();
            continue;
        }
        way.real.push(part);
        match step(&mut way) {
            Ok(None) => {}
            Ok(Some(target)) => {
                links += 1;
                if links > LINKS {
                    let source = io::Error::from(rustix::io::Errno::LOOP);
                    return Err(TrustError::Io { path: absolute, source });
                }
                way.real.pop();
                if target.is_absolute() {
                    way.real = PathBuf::from("/");
                }
                ahead.extend(reversed(&target));
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                way.real.extend(ahead.into_iter().rev());
                break;
            }
            Err(source) => return Err(TrustError::Io { path: way.real, source }),
        }
    }
    // The owner of a parent directory does not matter if only that owner can write to it. The owner can replace the
    // tree, but every file in the tree must still belong to the user or root. Root in a container works in
    // directories of the host's user.
    let Way { real, faults } = &mut way;
    faults.retain(|(path, fault)| {
        !(matches!(fault, Fault::Owner { .. }) && path != real && real.starts_with(path))
    });
    Ok(way)
}

/// Checks the current component and returns the target of a link.
fn step(way: &mut Way) -> io::Result<Option<PathBuf>> {
    let metadata = fs_err::symlink_metadata(&way.real)?;
    let found = match fault(&way.real, &metadata) {
        // In a sticky directory only the owner of a file can rename it.
        Some(Fault::Everybody | Fault::Group { .. }) if metadata.mode() & 0o1000 != 0 => None,
        // A file at the end of the path is checked after it is opened.
        _ if !metadata.is_dir() && !metadata.is_symlink() => None,
        found => found,
    };
    if let Some(fault) = found.filter(|_| way.faults.iter().all(|(path, _)| *path != way.real)) {
        way.faults.push((way.real.clone(), fault));
    }
    if metadata.is_symlink() { fs_err::read_link(&way.real).map(Some) } else { Ok(None) }
}

/// Returns the components of a path, the last first.
fn reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut parts: Vec<OsString> = parts.collect();
    parts.reverse();
    parts
}
