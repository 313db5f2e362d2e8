//! The reasons why a release is not recorded or served.

use super::write::WriteError;
use super::{FindError, ReleaseError};
use crate::export::Release;
use crate::keyring::{Cause, Unsigned};

/// The reason why a release was not recorded or switched to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// The store has no such release.
    #[error(
        "the store has no release `{release}`; available: {known}\nhint: name one of these, or import the release with \
         `precast import FILE --switch`"
    )]
    Unknown {
        /// The release.
        release: Release,
        /// The recorded releases of the name.
        known: String,
    },
    /// No lower release was served before the served one, and none is recorded.
    #[error(
        "the store has no release of `{name}` before the served one; available: {known}{}",
        switch_to(other.as_ref())
    )]
    NoEarlier {
        /// The name of the releases.
        name: String,
        /// The recorded releases of the name.
        known: String,
        /// The last release that is not served.
        other: Option<Release>,
    },
    /// The store has a release of this number with other entries.
    #[error("release `{release}` already has other entries\nhint: use the next number")]
    Taken {
        /// The release.
        release: Release,
    },
    /// No number follows the last release of a name.
    #[error(
        "release `{name}={}` has the largest number, so no number follows it\nhint: use another name",
        u64::MAX
    )]
    NoNumber {
        /// The name of the release.
        name: String,
    },
    /// An entry is not signed by enough keys, so readers do not find it.
    #[error("cannot record a release: {what} is not {unsigned}{}", unsigned.hint())]
    UnsignedEntry {
        /// The entry.
        what: String,
        /// Its missing signatures.
        unsigned: Box<Unsigned>,
    },
    /// The store does not have an entry, or it has no valid name.
    #[error(
        "the store has no entry `{name}`\nhint: `precast ls` lists the entries; build or import a lost one again"
    )]
    NoEntry {
        /// The entry.
        name: String,
    },
    /// A release without entries.
    #[error("a release needs an entry\nhint: build or import first")]
    Empty,
    /// An entry is served by a release of another name.
    #[error(
        "entry `{entry}` is served by release `{other}`\nhint: leave the entry out of one of the releases"
    )]
    Shared {
        /// The entry.
        entry: String,
        /// The other release.
        other: Release,
    },
    /// An entry or a module of the release is lost or damaged.
    #[error("cannot serve release `{release}`: {what}\nhint: import the release again")]
    Incomplete {
        /// The release.
        release: Release,
        /// The entry or module.
        what: String,
    },
    /// An entry or a module of the release is not signed by enough keys.
    #[error("cannot serve release `{release}`: {what} is not {unsigned}{}", hint(release, unsigned))]
    Unsigned {
        /// The release.
        release: Release,
        /// The entry or module.
        what: String,
        /// Its missing signatures.
        unsigned: Box<Unsigned>,
    },
    /// The store cannot be read.
    #[error("cannot read the store")]
    Find(#[from] FindError),
    /// Another import or switch is running.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// The file system refused.
    #[error("cannot write the release")]
    Write(#[from] WriteError),
}

/// Returns the hint for a rollback without an earlier release.
fn switch_to(other: Option<&Release>) -> String {
    let hint = |release| format!("\nhint: serve another release with `precast release switch {release}`");
    other.map(hint).unwrap_or_default()
}

/// Returns the hint for a release that is not signed by enough keys.
fn hint(release: &Release, unsigned: &Unsigned) -> String {
    match unsigned.cause {
        Cause::ExpiredSignature => format!(
            "\nhint: the signers sign the export of `{release}` again (`precast sign FILE --expires DAY`); import it \
             with `precast import FILE --older`, then try again"
        ),
        _ => unsigned.hint().to_owned(),
    }
}
