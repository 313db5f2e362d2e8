//! Missing files that would take precedence: a header or a library is read from the first directory that has it, so a
//! file that appears in an earlier directory changes the result although no file that was read changes.
//!
//! A missing directory stands for all files below it. The compiler's own header directory is not searched here, because
//! the toolchain's identity covers it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::prepared::Prepared;

/// Returns the missing files that would be included instead of `headers`.
pub(crate) fn headers(prepared: &Prepared<'_>, headers: &[PathBuf]) -> BTreeSet<PathBuf> {
    let own = &prepared.compiler.own_headers;
    let named: Vec<PathBuf> = prepared.header_dirs().map(|(_, directory)| PathBuf::from(directory)).collect();
    let system = prepared.compiler.system_headers.iter().filter(|directory| *directory != own);
    let searched: Vec<PathBuf> = named.iter().chain(system).cloned().collect();
    // A header in quotes is first searched beside the file that includes it.
    let beside: BTreeSet<&Path> = headers
        .iter()
        .filter(|file| named.iter().any(|directory| file.starts_with(directory)))
        .filter_map(|file| file.parent())
        .collect();
    let mut missing = BTreeSet::new();
    for file in headers {
        let place = searched.iter().position(|directory| file.starts_with(directory));
        let Some((at, name)) = place.and_then(|at| Some((at, file.strip_prefix(&searched[at]).ok()?))) else {
            continue;
        };
        let earlier = searched[..at].iter().map(PathBuf::as_path);
        missing.extend(
            earlier.chain(beside.iter().copied()).filter_map(|directory| first_missing(directory, name)),
        );
    }
    missing
}

/// Returns the missing files that would be linked instead of libraries among `files`, or before those of the system.
pub(crate) fn libraries(prepared: &Prepared<'_>, files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let first = prepared.unit.first();
    let mut missing = BTreeSet::new();
    for library in &first.libraries {
        let names = match library.strip_prefix(':') {
            Some(file) => vec![file.to_owned()],
            None => vec![format!("lib{library}.so"), format!("lib{library}.a")],
        };
        for directory in first.lib_dirs.iter().map(Path::new) {
            let candidates = names.iter().map(|name| directory.join(name));
            missing.extend(names.iter().filter_map(|name| first_missing(directory, Path::new(name))));
            if candidates.into_iter().any(|candidate| files.contains(&candidate)) {
                break;
            }
        }
    }
    missing
}

/// Returns the file, or the first directory on its path, if it is missing.
fn first_missing(directory: &Path, name: &Path) -> Option<PathBuf> {
    let mut path = directory.to_owned();
    if !path.is_dir() {
        return Some(path);
    }
    for part in name.components() {
        path.push(part);
        if !path.exists() {
            return Some(path);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_missing;
    use std::path::Path;

    #[test]
    fn missing_directory_stands_for_its_files() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs_err::create_dir(root.join("a")).unwrap();
        fs_err::write(root.join("a/b.h"), "").unwrap();
        assert_eq!(first_missing(root, Path::new("a/b.h")), None);
        assert_eq!(first_missing(root, Path::new("a/c.h")), Some(root.join("a/c.h")));
        assert_eq!(first_missing(root, Path::new("x/y/c.h")), Some(root.join("x")));
        assert_eq!(first_missing(&root.join("no"), Path::new("c.h")), Some(root.join("no")));
    }
}
