//! The encodings of approach 1: signatures as numbers or addresses from the registry.

use super::Registry;
use super::meet::registry;
use crate::nativecall::Signature;
use crate::nativecall::encoding::{Encoding, Key, NOWHERE};
use crate::nativecall::needle::Needle;
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

/// Signatures as numbers from the registry.
#[derive(Debug, Clone, Copy)]
pub struct Id;

/// Signatures as addresses from the registry.
#[derive(Debug, Clone, Copy)]
pub struct Interned;

/// One reference to an interned signature.
#[derive(Debug)]
pub struct InternedText {
    text: NonNull<c_char>,
    registry: &'static Registry,
}

// SAFETY: the text is never written, and any thread may call the functions of a registry.
unsafe impl Send for InternedText {}
// SAFETY: as for `Send`; a shared reference only reads.
unsafe impl Sync for InternedText {}

impl InternedText {
    /// Interns a signature in the registry of the process. Returns `None` if the registry rejects it, as a foreign
    /// implementation may.
    fn new(signature: &Signature) -> Option<Self> {
        let (registry, text) = (registry(), signature.as_str());
        // SAFETY: the pointer and length are those of `text`.
        let text = unsafe { (registry.intern)(text.as_ptr().cast(), text.len()) };
        NonNull::new(text.cast_mut()).map(|text| Self { text, registry })
    }
}

impl Drop for InternedText {
    fn drop(&mut self) {
        // SAFETY: `new` obtained this reference from the same registry.
        unsafe { (self.registry.release)(self.text.as_ptr()) }
    }
}

/// Creates a key of one word.
fn key_of_word<E: Encoding>(word: u64, held: E::Held) -> Key<E> {
    Key::of(Needle::new([word, 0, 0, 0, 0, 0, 0], 1), held)
}

impl Encoding for Interned {
    type Held = Option<InternedText>;

    fn key(signature: &Signature) -> Key<Self> {
        let held = InternedText::new(signature);
        let word = held.as_ref().map_or(NOWHERE, |held| held.text.as_ptr().expose_provenance() as u64);
        key_of_word(word, held)
    }
}

impl Encoding for Id {
    type Held = ();
    const STEP: usize = 3;

    fn key(signature: &Signature) -> Key<Self> {
        let text = signature.as_str();
        // SAFETY: the pointer and length are those of `text`.
        let id = unsafe { (registry().id)(text.as_ptr().cast(), text.len()) };
        let id = if id == 0 { NOWHERE } else { id };
        key_of_word(id, ())
    }

    fn label(key: &Key<Self>) -> Option<u64> {
        // SAFETY: `text` accepts any number.
        let text = unsafe { (registry().text)(key.words()[0]) };
        Some(text.expose_provenance() as u64)
    }
}

impl Key<Id> {
    /// Returns the registry's text for this number; `None` if the registry rejected the signature.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        // SAFETY: `text` accepts any number.
        let text = unsafe { (registry().text)(self.words()[0]) };
        // SAFETY: NULL, or a string that is valid as long as the process.
        let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
        text.to_str().ok().map(str::to_owned)
    }
}
