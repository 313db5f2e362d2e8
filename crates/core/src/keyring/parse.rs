//! Parses keyring files strictly, and writes them in one canonical form.
//!
//! Verification relies on this file. So a file that is truncated, half edited, or of another format version is rejected
//! with the invalid line. It is never read as a weaker keyring.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Date, Key, Keyring, KeyringError};
use crate::file::{self, NotReadable};
use crate::trust::{self, TrustError};

/// The format version that is written, and the only one that is accepted.
const FORMAT: &str = "1";

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

    /// Opens a keyring that has not expired.
    ///
    /// # Errors
    ///
    /// The file is missing or invalid, other users can change it, or the keyring has expired.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, KeyringError> {
        let path = path.as_ref();
        let keyring = Self::read(path)?;
        if keyring.has_expired() {
            let (expires, today) = (keyring.expires, Date::today());
            return Err(KeyringError::Expired { path: path.to_owned(), expires, today });
        }
        Ok(keyring)
    }

    /// Reads a keyring, even if it has expired.
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
    /// A line is invalid or missing, or the threshold exceeds the number of usable keys.
    pub fn parse(text: &str) -> Result<Self, KeyringError> {
        let Some(text) = text.strip_suffix('\n') else {
            return Err(whole("its last line is incomplete".to_owned()));
        };
        // Lines of another format may mean anything.
        let format = text.split('\n').find_map(|line| line.strip_prefix("format="));
        if let Some(found) = format.filter(|found| found.parse::<u64>().is_ok() && *found != FORMAT) {
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
    expires: Option<Date>,
    threshold: Option<usize>,
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
            "threshold" => {
                let threshold = usize::try_from(number(value)?).unwrap_or(usize::MAX);
                self.threshold.replace(threshold).is_none()
            }
            "expires" => {
                let date = value.parse().map_err(|error| format!("{error}"))?;
                self.expires.replace(date).is_none()
            }
            "key" | "revoked" => return self.take_key(name, value),
            _ => return Err(format!("unknown name `{name}`")),
        };
        if is_new { Ok(()) } else { Err(format!("duplicate `{name}`")) }
    }

    fn take_key(&mut self, list: &str, value: &str) -> Result<(), String> {
        let (key, name) = value.split_once(' ').ok_or("expected a key, a space and its name")?;
        let key = Key::parse(name, key).map_err(|error| error.to_string())?;
        let is_key = list == "key";
        let known = if is_key { &mut self.keys } else { &mut self.revoked };
        if known.iter().any(|known| known.is_same(&key)) {
            return Err(format!("duplicate `{list}`"));
        }
        // Keys are revoked by name.
        if is_key && known.iter().any(|known| known.name == key.name) {
            return Err(format!("another key is already named `{name}`"));
        }
        known.push(key);
        Ok(())
    }

    fn finish(self) -> Result<Keyring, KeyringError> {
        let missing = |name: &str| whole(format!("missing `{name}`"));
        match self.format.as_deref() {
            Some(FORMAT) => {}
            Some(other) => return Err(whole(format!("it has format `{other}`, expected `{FORMAT}`"))),
            None => return Err(missing("format")),
        }
        let keyring = Keyring {
            version: self.version.ok_or_else(|| missing("version"))?,
            expires: self.expires.ok_or_else(|| missing("expires"))?,
            threshold: self.threshold.ok_or_else(|| missing("threshold"))?,
            keys: self.keys,
            revoked: self.revoked,
        };
        let is_revoked = |key: &Key| keyring.revoked.iter().any(|revoked| revoked.is_same(key));
        let usable = keyring.keys.iter().filter(|key| !is_revoked(key)).count();
        if keyring.threshold == 0 || keyring.threshold > usable {
            return Err(KeyringError::Threshold { threshold: keyring.threshold, usable });
        }
        Ok(keyring)
    }
}

/// Parses a number in canonical form.
fn number(text: &str) -> Result<u64, String> {
    let number = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
    number.ok_or_else(|| format!("`{text}` is not a whole number"))
}

/// Renders the text of the file.
impl fmt::Display for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, expires, threshold, keys, revoked } = self;
        f.write_str("# who may sign; `precast trust` shows and changes this\n")?;
        writeln!(f, "format={FORMAT}\nversion={version}\nexpires={expires}\nthreshold={threshold}")?;
        let mut line = |what: &str, key: &Key| writeln!(f, "{what}={} {}", key.text, key.name);
        keys.iter().try_for_each(|key| line("key", key))?;
        revoked.iter().try_for_each(|key| line("revoked", key))
    }
}
