//! Records of one module that were built from different contents of an outside file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use precast_store::key::ContentId;
use precast_store::remote::{Item, RecordName, Remote, RemoteError, Sink, Source, Wanted};
use precast_store::{Archive, Outside, Record, Store};

use crate::sample::{bare, host_requires, listening, unit};

/// Returns the unit of an ISA level, built while `/h.h` had this content, or did not exist.
fn built(isa: &str, content: Option<&str>) -> (Archive, Record) {
    let (mut archive, mut record) = unit("a", isa);
    let made_from = format!("{isa} {content:?}");
    archive.members.insert("unit.so".to_owned(), made_from.clone().into_bytes());
    record.outside = vec![
        Outside { path: "/h.h".to_owned(), content: content.map(ContentId::of) },
        Outside { path: "/same.h".to_owned(), content: Some(ContentId::of("same")) },
    ];
    // The content is part of an action.
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
    let member = &built("v3", None).1.members[0];
    assert_eq!(set(store.find(&member.key).unwrap()), wanted);
    let found = store.find_fingerprint(&member.fingerprints[0]).unwrap();
    assert_eq!(set(found.into_iter().map(|(record, _)| record).collect()), wanted);
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
fn last_published_or_reused_content_is_found() {
    let (_directory, store) = store();
    let (old, new, none) = (built("v3", Some("3")), built("v3", Some("7")), built("v3", None));
    for current in [&old, &new, &old, &none, &new] {
        put(&store, current);
        level_times(store.path());
        finds(&store, &[current]);
    }
    let mut found = store.find_action(&old.1.action).unwrap();
    assert!(store.reuse(&found.remove(0)).unwrap().unwrap().healed);
    level_times(store.path());
    finds(&store, &[&old]);
    assert!(store.is_superseded(&new.1).unwrap() && !store.is_superseded(&old.1).unwrap());
    assert_eq!(store.find_superseded(&new.1.members[0].key).unwrap().len(), 2);
}

#[test]
fn other_isa_levels_of_old_content_are_superseded() {
    let (_directory, store) = store();
    let (wide, narrow) = (built("v4", Some("3")), built("v3", Some("3")));
    put(&store, &wide);
    put(&store, &narrow);
    finds(&store, &[&wide, &narrow]);
    let new = built("v3", Some("7"));
    put(&store, &new);
    finds(&store, &[&new]);
    // Another target has files of its own.
    let mut other = built("v4", Some("3"));
    other.1.target = "aarch64-unknown-linux-gnu".to_owned();
    put(&store, &other);
    finds(&store, &[&new, &other]);
    // Records without outside files contradict none.
    let plain = unit("a", "v3");
    put(&store, &plain);
    finds(&store, &[&new, &other, &plain]);
}

#[test]
fn export_has_current_content_only() {
    let (_directory, source) = store();
    let (old, new) = (built("v3", Some("3")), built("v3", Some("7")));
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

#[test]
fn lost_pointer_of_a_superseded_record_is_not_restored() {
    let (_directory, store) = store();
    let (old, new) = (built("v3", Some("3")), built("v3", Some("7")));
    put(&store, &old);
    put(&store, &new);
    let keys = store.path().join("keys");
    let pointers: Vec<_> = walkdir::WalkDir::new(&keys).into_iter().map(Result::unwrap).collect();
    let superseded =
        |file: &&walkdir::DirEntry| file.file_type().is_file() && file.metadata().unwrap().len() > 0;
    let lost: Vec<_> = pointers.iter().filter(superseded).collect();
    assert_eq!(lost.len(), 2 * old.1.members.len());
    lost.iter().for_each(|file| fs_err::remove_file(file.path()).unwrap());
    level_times(store.path());
    let (store, events) = listening(store);
    assert!(store.verify().unwrap().is_intact());
    assert_eq!(events.lock().unwrap().len(), 0);
    finds(&store, &[&new]);
    assert!(store.is_superseded(&old.1).unwrap());
    // All pointers lost: what can be found is found, the newest of contradicting records first.
    fs_err::remove_dir_all(&keys).unwrap();
    store.verify().unwrap();
    assert_eq!(store.find(&new.1.members[0].key).unwrap().len(), 1);
}

#[test]
fn contradicting_pointers_of_a_killed_writer_are_resolved_by_time() {
    let (_directory, store) = store();
    let (old, new) = (built("v4", Some("3")), built("v3", Some("7")));
    put(&store, &old);
    put(&store, &new);
    for file in walkdir::WalkDir::new(store.path().join("keys")).into_iter().map(Result::unwrap) {
        if file.file_type().is_file() {
            fs_err::remove_file(file.path()).unwrap();
            fs_err::write(file.path(), "").unwrap();
        }
    }
    store.confirm(&new.1);
    finds(&store, &[&new]);
    assert!(store.is_superseded(&old.1).unwrap());
    store.reuse(&store.find_action(&new.1.action).unwrap()[0]).unwrap().unwrap();
    level_times(store.path());
    finds(&store, &[&new]);
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
fn runnable(isa: &str, content: &str) -> (Archive, Record) {
    let (archive, mut record) = built(isa, Some(content));
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
