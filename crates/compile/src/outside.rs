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
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Finds the first file of a record that this host has with another content.
#[must_use]
pub fn changed_outside(record: &Record) -> Option<&str> {
    let mut files = record.outside.iter();
    let file = files.find(|file| content_of(&file.path).is_some_and(|found| found != file.content))?;
    Some(&file.path)
}

/// Contents of files, read once while they do not change: a C library is large, and many modules name it.
static KNOWN: Mutex<BTreeMap<String, (Stat, ContentId)>> = Mutex::new(BTreeMap::new());

/// The content of a file, if it is there.
fn content_of(path: &str) -> Option<ContentId> {
    let found = fs_err::metadata(path).ok().filter(Metadata::is_file)?;
    let stat = Stat::read(&found)?;
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((then, content)) = known().get(path)
        && *then == stat
    {
        return Some(*content);
    }
    let content = ContentId::of(fs_err::read(path).ok()?);
    if stat.age(SystemTime::now()).is_some_and(|age| age > TICK) {
        known().insert(path.to_owned(), (stat, content));
    }
    Some(content)
}
