//! Tests of the grammar: canonical texts, mapped texts, rejected texts.

use super::sig;
use super::texts::{anything, canonical, signatures};
use precast_abi::nativecall::{Errors, FieldType, MAX_BYTES, Problem, Signature};
use proptest::prelude::*;

#[test]
fn every_construct_parses_and_prints() {
    for text in signatures() {
        assert_eq!(sig(text).prototype().to_string(), **text);
        assert_eq!(sig(text).to_string(), **text);
    }
}

#[test]
fn prototype_matches_the_text() {
    let prototype = sig("T{df}#2Zd&i)dd!s~").prototype();
    assert_eq!(prototype.results.len(), 2);
    assert_eq!((prototype.errors, prototype.nogil), (Errors::Status, true));
    let [FieldType::Struct(members), FieldType::Tensor { rank: Some(2), element }, FieldType::Pointer(_)] =
        prototype.arguments.as_slice()
    else {
        panic!("{prototype:?}");
    };
    assert_eq!(members.len(), 2);
    assert!(element.is_complex() && element.letter() == 'd');
}

#[test]
fn invalid_signatures_are_rejected_with_position() {
    let cases = [
        ("", 0, Problem::Closing),
        ("dd", 2, Problem::Closing),
        ("hello)world", 2, Problem::Code),
        ("d)hello", 4, Problem::Code),
        ("d)d)", 3, Problem::Code),
        ("d d)d", 1, Problem::Code),
        ("d\0)d", 1, Problem::Code),
        ("d-)d", 1, Problem::Code),
        ("dé)d", 1, Problem::Code),
        ("l)d", 0, Problem::Code),
        ("3d)d", 0, Problem::Code),
        ("&d:price:)d", 2, Problem::Code),
        ("T{d:x:})d", 3, Problem::Unfinished),
        ("&)d", 1, Problem::Unfinished),
        ("Z)d", 1, Problem::Unfinished),
        ("Zi)d", 1, Problem::Unfinished),
        ("T{d)d", 3, Problem::Unfinished),
        ("X{d})d", 3, Problem::Code),
        ("X{d)d", 5, Problem::Unfinished),
        ("T{})d", 2, Problem::Empty),
        ("&&&&&&&&&d)", 8, Problem::Depth),
        ("#33d)", 1, Problem::Rank),
        ("#01d)", 1, Problem::Rank),
        ("#O)", 1, Problem::Element),
        ("#)", 1, Problem::Element),
        ("d)d!x", 4, Problem::Errors),
        ("d)d~!c", 4, Problem::Code),
        ("d)d~~", 4, Problem::Code),
    ];
    for (text, at, problem) in cases {
        let error = Signature::parse(text).unwrap_err();
        assert_eq!((error.at, error.problem), (at, problem), "{text:?}");
    }
    assert_eq!(Signature::parse(&"d".repeat(300)).unwrap_err().problem, Problem::Long);
    assert!(Signature::parse(&format!("{})", "d".repeat(MAX_BYTES - 1))).is_ok());
}

#[test]
fn other_spellings_are_mapped_by_the_documented_rules() {
    let cases = [
        ("idf", "df)i"),
        ("i", ")i"),
        (" d f ) i ", "df)i"),
        ("@d)d", "d)d"),
        ("&d:price:&d:price:)&d:price:", "&d&d)&d"),
        ("T{d:x: d:y:}:point:)d:length:", "T{dd})d"),
        ("3d)d", "ddd)d"),
        ("2T{2i})", "T{ii}T{ii})"),
        ("dd->d", "dd)d"),
        ("X{dd->d}d)d", "X{dd)d}d)d"),
        ("X{idf})", "X{df)i})"),
        ("X{}P)", "PP)"),
        ("#2d#Zf)#d !c ~", "#2d#Zf)#d!c~"),
    ];
    for (text, canonical) in cases {
        assert_eq!(Signature::normalize(text).unwrap().as_str(), canonical, "{text}");
    }
    let error = Signature::parse("&d:price:)d").unwrap_err().to_string();
    assert!(error.contains("hint: use the canonical form `&d)d`"), "{error}");
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
#[test]
fn host_codes_become_sized_codes() {
    let cases = [("lLnN)", "qQqQ)"), ("<l)<L", "i)I"), ("<d)d", "d)d")];
    for (text, canonical) in cases {
        assert_eq!(Signature::normalize(text).unwrap().as_str(), canonical, "{text}");
    }
}

#[test]
fn unmapped_types_are_rejected() {
    let texts = [
        "",
        "hello",
        "hello)world",
        ">d)d",
        "=d)d",
        "^d)d",
        "x)d",
        "5s)d",
        "p)d",
        "u)d",
        "w)d",
        "t)d",
        "(2,3)d)d",
        "0d)d",
        "d:price)d",
        ":x:d)d",
        "T{<d})d",
        "<T{d})d",
        "d)d)d",
        "d))",
        "<n)",
        "99999999999999999999d)",
        "256d)",
        "Z)d",
        "idf~",
        "&3d)",
    ];
    for text in texts {
        assert!(Signature::normalize(text).is_err(), "{text:?} gave {:?}", Signature::normalize(text));
    }
}

#[test]
fn deep_texts_are_rejected_without_deep_recursion() {
    for unit in ["&", "T{", "X{", "<", "3T{", "Z", "#"] {
        assert!(Signature::parse(&unit.repeat(100)).is_err());
        assert!(Signature::normalize(&unit.repeat(100_000)).is_err());
    }
}

proptest! {
    #[test]
    fn canonical_texts_round_trip(text in canonical()) {
        let signature = sig(&text);
        prop_assert_eq!(signature.prototype().to_string(), text.clone());
        prop_assert_eq!(Signature::normalize(&text).unwrap(), signature);
    }

    #[test]
    fn any_bytes_are_parsed_or_rejected(bytes in anything()) {
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(signature) = Signature::parse(&text) {
            prop_assert_eq!(signature.prototype().to_string(), text.as_ref());
        }
        if let Ok(signature) = Signature::normalize(&text) {
            prop_assert_eq!(Signature::parse(signature.as_str()), Ok(signature));
        }
    }
}
