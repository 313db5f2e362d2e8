//! Tests of tables: lookups find the added entries, also with several threads, and corruption is detected.

use super::sig;
use super::texts::{canonical, signatures};
use precast_abi::nativecall::registry::{Id, Interned};
use precast_abi::nativecall::{Compact, Encoding, Key, Table, TableCell, Text, Verbatim};
use proptest::prelude::*;

fn find_agrees_with_a_naive_search<E: Encoding>(texts: &[String], absent: &[String]) {
    let cell = TableCell::<E>::new();
    for (position, text) in texts.iter().enumerate() {
        cell.add(Key::new(&sig(text)), 100 + position as u64);
    }
    for text in texts.iter().chain(absent) {
        let naive = texts.iter().rposition(|known| known == text).map(|at| 100 + at as u64);
        assert_eq!(cell.table().find(&Key::new(&sig(text))), naive, "{text} among {texts:?}");
    }
}

fn in_every_encoding(texts: &[String], absent: &[String]) {
    find_agrees_with_a_naive_search::<Text>(texts, absent);
    find_agrees_with_a_naive_search::<Compact>(texts, absent);
    find_agrees_with_a_naive_search::<Id>(texts, absent);
    find_agrees_with_a_naive_search::<Interned>(texts, absent);
}

#[test]
fn table_finds_exactly_its_signatures() {
    let texts: Vec<String> = signatures().iter().map(|text| (*text).to_owned()).collect();
    for absent in 0..texts.len() {
        let (mut there, absent) = (texts.clone(), vec![texts[absent].clone()]);
        there.retain(|text| *text != absent[0]);
        in_every_encoding(&there, &absent);
    }
}

#[test]
fn eight_bytes_do_not_match_nine() {
    // Without an end marker in the last chunk, the second chunk of the longer signature would be called.
    let cell = TableCell::<Text>::new();
    cell.add(Key::<Text>::literal("dddddd)d"), 1);
    cell.add(Key::<Text>::literal("dddddd)dd"), 2);
    assert_eq!(cell.table().find(&Key::<Text>::literal("dddddd)d")), Some(1));
    assert_eq!(cell.table().find(&Key::<Text>::literal("dddddd)dd")), Some(2));
}

#[test]
fn payload_like_a_signature_does_not_match() {
    fn payloads<E: Verbatim>() {
        let (short, long) = (Key::<E>::new(&sig("d)d")), Key::<E>::new(&sig("ddddddddddddddddddd)")));
        let cell = TableCell::<E>::new();
        for payload in [short.words()[0], long.words()[0], long.words()[1], 0, u64::MAX] {
            cell.add(Key::new(&sig("dddddddd)")), payload);
            cell.add(Key::new(&sig("f)f")), payload);
            assert_eq!(cell.table().find(&short), None);
            assert_eq!(cell.table().find(&long), None);
            let entries: Vec<_> = cell.table().entries().take(2).collect();
            assert_eq!(entries, [(sig("f)f"), payload), (sig("dddddddd)"), payload)]);
        }
    }
    payloads::<Text>();
    payloads::<Compact>();
}

#[test]
fn old_table_never_changes() {
    let cell = TableCell::<Text>::new();
    cell.add(Key::<Text>::literal("d)d"), 1);
    let old = cell.table();
    for n in 0..100 {
        cell.add(Key::<Text>::literal("d)d"), 2 + n);
        cell.add(Key::new(&sig(&format!("{})d", "d".repeat(n as usize)))), n);
    }
    assert_eq!(old.entries().collect::<Vec<_>>(), [(sig("d)d"), 1)]);
    assert_eq!(cell.table().find(&Key::<Text>::literal("d)d")), Some(101));
}

#[test]
fn retired_memory_stays_below_used_memory() {
    let cell = TableCell::<Text>::new();
    let mut words = 2;
    for n in 0..2000 {
        let key = Key::new(&sig(&format!("#{}d{})d", n % 33, "dq".repeat(n % 60))));
        words += key.words().len() + 1;
        cell.add(key, n as u64);
        let (used, retired) = cell.memory_bytes();
        assert!(retired < used, "{retired} retired, {used} in use");
        assert!(used <= 2 * 8 * words.max(8), "{used} in use for {words} words");
    }
}

#[test]
fn readers_see_whole_tables_during_a_thousand_insertions() {
    fn stress<E: Encoding>() {
        const COUNT: usize = 1000;
        let cell = TableCell::<E>::new();
        let signatures: Vec<_> =
            (0..COUNT).map(|n| sig(&format!("#{}d{})d", n % 32, "d".repeat(n / 32)))).collect();
        let keys: Vec<Key<E>> = signatures.iter().map(Key::new).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..COUNT).step_by(2).for_each(|n| cell.add(Key::new(&signatures[n]), n as u64)));
            scope.spawn(|| (1..COUNT).step_by(2).for_each(|n| cell.add(Key::new(&signatures[n]), n as u64)));
            for reader in 0..6 {
                let (cell, keys) = (&cell, &keys);
                scope.spawn(move || {
                    let (mut even, mut odd) = (0, 1);
                    while even < COUNT || odd < COUNT {
                        let table = cell.table();
                        for next in [&mut even, &mut odd] {
                            while *next < COUNT {
                                match table.find(&keys[*next]) {
                                    Some(payload) => assert_eq!(payload, *next as u64, "reader {reader}"),
                                    None => break,
                                }
                                *next += 2;
                            }
                        }
                        let before = even.saturating_sub(2);
                        assert!(
                            even == 0 || table.find(&keys[before]) == Some(before as u64),
                            "{before} vanished"
                        );
                        std::thread::yield_now();
                    }
                });
            }
        });
    }
    stress::<Text>();
    stress::<Compact>();
    stress::<Id>();
    stress::<Interned>();
}

/// Returns the words of a table as C could build it.
fn words<E: Verbatim>(texts: &[String]) -> Vec<u64> {
    let mut words = Vec::new();
    for (payload, text) in texts.iter().enumerate() {
        words.extend_from_slice(Key::<E>::new(&sig(text)).words());
        words.push(payload as u64);
    }
    words.push(0);
    words
}

fn damage_is_noticed<E: Verbatim>(texts: &[String], at: usize, with: u64) {
    let whole = words::<E>(texts);
    let entries: Vec<_> = Table::<E>::check(&whole).unwrap().entries().map(|(s, _)| s.to_string()).collect();
    assert_eq!(entries, *texts);
    for len in 0..whole.len() {
        assert!(Table::<E>::check(&whole[..len]).is_err(), "the end is missing");
    }
    let mut damaged = whole;
    let at = at % damaged.len();
    damaged[at] = with;
    if let Ok(table) = Table::<E>::check(&damaged) {
        let found = table.entries().count();
        for text in texts {
            assert!(table.find(&Key::new(&sig(text))).is_none() || found > 0);
        }
    }
}

proptest! {
    #[test]
    fn tables_find_any_added_signature(
        texts in prop::collection::vec(canonical(), 0..12),
        absent in prop::collection::vec(canonical(), 0..4),
    ) {
        in_every_encoding(&texts, &absent);
    }

    #[test]
    fn damaged_tables_are_rejected_or_read_within_bounds(
        texts in prop::collection::vec(canonical(), 1..6),
        at in any::<usize>(),
        with in prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), Just(u64::from_ne_bytes(*b"-\0\0\0\0\0\0\0"))],
    ) {
        damage_is_noticed::<Text>(&texts, at, with);
        damage_is_noticed::<Compact>(&texts, at, with);
    }
}
