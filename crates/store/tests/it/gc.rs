//! Garbage collection: victims and reasons, files that are always kept, and a collector beside publishers that are
//! killed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, SystemTime};

use precast_store::{Archive, Entry, Event, Keep, LoadError, Reason, Record, Roots, Store, VictimKind};

use crate::processes::again;
use crate::sample::{bare, entry, file, listening, overwrite, store, unit};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Gives a file, or all files below a directory, an old modification time.
fn age(path: &Path, age: Duration) {
    for found in walkdir::WalkDir::new(path).contents_first(true) {
        let file = fs_err::File::open(found.unwrap().path()).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }
}

fn publish(store: &Store, seed: &str) -> (Archive, Record) {
    let (archive, record) = unit(seed, "v3");
    store.publish(&archive, &record).unwrap();
    (archive, record)
}

fn declared(entries: &[&str], records: &[&Record]) -> Keep {
    let entries = entries.iter().map(|name| (*name).to_owned()).collect();
    let modules = records.iter().flat_map(|record| &record.members).map(|member| member.key).collect();
    Keep { declared: Some(Roots { entries, modules }), grace: HOUR, ..Keep::default() }
}

/// Returns the kind and reason of each victim.
fn going(store: &Store, keep: &Keep) -> Vec<(VictimKind, Reason)> {
    let plan = store.plan_gc(keep).unwrap();
    plan.victims.iter().map(|victim| (victim.kind, victim.reason)).collect()
}

fn serves(store: &Store, (archive, record): &(Archive, Record)) -> bool {
    let found = store.find(&record.members[0].key).unwrap();
    assert!(found.is_empty() || (found == [bare(record)] && store.load(record).unwrap() == *archive));
    !found.is_empty()
}

/// Returns the number of files in the store, without `STORE`.
fn files(store: &Store) -> usize {
    let files = walkdir::WalkDir::new(store.path()).min_depth(2).into_iter().map(Result::unwrap);
    files.filter(|found| found.file_type().is_file()).count()
}

#[test]
fn undeclared_files_are_collected_once_old() {
    let (_directory, store, events) = store();
    let (kept, gone) = (publish(&store, "kept"), publish(&store, "gone"));
    let called = publish(&store, "entry");
    store.put_entry(&entry("score")).unwrap();
    store.put_entry(&entry("old")).unwrap();
    let before = files(&store);
    let keep = declared(&["score"], &[&kept.1]);
    assert_eq!(going(&store, &keep), [], "what is young stays");
    age(store.path(), 2 * HOUR);
    let plan = store.plan_gc(&keep).unwrap();
    assert_eq!(files(&store), before, "a plan changes nothing");
    let named: Vec<_> = plan.victims.iter().map(|victim| (victim.name.as_str(), victim.reason)).collect();
    let unit = "add(f32[..], f32[..]) -> f32[..] and 2 more for v3";
    assert_eq!(named, [("old", Reason::Undeclared), (unit, Reason::Undeclared)]);
    assert_eq!((plan.entries, plan.records), (1, 2));
    let swept = store.sweep(&plan).unwrap();
    assert_eq!((swept.removed, swept.bytes, swept.spared), (2, plan.freed(), 0));
    assert!(serves(&store, &kept) && serves(&store, &called) && !serves(&store, &gone));
    assert_eq!(store.find_entry("score").unwrap(), Some(entry("score")));
    assert_eq!(store.find_entry("old").unwrap(), None);
    assert!(store.verify().unwrap().is_intact());
    // The object, documents, record and six pointers of one, the root and graph of the other.
    assert_eq!(files(&store), before - 9 - 2);
    assert_eq!(going(&store, &keep), []);
    assert_eq!(*events.lock().unwrap(), []);
}

#[test]
fn gc_without_declarations_deletes_only_over_budget() {
    let (_directory, store, _) = store();
    let called = publish(&store, "entry");
    store.put_entry(&entry("score")).unwrap();
    let units = ["a", "b", "c"].map(|seed| publish(&store, seed));
    age(store.path(), 10 * DAY);
    let keep = Keep { grace: HOUR, ..Keep::default() };
    assert_eq!(going(&store, &keep), []);
    // A build uses one of them.
    store.reuse(&units[1].1).unwrap().unwrap();
    let plan = store.plan_gc(&Keep { max_size: Some(1), ..keep.clone() }).unwrap();
    assert_eq!(plan.victims.len(), 2, "what an entry calls, and what is young, is no budget's");
    assert!(plan.victims.iter().all(|victim| victim.reason == Reason::Budget) && plan.over > 0);
    let size = plan.bytes + plan.victims[0].bytes + 64;
    let plan = store.plan_gc(&Keep { max_size: Some(size), ..keep.clone() }).unwrap();
    assert_eq!((plan.victims.len(), plan.over), (1, 0));
    // The entry has not been built for a long time; nothing calls its module then.
    let plan = store.plan_gc(&Keep { max_age: Some(9 * DAY), ..keep.clone() }).unwrap();
    assert_eq!(plan.victims.iter().filter(|victim| victim.reason == Reason::Old).count(), 4);
    store.put_entry(&entry("score")).unwrap();
    let plan = store.plan_gc(&Keep { max_age: Some(9 * DAY), ..keep }).unwrap();
    assert_eq!(plan.victims.len(), 2);
    store.sweep(&plan).unwrap();
    assert!(serves(&store, &called) && serves(&store, &units[1]) && !serves(&store, &units[0]));
}

#[test]
fn record_of_older_compiler_is_collected() {
    let (_directory, store, _) = store();
    let (archive, record) = publish(&store, "entry");
    store.put_entry(&entry("score")).unwrap();
    age(store.path(), 10 * DAY);
    let keep = Keep { max_age: Some(DAY), grace: HOUR, ..Keep::default() };
    store.put_entry(&entry("score")).unwrap();
    assert_eq!(going(&store, &keep), [], "nothing else has its modules");
    let action = precast_store::ActionKey::from_bytes([7; 32]);
    let newer = Record { action, ..record.clone() };
    store.publish(&archive, &newer).unwrap();
    let plan = store.plan_gc(&keep).unwrap();
    assert_eq!(plan.victims.len(), 1);
    assert_eq!(plan.victims[0].reason, Reason::Superseded);
    store.sweep(&plan).unwrap();
    // The two records share the archive, which stays.
    assert_eq!(store.find(&record.members[0].key).unwrap(), [bare(&newer)]);
    assert_eq!(store.load(&newer).unwrap(), archive);
    // A pinned archive stays in any case.
    let pinned = Keep { pinned: BTreeSet::from([record.digest]), declared: Some(Roots::default()), ..keep };
    age(store.path(), 20 * DAY);
    assert_eq!(going(&store, &pinned), [(VictimKind::Entry, Reason::Undeclared)]);
}

#[test]
fn files_used_after_planning_survive() {
    let (_directory, store, _) = store();
    let units = ["reused", "published", "neither"].map(|seed| publish(&store, seed));
    let called = publish(&store, "entry");
    store.put_entry(&entry("score")).unwrap();
    age(store.path(), DAY);
    let keep = declared(&[], &[]);
    let plan = store.plan_gc(&keep).unwrap();
    assert_eq!(plan.victims.len(), 5);
    store.reuse(&units[0].1).unwrap().unwrap();
    store.reuse(&called.1).unwrap().unwrap();
    store.publish(&units[1].0, &units[1].1).unwrap();
    store.put_entry(&entry("score")).unwrap();
    let swept = store.sweep(&plan).unwrap();
    assert_eq!((swept.removed, swept.spared), (1, 4));
    assert!(serves(&store, &units[0]) && serves(&store, &units[1]) && !serves(&store, &units[2]));
    assert!(store.verify().unwrap().is_intact());
}

#[test]
fn leftovers_go_and_newer_formats_stay() {
    let (_directory, store, _) = store();
    let whole = publish(&store, "whole");
    // An archive and documents without a record, pointers of a lost record, a graph without a name.
    let (archive, record) = publish(&store, "lost");
    fs_err::remove_file(file(&store, "records", &record.id().to_string())).unwrap();
    let digest = archive.digest().unwrap().to_string();
    store.put_entry(&entry("score")).unwrap();
    fs_err::remove_dir_all(store.path().join("roots/entry")).unwrap();
    fs_err::write(store.path().join("tmp/.precast-left"), b"half").unwrap();
    fs_err::create_dir(store.path().join("quarantine/x.1")).unwrap();
    fs_err::write(store.path().join("quarantine/x.1/x"), b"bad").unwrap();
    age(store.path(), DAY);
    let keep = Keep { grace: HOUR, ..Keep::default() };
    let plan = store.plan_gc(&keep).unwrap();
    let count = |kind| plan.victims.iter().filter(|victim| victim.kind == kind).count();
    // Object, documents, graph, and a pointer for each of three keys and fingerprints.
    assert_eq!((count(VictimKind::Leftover), count(VictimKind::Temporary), plan.victims.len()), (9, 1, 10));
    age(&store.path().join("quarantine"), 8 * DAY);
    let plan = store.plan_gc(&keep).unwrap();
    assert_eq!(plan.victims.len(), 11);
    // The record is restored in the meantime, so its pointers, documents and archive are in use again.
    store.publish(&archive, &record).unwrap();
    let swept = store.sweep(&plan).unwrap();
    assert_eq!((swept.removed, swept.spared), (3, 8));
    assert!(serves(&store, &(archive, record.clone())) && serves(&store, &whole));
    // A record of a future format: it hashes to its name, but its references are unknown.
    let mut bytes = record.to_bytes();
    bytes[3] = 99;
    let id = Record::id_of(&bytes);
    let newer = store.path().join("records/ab").join(format!("ab{}-{id}", "0".repeat(62)));
    fs_err::create_dir_all(newer.parent().unwrap()).unwrap();
    fs_err::write(&newer, bytes).unwrap();
    fs_err::remove_file(file(&store, "records", &record.id().to_string())).unwrap();
    age(store.path(), DAY);
    let plan = store.plan_gc(&Keep { declared: Some(Roots::default()), ..keep }).unwrap();
    store.sweep(&plan).unwrap();
    assert_eq!(plan.foreign, 1);
    assert!(newer.exists() && file(&store, "objects", &format!("{digest}.tar.zst")).exists());
}

#[test]
fn damaged_record_is_quarantined_with_its_archive() {
    let (_directory, store, _) = store();
    let (_, record) = publish(&store, "bad");
    overwrite(&file(&store, "records", &record.id().to_string()), b"damage");
    age(store.path(), DAY);
    let plan = store.plan_gc(&Keep { grace: HOUR, ..Keep::default() }).unwrap();
    assert_eq!((plan.foreign, plan.records), (0, 0));
    assert_eq!(store.sweep(&plan).unwrap().removed, 8);
}

/// The number of declared units in the storm, and of undeclared ones: 200 in total.
const UNITS: usize = 100;

/// Returns an entry as made by one of several generators: a different graph under the same name.
fn generated(name: &str, by: usize) -> Entry {
    Entry { recipe: format!("generator {by}"), ..entry(name) }
}

/// Publishes in an endless loop: declared units, which stay, and undeclared ones, which may be deleted at any time.
pub(crate) fn storm(path: &Path) {
    let store = Store::create(path).unwrap().on_event(|event: &Event| panic!("{event}"));
    for round in std::process::id() as usize.. {
        let (wanted, other) = (format!("wanted {}", round % UNITS), format!("other {}", round * 7 % UNITS));
        let wanted = publish(&store, &wanted);
        assert!(serves(&store, &wanted), "lost");
        let (archive, record) = publish(&store, &other);
        for found in store.find(&record.members[0].key).unwrap() {
            // The archive may be deleted before it is loaded, but is never damaged.
            match store.load(&found) {
                Ok(loaded) => assert_eq!(loaded, archive),
                Err(error) => assert!(matches!(error, LoadError::Missing { .. }), "{error}"),
            }
        }
        let name = ["score", "other"][round % 2];
        store.put_entry(&generated(name, round % 3)).unwrap();
        let found = store.find_entry("score").unwrap().expect("the entry is declared, and lost");
        assert!((0..3).any(|by| found == generated("score", by)));
    }
}

#[test]
fn killed_publishers_lose_nothing_beside_a_collector() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("artifacts");
    let (store, events) = listening(Store::create(&path).unwrap());
    let called = publish(&store, "entry");
    let wanted = (0..UNITS).map(|n| publish(&store, &format!("wanted {n}")));
    let wanted: Vec<_> = wanted.chain([called]).collect();
    store.put_entry(&generated("score", 0)).unwrap();
    let records: Vec<&Record> = wanted.iter().map(|(_, record)| record).collect();
    // Without grace, an undeclared artifact is deleted as soon as its publisher releases the lock.
    let keep = Keep { grace: Duration::ZERO, ..declared(&["score"], &records) };
    let mut children: Vec<Child> = (0..16).map(|_| again("storm", &path).spawn().unwrap()).collect();
    let mut removed = 0;
    for round in 0..32 {
        let child = &mut children[round * 5 % 16];
        assert!(child.try_wait().unwrap().is_none(), "a publisher failed; its output is above");
        child.kill().unwrap();
        child.wait().unwrap();
        *child = again("storm", &path).spawn().unwrap();
        let plan = store.plan_gc(&keep).unwrap();
        removed += store.sweep(&plan).unwrap().removed;
        assert!(wanted.iter().all(|unit| serves(&store, unit)));
        assert!(store.find_entry("score").unwrap().is_some());
    }
    for child in &mut children {
        assert!(child.try_wait().unwrap().is_none(), "a publisher failed; its output is above");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let plan = store.plan_gc(&keep).unwrap();
    store.sweep(&plan).unwrap();
    let verified = store.verify().unwrap();
    assert!(verified.is_intact(), "{verified:?}");
    assert_eq!((verified.records, verified.entries), (UNITS + 1, 1));
    assert_eq!((verified.objects, verified.unreferenced.len()), (UNITS + 1, 0));
    assert!(removed > 10, "{removed}");
    assert_eq!(*events.lock().unwrap(), []);
    // One root, one graph, and nine files of each unit: killed processes have left nothing.
    assert_eq!(files(&store), 2 + 9 * (UNITS + 1));
}

/// A publisher finishes between a plan and its sweep, and its last steps touch no file that the plan checks.
#[test]
fn files_named_after_planning_survive() {
    let (directory, store, events) = store();
    let (archive, record) = publish(&store, "record");
    store.put_entry(&entry("score")).unwrap();
    publish(&store, "entry");
    let (hidden, names) = (
        directory.path().join("hidden"),
        ["roots/entry/score".to_owned(), {
            let action = record.action.to_string();
            format!("records/{}/{action}-{}", &action[..2], record.id())
        }],
    );
    let moved = |from: &Path, to: &Path| {
        names.iter().for_each(|name| {
            fs_err::create_dir_all(to.join(name).parent().unwrap()).unwrap();
            fs_err::rename(from.join(name), to.join(name)).unwrap();
        });
    };
    moved(store.path(), &hidden);
    let plan = store.plan_gc(&Keep { grace: Duration::ZERO, ..Keep::default() }).unwrap();
    let going: Vec<_> = plan.victims.iter().map(|victim| victim.name.as_str()).collect();
    let digest = format!("{}.tar.zst", record.digest);
    assert!(
        going.contains(&digest.as_str()) && going.contains(&&*entry("score").id().to_string()),
        "{going:?}"
    );
    moved(&hidden, store.path());
    let swept = store.sweep(&plan).unwrap();
    assert_eq!(swept.removed, 0, "{swept:?}");
    assert!(serves(&store, &(archive, record)));
    assert_eq!(store.find_entry("score").unwrap(), Some(entry("score")));
    assert!(store.verify().unwrap().is_intact());
    assert_eq!(*events.lock().unwrap(), []);
    // Another record names the archive of a victim: the record is deleted, the archive stays.
    let keep = declared(&[], &[]);
    let (archive, record) = unit("entry", "v3");
    age(store.path(), DAY);
    let plan = store.plan_gc(&keep).unwrap();
    let again = Record { action: precast_store::ActionKey::from_bytes([9; 32]), ..record.clone() };
    store.publish(&archive, &again).unwrap();
    age(&file(&store, "objects", &format!("{}.tar.zst", record.digest)), DAY);
    store.sweep(&plan).unwrap();
    assert_eq!(store.find(&record.members[0].key).unwrap(), [bare(&again)]);
    assert_eq!(store.load(&again).unwrap(), archive);
}

#[test]
fn running_build_keeps_files_without_grace() {
    let (_directory, store, _) = store();
    let old = publish(&store, "old");
    age(store.path(), DAY);
    let session = store.begin();
    let new = publish(&store, "new");
    store.reuse(&old.1).unwrap().unwrap();
    let keep = Keep { grace: Duration::ZERO, ..declared(&[], &[]) };
    assert_eq!(going(&store, &keep), []);
    // A second session keeps the artifacts of both, and other artifacts are deleted.
    let other = store.begin();
    drop(session);
    let unused = publish(&store, "unused");
    ["objects", "records", "keys"].iter().for_each(|name| age(&store.path().join(name), DAY));
    store.reuse(&new.1).unwrap().unwrap();
    store.sweep(&store.plan_gc(&keep).unwrap()).unwrap();
    assert!(serves(&store, &new) && !serves(&store, &unused) && !serves(&store, &old));
    drop(other);
    // A session begins between plan and sweep, and reuses a victim.
    age(store.path(), DAY);
    let plan = store.plan_gc(&keep).unwrap();
    assert!(!plan.victims.is_empty());
    let late = store.begin();
    store.reuse(&new.1).unwrap().unwrap();
    store.sweep(&plan).unwrap();
    assert!(serves(&store, &new));
    drop(late);
    store.sweep(&store.plan_gc(&keep).unwrap()).unwrap();
    assert!(!serves(&store, &new));
    // The file of a killed session does not block the collector, and is deleted.
    fs_err::write(store.path().join("tmp/.session-killed"), b"").unwrap();
    publish(&store, "later");
    let plan = store.plan_gc(&keep).unwrap();
    assert_eq!(plan.victims.iter().filter(|victim| victim.kind == VictimKind::Temporary).count(), 1);
    store.sweep(&plan).unwrap();
    assert_eq!(files(&store), 0);
}

#[test]
#[cfg(unix)]
fn gc_deletes_nothing_through_links() {
    let (directory, store, _) = store();
    let (_, record) = publish(&store, "gone");
    let shard = file(&store, "objects", ".zst").parent().unwrap().to_owned();
    let outside = directory.path().join("outside");
    fs_err::rename(&shard, &outside).unwrap();
    fs_err::os::unix::fs::symlink(&outside, &shard).unwrap();
    age(&outside, DAY);
    age(&store.path().join("records"), DAY);
    let before = walkdir::WalkDir::new(&outside).into_iter().count();
    let keep = declared(&[], &[]);
    let refused = store.plan_gc(&keep).map(|plan| store.sweep(&plan));
    let told = format!("{refused:?}");
    assert_eq!(walkdir::WalkDir::new(&outside).into_iter().count(), before, "{told}: {record:?}");
    assert!(told.contains("link"), "{told}");
}
