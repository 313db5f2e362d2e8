//! Keyrings: the keys whose signatures are trusted.
//!
//! Content needs no signature, because its name is its hash. Signatures vouch for mappings: that a module belongs to a key,
//! or a program to a name. So records and entries are signed, each by its bytes. A bundle is signed as a whole, and so is a
//! release that `precast export` writes.
//!
//! Signatures have the format of minisign, four lines of text, and stand beside the signed file in `<file>.minisig`. A file
//! may have several signatures, one after another; the program `minisign` reads only the first. Signatures of minisign
//! before 0.10 count too, except for releases above 64 MiB, which are checked in parts. A signature expires if its trusted
//! comment, which is signed too, has a field `expires:2027-11-22` between tabs. A *keyring* lists the trusted keys in a
//! small file:
//!
//! ```text
//! # who may sign
//! format=2
//! version=3                  a later version replaces an earlier one, never the reverse
//! issued=2026-11-22          before this day, the clock is wrong and no signature is trusted
//! expires=2027-11-22         from this day on, no signature is trusted
//! threshold=2                the number of keys that must sign a release
//! keyring_threshold=1        the number of keys that must sign the next keyring, if it is another number
//! requires_expiry=true       a signature of a release without a day of expiry does not count
//! key=RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3 alice
//! release_key=RW… ci         signs only releases
//! keyring_key=RW… root       signs only keyrings
//! revoked=RW… mallory
//! ```
//! Format 1 has no `issued`, no roles and no second threshold. It is read, and not written.
//!
//! # Rules
//!
//! * Keys count, not signatures. A key that signed twice, or is listed under two names, counts once.
//! * A revoked key never counts, even if it is also listed as a key.
//! * A signature by an unlisted key is ignored. A signature by a listed key over other bytes is reported.
//! * A signature that has expired, or whose day of expiry is invalid, does not count.
//! * Failures are not cached: an unsigned file is checked again at the next use.

mod date;
mod error;
mod file;
mod key;
mod parse;
mod signatures;

use std::collections::BTreeSet;
use std::io::{self, Read, Seek};

use minisign_verify::Signature;

pub use date::{Date, ParseDateError};
pub use error::{Cause, KeyringError, Unsigned};
pub use file::{OpenSignedError, check_file, signature_file, signatures_of};
use key::Verdict;
pub use key::{Key, Role};
use signatures::blocks;
pub use signatures::{EXPIRES, expiry, last_day, merged, names_of, of_name, with_signature};

/// Maximum number of signatures that are read for one file.
const SIGNATURES: usize = 64;

/// Maximum size of a `.minisig` file, in bytes.
pub const SIGNATURES_LIMIT: u64 = 64 << 10;

/// The suffix of signature files.
pub const SUFFIX: &str = ".minisig";

/// The trusted keys, and how many of them must sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyring {
    /// Version, which increases with each change.
    pub version: u64,
    /// The day on which it was written, before which no signature is trusted. `None` in format 1.
    pub issued: Option<Date>,
    /// The first day on which no signature is trusted.
    pub expires: Date,
    /// The number of different keys that must sign a release.
    pub threshold: usize,
    /// The number of different keys that must sign the next keyring, if it differs from `threshold`.
    pub keyring_threshold: Option<usize>,
    /// Whether signatures of releases count only if they expire.
    pub requires_expiry: bool,
    /// The trusted keys.
    pub keys: Vec<Key>,
    /// Keys that are not trusted, even if they are also in `keys`.
    pub revoked: Vec<Key>,
}

impl Keyring {
    /// Checks that enough keys have signed `content`, and returns their names.
    ///
    /// # Errors
    ///
    /// Too few keys have signed, or the keyring has expired. The error lists the valid signatures and why the rest do not
    /// count. Expiry is checked at each call, however long ago the keyring was read.
    pub fn check(&self, content: &[u8], signatures: &str) -> Result<Vec<&str>, Box<Unsigned>> {
        self.check_date()?;
        self.count(content, signatures, Role::Releases)
    }

    /// Checks that enough keys that may sign keyrings have signed a keyring, and returns their names.
    ///
    /// # Errors
    ///
    /// Too few keys have signed.
    pub fn check_keyring(&self, text: &str, signatures: &str) -> Result<Vec<&str>, Box<Unsigned>> {
        self.count(text.as_bytes(), signatures, Role::Keyrings)
    }

    /// Checks a file like [`Keyring::check`], but reads it in parts.
    ///
    /// # Errors
    ///
    /// The file cannot be read. The inner result is that of [`Keyring::check`].
    pub fn check_read(
        &self,
        file: &mut (impl Read + Seek),
        signatures: &str,
    ) -> io::Result<Result<Vec<&str>, Box<Unsigned>>> {
        if let Err(unsigned) = self.check_date() {
            return Ok(Err(unsigned));
        }
        let mut failed = None;
        let counted = self.count_by(signatures, Role::Releases, |key, signature| {
            key.signed_read(file, signature).unwrap_or_else(|error| {
                failed = Some(error);
                Some(Verdict::OtherBytes)
            })
        });
        failed.map_or(Ok(counted), Err)
    }

    /// Checks that today is a day on which the keyring is valid.
    fn check_date(&self) -> Result<(), Box<Unsigned>> {
        let (problem, cause) = match (self.has_expired(), self.issued.filter(|_| self.is_early())) {
            (_, Some(issued)) => {
                let today = Date::today();
                (
                    format!("the keyring was issued on {issued}, and the clock shows {today} (UTC)"),
                    Cause::Clock,
                )
            }
            (true, None) => (format!("the keyring expired on {} (UTC)", self.expires), Cause::ExpiredKeyring),
            (false, None) => return Ok(()),
        };
        Err(Box::new(Unsigned {
            threshold: self.threshold,
            valid: Vec::new(),
            problems: vec![problem],
            cause,
        }))
    }

    /// Returns whether the keyring has expired, by the system clock.
    #[must_use]
    pub fn has_expired(&self) -> bool {
        Date::today() >= self.expires
    }

    /// Returns whether the system clock shows a day before the keyring was issued.
    #[must_use]
    pub fn is_early(&self) -> bool {
        self.issued.is_some_and(|issued| Date::today() < issued)
    }

    /// Returns the number of keys that must sign files of a kind: releases or keyrings.
    fn needed(&self, task: Role) -> usize {
        self.keyring_threshold.filter(|_| task == Role::Keyrings).unwrap_or(self.threshold)
    }

    /// Returns the keys that may sign releases: those that are listed for it and not revoked.
    pub fn release_keys(&self) -> impl Iterator<Item = &Key> {
        self.usable(Role::Releases)
    }

    fn usable(&self, task: Role) -> impl Iterator<Item = &Key> {
        self.keys.iter().filter(move |key| key.role.covers(task) && !self.is_revoked(key))
    }

    fn is_revoked(&self, key: &Key) -> bool {
        self.revoked.iter().any(|revoked| revoked.is_same(key))
    }

    /// Counts the keys that have signed `content`, ignoring the dates of the keyring.
    fn count(&self, content: &[u8], signatures: &str, task: Role) -> Result<Vec<&str>, Box<Unsigned>> {
        self.count_by(signatures, task, |key, signature| key.signed(content, signature).map(Verdict::of))
    }

    fn count_by(
        &self,
        signatures: &str,
        task: Role,
        mut signed: impl FnMut(&Key, &Signature) -> Option<Verdict>,
    ) -> Result<Vec<&str>, Box<Unsigned>> {
        let (mut valid, mut problems, mut cause) = (BTreeSet::new(), BTreeSet::new(), Cause::Missing);
        for block in blocks(signatures) {
            let Ok(signature) = Signature::decode(&block) else {
                problems.insert("one is not a minisign signature".to_owned());
                continue;
            };
            let listed = self.keys.iter().enumerate().map(|(at, key)| (Some(at), key));
            let mut known = false;
            for (at, key) in listed.chain(self.revoked.iter().map(|key| (None, key))) {
                let Some(verdict) = signed(key, &signature) else { continue };
                known = true;
                match self.counts(at, key, verdict, &signature, task) {
                    Ok(at) => drop(valid.insert(at)),
                    Err((problem, why)) => {
                        problems.insert(problem);
                        cause = cause.max(why);
                    }
                }
            }
            if !known {
                cause = cause.max(Cause::UnlistedKey);
                problems.insert("one is by an unlisted key".to_owned());
            }
        }
        let threshold = self.needed(task);
        if valid.len() >= threshold {
            return Ok(valid.into_iter().map(|at| self.keys[at].name.as_str()).collect());
        }
        let valid = valid.into_iter().map(|at| self.keys[at].name.clone()).collect();
        Err(Box::new(Unsigned { threshold, valid, problems: problems.into_iter().collect(), cause }))
    }

    /// Returns the position of a listed key whose signature counts, else the reason why it does not.
    fn counts(
        &self,
        at: Option<usize>,
        key: &Key,
        verdict: Verdict,
        signature: &Signature,
        task: Role,
    ) -> Result<usize, (String, Cause)> {
        let name = &key.name;
        let Some(at) = at.filter(|_| !self.is_revoked(key)) else {
            return Err((format!("key `{name}` is revoked"), Cause::Missing));
        };
        if !key.role.covers(task) {
            return Err((format!("key `{name}` may sign {} only", key.role), Cause::OtherRole(task)));
        }
        match verdict {
            Verdict::Valid => self
                .check_expiry(signature.trusted_comment(), task)
                .map(|()| at)
                .map_err(|why| (format!("the signature by `{name}` {why}"), Cause::ExpiredSignature)),
            Verdict::OtherBytes => {
                Err((format!("the signature by `{name}` is for other bytes"), Cause::OtherBytes))
            }
            Verdict::Legacy => Err((
                format!(
                    "the signature by `{name}` has the format of minisign before 0.10, which is valid for small files \
                     only"
                ),
                Cause::Missing,
            )),
        }
    }

    /// Checks that a signature with this trusted comment counts today. The error follows "the signature by `alice`".
    fn check_expiry(&self, comment: &str, task: Role) -> Result<(), String> {
        match expiry(comment) {
            Ok(Some(day)) if Date::today() >= day => Err(format!("expired on {day} (UTC)")),
            Ok(None) if self.requires_expiry && task == Role::Releases => {
                Err("has no day of expiry, which the keyring requires".to_owned())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(format!("has an {error}")),
        }
    }

    /// Selects the first signature that counts by each key.
    fn signatures_that_count<'a>(
        &self,
        content: &[u8],
        signatures: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        let mut keys: Vec<&Key> = self.release_keys().collect();
        let mut count = |block: &&str| {
            let Ok(signature) = Signature::decode(block) else { return false };
            if self.check_expiry(signature.trusted_comment(), Role::Releases).is_err() {
                return false;
            }
            let by = keys.iter().position(|key| key.signed(content, &signature) == Some(true));
            by.map(|at| keys.remove(at)).is_some()
        };
        signatures.filter(|block| count(block)).map(str::to_owned).collect()
    }

    /// Checks that a keyring may replace this one. It must have a higher version, and enough keys of this keyring that may
    /// sign keyrings must have signed it. This keyring may have expired, since otherwise an expired keyring could never be
    /// replaced. Versions may be skipped.
    ///
    /// # Errors
    ///
    /// The keyring is unsigned, invalid, or not newer.
    pub fn check_successor(&self, text: &str, signatures: &str) -> Result<Self, KeyringError> {
        self.check_keyring(text, signatures)?;
        let next = Self::parse(text)?;
        if next.version <= self.version {
            return Err(KeyringError::Rollback { found: next.version, current: self.version });
        }
        Ok(next)
    }
}
