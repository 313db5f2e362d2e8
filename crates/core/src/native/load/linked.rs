//! Modules that are linked into this program (`Build::static_link`), by the Digest of their archive.
//!
//! They are part of the program, like an embedded bundle, so they are neither verified nor opened. The handshake and the
//! key of the slot are checked as for a shared object.

use super::error::LoadLibraryError;
use super::library::LoadedLibrary;
use crate::key::Digest;
use precast_abi::module::Linked;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

unsafe extern "C" {
    /// Returns the first linked module, or NULL.
    safe fn precast_linked_first() -> *const Linked;
    /// Returns the end of the linked modules, or NULL.
    safe fn precast_linked_end() -> *const Linked;
}

/// Modules in use. They are never removed, because their state is in the program's own memory.
static LIBRARIES: Mutex<BTreeMap<Digest, Arc<LoadedLibrary>>> = Mutex::new(BTreeMap::new());

/// Finds the modules of a Digest.
///
/// # Errors
/// The module table does not match this host.
pub(crate) fn find(digest: &Digest) -> Option<Result<Arc<LoadedLibrary>, LoadLibraryError>> {
    let linked = all().iter().find(|linked| linked.digest == *digest.as_bytes())?;
    let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = libraries.get(digest) {
        return Some(Ok(Arc::clone(library)));
    }
    // SAFETY: the section holds module tables that `precast-build` put there, in memory of the program.
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
    // SAFETY: both point into one section, which contains only `Linked`.
    let count = unsafe { end.offset_from(first) };
    // SAFETY: as above; the section is never written and exists as long as the program.
    unsafe { std::slice::from_raw_parts(first, count.cast_unsigned()) }
}
