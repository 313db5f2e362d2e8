//! Headers and libraries outside of a module's sources, which a record knows by content.
//!
//! `precast build` compiles again when one of them changed. A program that may compile does the same, so that both give the
//! same answer: a record is passed over if a file that it names is there and holds something else. Where the file is not
//! there, or nothing can be compiled, the module serves as it is: that is what it was compiled ahead for.

use crate::policy::Policy;
use precast_store::Record;

/// Finds the first file of a record that this host has with another content, if it could compile with that.
pub(crate) fn changed(record: &Record, policy: Option<Policy>) -> Option<&str> {
    if record.outside.is_empty() || !compiles(policy) {
        return None;
    }
    let mut files = record.outside.iter();
    let file = files.find(|file| content::of(&file.path).is_some_and(|found| found != file.content))?;
    Some(&file.path)
}

#[cfg(feature = "jit")]
fn compiles(policy: Option<Policy>) -> bool {
    policy.is_none_or(Policy::compiles) && precast_compile::Toolchain::find(None).is_ok()
}

#[cfg(not(feature = "jit"))]
fn compiles(_policy: Option<Policy>) -> bool {
    false
}

/// Contents of files, read once while they do not change: a C library is large, and many modules name it.
mod content {
    use precast_store::key::ContentId;
    use precast_store::stat::{Stat, TICK};
    use std::collections::BTreeMap;
    use std::fs::Metadata;
    use std::sync::{Mutex, PoisonError};
    use std::time::SystemTime;

    static KNOWN: Mutex<BTreeMap<String, (Stat, ContentId)>> = Mutex::new(BTreeMap::new());

    /// The content of a file, if it is there.
    pub(super) fn of(path: &str) -> Option<ContentId> {
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
}
