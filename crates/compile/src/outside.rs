//! Headers and libraries outside of a module's sources, which a record knows by content: are they what they were?
//!
//! `precast build` compiles again when one of them changed. A program that may compile does the same, so that both give the
//! same answer: a record is passed over if a file that it names is there and holds something else. Where the file is not
//! there, or nothing can be compiled, the module serves as it is: that is what it was compiled ahead for.

use precast_store::Record;
use precast_store::key::ContentId;
use precast_store::stat::{Stat, TICK};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::Read as _;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Finds the first file of a record that this host has with another content.
#[must_use]
pub fn changed_outside(record: &Record) -> Option<&str> {
    let mut files = record.outside.iter();
    let file = files
        .find(|file| content_of(&file.path).is_some_and(|found| found != Content::Hash(file.content)))?;
    Some(&file.path)
}

/// Contents of files, read once while they do not change: a C library is large, and many modules name it.
static KNOWN: Mutex<BTreeMap<String, (Stat, ContentId)>> = Mutex::new(BTreeMap::new());

/// The content of a file of this host.
#[derive(PartialEq, Eq)]
enum Content {
    Hash(ContentId),
    /// Not read: larger than any file that a module is made from.
    TooLarge,
}

/// The size beyond which a file is not read, in bytes. No header or library is as large; a record can name any file of the host.
const MOST: u64 = 1 << 31;

/// Returns the content of a regular file, and `None` for one that is missing. A file beyond [`MOST`] has no content that a
/// record can name.
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
    // No more than the stated size: files of /proc state none, and some never end.
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
        // A file of /proc states no size, and some wait for ever.
        assert!(is("/proc/version", b""));
    }
}
