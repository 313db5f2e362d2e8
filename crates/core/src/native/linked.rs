//! Modules that are linked into this program, by the Digest of the archive that they are of: `Build::static_link`.
//!
//! They are the program itself, as an embedded bundle is, so there is nothing to verify and nothing to open. The handshake and
//! the key of the slot are checked as for a shared object.

use super::library::{LoadLibraryError, LoadedLibrary};
use crate::key::Digest;
use precast_abi::module::Linked;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

unsafe extern "C" {
    /// The first of them, or NULL.
    safe fn precast_linked_first() -> *const Linked;
    /// The end of them, or NULL.
    safe fn precast_linked_end() -> *const Linked;
}

/// Those in use. They stay: what a module set up when it was first used is in the program's own memory.
static LIBRARIES: Mutex<BTreeMap<Digest, Arc<LoadedLibrary>>> = Mutex::new(BTreeMap::new());

/// Finds the modules of a Digest.
///
/// # Errors
/// Their table is not one that this host serves.
pub(crate) fn find(digest: &Digest) -> Option<Result<Arc<LoadedLibrary>, LoadLibraryError>> {
    let linked = all().iter().find(|linked| linked.digest == *digest.as_bytes())?;
    let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = libraries.get(digest) {
        return Some(Ok(Arc::clone(library)));
    }
    // SAFETY: the section holds tables of modules, which `precast-build` put there, in memory of the program.
    let library = unsafe { LoadedLibrary::linked(linked.module) };
    Some(library.inspect(|library| {
        libraries.insert(*digest, Arc::clone(library));
    }))
}

fn all() -> &'static [Linked] {
    let (first, end) = (precast_linked_first(), precast_linked_end());
    if first.is_null() {
        return &[];
    }
    // SAFETY: both are of one section, which holds nothing but `Linked`.
    let count = unsafe { end.offset_from(first) };
    // SAFETY: as above; the section is never written to and is as old as the program.
    unsafe { std::slice::from_raw_parts(first, count.cast_unsigned()) }
}
