//! Files in the user's cache that other users cannot have written. The file and its directory must belong to the current
//! user, must not be writable by other users, and must not be symbolic links.

use std::io::Write as _;
use std::path::Path;

use precast_store::whole::{self, Whole};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads a value; `None` if the file is missing, corrupt, or may have been written by another user.
pub(crate) fn read_json<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&read(file)?).ok()
}

/// Writes a value, creating the directory; `None` if the file cannot be written.
pub(crate) fn write_json<T: Serialize>(file: &Path, value: &T) -> Option<()> {
    let directory = file.parent()?;
    whole::create_dir_all(directory).ok()?;
    // Other users can only read the file, whatever the umask: [`read`] rejects a file they could have written.
    let mut whole = Whole::with_mode(directory, 0o644).ok()?;
    whole.write_all(&serde_json::to_vec(value).ok()?).ok()?;
    whole.rename(file).ok()
}

/// Opens a directory that only the current user can change.
#[cfg(unix)]
fn open_private(directory: &Path) -> Option<std::os::fd::OwnedFd> {
    let flags = OPEN | rustix::fs::OFlags::DIRECTORY;
    let opened = rustix::fs::open(directory, flags, rustix::fs::Mode::empty()).ok()?;
    is_ours(&opened).then_some(opened)
}

#[cfg(unix)]
const OPEN: rustix::fs::OFlags = {
    use rustix::fs::OFlags;
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK)
};

#[cfg(unix)]
fn is_ours(file: &std::os::fd::OwnedFd) -> bool {
    let mine = rustix::process::geteuid().as_raw();
    rustix::fs::fstat(file).is_ok_and(|found| found.st_uid == mine && found.st_mode & 0o022 == 0)
}

/// Returns whether a directory exists that only the current user can change.
#[cfg(unix)]
pub(crate) fn is_private(directory: &Path) -> bool {
    open_private(directory).is_some()
}

#[cfg(not(unix))]
pub(crate) fn is_private(directory: &Path) -> bool {
    directory.is_dir()
}

/// Reads a file that no other user can have written.
#[cfg(unix)]
fn read(file: &Path) -> Option<Vec<u8>> {
    use rustix::fs::{Mode, openat};
    let directory = open_private(file.parent()?)?;
    let opened = openat(&directory, file.file_name()?, OPEN, Mode::empty()).ok()?;
    is_ours(&opened).then_some(())?;
    let mut opened = fs_err::File::from_parts(opened.into(), file);
    let mut bytes = Vec::new();
    opened.metadata().ok().filter(|found| found.is_file())?;
    std::io::Read::read_to_end(&mut opened, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(not(unix))]
fn read(file: &Path) -> Option<Vec<u8>> {
    fs_err::read(file).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn file_is_read_only_if_private() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("toolchains-v1");
        whole::create_dir_all(&directory).unwrap();
        let file = directory.join("memo.json");
        let mode = |path: &Path, mode: u32| {
            fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        fs_err::write(&file, "x").unwrap();
        mode(&file, 0o600);
        assert_eq!(read(&file).as_deref(), Some(&b"x"[..]));
        for (path, bad, good) in
            [(&file, 0o622, 0o600), (&directory, 0o777, 0o755), (&directory, 0o775, 0o755)]
        {
            mode(path, bad);
            assert_eq!(read(&file), None, "{} {bad:o}", path.display());
            mode(path, good);
            assert!(read(&file).is_some());
        }
        let link = directory.join("link.json");
        fs_err::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read(&link), None);
        let behind = root.path().join("behind");
        fs_err::os::unix::fs::symlink(&directory, &behind).unwrap();
        assert_eq!(read(&behind.join("memo.json")), None);
        assert_eq!(read(&directory), None);
    }
}
