//! Parses keyring files strictly, and writes them in one canonical form.
//!
//! Verification relies on this file. So a file that is truncated, half edited, or of another format version is rejected
//! with the invalid line. It is never read as a weaker keyring.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Date, Key, Keyring, KeyringError, Role};
use crate::file::{self, NotReadable};
use crate::trust::{self, TrustError};

/// The format version that is written.
const FORMAT: &str = "2";

/// The first format, which is still read. It has no day of issue, no roles and no second threshold.
const FIRST: &str = "1";

/// Maximum size of a keyring file, in bytes, well above any real one.
const LIMIT: u64 = 1 << 20;

impl Keyring {
    /// Opens the keyring that `argument` names, or else `PRECAST_KEYRING`. Returns `None` if neither is set.
    ///
    /// # Errors
    ///
    /// The name is empty, or as [`Keyring::open`].
    pub fn open_setting(argument: Option<PathBuf>) -> Result<Option<Self>, KeyringError> {
        trust::keyring_setting(argument)?.map(Self::open).transpose()
    }

    /// Opens a keyring that is valid today.
    ///
    /// # Errors
    ///
    /// The file is missing or invalid, other users can change it, the keyring has expired, or the clock is
    /// behind its day of issue.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, KeyringError> {
        let path = path.as_ref();
        let keyring = Self::read(path)?;
        let (path, today) = (path.to_owned(), Date::today());
        if let Some(issued) = keyring.issued.filter(|_| keyring.is_early()) {
            return Err(KeyringError::Clock { path, issued, today });
        }
        if keyring.has_expired() {
            return Err(KeyringError::Expired { path, expires: keyring.expires, today });
        }
        Ok(keyring)
    }

    /// Reads a keyring, even if it is not valid today.
    ///
    /// # Errors
    ///
    /// The file is missing or invalid, or other users can change it.
    pub fn read(path: &Path) -> Result<Self, KeyringError> {
        let refused = |source| KeyringError::Io { path: path.to_owned(), source };
        let file = trust::open(path).map_err(|error| match error {
            TrustError::Untrusted(untrusted) => KeyringError::Untrusted(untrusted.of_keyring()),
            TrustError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                KeyringError::Missing { path: path.to_owned() }
            }
            TrustError::Io { source, .. } => refused(source),
        })?;
        let unusable =
            |error: KeyringError| KeyringError::File { path: path.to_owned(), source: Box::new(error) };
        let bytes = file::read_opened(file, LIMIT).map_err(|source| {
            match source.get_ref().and_then(|inner| inner.downcast_ref::<NotReadable>()) {
                Some(NotReadable::Long { found, limit, .. }) => {
                    unusable(whole(format!("it has {found} bytes, expected at most {limit}")))
                }
                _ => refused(source),
            }
        })?;
        let text = String::from_utf8(bytes).map_err(|_| whole("it is not UTF-8".to_owned()));
        text.and_then(|text| Self::parse(&text)).map_err(unusable)
    }

    /// Parses the text of a keyring.
    ///
    /// # Errors
    ///
    /// A line is invalid or missing, or a threshold exceeds the number of usable keys.
    pub fn parse(text: &str) -> Result<Self, KeyringError> {
        let Some(text) = text.strip_suffix('\n') else {
            return Err(whole("its last line is incomplete".to_owned()));
        };
        // Lines of another format may mean anything.
        let format = text.split('\n').find_map(|line| line.strip_prefix("format="));
        if let Some(found) =
            format.filter(|found| found.parse::<u64>().is_ok() && ![FIRST, FORMAT].contains(found))
        {
            return Err(KeyringError::Format { found: found.to_owned(), expected: FORMAT });
        }
        let mut lines = Lines::default();
        for (at, line) in text.split('\n').enumerate() {
            if !line.is_empty() && !line.starts_with('#') {
                lines.take(line).map_err(|why| KeyringError::Malformed { line: Some(at + 1), why })?;
            }
        }
        lines.finish()
    }
}

/// Returns the error for a defect that is not in a single line.
fn whole(why: String) -> KeyringError {
    KeyringError::Malformed { line: None, why }
}

/// The lines read so far.
#[derive(Default)]
struct Lines {
    format: Option<String>,
    version: Option<u64>,
    issued: Option<Date>,
    expires: Option<Date>,
    threshold: Option<usize>,
    keyring_threshold: Option<usize>,
    requires_expiry: Option<bool>,
    keys: Vec<Key>,
    revoked: Vec<Key>,
}

impl Lines {
    /// Reads one line. The error is the reason why it is invalid.
    fn take(&mut self, line: &str) -> Result<(), String> {
        // Other text may be a secret, which must not appear in a message.
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let (name, value) =
            line.split_once('=').filter(|(name, _)| is_name(name)).ok_or("expected `name=value`")?;
        if line.ends_with(char::is_whitespace) || value.starts_with(char::is_whitespace) {
            return Err("unexpected space".to_owned());
        }
        let is_new = match name {
            "format" => self.format.replace(value.to_owned()).is_none(),
            "version" => self.version.replace(number(value)?).is_none(),
            "threshold" => self.threshold.replace(count(value)?).is_none(),
            "keyring_threshold" => self.keyring_threshold.replace(count(value)?).is_none(),
            "requires_expiry" => self.requires_expiry.replace(flag(value)?).is_none(),
            "issued" => self.issued.replace(date(value)?).is_none(),
            "expires" => self.expires.replace(date(value)?).is_none(),
            "revoked" => return self.take_key(None, name, value),
            _ => match Role::ALL.into_iter().find(|role| role.name() == name) {
                Some(role) => return self.take_key(Some(role), name, value),
                None => return Err(format!("unknown name `{name}`")),
            },
        };
        if is_new { Ok(()) } else { Err(format!("duplicate `{name}`")) }
    }

    /// Reads a key with its role, or a revoked key.
    fn take_key(&mut self, role: Option<Role>, list: &str, value: &str) -> Result<(), String> {
        let (key, name) = value.split_once(' ').ok_or("expected a key, a space and its name")?;
        let key = Key::parse(name, key).map_err(|error| error.to_string())?;
        let known = if role.is_some() { &mut self.keys } else { &mut self.revoked };
        if known.iter().any(|known| known.is_same(&key)) {
            return Err(format!("duplicate `{list}`"));
        }
        // Keys are revoked by name.
        if role.is_some() && known.iter().any(|known| known.name == key.name) {
            return Err(format!("another key is already named `{name}`"));
        }
        known.push(key.with_role(role.unwrap_or_default()));
        Ok(())
    }

    fn finish(self) -> Result<Keyring, KeyringError> {
        let missing = |name: &str| whole(format!("missing `{name}`"));
        let is_first = match self.format.as_deref() {
            Some(FORMAT) => false,
            Some(FIRST) => true,
            Some(other) => return Err(whole(format!("it has format `{other}`, expected `{FORMAT}`"))),
            None => return Err(missing("format")),
        };
        let has_roles = self.keys.iter().any(|key| key.role != Role::Any);
        let has_new =
            self.issued.is_some() || self.keyring_threshold.is_some() || self.requires_expiry.is_some();
        if is_first && (has_roles || has_new) {
            return Err(whole(format!("it has format `{FIRST}` and names of format `{FORMAT}`")));
        }
        if !is_first && self.issued.is_none() {
            return Err(missing("issued"));
        }
        let keyring = Keyring {
            version: self.version.ok_or_else(|| missing("version"))?,
            issued: self.issued,
            expires: self.expires.ok_or_else(|| missing("expires"))?,
            threshold: self.threshold.ok_or_else(|| missing("threshold"))?,
            keyring_threshold: self.keyring_threshold,
            requires_expiry: self.requires_expiry.unwrap_or_default(),
            keys: self.keys,
            revoked: self.revoked,
        };
        for task in [Role::Releases, Role::Keyrings] {
            let (threshold, usable) = (keyring.needed(task), keyring.usable(task).count());
            if threshold == 0 || threshold > usable {
                return Err(KeyringError::Threshold { task, threshold, usable });
            }
        }
        Ok(keyring)
    }
}

fn date(text: &str) -> Result<Date, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn flag(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("`{text}` is neither `true` nor `false`"))
}

/// Parses a number of keys. A larger number than any memory holds is above every number of keys.
fn count(text: &str) -> Result<usize, String> {
    Ok(usize::try_from(number(text)?).unwrap_or(usize::MAX))
}

/// Parses a number in canonical form.
fn number(text: &str) -> Result<u64, String> {
    let number = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
    number.ok_or_else(|| format!("`{text}` is not a whole number"))
}

/// Renders the text of the file.
impl fmt::Display for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, issued, expires, threshold, keyring_threshold, requires_expiry, keys, revoked } =
            self;
        let format = if issued.is_some() { FORMAT } else { FIRST };
        f.write_str("# who may sign; `precast trust` shows and changes this\n")?;
        writeln!(f, "format={format}\nversion={version}")?;
        issued.iter().try_for_each(|issued| writeln!(f, "issued={issued}"))?;
        writeln!(f, "expires={expires}\nthreshold={threshold}")?;
        keyring_threshold.iter().try_for_each(|needed| writeln!(f, "keyring_threshold={needed}"))?;
        if *requires_expiry {
            f.write_str("requires_expiry=true\n")?;
        }
        let mut line = |what: &str, key: &Key| writeln!(f, "{what}={} {}", key.text, key.name);
        keys.iter().try_for_each(|key| line(key.role.name(), key))?;
        revoked.iter().try_for_each(|key| line("revoked", key))
    }
}
