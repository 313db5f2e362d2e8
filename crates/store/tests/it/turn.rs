//! Turns: one holder at a time, waiting is bounded by patience, and nothing is left behind.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use precast_store::Store;

use crate::sample::{store, unit};

const LONG: Duration = Duration::from_secs(60);

#[test]
fn second_lock_waits_for_the_first() {
    let (_directory, store, _) = store();
    let key = unit("one", "v3").1.members[0].key;
    let first = store.turn(&key, LONG);
    assert!(!first.waited());
    let other = Store::open(store.path()).unwrap();
    let (has_begun, is_given_back) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            has_begun.store(true, Ordering::SeqCst);
            let turn = other.turn(&key, LONG);
            assert!(is_given_back.load(Ordering::SeqCst), "both had it");
            drop(turn);
        });
        while !has_begun.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        is_given_back.store(true, Ordering::SeqCst);
        drop(first);
        second.join().unwrap();
    });
    assert!(!store.turn(&key, LONG).waited(), "nobody has it any more");
}

#[test]
fn lock_wait_ends_and_missing_locks_are_ignored() {
    let (_directory, store, _) = store();
    let key = unit("one", "v3").1.members[0].key;
    let held = store.turn(&key, LONG);
    for patience in [Duration::ZERO, Duration::from_millis(20)] {
        assert!(
            store.turn(&key, patience).waited(),
            "it goes on without a turn, and is told that another has it"
        );
    }
    assert!(!held.waited());
    let keys = store.path().join("keys");
    fs_err::remove_dir_all(&keys).unwrap();
    fs_err::write(&keys, b"a file").unwrap();
    let _ = store.turn(&key, LONG);
}

#[test]
fn compile_lock_leaves_no_file() {
    let (_directory, store, _) = store();
    let (archive, record) = unit("one", "v3");
    drop(store.turn(&record.members[0].key, LONG));
    let files = || {
        let entries = walkdir::WalkDir::new(store.path()).into_iter().map(Result::unwrap);
        entries.filter(|entry| entry.file_type().is_file()).count()
    };
    assert_eq!(files(), 1, "`STORE`");
    store.publish(&archive, &record).unwrap();
    let before = files();
    drop(store.turn(&record.members[0].key, LONG));
    assert_eq!(files(), before);
    assert!(store.verify().unwrap().is_intact());
}
