//! Whether a file is ours: what another user can change is not believed, and not run.
//!
//! A hash says that bytes are what a name asks for. It does not say who wrote the name: a user who can put a record into a
//! store decides what code runs under a key. So everything that is read by path has to be out of others' reach.
//!
//! # Rules
//!
//! They are those of `StrictModes` in sshd, with Debian's and Fedora's amendment for private groups:
//!
//! * **Owner**: root, or the user that the process acts for.
//! * **Mode**: not writable by everybody, nor by a group with members besides root and that user. So trees made under
//!   umask 002 are fine where each user has a group of their own. Groups are those of `/etc/group` and `/etc/passwd`; a group
//!   that is not there, or a file with an access control list, counts as shared.
//! * **Directories above**, up to the root of the file system: the same mode, since who can write there can rename what is
//!   below. A sticky one (`/tmp`) may be written by others: they cannot rename what is not theirs. Its owner may be anybody,
//!   as in a container that works on a directory of the host: what he could put there is not ours, so it is not used.
//! * **Links** on the way to a store or a bundle are followed, and have an owner too; inside of a store there are none.
//!
//! # Races
//!
//! Checks go from the top down: in a directory that passed, others cannot change what a name means. A file is opened without
//! following a link, and the open file is judged. What root or the user himself changes meanwhile is not guarded against.

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

pub use remedy::quoted;
pub use setting::{EmptyNameError, KEYRING, NoKeyringsError, keyring_setting};
pub use way::check_way;

/// Says that something can be changed by others, and how to mend that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot trust `{}`: {}{fault}\nhint: {remedy}", place.display(), self.named())]
pub struct Untrusted {
    /// The store, the bundle or the keyring.
    pub place: PathBuf,
    /// The file or directory that is to blame: in it, above it, or itself.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
    /// The command that mends all of the place.
    pub remedy: String,
}

/// Why a file or directory is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is neither root's nor the user's.
    Owner {
        /// Its owner.
        uid: u32,
    },
    /// Everybody can write it.
    Everybody,
    /// A group with other members can write it.
    Group {
        /// The group.
        gid: u32,
    },
    /// It is a link inside of a store.
    Link,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner { uid } => write!(f, "belongs to user {uid}"),
            Self::Everybody => f.write_str("can be written by everybody"),
            Self::Group { gid } => write!(f, "can be written by group {gid}, which others are in"),
            Self::Link => f.write_str("is a link, and a store has none"),
        }
    }
}

/// Says why something could not be opened, or may not be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Others can change it.
    #[error(transparent)]
    Untrusted(#[from] Box<Untrusted>),
    /// The file system refused.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Untrusted {
    /// Reports a fault of `path`, which is part of `place`: a store, or a bundle.
    #[must_use]
    pub fn new(path: &Path, fault: Fault, place: &Path) -> Box<Self> {
        let remedy = remedy::remedy(place, |place| format!("delete {place} and build again"));
        Box::new(Self { place: place.to_path_buf(), path: path.to_path_buf(), fault, remedy })
    }

    /// Words the remedy for a keyring, which no build makes.
    #[cfg(feature = "signed")]
    pub(crate) fn of_keyring(mut self: Box<Self>) -> Box<Self> {
        self.remedy = remedy::remedy(&self.place, |place| {
            format!("replace {place} by a copy of the keyring from its owner")
        });
        self
    }

    /// Words the remedy for a directory of modules for profilers, which no build makes.
    pub(crate) fn of_profiles(mut self: Box<Self>) -> Box<Self> {
        self.remedy = remedy::remedy(&self.place, |_| "name another directory".to_owned());
        self
    }

    /// Names what is to blame, unless that is the place itself.
    fn named(&self) -> String {
        if self.path == self.place { "it ".to_owned() } else { format!("`{}` ", self.path.display()) }
    }
}

/// What stands at a path.
#[derive(Debug)]
pub enum Found<T> {
    /// What was looked for.
    It(T),
    /// Nothing.
    Missing,
    /// Something else: a directory in place of a file, a pipe, a device.
    Other,
    /// What others can change.
    Wrong(Fault),
}

/// Opens a file, following no link, and judges it.
///
/// # Errors
/// The file system refuses.
pub fn open_file(path: &Path) -> io::Result<Found<(File, Metadata)>> {
    // A pipe without a writer would be waited on for ever.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty())) {
        Ok(descriptor) => File::from_parts(descriptor.into(), path),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(Found::Missing),
        Err(rustix::io::Errno::LOOP) => return Ok(Found::Wrong(Fault::Link)),
        // A socket, or a device that is not there.
        Err(rustix::io::Errno::NXIO) => return Ok(Found::Other),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Found::Other);
    }
    Ok(match fault(path, &metadata) {
        None => Found::It((file, metadata)),
        Some(fault) => Found::Wrong(fault),
    })
}

/// Opens a file that stands by itself, such as a bundle, and checks the way to it.
///
/// # Errors
///
/// Others can change it, it is no file, or the file system refuses.
pub fn open(path: &Path) -> Result<File, TrustError> {
    let at = |source| TrustError::Io { path: path.to_path_buf(), source };
    let real = check_way(path)?;
    match open_file(&real).map_err(at)? {
        Found::It((file, _)) => Ok(file),
        Found::Missing => Err(at(io::ErrorKind::NotFound.into())),
        // It says what is there.
        Found::Other => file::open(path).map_err(at),
        Found::Wrong(fault) => Err(Untrusted::new(&real, fault, path).into()),
    }
}

/// Judges a directory, or a file that is not opened, following no link.
///
/// # Errors
/// The file system refuses.
pub fn look(path: &Path) -> io::Result<Found<Metadata>> {
    match fs_err::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => Ok(Found::Wrong(Fault::Link)),
        Ok(metadata) => Ok(fault(path, &metadata).map_or(Found::It(metadata), Found::Wrong)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Found::Missing)
        }
        Err(error) => Err(error),
    }
}

/// Gives what is wrong with owner and mode. The mode of a link means nothing.
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

/// Tells whether more than the three classes of the mode have a say; the class of the group then stands for all of them.
fn has_acl(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::lgetxattr(path, "system.posix_acl_access", &mut [0_u8; 0][..]).is_ok();
    #[cfg(not(target_os = "linux"))]
    return !path.as_os_str().is_empty();
}

/// Gives the user that the process acts for.
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}
