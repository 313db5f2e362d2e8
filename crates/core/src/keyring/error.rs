//! Why a keyring is none, and why something does not count as signed.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{Date, KEY_LENGTH};
use crate::trust::{EmptyNameError, Untrusted};

/// Says why there is no keyring, or why it may not take the place of another.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// Its name is empty.
    #[error(transparent)]
    EmptyName(#[from] EmptyNameError),
    /// Others can change it.
    #[error(transparent)]
    Untrusted(#[from] Box<Untrusted>),
    /// Nothing stands at its path.
    #[error("there is no keyring `{}`\nhint: `precast trust new` makes one", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot read keyring `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is none.
    #[error("not a keyring: {}{why}\nhint: copy the keyring again from its owner; `precast trust new` makes another", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Malformed {
        /// The line that is to blame, counted from 1; none where it is the whole.
        line: Option<usize>,
        /// What is wrong.
        why: String,
    },
    /// It has another format than this precast reads.
    #[error(
        "the keyring has format `{found}`, expected `{expected}`\nhint: a newer precast wrote it; update this one"
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
        /// What is wrong with it.
        source: Box<Self>,
    },
    /// A key is none. What stands there is not shown: it may be a secret.
    #[error("key `{name}` is none: expected a public key of minisign, {KEY_LENGTH} characters that begin with `RW`, found {}", if *found == KEY_LENGTH { "others".to_owned() } else { found.to_string() })]
    Key {
        /// What it is called.
        name: String,
        /// How many characters the line has that should be the key.
        found: usize,
    },
    /// Somebody has given away a secret key, or is about to.
    #[error(
        "key `{name}` is a secret key, and no public one\nhint: give the other file that `precast keygen` wrote: `{name}.pub`"
    )]
    SecretKey {
        /// What it is called.
        name: String,
    },
    /// The threshold is 0, or more than there are keys that may sign.
    #[error("the threshold is {threshold}, and {} may sign: {}", if *usable == 1 { "1 key".to_owned() } else { format!("{usable} keys") }, unreachable(*threshold, *usable))]
    Threshold {
        /// How many keys have to have signed.
        threshold: usize,
        /// How many may.
        usable: usize,
    },
    /// Its day has come.
    #[error("the keyring `{}` expired on {expires}, and it is {today}\nhint: get a later one from those who sign: `precast trust update`", path.display())]
    Expired {
        /// The file.
        path: PathBuf,
        /// The day.
        expires: Date,
        /// What the clock says.
        today: Date,
    },
    /// It is older than the one that is there.
    #[error(
        "the keyring has version {found}, and the present one {current}: only a later one may take its place"
    )]
    Rollback {
        /// Its version.
        found: u64,
        /// That of the present one.
        current: u64,
    },
    /// Too few keys have signed it.
    #[error("the keyring is not {0}{hint}", hint = _0.hint())]
    Unsigned(#[from] Box<Unsigned>),
    /// What should be a signature is not one by this key.
    #[error("`{name}` has not signed these bytes")]
    NotSigned {
        /// The key.
        name: String,
    },
}

/// What is wrong with a threshold, and what to do.
fn unreachable(threshold: usize, usable: usize) -> &'static str {
    match (threshold, usable) {
        (_, 0) => "nothing would ever count as signed\nhint: add keys",
        (0, _) => "what nobody has signed would count\nhint: at least one key has to sign",
        _ => "nothing would ever count as signed\nhint: add keys, or lower the threshold first",
    }
}

/// Says that too few keys have signed something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsigned {
    /// How many have to.
    pub threshold: usize,
    /// Those that have.
    pub valid: Vec<String>,
    /// Why other signatures do not count.
    pub problems: Vec<String>,
    /// Whether a signature is by a key that the keyring does not list.
    pub has_unlisted: bool,
    /// Whether a signature by a key of the keyring is about other bytes.
    pub is_changed: bool,
    /// Whether the keyring has expired, so that no signature counts.
    pub has_expired: bool,
}

impl Unsigned {
    /// Returns the remedy as the end of a message: a line `hint: …`.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        if self.has_expired {
            "\nhint: get a later keyring from those who sign: `precast trust update`"
        } else if self.is_changed {
            "\nhint: the content was changed after it was signed, or the signatures are those of another file: get both again from their source"
        } else if self.has_unlisted {
            "\nhint: sign it with a key of the keyring: `precast sign`; or, if you trust the signer, add the key: `precast trust add KEY.pub`"
        } else {
            "\nhint: sign it with a key of the keyring: `precast sign`; or get it signed from those who publish it"
        }
    }
}

/// Renders what is there, to stand after "is not" or alone: "signed by 2 keys: 1 has, `alice`; one is by a key that is not listed".
impl fmt::Display for Unsigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = if self.threshold == 1 { "1 key".to_owned() } else { format!("{} keys", self.threshold) };
        write!(f, "signed by {keys} of the keyring")?;
        match self.valid.len() {
            0 if self.problems.is_empty() => f.write_str(": there is no signature")?,
            0 => f.write_str(": no signature counts")?,
            count => write!(f, ": {count} of them did, `{}`", self.valid.join("`, `"))?,
        }
        self.problems.iter().try_for_each(|problem| write!(f, "; {problem}"))
    }
}

impl std::error::Error for Unsigned {}
