//! Keyrings: the keys whose signatures are trusted.
//!
//! Content needs no signature, because its name is its hash. Signatures vouch for mappings: that a module belongs to a key,
//! or a program to a name. So records and entries are signed, each by its bytes. A bundle is signed as a whole, and so is a
//! release that `precast export` writes.
//!
//! Signatures have the format of minisign, four lines of text, and stand beside the signed file in `<file>.minisig`. A file
//! may have several signatures, one after another; the program `minisign` reads only the first. Signatures of minisign
//! before 0.10 count too, except for releases above 64 MiB, which are checked in parts. A *keyring* lists the trusted keys
//! in a small file:
//!
//! ```text
//! # who may sign
//! format=1
//! version=3                  a later version replaces an earlier one, never the reverse
//! expires=2027-11-22         from this day on, no signature is trusted
//! threshold=2                the number of keys that must sign
//! key=RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3 alice
//! key=RW… bob
//! revoked=RW… mallory
//! ```
//! # Rules
//!
//! * Keys count, not signatures. A key that signed twice, or is listed under two names, counts once.
//! * A revoked key never counts, even if it is also listed as a key.
//! * A signature by an unlisted key is ignored. A signature by a listed key over other bytes is reported.
//! * Failures are not cached: an unsigned file is checked again at the next use.

mod date;
mod error;
mod file;
mod parse;

use std::collections::BTreeSet;
use std::io::{self, Read, Seek};

use minisign_verify::{Error, PublicKey, Signature};

pub use date::Date;
pub use error::{KeyringError, Unsigned};
pub use file::{OpenSignedError, check_file, signatures_of};

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
    /// The first day on which no signature is trusted.
    pub expires: Date,
    /// The number of different keys that must sign.
    pub threshold: usize,
    /// The trusted keys.
    pub keys: Vec<Key>,
    /// Keys that are not trusted, even if they are also in `keys`.
    pub revoked: Vec<Key>,
}

/// Characters of a public key: 42 bytes in base64.
const KEY_LENGTH: usize = 56;

/// Characters of a secret key: 158 bytes in base64, `=` at the end.
const SECRET_KEY_LENGTH: usize = 212;

/// A public key with its name in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// The key in minisign's format: 56 characters of base64.
    pub text: String,
    public: PublicKey,
}

/// The result of checking a signature by a known key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Valid,
    OtherBytes,
    /// The signature has the format of minisign before 0.10, which cannot be checked in parts.
    Legacy,
}

impl Verdict {
    fn of(is_valid: bool) -> Self {
        if is_valid { Self::Valid } else { Self::OtherBytes }
    }
}

impl Key {
    /// Parses a key from the text of its file, whose first line is a comment, or from the key line alone.
    ///
    /// # Errors
    ///
    /// The text is not a public key of minisign, or the name is invalid.
    pub fn parse(name: &str, text: &str) -> Result<Self, KeyringError> {
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let name_of = || name.to_owned();
        let wrong = || match line.len() {
            SECRET_KEY_LENGTH => KeyringError::SecretKey { name: name_of() },
            _ => KeyringError::Key { name: name_of(), found: line.chars().count() },
        };
        let public = PublicKey::from_base64(line).map_err(|_| wrong())?;
        let is_name = !name.is_empty() && name.len() <= 64 && !name.contains(char::is_control);
        // 42 bytes have exactly one encoding of 56 characters. `is_same` relies on it.
        if line.len() != KEY_LENGTH || !is_name || name.trim() != name {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), text: line.to_owned(), public })
    }

    /// Returns whether two keys are the same, whatever their names. The first ten bytes are the algorithm and an id that
    /// anybody can choose. The characters from the 17th on encode only bytes of the key itself.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.text[16..] == other.text[16..]
    }

    /// Checks a signature of the contents of `file`. Returns `None` if it is by another key. A signature of minisign before
    /// 0.10 covers all bytes at once and does not count here.
    fn signed_read(
        &self,
        file: &mut (impl Read + Seek),
        signature: &Signature,
    ) -> io::Result<Option<Verdict>> {
        let mut verifier = match self.public.verify_stream(signature) {
            Ok(verifier) => verifier,
            Err(Error::UnexpectedKeyId) => return Ok(None),
            Err(Error::UnsupportedLegacyMode) => return Ok(Some(Verdict::Legacy)),
            Err(_) => return Ok(Some(Verdict::OtherBytes)),
        };
        file.rewind()?;
        let mut part = vec![0; 1 << 16];
        loop {
            match file.read(&mut part) {
                Ok(0) => return Ok(Some(Verdict::of(verifier.finalize().is_ok()))),
                Ok(count) => verifier.update(&part[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns whether a signature by this key is valid for `content`, or `None` if it is by another key.
    fn signed(&self, content: &[u8], signature: &Signature) -> Option<bool> {
        match self.public.verify(content, signature, true) {
            Ok(()) => Some(true),
            Err(Error::UnexpectedKeyId) => None,
            Err(_) => Some(false),
        }
    }
}

impl Keyring {
    /// Checks that enough keys have signed `content`, and returns their names.
    ///
    /// # Errors
    ///
    /// Too few keys have signed, or the keyring has expired. The error lists the valid signatures and why the rest do not
    /// count. Expiry is checked at each call, however long ago the keyring was read.
    pub fn check(&self, content: &[u8], signatures: &str) -> Result<Vec<&str>, Box<Unsigned>> {
        self.check_expiry()?;
        self.count(content, signatures)
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
        if let Err(expired) = self.check_expiry() {
            return Ok(Err(expired));
        }
        let mut failed = None;
        let counted = self.count_by(signatures, |key, signature| {
            key.signed_read(file, signature).unwrap_or_else(|error| {
                failed = Some(error);
                Some(Verdict::OtherBytes)
            })
        });
        failed.map_or(Ok(counted), Err)
    }

    fn check_expiry(&self) -> Result<(), Box<Unsigned>> {
        if !self.has_expired() {
            return Ok(());
        }
        let problems = vec![format!("the keyring expired on {}", self.expires)];
        Err(Box::new(Unsigned {
            threshold: self.threshold,
            valid: Vec::new(),
            problems,
            has_unlisted: false,
            is_changed: false,
            has_expired: true,
        }))
    }

    /// Returns whether the keyring has expired, by the system clock.
    #[must_use]
    pub fn has_expired(&self) -> bool {
        Date::today() >= self.expires
    }

    /// Counts the keys that have signed `content`, ignoring the expiry date.
    fn count(&self, content: &[u8], signatures: &str) -> Result<Vec<&str>, Box<Unsigned>> {
        self.count_by(signatures, |key, signature| key.signed(content, signature).map(Verdict::of))
    }

    fn count_by(
        &self,
        signatures: &str,
        mut signed: impl FnMut(&Key, &Signature) -> Option<Verdict>,
    ) -> Result<Vec<&str>, Box<Unsigned>> {
        let (mut valid, mut problems) = (BTreeSet::new(), BTreeSet::new());
        let (mut has_unlisted, mut is_changed) = (false, false);
        for block in blocks(signatures) {
            let Ok(signature) = Signature::decode(&block) else {
                problems.insert("one is not a minisign signature".to_owned());
                continue;
            };
            let is_revoked = |key: &Key| self.revoked.iter().any(|revoked| revoked.is_same(key));
            let listed = self.keys.iter().enumerate().map(|(at, key)| (Some(at), key));
            let mut known = false;
            for (at, key) in listed.chain(self.revoked.iter().map(|key| (None, key))) {
                let Some(verdict) = signed(key, &signature) else { continue };
                known = true;
                let name = &key.name;
                let problem = match (at.filter(|_| !is_revoked(key)), verdict) {
                    (None, _) => format!("key `{name}` is revoked"),
                    (Some(at), Verdict::Valid) => {
                        valid.insert(at);
                        continue;
                    }
                    (Some(_), Verdict::OtherBytes) => {
                        is_changed = true;
                        format!("the signature by `{name}` is for other bytes")
                    }
                    (Some(_), Verdict::Legacy) => {
                        format!(
                            "the signature by `{name}` has the format of minisign before 0.10, which is valid for \
                             small files only"
                        )
                    }
                };
                problems.insert(problem);
            }
            if !known {
                has_unlisted = true;
                problems.insert("one is by an unlisted key".to_owned());
            }
        }
        if valid.len() >= self.threshold {
            return Ok(valid.into_iter().map(|at| self.keys[at].name.as_str()).collect());
        }
        let valid = valid.into_iter().map(|at| self.keys[at].name.clone()).collect();
        let problems = problems.into_iter().collect();
        Err(Box::new(Unsigned {
            threshold: self.threshold,
            valid,
            problems,
            has_unlisted,
            is_changed,
            has_expired: false,
        }))
    }

    /// Selects the first valid signature by each key that is listed and not revoked.
    fn signatures_that_count<'a>(
        &self,
        content: &[u8],
        signatures: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        let is_revoked = |key: &Key| self.revoked.iter().any(|revoked| revoked.is_same(key));
        let mut keys: Vec<&Key> = self.keys.iter().filter(|key| !is_revoked(key)).collect();
        let mut count = |block: &&str| {
            let Ok(signature) = Signature::decode(block) else { return false };
            let by = keys.iter().position(|key| key.signed(content, &signature) == Some(true));
            by.map(|at| keys.remove(at)).is_some()
        };
        signatures.filter(|block| count(block)).map(str::to_owned).collect()
    }

    /// Checks that a keyring may replace this one. It must have a higher version and be signed by the threshold of this
    /// keyring's keys. This keyring may have expired, since otherwise an expired keyring could never be replaced.
    ///
    /// # Errors
    ///
    /// The keyring is unsigned, invalid, or not newer.
    pub fn check_successor(&self, text: &str, signatures: &str) -> Result<Self, KeyringError> {
        self.count(text.as_bytes(), signatures)?;
        let next = Self::parse(text)?;
        if next.version <= self.version {
            return Err(KeyringError::Rollback { found: next.version, current: self.version });
        }
        Ok(next)
    }
}

/// Adds a signature of four lines, or replaces the existing signature by the same key in its place. The first signer stays
/// the first, whose signature the program `minisign` reads.
///
/// # Errors
///
/// The signature is invalid, by another key, or over other bytes.
pub fn with_signature(
    content: &[u8],
    key: &Key,
    signatures: &str,
    new: &str,
) -> Result<String, KeyringError> {
    let is_by = |block: &str| Signature::decode(block).ok().and_then(|found| key.signed(content, &found));
    if is_by(new) != Some(true) {
        return Err(KeyringError::NotSigned { name: key.name.clone() });
    }
    let new = format!("{}\n", new.trim_end());
    let mut all: Vec<String> = decodable(signatures).collect();
    let Some(place) = all.iter().position(|block| is_by(block).is_some()) else {
        return Ok(fitted(all, vec![new]).concat());
    };
    all[place] = new;
    let mut at = 0;
    all.retain(|block| {
        at += 1;
        at <= place + 1 || is_by(block).is_none()
    });
    Ok(all.concat())
}

/// Merges signatures of `content`: the present ones, then those of `more` that are missing. Readers read only 64
/// signatures. If there are more, those that count for the `known` keyring come first. Each of the two texts keeps its
/// first 32 of the rest, so that signatures by unknown keys cannot displace them.
#[must_use]
pub fn merged(present: &str, more: &str, known: Option<(&Keyring, &[u8])>) -> String {
    let mut present: Vec<String> = decodable(present).collect();
    let mut more: Vec<String> = decodable(more).filter(|block| !present.contains(block)).collect();
    if present.len() + more.len() <= SIGNATURES {
        return [present, more].concat().concat();
    }
    let mut first = Vec::new();
    if let Some((keyring, content)) = known {
        let all = present.iter().chain(&more).map(String::as_str);
        first = keyring.signatures_that_count(content, all);
        present.retain(|block| !first.contains(block));
        more.retain(|block| !first.contains(block));
    }
    first.extend(fitted(present, more));
    first.truncate(SIGNATURES);
    first.concat()
}

/// Joins signatures up to the limit of readers. The later ones displace earlier ones from at most half of the places.
fn fitted(mut earlier: Vec<String>, later: Vec<String>) -> Vec<String> {
    let reserved = later.len().min(SIGNATURES / 2);
    earlier.truncate(SIGNATURES - reserved);
    earlier.extend(later);
    earlier.truncate(SIGNATURES);
    earlier
}

/// Returns the blocks of a text that are well-formed signatures.
fn decodable(text: &str) -> impl Iterator<Item = String> {
    blocks(text).filter(|block| Signature::decode(block).is_ok())
}

/// Splits a text into signatures of four lines each.
fn blocks(text: &str) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(4 * SIGNATURES).collect();
    let blocks: Vec<String> = lines.chunks(4).map(|block| block.join("\n") + "\n").collect();
    blocks.into_iter()
}
