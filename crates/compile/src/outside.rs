//! Checks headers and libraries outside a module's sources, which a record identifies by content, for changes.
//!
//! `precast build` recompiles a module when one of these files changed. A program that is allowed to compile does the
//! same, so that both give the same result. It skips a record if a file that the record names exists with different
//! content, or exists although it was missing at the build. If a file that was read is missing, or if compiling is not
//! possible, the module is still used, since precompiled modules exist for this case.

use precast_store::key::ContentId;
use precast_store::stat::{Stat, TICK};
use precast_store::{Outside, Record};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::Read as _;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Returns the first file of a record that has different content on this host.
#[must_use]
pub fn changed_outside(record: &Record) -> Option<&str> {
    let file = record.outside.iter().find(|file| is_changed(file))?;
    Some(&file.path)
}

fn is_changed(Outside { path, content }: &Outside) -> bool {
    match content {
        Some(content) => content_of(path).is_some_and(|found| found != Content::Hash(*content)),
        None => fs_err::metadata(path).is_ok(),
    }
}

/// The contents of files, read once while they do not change: a C library is large, and many modules refer to it.
static KNOWN: Mutex<BTreeMap<String, (Stat, ContentId)>> = Mutex::new(BTreeMap::new());

/// The content of a file on this host.
#[derive(PartialEq, Eq)]
enum Content {
    Hash(ContentId),
    /// Not read, because it is larger than any file that a module is compiled from.
    TooLarge,
}

/// The maximum size of a file to read, in bytes. No header or library is this large, but a record can name any file of
/// the host.
const MOST: u64 = 1 << 31;

/// Returns the content of a regular file, and `None` if it is missing. A file larger than [`MOST`] never matches a
/// record.
fn content_of(path: &str) -> Option<Content> {
    let found = fs_err::metadata(path).ok().filter(Metadata::is_file)?;
    let stat = Stat::read(&found)?;
    if found.len() > MOST {
        return Some(Content::TooLarge);
    }
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((then, content)) = known().get(path)
        && *then == stat
    {
        return Some(Content::Hash(*content));
    }
    // Reads at most the stated size: files in /proc state none, and some of them never end.
    let content = match found.len() {
        0 => ContentId::of([]),
        size => ContentId::of_reader(fs_err::File::open(path).ok()?.take(size)).ok()?,
    };
    if stat.age(SystemTime::now()).is_some_and(|age| age > TICK) {
        known().insert(path.to_owned(), (stat, content));
    }
    Some(Content::Hash(content))
}

#[cfg(test)]
mod tests {
    use super::{Content, MOST, content_of};
    use precast_store::key::ContentId;

    fn is(path: &str, bytes: &[u8]) -> bool {
        content_of(path).is_some_and(|found| found == Content::Hash(ContentId::of(bytes)))
    }

    #[test]
    fn sparse_file_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(MOST + 1).unwrap();
        assert!(content_of(file.path().to_str().unwrap()).is_some_and(|found| found == Content::TooLarge));
    }

    #[test]
    fn file_is_read_up_to_its_size() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("header.h");
        fs_err::write(&path, "one").unwrap();
        assert!(is(path.to_str().unwrap(), b"one"));
        assert!(!is(path.to_str().unwrap(), b"two"));
    }

    #[test]
    fn only_regular_files_are_opened() {
        assert!(content_of("/dev/zero").is_none());
        assert!(content_of("/absent").is_none());
        // Files in /proc state no size, and reading some of them blocks forever.
        assert!(is("/proc/version", b""));
    }
}
