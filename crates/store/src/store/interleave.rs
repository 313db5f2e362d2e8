//! Runs publishers, readers and collectors of one store in random orders of their steps:
//! [shuttle](https://docs.rs/shuttle) decides at each file-system call which thread continues. In every order, all
//! found artifacts must be intact, nothing may be reported as damage, and a build's artifacts must exist when it ends.
//!
//! Each process opens the store separately, and shares only the files. The order of work inside a kernel call is not
//! scheduled. By default a sample of schedules runs. A failure prints the schedule that reproduces it. To run more
//! schedules for each test:
//! `PRECAST_SCHEDULES=100000 cargo test -p precast-store --lib interleave`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::thread::JoinHandle;
use shuttle::{Config, Runner, thread};

use super::{Keep, LoadError, Roots, Session, Store};
use crate::step::{die_after, scheduled};
use crate::{ActionKey, Archive, Record};
use sample::{bare, entry, listening};

#[path = "../../tests/it/sample.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "not all of it is wanted here, and a test may fail")]
mod sample;

/// Returns the number of schedules for each test.
fn schedules() -> usize {
    std::env::var("PRECAST_SCHEDULES").map_or(250, |count| count.parse().unwrap())
}

/// The number of forced thread switches per schedule. Some races need another thread's whole work at one point, which
/// orders with a random choice at every step hardly ever produce. One fifth of the schedules still choose randomly at
/// every step.
const CHANGES: usize = 3;

/// Runs processes in many orders, on a store that `before` has filled; its files get an old date.
fn in_every_order(before: fn(&Store), processes: fn(&Path)) {
    let run = move || {
        let memory = Path::new("/dev/shm");
        let directory = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let directory = directory.unwrap();
        let path = directory.path().join("store");
        before(&Store::create(&path).unwrap());
        age(&path);
        scheduled();
        processes(&path);
    };
    let config = || {
        let mut config = Config::new();
        config.stack_size = 1 << 20;
        config
    };
    let many = schedules().div_ceil(5);
    Runner::new(RandomScheduler::new(many), config()).run(run);
    Runner::new(PctScheduler::new(CHANGES, schedules() - many), config()).run(run);
}

/// Gives all files an old modification time.
fn age(path: &Path) {
    for found in walkdir::WalkDir::new(path).contents_first(true) {
        let file = fs_err::File::open(found.unwrap().path()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(24 * 3600)).unwrap();
    }
}

/// Starts a process that opens the store and must not see any damage.
fn process<T: Send + 'static>(path: &Path, work: impl FnOnce(&Store) -> T + Send + 'static) -> JoinHandle<T> {
    let path: PathBuf = path.to_owned();
    thread::spawn(move || {
        let (store, events) = listening(Store::open(path).unwrap());
        let done = work(&store);
        assert_eq!(*events.lock().unwrap(), []);
        done
    })
}

/// Returns a unit of one module: fewer steps, so more of their orders are covered.
fn unit(seed: &str) -> (Archive, Record) {
    let (archive, mut record) = sample::unit(seed, "v3");
    record.members.truncate(1);
    (archive, record)
}

/// Collects everything except `kept`, however young.
fn collect(store: &Store) {
    let modules = unit("kept").1.members.iter().map(|member| member.key).collect();
    let declared = Some(Roots { entries: BTreeSet::new(), modules });
    let plan = store.plan_gc(&Keep { declared, ..Keep::default() }).unwrap();
    assert_eq!(store.sweep(&plan).unwrap().left, 0);
}

/// Reads a unit: every artifact found must be intact, or already gone. Returns whether the unit can be loaded.
fn read(store: &Store, (archive, record): &(Archive, Record)) -> bool {
    let mut is_there = false;
    for member in &record.members {
        for found in store.find(&member.key).unwrap() {
            assert_eq!(found.members, bare(record).members);
            match store.load(&found) {
                Ok(loaded) => {
                    assert_eq!(loaded, *archive);
                    is_there = true;
                }
                Err(LoadError::Missing { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    is_there
}

/// Reads artifacts that stay, and artifacts that may disappear meanwhile.
fn look(store: &Store) {
    for _ in 0..2 {
        assert!(read(store, &unit("kept")));
        read(store, &unit("old"));
        read(store, &called());
        if let Some(found) = store.find_entry("score").unwrap() {
            assert_eq!(found, entry("score"));
        }
    }
}

/// Reuses a unit from the store, or publishes it, like a build does.
fn build(store: &Store, (archive, record): &(Archive, Record)) {
    for found in store.find_action(&record.action).unwrap() {
        if let Some(reused) = store.reuse(&found).unwrap() {
            assert_eq!(reused.archive, *archive);
            return;
        }
    }
    store.publish(archive, record).unwrap();
}

/// Builds an entry with the modules that it calls; the session continues until dropped.
fn build_entry(store: &Store) -> Session {
    let session = store.begin();
    build(store, &called());
    store.put_entry(&entry("score")).unwrap();
    session
}

/// Returns the unit that the entry calls.
fn called() -> (Archive, Record) {
    sample::unit("entry", "x86-64-v3")
}

/// Checks that the store is intact and has the artifacts of a build.
fn check(path: &Path, wanted: &[(Archive, Record)], is_entry: bool) {
    let (store, events) = listening(Store::open(path).unwrap());
    let verified = store.verify().unwrap();
    assert!(verified.is_intact(), "{verified:?}");
    assert_eq!(*events.lock().unwrap(), []);
    for unit in wanted {
        assert!(read(&store, unit), "{} is lost", unit.1.members[0].signature);
        assert!(store.find_action(&unit.1.action).unwrap().contains(&unit.1));
    }
    assert!(!is_entry || store.find_entry("score").unwrap() == Some(entry("score")));
}

fn publish(store: &Store, seeds: &[&str]) {
    for seed in seeds {
        let (archive, record) = unit(seed);
        store.publish(&archive, &record).unwrap();
    }
}

/// Returns a record of another action with the same archive. Collectors may remove one record, but not the archive of
/// the other.
fn of_another_action() -> (Archive, Record) {
    let (archive, record) = unit("old");
    (archive, Record { action: ActionKey::from_bytes([7; 32]), ..record })
}

#[test]
fn published_files_survive_concurrent_collection() {
    let before = |store: &Store| publish(store, &["kept", "old"]);
    in_every_order(before, |path| {
        let builder = process(path, |store| {
            let session = store.begin();
            let (archive, record) = of_another_action();
            store.publish(&archive, &record).unwrap();
            session
        });
        let collectors = [process(path, collect), process(path, collect)];
        let reader = process(path, look);
        let session = builder.join().unwrap();
        collectors.into_iter().for_each(|collector| collector.join().unwrap());
        reader.join().unwrap();
        check(path, &[unit("kept"), of_another_action()], false);
        drop(session);
    });
}

#[test]
fn reused_files_survive_concurrent_collection() {
    let before = |store: &Store| {
        publish(store, &["kept"]);
        let (archive, record) = called();
        store.publish(&archive, &record).unwrap();
        store.put_entry(&entry("score")).unwrap();
    };
    in_every_order(before, |path| {
        let builder = process(path, build_entry);
        let collector = process(path, collect);
        let reader = process(path, look);
        let session = builder.join().unwrap();
        collector.join().unwrap();
        reader.join().unwrap();
        check(path, &[unit("kept"), called()], true);
        drop(session);
    });
}

#[test]
fn equal_builds_and_a_collector_finish_whole() {
    let before = |store: &Store| publish(store, &["kept"]);
    in_every_order(before, |path| {
        let builders = [process(path, build_entry), process(path, build_entry)];
        let collector = process(path, collect);
        let sessions = builders.map(|builder| builder.join().unwrap());
        collector.join().unwrap();
        check(path, &[unit("kept"), called()], true);
        drop(sessions);
    });
}

#[test]
fn publish_without_session_is_whole_or_gone() {
    let before = |store: &Store| publish(store, &["kept", "old"]);
    in_every_order(before, |path| {
        let publisher = process(path, |store| publish(store, &["old"]));
        let collectors = [process(path, collect), process(path, collect)];
        let reader = process(path, look);
        publisher.join().unwrap();
        collectors.into_iter().for_each(|collector| collector.join().unwrap());
        reader.join().unwrap();
        check(path, &[unit("kept")], false);
    });
}

#[test]
fn reader_sees_no_damage_during_collection() {
    let before = |store: &Store| {
        publish(store, &["kept", "old"]);
        store.put_entry(&entry("score")).unwrap();
    };
    in_every_order(before, |path| {
        let collector = process(path, collect);
        let reader = process(path, |store| {
            read(store, &unit("old"));
            store.find_entry("score").unwrap()
        });
        collector.join().unwrap();
        assert!(reader.join().unwrap().is_none_or(|found| found == entry("score")));
        check(path, &[unit("kept")], false);
    });
}

#[test]
fn publish_during_planning_survives() {
    let before = |store: &Store| publish(store, &["kept"]);
    in_every_order(before, |path| {
        let builder = process(path, |store| {
            let session = store.begin();
            publish(store, &["new"]);
            session
        });
        let collector = process(path, collect);
        let session = builder.join().unwrap();
        collector.join().unwrap();
        check(path, &[unit("kept"), unit("new")], false);
        drop(session);
    });
}

#[test]
fn verify_finds_no_damage_during_gc_and_publish() {
    let before = |store: &Store| {
        publish(store, &["kept", "old"]);
        let (archive, record) = called();
        store.publish(&archive, &record).unwrap();
        store.put_entry(&entry("score")).unwrap();
    };
    in_every_order(before, |path| {
        let collector = process(path, collect);
        let builder = process(path, |store| {
            publish(store, &["new"]);
            build_entry(store)
        });
        let directory = path.to_owned();
        let verified = thread::spawn(move || Store::open(directory).unwrap().verify().unwrap());
        collector.join().unwrap();
        drop(builder.join().unwrap());
        // Verify may have written the pointers of a record while its publish was still running.
        let verified = verified.join().unwrap();
        assert!(verified.is_intact(), "{verified:?}");
    });
}

#[test]
fn verify_finds_no_damage_after_a_killed_collector() {
    for steps in 0.. {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let store = Store::create(&path).unwrap();
        publish(&store, &["kept", "old"]);
        for (archive, record) in [called(), of_another_action()] {
            store.publish(&archive, &record).unwrap();
        }
        store.put_entry(&entry("score")).unwrap();
        age(&path);
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            die_after(Some(steps));
            collect(&store);
        }));
        die_after(None);
        let verified = Store::open(&path).unwrap().verify().unwrap();
        let is_whole = verified.events.iter().all(crate::event::Event::is_repair);
        assert!(is_whole && verified.missing.is_empty(), "killed at step {steps}: {verified:?}");
        assert!(
            verified.undocumented == 0 && verified.lacking.is_empty(),
            "killed at step {steps}: {verified:?}"
        );
        if killed.is_ok() {
            assert!(steps > 20);
            return;
        }
    }
}
