//! The file format: a subset of TOML with one canonical form, parsed strictly.

use std::fmt;

use precast_store::key::ContentId;
use precast_store::{ActionKey, BuildKey, Digest, RecordId, ToolchainId};
use serde::Deserialize;

use super::{Lock, Pin};

/// The version that is written, and the only one that is accepted.
pub(super) const VERSION: u32 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    generator: Option<String>,
    #[serde(default)]
    entry: Vec<FileEntry>,
    #[serde(default)]
    module: Vec<FileModule>,
    #[serde(default)]
    pin: Vec<FilePin>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEntry {
    name: String,
    key: RecordId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileModule {
    signature: String,
    key: BuildKey,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePin {
    action: ActionKey,
    digest: Digest,
    unit: Option<ContentId>,
    target: String,
    isa: String,
    toolchain: Option<ToolchainId>,
}

/// An error of the lock file's text.
#[derive(Debug)]
pub(super) enum ParseLockError {
    /// The text is invalid; the reason in words.
    Malformed(String),
    /// The text has a later version.
    Newer(u32),
}

impl From<String> for ParseLockError {
    fn from(why: String) -> Self {
        Self::Malformed(why)
    }
}

impl Lock {
    /// Parses the text of a lock file.
    pub(super) fn parse(text: &str) -> Result<Self, ParseLockError> {
        let stated = text.lines().find_map(|line| line.strip_prefix("version = "));
        check_version(stated.and_then(|stated| stated.parse().ok()).unwrap_or(VERSION))?;
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        check_version(file.version)?;
        let mut lock = Self { generator: file.generator, ..Self::default() };
        for FileEntry { name, key } in file.entry {
            if lock.entries.insert(name.clone(), key).is_some() {
                return Err(format!("duplicate graph `{name}`").into());
            }
        }
        for FileModule { signature, key } in file.module {
            if !lock.modules.insert((signature.clone(), key)) {
                return Err(format!("duplicate module `{signature}`").into());
            }
        }
        for FilePin { action, digest, unit, target, isa, toolchain } in file.pin {
            if lock.pin(&action).is_some() {
                return Err(format!("duplicate pin of action `{}`", action.short()).into());
            }
            lock.pins.insert(Pin { target, isa, action, digest, unit, toolchain });
        }
        Ok(lock)
    }
}

fn check_version(found: u32) -> Result<(), ParseLockError> {
    match found {
        VERSION => Ok(()),
        0 => Err(format!("found version 0, expected {VERSION}").into()),
        found => Err(ParseLockError::Newer(found)),
    }
}

/// Renders the file in its canonical form.
impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "# Made by precast and the same on every machine: commit it. `precast update` writes it anew.\n",
        )?;
        writeln!(f, "version = {VERSION}")?;
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        if let Some(generator) = &self.generator {
            writeln!(f, "generator = {}", quoted(generator))?;
        }
        let entries = self.entries.iter();
        let entries = entries.map(|(name, key)| format!("{{ name = {}, key = \"{key}\" }}", quoted(name)));
        list(f, "entry", entries)?;
        let modules = self.modules.iter();
        let modules = modules
            .map(|(signature, key)| format!("{{ signature = {}, key = \"{key}\" }}", quoted(signature)));
        list(f, "module", modules)?;
        let pins = self.pins.iter().map(|Pin { target, isa, action, digest, unit, toolchain }| {
            let (target, isa) = (quoted(target), quoted(isa));
            let toolchain = toolchain.map(|id| format!(", toolchain = \"{id}\"")).unwrap_or_default();
            let unit = unit.map(|id| format!(", unit = \"{id}\"")).unwrap_or_default();
            format!("{{ action = \"{action}\", digest = \"{digest}\"{unit}, target = {target}, isa = {isa}{toolchain} }}")
        });
        list(f, "pin", pins)
    }
}

fn list(f: &mut fmt::Formatter<'_>, name: &str, items: impl ExactSizeIterator<Item = String>) -> fmt::Result {
    if items.len() == 0 {
        return Ok(());
    }
    writeln!(f, "\n{name} = [")?;
    for item in items {
        writeln!(f, "  {item},")?;
    }
    f.write_str("]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> Lock {
        let key = |byte: u8| BuildKey::from_bytes([byte; 32]);
        Lock {
            generator: Some("precast 0.1.0+\"ab".to_owned()),
            entries: [("score".to_owned(), RecordId::from_bytes([1; 32]))].into(),
            modules: [("f(\"a\\b\")".to_owned(), key(2)), ("f(\"a\\b\")".to_owned(), key(3))].into(),
            pins: [Pin {
                target: "t".to_owned(),
                isa: "i".to_owned(),
                action: ActionKey::from_bytes([4; 32]),
                digest: Digest::from_bytes([5; 32]),
                unit: None,
                toolchain: None,
            }]
            .into(),
        }
    }

    #[test]
    fn lock_round_trips_with_one_line_per_item() {
        let text = lock().to_string();
        assert_eq!(Lock::parse(&text).unwrap(), lock());
        assert_eq!(text.lines().filter(|line| line.starts_with("  {")).count(), 4);
        assert_eq!(Lock::parse(&Lock::default().to_string()).unwrap(), Lock::default());
    }

    #[test]
    fn lock_version_1_round_trips() {
        // These bytes are frozen; every later version must read them.
        let golden = include_str!("version_1.lock");
        let lock = Lock::parse(golden).unwrap();
        assert_eq!((lock.entries.len(), lock.modules.len(), lock.pins.len()), (1, 1, 1));
        let written = lock.to_string();
        let comments = written.lines().take_while(|line| line.starts_with('#')).count();
        assert_eq!(written.lines().skip(comments).collect::<Vec<_>>(), golden.lines().collect::<Vec<_>>());
    }

    #[test]
    fn parser_rejects_other_files() {
        let text = lock().to_string();
        for (from, to) in [
            ("version = 1", "version = 2"),
            ("version = 1\n", ""),
            ("name = ", "nom = "),
            ("0101", "01"),
            ("0101", "0A01"),
            ("[", "["),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_eq!(Lock::parse(&changed).is_err(), changed != text, "{changed}");
        }
        let line = text.lines().find(|line| line.contains("score")).unwrap();
        let twice = text.replace(line, &format!("{line}\n{line}"));
        let ParseLockError::Malformed(why) = Lock::parse(&twice).unwrap_err() else { panic!("{twice}") };
        assert!(why.contains("duplicate graph"), "{why}");
        // A truncated file is an error, or contains at most the items before the cut.
        for at in 0..text.len() {
            if let Ok(cut) = Lock::parse(&text[..at]) {
                assert!(cut.entries.len() + cut.modules.len() + cut.pins.len() <= 4);
            }
        }
    }
}
