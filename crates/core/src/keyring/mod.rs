//! Keyrings: whose signatures make a mapping from key to content believed.
//!
//! Content needs no signature: it hashes to its name. What somebody has to vouch for is that *this* module is what *that* key
//! asks for, and that this program is what a name means. So records and entries are signed, each by its bytes; a bundle is
//! signed as a whole; so is what `precast export` writes.
//!
//! A signature is one of minisign, four lines of text, beside the file whose bytes it is about, in `<file>.minisig`. Several
//! stand below each other: the program `minisign` reads the first. Signatures of minisign before 0.10 count too, except for releases
//! above 64 MiB, which are checked in parts. Who may sign is said by a *keyring*, a small file:
//!
//! ```text
//! # who may sign
//! format=1
//! version=3                  a later one replaces an earlier one, never the other way round
//! expires=2027-11-22         from this day on nothing is believed
//! threshold=2                how many keys have to have signed
//! key=RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3 alice
//! key=RW… bob
//! revoked=RW… mallory
//! ```
//! # Rules
//!
//! * Keys count, not signatures: a key that signed twice, or that stands under two names, is one.
//! * A revoked key counts nothing, even if it is listed as a key too.
//! * A signature by a key that is not listed is passed over; one by a listed key over other bytes is told.
//! * Nothing is remembered: what is unsigned now is looked at again the next time.

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

/// Most signatures that are looked at beside one file.
const SIGNATURES: usize = 64;

/// Longest `.minisig`, in bytes.
pub const SIGNATURES_LIMIT: u64 = 64 << 10;

/// What is added to the name of a file for that of its signatures.
pub const SUFFIX: &str = ".minisig";

/// Who may sign, and how many have to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyring {
    /// Counts up with each change.
    pub version: u64,
    /// The first day on which nothing is believed any more.
    pub expires: Date,
    /// How many different keys have to have signed.
    pub threshold: usize,
    /// The keys that may.
    pub keys: Vec<Key>,
    /// Keys that may not, whatever else is said.
    pub revoked: Vec<Key>,
}

/// Characters of a public key: 42 bytes in base64.
const KEY_LENGTH: usize = 56;

/// Characters of a secret key: 158 bytes in base64, `=` at the end.
const SECRET_KEY_LENGTH: usize = 212;

/// A public key with the name that messages call it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// As minisign writes it: 56 characters of base64.
    pub text: String,
    public: PublicKey,
}

/// What a signature by a known key is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Valid,
    OtherBytes,
    /// It has the form of minisign before 0.10, which cannot be checked in parts.
    Legacy,
}

impl Verdict {
    fn of(is_valid: bool) -> Self {
        if is_valid { Self::Valid } else { Self::OtherBytes }
    }
}

impl Key {
    /// Reads a key: the text of its file, whose first line is a comment, or the one line that counts.
    ///
    /// # Errors
    ///
    /// It is no public key of minisign.
    pub fn parse(name: &str, text: &str) -> Result<Self, KeyringError> {
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let name_of = || name.to_owned();
        let wrong = || match line.len() {
            SECRET_KEY_LENGTH => KeyringError::SecretKey { name: name_of() },
            _ => KeyringError::Key { name: name_of(), found: line.chars().count() },
        };
        let public = PublicKey::from_base64(line).map_err(|_| wrong())?;
        let is_name = !name.is_empty() && name.len() <= 64 && !name.contains(char::is_control);
        // 42 bytes have one spelling of 56 characters, which `same` relies on.
        if line.len() != KEY_LENGTH || !is_name || name.trim() != name {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), text: line.to_owned(), public })
    }

    /// Whether two are one key, whatever they are called. Two bytes of algorithm and eight of a number that anybody can choose
    /// come first; the characters from the 17th on are of the key itself.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.text[16..] == other.text[16..]
    }

    /// Judges a signature of what `file` holds; `None` if it is by another key. A signature of minisign before 0.10 is about all bytes
    /// at once, and does not count here.
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

    /// Whether a signature, the text of one, is by this key and about these bytes; `None` if it is by another key.
    fn signed(&self, content: &[u8], signature: &Signature) -> Option<bool> {
        match self.public.verify(content, signature, true) {
            Ok(()) => Some(true),
            Err(Error::UnexpectedKeyId) => None,
            Err(_) => Some(false),
        }
    }
}

impl Keyring {
    /// Checks that enough keys have signed `content`, and names them.
    ///
    /// # Errors
    ///
    /// They have not; the error says whose signatures are there and why they do not count. From the day on which the keyring
    /// expires nothing counts, wherever it was read from and however long ago.
    pub fn check(&self, content: &[u8], signatures: &str) -> Result<Vec<&str>, Box<Unsigned>> {
        self.check_expiry()?;
        self.count(content, signatures)
    }

    /// Checks as [`Keyring::check`] what a file holds, which is read part by part: nothing is known of it yet.
    ///
    /// # Errors
    ///
    /// The file cannot be read; as [`Keyring::check`].
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

    /// Whether its day has come, by the system's clock.
    #[must_use]
    pub fn has_expired(&self) -> bool {
        Date::today() >= self.expires
    }

    /// Counts the keys that have signed `content`, whatever day it is.
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
                problems.insert("one is no signature of minisign".to_owned());
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
                    (None, _) => format!("the key `{name}` is revoked"),
                    (Some(at), Verdict::Valid) => {
                        valid.insert(at);
                        continue;
                    }
                    (Some(_), Verdict::OtherBytes) => {
                        is_changed = true;
                        format!("that by `{name}` is about other bytes")
                    }
                    (Some(_), Verdict::Legacy) => {
                        format!(
                            "that by `{name}` has the form of minisign before 0.10, which counts for small files only"
                        )
                    }
                };
                problems.insert(problem);
            }
            if !known {
                has_unlisted = true;
                problems.insert("one is by a key that is not listed".to_owned());
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

    /// Checks that a keyring may take the place of this one: it is signed by as many keys of this one as anything has to be, and
    /// its version is later. This one may have expired, or nobody could get beyond its day.
    ///
    /// # Errors
    ///
    /// It may not.
    pub fn check_successor(&self, text: &str, signatures: &str) -> Result<Self, KeyringError> {
        self.count(text.as_bytes(), signatures)?;
        let next = Self::parse(text)?;
        if next.version <= self.version {
            return Err(KeyringError::Rollback { found: next.version, current: self.version });
        }
        Ok(next)
    }
}

/// Puts a signature, four lines, to those that are there, in place of one by the same key.
///
/// # Errors
///
/// The key is none, or the signature is not by it about these bytes.
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
    let others: Vec<String> = decodable(signatures).filter(|block| is_by(block).is_none()).collect();
    Ok(fitted(others, vec![format!("{}\n", new.trim_end())]).concat())
}

/// Merges signatures of `content`: those that are present, then those of `more` that they lack. Readers look at 64 signatures only.
/// Where there are more, those by keys of `keyring` come first, and each of the two texts keeps its first 32, so that
/// signatures by unknown keys cannot displace the others.
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

/// Joins signatures such that all fit that readers look at: the later ones take at most half of the places of the earlier ones.
fn fitted(mut earlier: Vec<String>, later: Vec<String>) -> Vec<String> {
    let reserved = later.len().min(SIGNATURES / 2);
    earlier.truncate(SIGNATURES - reserved);
    earlier.extend(later);
    earlier.truncate(SIGNATURES);
    earlier
}

/// The blocks of a text that are signatures in form.
fn decodable(text: &str) -> impl Iterator<Item = String> {
    blocks(text).filter(|block| Signature::decode(block).is_ok())
}

/// The signatures in a text, each four lines.
fn blocks(text: &str) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(4 * SIGNATURES).collect();
    let blocks: Vec<String> = lines.chunks(4).map(|block| block.join("\n") + "\n").collect();
    blocks.into_iter()
}
