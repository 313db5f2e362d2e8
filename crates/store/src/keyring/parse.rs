//! The file: read strictly, written in one way.

use std::fmt;
use std::path::Path;

use super::{Date, Key, Keyring, KeyringError};
use crate::trust::{self, TrustError};

/// The format that is written, and the only one that is read.
const FORMAT: &str = "1";

/// No keyring comes near this size, in bytes.
const LIMIT: u64 = 1 << 20;

impl Keyring {
    /// Opens a keyring that has not expired.
    ///
    /// # Errors
    ///
    /// There is none, others can change it, or its day has come.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, KeyringError> {
        let path = path.as_ref();
        let keyring = Self::read(path)?;
        let today = Date::today();
        if today >= keyring.expires {
            return Err(KeyringError::Expired { path: path.to_owned(), expires: keyring.expires, today });
        }
        Ok(keyring)
    }

    /// Reads a keyring, expired or not.
    ///
    /// # Errors
    ///
    /// There is none, or others can change it.
    pub fn read(path: &Path) -> Result<Self, KeyringError> {
        let refused = |source| KeyringError::Io { path: path.to_owned(), source };
        let file = trust::open(path).map_err(|error| match error {
            TrustError::Untrusted(untrusted) => KeyringError::Untrusted(untrusted),
            TrustError::Io { source, .. } => refused(source),
        })?;
        let bytes = crate::file::read_opened(file, LIMIT).map_err(refused)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| KeyringError::Malformed { line: 0, why: "it is not UTF-8".to_owned() })?;
        Self::parse(&text)
    }

    /// Reads the text of a keyring.
    ///
    /// # Errors
    ///
    /// A line that is not understood, one that is missing, or a threshold that the keys cannot reach.
    pub fn parse(text: &str) -> Result<Self, KeyringError> {
        let mut lines = Lines::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if !line.is_empty() && !line.starts_with('#') {
                lines.take(line).map_err(|why| why.at(at + 1))?;
            }
        }
        lines.finish()
    }
}

/// What was read so far.
#[derive(Default)]
struct Lines {
    format: Option<String>,
    version: Option<u64>,
    expires: Option<Date>,
    threshold: Option<usize>,
    keys: Vec<Key>,
    revoked: Vec<Key>,
}

/// What is wrong with a line.
enum Wrong {
    Why(String),
    Key(KeyringError),
}

impl Wrong {
    fn at(self, line: usize) -> KeyringError {
        match self {
            Self::Why(why) => KeyringError::Malformed { line, why },
            Self::Key(error) => error,
        }
    }
}

impl Lines {
    fn take(&mut self, line: &str) -> Result<(), Wrong> {
        let why = |why: &str| Wrong::Why(why.to_owned());
        let (name, value) = line.split_once('=').ok_or_else(|| why("expected `name=value`"))?;
        let number = || value.parse::<u64>().map_err(|_| why("expected a whole number"));
        let is_new = match name {
            "format" => self.format.replace(value.to_owned()).is_none(),
            "version" => self.version.replace(number()?).is_none(),
            "threshold" => self.threshold.replace(usize::try_from(number()?).unwrap_or(usize::MAX)).is_none(),
            "expires" => {
                let date = value.parse().map_err(|error| Wrong::Why(format!("{error}")))?;
                self.expires.replace(date).is_none()
            }
            "key" | "revoked" => {
                let (key, called) = value.split_once(' ').unwrap_or((value, "unnamed"));
                let key = Key::parse(called, key).map_err(Wrong::Key)?;
                let list = if name == "key" { &mut self.keys } else { &mut self.revoked };
                let is_new = list.iter().all(|known| !known.same(&key));
                list.push(key);
                is_new
            }
            _ => return Err(Wrong::Why(format!("`{name}` means nothing to this precast"))),
        };
        if is_new { Ok(()) } else { Err(Wrong::Why(format!("this `{name}` is there already"))) }
    }

    fn finish(self) -> Result<Keyring, KeyringError> {
        let missing = |name: &str| KeyringError::Malformed { line: 0, why: format!("there is no `{name}`") };
        let whole = |why: String| KeyringError::Malformed { line: 0, why };
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
        let usable =
            keyring.keys.iter().filter(|key| keyring.revoked.iter().all(|revoked| !revoked.same(key)));
        let usable = usable.count();
        if keyring.threshold == 0 || keyring.threshold > usable {
            let threshold = keyring.threshold;
            return Err(whole(format!("the threshold is {threshold}, and {usable} keys may sign")));
        }
        Ok(keyring)
    }
}

/// Renders the file.
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
