//! The errors of keyrings and signatures.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::key::KEY_LENGTH;
use super::{Date, Role};
use crate::trust::{EmptyNameError, Untrusted};

/// The hint for a clock that is behind a keyring.
const SET_CLOCK: &str = "set the clock of this machine; if it is right, the keyring was written on a machine whose clock \
                         is ahead: get a new one from its owner";

/// The reason why a keyring cannot be used, or must not replace another one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// The name of the keyring is empty.
    #[error(transparent)]
    EmptyName(#[from] EmptyNameError),
    /// Other users can change the keyring.
    #[error(transparent)]
    Untrusted(#[from] Box<Untrusted>),
    /// The file does not exist.
    #[error("keyring `{}` not found\nhint: get it from its owner, or create one with `precast trust new`",
            path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read keyring `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It is none.
    #[error("not a keyring: {}{why}\nhint: get a new copy of the keyring from its owner, or create one with `precast \
             trust new`", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Malformed {
        /// The invalid line, counted from 1. `None` if the text as a whole is invalid.
        line: Option<usize>,
        /// The reason.
        why: String,
    },
    /// It has another format than this precast reads.
    #[error(
        "the keyring has format `{found}`, expected `{expected}`\nhint: update precast: a newer version wrote the \
         keyring"
    )]
    Format {
        /// Its format.
        found: String,
        /// The format that is read.
        expected: &'static str,
    },
    /// A file is none.
    #[error("cannot use the keyring `{}`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: Box<Self>,
    },
    /// The text is not a public key. It is not shown, because it may be a secret.
    #[error("key `{name}` is invalid: expected a minisign public key, {KEY_LENGTH} characters that begin with `RW`, \
             found {}", if *found == KEY_LENGTH { "other characters".to_owned() } else { found.to_string() })]
    Key {
        /// The name of the key.
        name: String,
        /// The number of characters in the line of the key.
        found: usize,
    },
    /// The key is a secret key, which must not be published.
    #[error(
        "key `{name}` is a secret key, expected a public key\nhint: use the public file that `precast keygen` wrote: \
         `{name}.pub`"
    )]
    SecretKey {
        /// The name of the key.
        name: String,
    },
    /// The threshold is 0, or exceeds the number of usable keys.
    #[error("invalid {}threshold {threshold} for {}: {}", if *task == Role::Keyrings { "keyring " } else { "" }, if *usable == 1 { "1 usable key".to_owned() } else { format!("{usable} usable keys") }, unreachable(*threshold, *usable))]
    Threshold {
        /// The files to sign.
        task: Role,
        /// The number of keys that must sign.
        threshold: usize,
        /// The number of keys that may sign these files and are not revoked.
        usable: usize,
    },
    /// The keyring has expired.
    #[error("the keyring `{}` expired on {expires}; today is {today} (UTC)\nhint: get a newer one from the signers: \
             `precast trust update`", path.display())]
    Expired {
        /// The file.
        path: PathBuf,
        /// The day it expired.
        expires: Date,
        /// The current date of the system clock.
        today: Date,
    },
    /// The system clock is behind the day on which the keyring was issued.
    #[error("the clock is wrong: it shows {today} (UTC), and the keyring `{}` was issued on {issued}\nhint: {SET_CLOCK}",
            path.display())]
    Clock {
        /// The file.
        path: PathBuf,
        /// The day on which the keyring was issued.
        issued: Date,
        /// The current date of the system clock.
        today: Date,
    },
    /// The keyring is older than the present one.
    #[error("cannot replace keyring version {current} by version {found}: expected a newer version")]
    Rollback {
        /// The version of the new keyring.
        found: u64,
        /// The version of the present keyring.
        current: u64,
    },
    /// Too few keys have signed it.
    #[error("the keyring is not {0}{hint}", hint = _0.hint())]
    Unsigned(#[from] Box<Unsigned>),
    /// The signature is malformed, by another key, or over other bytes.
    #[error("`{name}` did not sign these bytes")]
    NotSigned {
        /// The key.
        name: String,
    },
}

/// Explains an impossible threshold, with a hint.
fn unreachable(threshold: usize, usable: usize) -> &'static str {
    match (threshold, usable) {
        (_, 0) => "no content could ever have enough signatures\nhint: add keys",
        (0, _) => "unsigned content would be accepted\nhint: require at least one key",
        _ => "no content could ever have enough signatures\nhint: add keys, or lower the threshold first",
    }
}

/// The error for content that too few keys have signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsigned {
    /// The number of keys that must sign.
    pub threshold: usize,
    /// The names of the keys with a valid signature.
    pub valid: Vec<String>,
    /// The reasons why other signatures do not count.
    pub problems: Vec<String>,
    /// The cause to remedy first.
    pub cause: Cause,
}

/// The reasons for missing signatures, from the last to the first to remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cause {
    /// Keys of the keyring have not signed.
    Missing,
    /// A signature is by a listed key that may not sign such files, but only others. The field is what must be signed.
    OtherRole(Role),
    /// A signature is by a key that the keyring does not list.
    UnlistedKey,
    /// A signature by a listed key has expired.
    ExpiredSignature,
    /// A signature by a listed key is over other bytes.
    OtherBytes,
    /// The keyring has expired, so that no signature counts.
    ExpiredKeyring,
    /// The system clock is behind the keyring's day of issue, so that no signature counts.
    Clock,
}

impl Unsigned {
    /// Returns the remedy as the end of a message: a line `hint: …`.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self.cause {
            Cause::Clock => {
                "\nhint: set the clock of this machine; if it is right, the keyring was written on a machine whose clock is \
                 ahead: get a new one from its owner"
            }
            Cause::ExpiredKeyring => "\nhint: get a newer keyring from the signers: `precast trust update`",
            Cause::OtherBytes => {
                "\nhint: get the file and its signatures again: the file was changed after signing, or the signatures \
                 belong to another file"
            }
            Cause::ExpiredSignature => {
                "\nhint: get the current release or its newer signatures from its publisher, who signs again with \
                 `precast sign --expires`"
            }
            Cause::UnlistedKey => {
                "\nhint: sign it with a key of the keyring (`precast sign`), or, if you trust the signer, add the key: \
                 `precast trust add KEY.pub`"
            }
            Cause::OtherRole(Role::Keyrings) => {
                "\nhint: sign it with a key that may sign keyrings: `precast trust show` lists the keys"
            }
            Cause::OtherRole(_) => {
                "\nhint: sign it with a key that may sign releases: `precast trust show` lists the keys"
            }
            Cause::Missing => {
                "\nhint: sign it with a key of the keyring (`precast sign`), or get it signed by its publisher"
            }
        }
    }
}

/// Renders the signatures found, to follow "is not" or to stand alone: "signed by 2 keys of the keyring: 1 of them did,
/// `alice`".
impl fmt::Display for Unsigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = if self.threshold == 1 { "1 key".to_owned() } else { format!("{} keys", self.threshold) };
        write!(f, "signed by {keys} of the keyring")?;
        match self.valid.len() {
            0 if self.problems.is_empty() => f.write_str(": no signature found")?,
            0 => f.write_str(": no valid signature")?,
            count => write!(f, ": found {count}, by `{}`", self.valid.join("`, `"))?,
        }
        self.problems.iter().try_for_each(|problem| write!(f, "; {problem}"))
    }
}

impl std::error::Error for Unsigned {}
