//! File trust checks: a file that another user can change is not trusted and its code is not run.
//!
//! A hash proves that bytes match a name, but not who wrote the name. A user who can put a record into a store decides
//! which code runs for a key. So no other user may be able to write any file that is read by path.
//!
//! # Rules
//!
//! The rules are those of `StrictModes` in sshd, with the amendment of Debian and Fedora for private groups:
//!
//! * **Owner**: root, or the effective user of the process.
//! * **Mode**: not writable by everybody, nor by a group with members besides root and that user. So trees created
//!   under umask 002 pass where each user has a private group. Groups are read from `/etc/group` and `/etc/passwd`. An
//!   unknown group, or a file with an access control list, counts as shared.
//! * **Parent directories**, up to the root of the file system: the same mode. A user who can write to a directory can
//!   rename its entries. A sticky directory (`/tmp`) may be writable by all users: they cannot rename files that they
//!   do not own. A parent directory may belong to any user, as in a container that works on a directory of the host.
//!   Files that its owner puts there fail the owner check, so they are not used.
//! * **Links** on the way to a store or a bundle are followed, and their owner is checked too. Links
//!   inside a store are rejected.
//!
//! # Signatures instead
//!
//! If a keyring is given, signatures protect a bundle or a store that is read ([`Protection::Signatures`]): they are
//! checked over bytes in private memory, which nobody can change later. Owners and modes then do not matter. A user who
//! can write to the place can still bring back an earlier version that enough keys signed. Links inside a store are
//! rejected, and nothing is written to a store that fails the rules.
//!
//! # Races
//!
//! Checks go from the top down: in a directory that passed, other users cannot rename or replace files of root or the
//! user. A file is opened without following a link, and the check runs on the open file. Changes by root or by the user
//! during a check are not guarded against.

mod groups;
mod remedy;
mod setting;
mod way;

use std::fmt;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::file;
use fs_err::File;
use rustix::fs::{Mode, OFlags};

pub use remedy::{SIGN, quoted};
pub use setting::{EmptyNameError, KEYRING, NoKeyringsError, keyring_setting};
pub use way::{check_way, resolve};

/// A path that another user can change, and the command that fixes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot trust `{}`: {}{fault}\nhint: {remedy}", place.display(), self.named())]
pub struct Untrusted {
    /// The store, the bundle or the keyring.
    pub place: PathBuf,
    /// The file or directory at fault: the place itself, a parent of it, or a file in it.
    pub path: PathBuf,
    /// The fault of that path.
    pub fault: Fault,
    /// The command that fixes the permissions of the whole place.
    pub remedy: String,
}

/// The reason why a file or directory is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The owner is neither root nor the user.
    Owner {
        /// The owner.
        uid: u32,
    },
    /// Everybody can write it.
    Everybody,
    /// A group with other members can write it.
    Group {
        /// The group.
        gid: u32,
    },
    /// It is a link inside a store.
    Link,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner { uid } => write!(f, "belongs to user {uid}"),
            Self::Everybody => f.write_str("is writable by everybody"),
            Self::Group { gid } => write!(f, "is writable by group {gid}, which has other members"),
            Self::Link => f.write_str("is a link, which is not allowed in a store"),
        }
    }
}

/// An error from opening or checking a path.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Another user can change it.
    #[error(transparent)]
    Untrusted(#[from] Box<Untrusted>),
    /// The file system returned an error.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Untrusted {
    /// Reports a fault of `path`, which is part of `place`: a store, or a bundle.
    #[must_use]
    pub fn new(path: &Path, fault: Fault, place: &Path) -> Box<Self> {
        let mut remedy = remedy::remedy(place, |place| format!("delete {place} and rebuild"));
        if fault != Fault::Link && place.exists() {
            remedy.push_str(SIGN);
        }
        Box::new(Self { place: place.to_path_buf(), path: path.to_path_buf(), fault, remedy })
    }

    /// Changes the hint to that for a keyring, which a build cannot recreate.
    #[cfg(feature = "signed")]
    pub(crate) fn of_keyring(mut self: Box<Self>) -> Box<Self> {
        self.remedy = remedy::remedy(&self.place, |place| {
            format!("replace {place} with a copy of the keyring from its owner")
        });
        self
    }

    /// Changes the hint to that for a directory of profiling modules, which a build cannot recreate.
    pub(crate) fn of_profiles(mut self: Box<Self>) -> Box<Self> {
        self.remedy = remedy::remedy(&self.place, |_| "name another directory".to_owned());
        self
    }

    /// Names the path at fault, or returns `it` if that is the place itself.
    fn named(&self) -> String {
        if self.path == self.place {
            return "it ".to_owned();
        }
        // Of a relative path, the directory at fault may have no name: `.`.
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        format!("`{}` ", path.display())
    }
}

/// The protection of a place against changes by other users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// Owners and modes.
    #[default]
    Permissions,
    /// Signatures of the bytes, which the reader checks before it uses them.
    Signatures,
}

impl Protection {
    /// Returns a fault if it matters.
    fn judge(self, fault: Option<Fault>) -> Option<Fault> {
        fault.filter(|fault| self == Self::Permissions || *fault == Fault::Link)
    }
}

/// The result of checking a path.
#[derive(Debug)]
pub enum PathCheck<T> {
    /// The file or directory that was looked up.
    Trusted(T),
    /// The path does not exist.
    Missing,
    /// Something else: a directory instead of a file, a pipe, a device.
    Irregular,
    /// A file or directory that another user can change.
    Untrusted(Fault),
}

/// Opens a file without following a link, and checks its owner and mode unless signatures protect it.
///
/// # Errors
/// The file system returns an error.
pub fn open_file(path: &Path, by: Protection) -> io::Result<PathCheck<(File, Metadata)>> {
    // Without `NONBLOCK`, opening a pipe without a writer would block forever.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty())) {
        Ok(descriptor) => File::from_parts(descriptor.into(), path),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(PathCheck::Missing),
        Err(rustix::io::Errno::LOOP) => return Ok(PathCheck::Untrusted(Fault::Link)),
        // A socket, or a device file without a device.
        Err(rustix::io::Errno::NXIO) => return Ok(PathCheck::Irregular),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(PathCheck::Irregular);
    }
    Ok(match by.judge(fault(path, &metadata)) {
        None => PathCheck::Trusted((file, metadata)),
        Some(fault) => PathCheck::Untrusted(fault),
    })
}

/// Opens a file outside any store, such as a bundle, and checks every directory and link on the way to it.
///
/// # Errors
///
/// Another user can change the file, the path is not a regular file, or the file system returns an error.
pub fn open(path: &Path) -> Result<File, TrustError> {
    let at = |source| TrustError::Io { path: path.to_path_buf(), source };
    let real = check_way(path)?;
    match open_file(&real, Protection::Permissions).map_err(at)? {
        PathCheck::Trusted((file, _)) => Ok(file),
        PathCheck::Missing => Err(at(io::ErrorKind::NotFound.into())),
        // `file::open` fails here with an error that names the type of the file.
        PathCheck::Irregular => file::open(path).map_err(at),
        PathCheck::Untrusted(fault) => Err(Untrusted::new(&real, fault, path).into()),
    }
}

/// Checks a directory, or a file that is not opened, without following a link.
///
/// # Errors
/// The file system returns an error.
pub fn look(path: &Path, by: Protection) -> io::Result<PathCheck<Metadata>> {
    match fs_err::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => Ok(PathCheck::Untrusted(Fault::Link)),
        Ok(metadata) => {
            let found = by.judge(fault(path, &metadata));
            Ok(found.map_or(PathCheck::Trusted(metadata), PathCheck::Untrusted))
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(PathCheck::Missing)
        }
        Err(error) => Err(error),
    }
}

/// Returns the fault of the owner or the mode. The mode of a link is ignored because it has no effect.
fn fault(path: &Path, metadata: &Metadata) -> Option<Fault> {
    let (uid, gid, mode) = (metadata.uid(), metadata.gid(), metadata.mode());
    if uid != 0 && uid != user() {
        Some(Fault::Owner { uid })
    } else if metadata.is_symlink() {
        None
    } else if mode & 0o002 != 0 {
        Some(Fault::Everybody)
    } else if mode & 0o020 != 0 && (!groups::is_private(gid) || has_acl(path)) {
        Some(Fault::Group { gid })
    } else {
        None
    }
}

/// Returns whether a file has an access control list. The group bits of its mode then apply to every entry of the list.
fn has_acl(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::lgetxattr(path, "system.posix_acl_access", &mut [0_u8; 0][..]).is_ok();
    #[cfg(not(target_os = "linux"))]
    return !path.as_os_str().is_empty();
}

/// Returns the effective user of the process.
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}
