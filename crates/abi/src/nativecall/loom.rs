//! Tests, with loom, every order in which threads may see writes to a cell.
//!
//! loom's cells panic when a word is written while a thread may read it. So these tests also prove that published words
//! are never written again. Run with `RUSTFLAGS="--cfg loom" cargo test -p precast-abi --lib --release`.

use super::cell::TableCell;
use super::encoding::{Key, Text};
use loom::sync::Arc;
use loom::thread;

const KEYS: [&str; 4] = ["d)d", "f)f", "i)i", "q)q"];

fn key(n: usize) -> Key<Text> {
    Key::<Text>::literal(KEYS[n])
}

/// Creates a cell with the first `count` keys.
fn cell(count: usize) -> Arc<TableCell<Text>> {
    let cell = TableCell::new();
    (0..count).for_each(|n| cell.add(key(n), n as u64));
    Arc::new(cell)
}

#[test]
fn reader_sees_complete_entries_in_order() {
    loom::model(|| {
        let shared = cell(0);
        let writer = Arc::clone(&shared);
        let writing = thread::spawn(move || (0..2).for_each(|n| writer.add(key(n), n as u64)));
        let table = shared.table();
        let found = [table.find(&key(0)), table.find(&key(1))];
        assert!([[None, None], [Some(0), None], [Some(0), Some(1)]].contains(&found), "{found:?}");
        // A later table never contains fewer entries.
        let later = shared.table();
        assert!(found[0].is_none() || later.find(&key(0)) == Some(0));
        writing.join().unwrap();
        assert_eq!(shared.table().find(&key(1)), Some(1));
    });
}

#[test]
fn reader_keeps_its_table_during_growth() {
    loom::model(|| {
        let shared = cell(3);
        let writer = Arc::clone(&shared);
        let old = shared.table();
        // The fourth entry requires an allocation twice as large.
        let writing = thread::spawn(move || writer.add(key(3), 3));
        assert_eq!((old.find(&key(0)), old.find(&key(3))), (Some(0), None));
        let new = shared.table();
        assert!(new.find(&key(0)) == Some(0) && matches!(new.find(&key(3)), None | Some(3)));
        writing.join().unwrap();
        assert_eq!(old.find(&key(3)), None);
    });
}

#[test]
fn two_writers_lose_nothing() {
    loom::model(|| {
        let shared = cell(2);
        let writers: Vec<_> = [2, 3]
            .into_iter()
            .map(|n| {
                let writer = Arc::clone(&shared);
                thread::spawn(move || writer.add(key(n), n as u64))
            })
            .collect();
        let table = shared.table();
        assert_eq!(table.find(&key(1)), Some(1));
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        for n in 0..4 {
            assert_eq!(shared.table().find(&key(n)), Some(n as u64));
        }
    });
}
