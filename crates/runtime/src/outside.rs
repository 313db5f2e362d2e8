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
    let file = files.find(|file| {
        let read = fs_err::read(&file.path);
        read.is_ok_and(|bytes| precast_store::key::ContentId::of(&bytes) != file.content)
    })?;
    Some(&file.path)
}

#[cfg(feature = "jit")]
fn compiles(policy: Option<Policy>) -> bool {
    matches!(policy, None | Some(Policy::Jit)) && precast_compile::Toolchain::find(None).is_ok()
}

#[cfg(not(feature = "jit"))]
fn compiles(_policy: Option<Policy>) -> bool {
    false
}
