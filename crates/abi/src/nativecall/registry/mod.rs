//! Approach 1 of CEP 1000: a registry that assigns each signature a number (1A) or an address (1B).
//!
//! precast itself uses approach 2. This module is for programs that exchange tables with users of approach 1. It is behind
//! the feature `registry`, which no crate of precast enables, so no deployed program links it.
//!
//! ```text
//! (here)    a registry, as a table of C functions
//! interned  the encodings of numbers and of addresses
//! meet      makes several parties of one process use the same registry
//!
//! intern("dd)d~") ─▶ 0x5581…   the same address until the last owner releases it           1B
//! id("dd)d~")     ─▶ 7         the same number for the lifetime of the process             1A
//! ```
//! A registry is a table of C functions ([`Registry`], `pc_native_registry`), so any party may provide one. Every copy
//! of this crate has its own registry; [`meet`] makes several parties of a process use the same one.
//!
//! Strings are reference-counted: a JIT may intern a signature and release it together with its code. A signature with
//! a number is never freed, because numbers are never reused.

mod interned;
pub mod meet;

pub use interned::{Id, Interned, InternedText};

use super::Signature;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::sync::{Mutex, PoisonError};

/// The version of [`Registry`] (`PC_NATIVE_REGISTRY_VERSION`).
pub const VERSION: u32 = 1;

/// `pc_native_registry`: the functions of a registry. Any thread may call them.
#[repr(C)]
#[derive(Debug)]
pub struct Registry {
    /// [`VERSION`].
    pub version: u32,
    /// The size of this struct in bytes.
    pub struct_bytes: u32,
    /// Returns the address of a signature and adds a reference; NULL if the text is not canonical.
    pub intern: unsafe extern "C" fn(text: *const c_char, len: usize) -> *const c_char,
    /// Releases one reference returned by `intern`.
    pub release: unsafe extern "C" fn(interned: *const c_char),
    /// Returns the number of a signature; 0 if the text is not canonical.
    pub id: unsafe extern "C" fn(text: *const c_char, len: usize) -> u64,
    /// Returns the signature of a number, valid for the lifetime of the process; NULL for an unknown number.
    pub text: unsafe extern "C" fn(id: u64) -> *const c_char,
}

/// The registry of this copy of the crate.
pub(super) static OWN: Registry =
    Registry { version: VERSION, struct_bytes: size_of::<Registry>() as u32, intern, release, id, text };

static STATE: Mutex<State> = Mutex::new(State { owned: BTreeMap::new(), numbered: Vec::new() });

struct State {
    owned: BTreeMap<&'static CStr, Owned>,
    /// Signatures by number, starting at 1.
    numbered: Vec<&'static CStr>,
}

#[derive(Default)]
struct Owned {
    references: u64,
    /// 0 until a number is requested.
    id: u64,
}

impl State {
    /// Returns the entry of a signature. The text of a new entry is leaked until [`release`].
    fn entry(&mut self, signature: &Signature) -> Option<(&'static CStr, &mut Owned)> {
        let text = CString::new(signature.as_str()).ok()?;
        let key = match self.owned.get_key_value(&*text) {
            Some((key, _)) => *key,
            None => Box::leak(text.into_boxed_c_str()),
        };
        Some((key, self.owned.entry(key).or_default()))
    }
}

/// Parses the signature that a C caller passed.
///
/// # Safety
/// `text` must point to `len` readable bytes.
unsafe fn given(text: *const c_char, len: usize) -> Option<Signature> {
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) };
    Signature::parse(std::str::from_utf8(bytes).ok()?).ok()
}

fn lock() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn intern(text: *const c_char, len: usize) -> *const c_char {
    // SAFETY: the contract of `pc_native_registry.intern`.
    let Some(signature) = (unsafe { given(text, len) }) else { return std::ptr::null() };
    lock().entry(&signature).map_or(std::ptr::null(), |(key, owned)| {
        owned.references += 1;
        key.as_ptr()
    })
}

unsafe extern "C" fn release(interned: *const c_char) {
    // SAFETY: the contract of `pc_native_registry.release`: the caller owns a reference, so the string exists.
    let key = unsafe { CStr::from_ptr(interned) };
    let mut state = lock();
    let Some(owned) = state.owned.get_mut(key) else { return };
    owned.references = owned.references.saturating_sub(1);
    if owned.references > 0 || owned.id > 0 {
        return;
    }
    if let Some((text, _)) = state.owned.remove_entry(key) {
        // SAFETY: `entry` leaked this box. The only other copy of the reference was the removed key: the signature has
        // no number, and all owners have released it.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(text).cast_mut()) });
    }
}

unsafe extern "C" fn id(text: *const c_char, len: usize) -> u64 {
    // SAFETY: the contract of `pc_native_registry.id`.
    let Some(signature) = (unsafe { given(text, len) }) else { return 0 };
    let mut state = lock();
    let next = state.numbered.len() as u64 + 1;
    let Some((key, owned)) = state.entry(&signature) else { return 0 };
    if owned.id > 0 {
        return owned.id;
    }
    owned.id = next;
    state.numbered.push(key);
    next
}

unsafe extern "C" fn text(id: u64) -> *const c_char {
    let position = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
    let state = lock();
    position.and_then(|at| state.numbered.get(at)).map_or(std::ptr::null(), |text| text.as_ptr())
}
