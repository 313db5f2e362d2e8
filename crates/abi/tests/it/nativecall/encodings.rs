//! Tests of keys: they have the layout of CEP 1000, and no key is a prefix of another.

use super::sig;
use super::texts::{canonical, signatures};
use precast_abi::nativecall::registry::{Id, Interned};
use precast_abi::nativecall::{Compact, Encoding, Key, MAX_BYTES, Text, Verbatim};
use proptest::prelude::*;

#[test]
fn text_has_the_layout_of_the_proposal() {
    let bytes = |text: &str| -> Vec<u8> {
        Key::<Text>::new(&sig(text)).words().iter().flat_map(|word| word.to_ne_bytes()).collect()
    };
    assert_eq!(&bytes("iiiiddddiiiddddiiidddd)d")[..32], b"iiiidddd-iiidddd-iiidddd-)d\0\0\0\0\0");
    assert_eq!(bytes("id)d~"), b"id)d~\0\0\0");
}

#[test]
fn compact_words_match_the_documentation() {
    assert_eq!(Key::<Compact>::literal("dd)d~").words(), [0x2212_a000_0000_0000]);
    assert_eq!(Key::<Compact>::literal("#1f#1f)#1f~").words(), [0xdfdf_1dfa_0000_0000]);
    let long = Key::<Compact>::literal("dddddddddddddddd)");
    assert_eq!(long.words(), [0x2222_2222_2222_2222, 0xff10_0000_0000_0000, 0xff00_0000_0000_0000]);
}

#[test]
fn keys_of_literals_are_constants() {
    const KEY: &Key<Text> = &Key::<Text>::literal("dddddd)d");
    assert_eq!(KEY.words(), Key::<Text>::new(&sig("dddddd)d")).words());
    assert!(std::panic::catch_unwind(|| Key::<Text>::literal("hello)world")).is_err());
}

#[test]
fn the_longest_signatures_fit() {
    for unit in ["d", "?", "Zd", "#32Zd"] {
        let text = format!("{})", unit.repeat((MAX_BYTES - 1) / unit.len()));
        assert_eq!(Text::decode(Key::<Text>::new(&sig(&text)).words()), Some(sig(&text)));
        assert_eq!(Compact::decode(Key::<Compact>::new(&sig(&text)).words()), Some(sig(&text)));
    }
}

/// Checks that a key has an odd number of words and no zero word. Also checks that equal texts have equal keys, and
/// that no key is a prefix of another text's key.
fn keys_are_distinct<E: Encoding>(a: &str, b: &str) {
    let (one, two) = (Key::<E>::new(&sig(a)), Key::<E>::new(&sig(b)));
    assert!(one.words().len() % 2 == 1 && one.words().iter().all(|word| *word != 0));
    assert_eq!(a == b, two.words().starts_with(one.words()), "{a} {b}");
}

#[test]
fn no_key_is_a_prefix_of_another() {
    for a in signatures() {
        for b in signatures() {
            keys_are_distinct::<Text>(a, b);
            keys_are_distinct::<Compact>(a, b);
            keys_are_distinct::<Id>(a, b);
            keys_are_distinct::<Interned>(a, b);
        }
    }
}

proptest! {
    #[test]
    fn texts_round_trip_in_both_verbatim_encodings(text in canonical()) {
        prop_assert_eq!(Text::decode(Key::<Text>::new(&sig(&text)).words()), Some(sig(&text)));
        prop_assert_eq!(Compact::decode(Key::<Compact>::new(&sig(&text)).words()), Some(sig(&text)));
    }

    #[test]
    fn every_encoding_distinguishes_pairs(a in canonical(), tail in "[dfi&)~!c#1]{0,9}", b in canonical()) {
        keys_are_distinct::<Text>(&a, &b);
        keys_are_distinct::<Compact>(&a, &b);
        keys_are_distinct::<Interned>(&a, &b);
        keys_are_distinct::<Id>(&a, &b);
        // Also checks a text that starts with the other, if it is a valid signature.
        let longer = a.clone() + &tail;
        if precast_abi::nativecall::Signature::parse(&longer).is_ok() {
            keys_are_distinct::<Text>(&a, &longer);
            keys_are_distinct::<Compact>(&a, &longer);
        }
    }

    #[test]
    fn encodings_convert_into_each_other(text in canonical()) {
        let whole = sig(&text);
        let (chunks, compact) = (Key::<Text>::new(&whole), Key::<Compact>::new(&whole));
        let (id, interned) = (Key::<Id>::new(&whole), Key::<Interned>::new(&whole));
        let by_number = id.text().map(|text| sig(&text));
        for signature in [Text::decode(chunks.words()), Compact::decode(compact.words()), by_number] {
            let signature = signature.unwrap();
            assert_eq!(Key::<Text>::new(&signature).words(), chunks.words());
            assert_eq!(Key::<Compact>::new(&signature).words(), compact.words());
            assert_eq!(Key::<Id>::new(&signature).words(), id.words());
            assert_eq!(Key::<Interned>::new(&signature).words(), interned.words());
        }
    }

    #[test]
    fn any_words_are_decoded_or_rejected(words in prop::collection::vec(any::<u64>(), 0..40)) {
        for signature in [Text::decode(&words), Compact::decode(&words)].into_iter().flatten() {
            prop_assert!(Key::<Text>::new(&signature).words() == words || Key::<Compact>::new(&signature).words() == words);
        }
    }
}
