//! The manifest of recorded misses: locked, read, and replaced as a whole.
//!
//! Every writer locks the file itself. Because writers replace the file, a writer that waited for the lock checks
//! that the locked file still has the name, and reopens it otherwise. Existing text is never edited, only extended,
//! and only if the result is a valid manifest. A file that is not a manifest is rejected unchanged.

use super::RecordError;
use super::declaration::{Declaration, Identity};
use fs_err::os::unix::fs::OpenOptionsExt as _;
use fs_err::{File, OpenOptions};
use precast_ops::MANIFEST_KEYS;
use precast_store::file::{Kind, read_text};
use precast_store::whole::Whole;
use std::fs::TryLockError;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};
use toml::{Table, Value};

/// The result of recording a miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// The miss was added.
    Now,
    /// The manifest already contained it.
    Before,
}

/// The longest wait for other writers.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first line of a new manifest.
const HEAD: &str = "# Cache misses recorded by precast. Run `precast build` to compile them.\n";

/// Checks that the file, if it exists, is a manifest.
pub(super) fn check(path: &Path) -> Result<(), RecordError> {
    match fs_err::metadata(path) {
        // Text written to a device is discarded, as intended.
        Ok(metadata) if Kind::of(metadata.file_type()) == Some(Kind::CharacterDevice) => Ok(()),
        Ok(_) => {
            let text = read_text(path).map_err(|error| read_error(path, error))?;
            parse(path, &text).map(drop)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(RecordError::Open { path: path.to_owned(), source }),
    }
}

/// Adds a declaration to the manifest unless the manifest contains it.
pub(super) fn append(path: &Path, declaration: &Declaration) -> Result<Recorded, RecordError> {
    let written = |source| RecordError::Write { path: path.to_owned(), source };
    let mut file = locked(path)?;
    let metadata = file.metadata().map_err(written)?;
    if !metadata.is_file() {
        // A device or a pipe cannot be read or replaced.
        file.write_all(declaration.text.as_bytes()).map_err(written)?;
        return Ok(Recorded::Now);
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| read_error(path, error))?;
    if has(&parse(path, &text)?, &declaration.identity) {
        return Ok(Recorded::Before);
    }
    if text.is_empty() {
        text.push_str(HEAD);
    } else if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&declaration.text);
    // A list in a single line, `graph = [{…}]`, cannot be extended.
    parse(path, &text)?;
    replace(path, &text, &metadata).map_err(written)?;
    Ok(Recorded::Now)
}

/// Opens the file, creating it if missing, and locks it. Devices are not locked.
fn locked(path: &Path) -> Result<File, RecordError> {
    let opened = |source| RecordError::Open { path: path.to_owned(), source };
    let give_up = Instant::now() + PATIENCE;
    loop {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o666).open(path);
        let file = file.map_err(opened)?;
        let mine = file.metadata().map_err(opened)?;
        if !mine.is_file() {
            return Ok(file);
        }
        match file.file().try_lock() {
            Ok(()) => match fs_err::metadata(path) {
                Ok(now) if (now.dev(), now.ino()) == (mine.dev(), mine.ino()) => return Ok(file),
                // Another process replaced it in the meantime.
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(opened(source)),
            },
            Err(TryLockError::Error(source)) => return Err(opened(source)),
            Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::WouldBlock) => return Err(RecordError::Locked { path: path.to_owned() }),
        }
    }
}

/// Replaces the text of the file atomically: the new file is complete and on disk before the rename.
fn replace(path: &Path, text: &str, old: &std::fs::Metadata) -> io::Result<()> {
    // A symbolic link keeps pointing to its target.
    let target = fs_err::canonicalize(path)?;
    let directory = target.parent().unwrap_or(Path::new("/"));
    let mut file = Whole::with_mode(directory, old.mode() & 0o7777)?;
    file.write_all(text.as_bytes())?;
    file.sync()?;
    file.rename(&target)
}

fn read_error(path: &Path, source: io::Error) -> RecordError {
    match source.kind() {
        io::ErrorKind::InvalidData => {
            RecordError::Damaged { path: path.to_owned(), problem: "it is not UTF-8".to_owned() }
        }
        _ => RecordError::Open { path: path.to_owned(), source },
    }
}

fn parse(path: &Path, text: &str) -> Result<Table, RecordError> {
    let damaged = |problem: String| RecordError::Damaged { path: path.to_owned(), problem };
    let table: Table = text.parse().map_err(|error: toml::de::Error| damaged(error.message().to_owned()))?;
    match table.iter().find(|(key, _)| !MANIFEST_KEYS.contains(&key.as_str())) {
        Some((key, _)) => Err(damaged(format!("unknown key `{key}`"))),
        None => Ok(table),
    }
}

fn has(manifest: &Table, identity: &Identity) -> bool {
    let tables = |key: &str| manifest.get(key).and_then(Value::as_array).into_iter().flatten();
    let is = |table: &Value, named: &str| table.get("name").and_then(Value::as_str) == Some(named);
    let lists = |table: &Value, key: &str, item: &Value| {
        table.get(key).and_then(Value::as_array).is_some_and(|list| list.contains(item))
    };
    match identity {
        Identity::Graph { name } => tables("graph").any(|table| is(table, name)),
        Identity::Op { name, dtype, ndim } => tables("op").any(|table| {
            is(table, name)
                && lists(table, "dtypes", &Value::String(dtype.clone()))
                && i64::try_from(*ndim).is_ok_and(|ndim| lists(table, "ndim", &Value::Integer(ndim)))
        }),
    }
}
