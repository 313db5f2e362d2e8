//! Generations: records of one module that were built from different states of outside files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use precast_store::key::ContentId;
use precast_store::remote::{Item, RecordName, Remote, RemoteError, Sink, Source, Wanted};
use precast_store::{Archive, BuildKey, GenerationId, Keep, Outside, Record, Roots, Store};

use crate::sample::{bare, host_requires, listening, unit};

/// Returns the unit of an ISA level, of the generation of this name.
fn built(isa: &str, generation: &str) -> (Archive, Record) {
    let (mut archive, mut record) = unit("a", isa);
    let made_from = format!("{isa} {generation}");
    archive.members.insert("unit.so".to_owned(), made_from.clone().into_bytes());
    record.outside = vec![Outside { path: "/h.h".to_owned(), content: ContentId::of(generation) }];
    record.generation = Some(GenerationId::from_bytes(*ContentId::of(generation).as_bytes()));
    // The generation is part of an action.
    record.action = precast_store::ActionKey::from_bytes(*ContentId::of(made_from).as_bytes());
    (record.digest, record.size) = (archive.digest().unwrap(), archive.size());
    (archive, record)
}

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path().join("s")).unwrap();
    (directory, store)
}

fn put(store: &Store, (archive, record): &(Archive, Record)) {
    store.publish(archive, record).unwrap();
}

/// Checks which records lookups return, in any order.
#[track_caller]
fn finds(store: &Store, expected: &[&(Archive, Record)]) {
    let set = |records: Vec<Record>| records.iter().map(Record::id).collect::<BTreeSet<_>>();
    let wanted = set(expected.iter().map(|(_, record)| bare(record)).collect());
    assert_eq!(set(store.find(&key()).unwrap()), wanted);
}

fn key() -> BuildKey {
    built("v3", "3").1.members[0].key
}

/// Sets the time of every file: a copy need not keep times.
fn level_times(path: &Path) {
    for file in walkdir::WalkDir::new(path).into_iter().map(Result::unwrap) {
        if file.file_type().is_file() {
            let time = SystemTime::now() - Duration::from_secs(3600);
            fs_err::File::open(file.path()).unwrap().set_modified(time).unwrap();
        }
    }
}

#[test]
fn last_published_or_reused_generation_is_found() {
    let (_directory, store) = store();
    let (old, new, none) = (built("v3", "3"), built("v3", "7"), built("v3", "none"));
    for current in [&old, &new, &old, &none, &new] {
        put(&store, current);
        level_times(store.path());
        finds(&store, &[current]);
    }
    let mut found = store.find_action(&old.1.action).unwrap();
    assert!(!store.reuse(&found.remove(0)).unwrap().unwrap().healed);
    level_times(store.path());
    finds(&store, &[&old]);
    assert!(store.is_superseded(&new.1).unwrap() && !store.is_superseded(&old.1).unwrap());
    assert_eq!(store.find_superseded(&key()).unwrap().len(), 2);
}

#[test]
fn generation_is_current_with_all_isa_levels() {
    let (_directory, store) = store();
    let (wide, narrow) = (built("v4", "3"), built("v3", "3"));
    put(&store, &wide);
    put(&store, &narrow);
    finds(&store, &[&wide, &narrow]);
    let new = built("v3", "7");
    put(&store, &new);
    finds(&store, &[&new]);
    // Another target has generations of its own.
    let mut other = built("v4", "3");
    other.1.target = "aarch64-unknown-linux-gnu".to_owned();
    put(&store, &other);
    finds(&store, &[&new, &other]);
    // Records without outside files have no generation.
    let plain = unit("a", "v3");
    put(&store, &plain);
    finds(&store, &[&new, &other, &plain]);
    // Any record of a generation makes all of them current.
    store.reuse(&store.find_action(&narrow.1.action).unwrap()[0]).unwrap().unwrap();
    finds(&store, &[&wide, &narrow, &other, &plain]);
}

#[test]
fn concurrent_publishers_leave_one_whole_generation() {
    let (_directory, store) = store();
    let generation = |name: &str| ["v2", "v3", "v4"].map(|isa| built(isa, name));
    let all = [generation("3"), generation("7")];
    for _ in 0..20 {
        std::thread::scope(|scope| {
            for units in &all {
                scope.spawn(|| units.iter().for_each(|unit| put(&store, unit)));
            }
        });
        let found = store.find(&key()).unwrap();
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|record| record.generation == found[0].generation));
    }
}

#[test]
fn export_has_the_current_generation_only() {
    let (_directory, source) = store();
    let (old, new) = (built("v3", "3"), built("v3", "7"));
    put(&source, &old);
    put(&source, &new);
    let export = source.export(None).unwrap();
    assert_eq!(export.records(), 1);
    let (_other, target) = store();
    put(&target, &old);
    export.import(&target).unwrap();
    level_times(target.path());
    finds(&target, &[&new]);
}

/// Deletes the files of a store that name generations, or writes this text into them.
fn change_current(store: &Store, text: Option<&str>) {
    let mut changed = 0;
    for file in walkdir::WalkDir::new(store.path().join("keys")).into_iter().map(Result::unwrap) {
        if file.file_name().to_string_lossy().starts_with("current-") {
            fs_err::remove_file(file.path()).unwrap();
            text.into_iter().for_each(|text| fs_err::write(file.path(), text).unwrap());
            changed += 1;
        }
    }
    assert!(changed > 0);
}

#[test]
fn lost_or_damaged_name_of_the_generation_is_a_miss() {
    for text in [None, Some(""), Some("x"), Some("7\n")] {
        let (_directory, store) = store();
        let (old, new) = (built("v3", "3"), built("v4", "7"));
        put(&store, &old);
        change_current(&store, text);
        finds(&store, &[&old]);
        put(&store, &new);
        change_current(&store, text);
        let (store, events) = listening(store);
        finds(&store, &[]);
        assert_eq!(events.lock().unwrap().is_empty(), text.is_none());
        store.reuse(&store.find_action(&new.1.action).unwrap()[0]).unwrap().unwrap();
        finds(&store, &[&new]);
    }
}

#[test]
fn lost_pointers_are_restored_for_all_generations() {
    let (_directory, store) = store();
    let (old, new) = (built("v3", "3"), built("v3", "7"));
    put(&store, &old);
    put(&store, &new);
    for file in walkdir::WalkDir::new(store.path().join("keys")).into_iter().map(Result::unwrap) {
        if file.file_type().is_file() && file.metadata().unwrap().len() == 0 {
            fs_err::remove_file(file.path()).unwrap();
        }
    }
    finds(&store, &[]);
    assert!(store.verify().unwrap().is_intact());
    finds(&store, &[&new]);
    assert!(store.is_superseded(&old.1).unwrap());
}

#[test]
fn record_without_a_generation_is_superseded_by_one_with() {
    let (_directory, store) = store();
    let (mut old, new) = (built("v4", "3"), built("v3", "7"));
    old.1.generation = None;
    put(&store, &old);
    finds(&store, &[&old]);
    put(&store, &new);
    finds(&store, &[&new]);
}

#[test]
fn collector_removes_superseded_records_and_then_the_key() {
    let (_directory, store) = store();
    let (old, new) = (built("v4", "3"), built("v3", "7"));
    put(&store, &old);
    put(&store, &new);
    let modules: BTreeSet<_> = new.1.members.iter().map(|member| member.key).collect();
    for (roots, left) in [(modules, 1), (BTreeSet::new(), 0)] {
        let declared = Some(Roots { modules: roots, ..Roots::default() });
        let keep = Keep { declared, ..Keep::default() };
        store.sweep(&store.plan_gc(&keep).unwrap()).unwrap();
        assert_eq!(store.records().count(), left);
    }
    let keys = walkdir::WalkDir::new(store.path().join("keys")).min_depth(2).into_iter().count();
    assert_eq!(keys, 0);
}

/// A remote store in memory.
#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<String, Vec<u8>>>);

impl Source for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn records(&self, wanted: &Wanted) -> Result<Vec<RecordName>, RemoteError> {
        let directory = format!("{}/", wanted.directory());
        let files = self.0.lock().unwrap();
        Ok(files.keys().filter_map(|path| wanted.find(path.strip_prefix(&directory)?)).collect())
    }

    fn entries(&self) -> Result<Vec<String>, RemoteError> {
        Ok(Vec::new())
    }

    fn get(&self, item: &Item, _: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        Ok(self.0.lock().unwrap().get(&item.path()).cloned())
    }
}

impl Sink for Memory {
    fn put_new(&self, item: &Item, bytes: &[u8]) -> Result<bool, RemoteError> {
        if self.0.lock().unwrap().contains_key(&item.path()) {
            return Ok(false);
        }
        self.put(item, bytes).map(|()| true)
    }

    fn put(&self, item: &Item, bytes: &[u8]) -> Result<(), RemoteError> {
        self.0.lock().unwrap().insert(item.path(), bytes.to_vec());
        Ok(())
    }
}

/// Returns a unit that this host can run.
fn runnable(isa: &str, generation: &str) -> (Archive, Record) {
    let (archive, mut record) = built(isa, generation);
    record.requires = host_requires();
    (archive, record)
}

#[test]
fn remote_store_serves_the_content_pushed_last() {
    let memory = Arc::new(Memory::default());
    let (old, new) = (runnable("v4", "3"), runnable("v3", "7"));
    let key = old.1.members[0].key;
    let (_kept_directory, kept) = store();
    for (current, round) in [(&old, 0), (&new, 1), (&old, 2)] {
        // A store that knows nothing of the other content.
        let (_directory, pushed) = store();
        put(&pushed, current);
        pushed.push(&*memory, None).unwrap();
        assert_eq!(pushed.push(&*memory, None).unwrap().sent, 0, "round {round}");
        let (_other_directory, fresh) = store();
        for local in [fresh, kept.clone()] {
            let remote = Remote::new(memory.clone(), local);
            let ids: Vec<_> = remote.find(&key).unwrap().iter().map(Record::id).collect();
            assert_eq!(ids, [current.1.id()], "round {round}");
            assert!(remote.load_member(&bare(&current.1), "unit.so").unwrap().is_some());
        }
    }
    // A source without records does not hide the local ones.
    let lost = Remote::new(Arc::new(Memory::default()), kept);
    assert_eq!(lost.find(&key).unwrap().len(), 1);
}
