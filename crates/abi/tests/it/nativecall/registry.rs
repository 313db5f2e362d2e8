//! Tests of the registry: one address and one number per signature, reference-counted and shared by threads.

use super::sig;
use precast_abi::nativecall::Key;
use precast_abi::nativecall::registry::meet::registry;
use precast_abi::nativecall::registry::{Id, Interned};
use std::ffi::{CStr, c_char};

fn intern(text: &str) -> *const c_char {
    // SAFETY: the pointer and length are those of `text`.
    unsafe { (registry().intern)(text.as_ptr().cast(), text.len()) }
}

fn id(text: &str) -> u64 {
    // SAFETY: the pointer and length are those of `text`.
    unsafe { (registry().id)(text.as_ptr().cast(), text.len()) }
}

#[test]
fn signature_keeps_its_address_while_owned() {
    let (one, two) = (intern("dqd)d"), intern("dqd)d"));
    assert_eq!(one, two);
    assert_ne!(one, intern("dqd)f"));
    // SAFETY: interned above and released only below.
    assert_eq!(unsafe { CStr::from_ptr(one) }.to_str(), Ok("dqd)d"));
    for _ in 0..2 {
        // SAFETY: `intern` was called twice, so there are two references.
        unsafe { (registry().release)(one) };
    }
    assert!(!intern("dqd)d").is_null());
}

#[test]
fn signature_number_is_permanent() {
    let number = id("dqq)d");
    let interned = intern("dqq)d");
    // SAFETY: this is the only owner.
    unsafe { (registry().release)(interned) };
    assert_eq!(id("dqq)d"), number);
    assert_ne!(id("dqq)f"), number);
    assert_eq!(Key::<Id>::new(&sig("dqq)d")).text().as_deref(), Some("dqq)d"));
}

#[test]
fn non_canonical_signatures_are_rejected() {
    for text in ["", "hello)world", "l)d", "d\0)d"] {
        assert!(intern(text).is_null() && id(text) == 0, "{text:?}");
    }
    for number in [0, u64::MAX, 1 << 40] {
        // SAFETY: `text` accepts any number.
        assert!(unsafe { (registry().text)(number) }.is_null());
    }
}

#[test]
fn threads_agree_while_they_intern_and_release() {
    let signatures: Vec<_> = (0..20).map(|n| sig(&format!("{})h", "h".repeat(n)))).collect();
    let kept: Vec<Key<Interned>> = signatures.iter().map(Key::new).collect();
    let (signatures, kept) = (&signatures, &kept);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for round in 0..500 {
                    let at = (thread * 7 + round) % signatures.len();
                    assert_eq!(Key::<Interned>::new(&signatures[at]).words(), kept[at].words());
                    let passing = sig(&format!("{})H", "H".repeat((thread + round) % 9)));
                    assert_eq!(
                        Key::<Interned>::new(&passing).words(),
                        Key::<Interned>::new(&passing).words()
                    );
                }
            });
        }
    });
}
