//! CEP 1000 signatures and tables.

use precast_abi::signature::Signature;
use precast_abi::table::{Table, TableCell};

fn sig(text: &str) -> Signature {
    Signature::parse(text).unwrap()
}

/// Signatures around the chunk boundaries: 7, 8, 9, 15, 16, 22, 23, 30 bytes.
const BOUNDARIES: [&str; 9] = [
    ")",
    "dddddd)",
    "ddddddd)",
    "dddddddd)",
    "iiiidddiiidddd)",
    "iiiidddiiidddd)d",
    "iiiiddddiiiddddiiidddd",
    "&d&d&d&d&d&d&d&d)&d",
    "&d&d&d&d&d&d&d&d&d&d&d)&d&d&d",
];

#[test]
fn signatures_round_trip_and_fill_whole_entries() {
    for text in BOUNDARIES.iter().filter(|t| t.contains(')')) {
        let signature = sig(text);
        assert_eq!(&signature.render(), text);
        assert_eq!(signature.chunks().len() % 2, 1, "{text}");
    }
}

#[test]
fn the_layout_is_that_of_the_cep() {
    let signature = sig("iiiiddddiiiddddiiidddd)d");
    let bytes: Vec<u8> = signature.chunks().iter().flat_map(|c| c.to_ne_bytes()).collect();
    assert_eq!(&bytes[..32], b"iiiidddd-iiidddd-iiidddd-)d\0\0\0\0\0");
}

#[test]
fn text_that_is_not_canonical_is_refused() {
    for text in ["", "dd", "d)d)", "d d)d", "d-)d", "d\0)d", "dé)d"] {
        assert!(Signature::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn find_agrees_with_a_naive_search() {
    let known: Vec<&str> = BOUNDARIES.iter().copied().filter(|t| t.contains(')')).collect();
    let entries: Vec<_> = known.iter().zip(100..).map(|(text, payload)| (sig(text), payload)).collect();
    let table = Table::new(&entries);
    for (text, payload) in known.iter().zip(100..) {
        assert_eq!(table.find(&sig(text)), Some(payload), "{text}");
    }
    for absent in ["d)", "dddddddd)d", "i)", "iiiidddiiidddd)dd", "&d)&d"] {
        assert_eq!(table.find(&sig(absent)), None, "{absent}");
    }
}

#[test]
fn a_pointer_that_looks_like_a_signature_is_not_matched() {
    let short = sig("d)d");
    let table = Table::new(&[(sig("dddddddd)"), short.chunks()[0]), (sig("f)f"), short.chunks()[0])]);
    assert_eq!(table.find(&short), None);
}

#[test]
fn readers_see_whole_tables_while_a_writer_publishes() {
    let cell = TableCell::default();
    let signatures: Vec<_> = (1..40).map(|n| sig(&format!("{})d", "d".repeat(n)))).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for upto in 1..=signatures.len() {
                let entries: Vec<_> = signatures[..upto].iter().cloned().zip(1..).collect();
                cell.publish(Table::new(&entries));
            }
        });
        for _ in 0..3 {
            scope.spawn(|| {
                let mut known = 0;
                while known < signatures.len() {
                    let table = cell.table();
                    let found = signatures.iter().take_while(|s| table.find(s).is_some()).count();
                    assert!(found >= known, "a published signature vanished");
                    known = found;
                }
            });
        }
    });
}
