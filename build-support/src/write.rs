//! Writes a file whole, and only if its content is another.

use std::io::{self, Write as _};
use std::path::Path;

/// Writes `bytes` unless the file holds them already; readers see the old file or the new one. Makes the directory.
///
/// Tells whether anything was written. An unchanged file keeps its time, so nothing that depends on it is built again.
pub(crate) fn write_if_changed(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    if fs_err::read(path).is_ok_and(|found| found == bytes) {
        return Ok(false);
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    fs_err::create_dir_all(directory)?;
    let mut file = tempfile::Builder::new().prefix(".precast-").tempfile_in(directory)?;
    file.write_all(bytes)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs_err::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::write_if_changed;

    #[test]
    fn an_unchanged_file_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b");
        assert!(write_if_changed(&path, b"one").unwrap());
        assert!(!write_if_changed(&path, b"one").unwrap());
        assert!(write_if_changed(&path, b"two").unwrap());
        assert_eq!(fs_err::read(&path).unwrap(), b"two");
        assert_eq!(walkdir::WalkDir::new(directory.path().join("a")).into_iter().count(), 2);
    }
}
