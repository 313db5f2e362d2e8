//! Tests with several processes on one store, and with a process without write permission: this test binary runs
//! itself.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use precast_store::{CreateError, Event, LoadError, PublishError, Store, WriteError};

use crate::sample::{bare, entry, listening, overwrite, store, unit};

const ROLE: &str = "PRECAST_STORE_TEST_ROLE";
const PATH: &str = "PRECAST_STORE_TEST_PATH";
const ROUNDS: usize = 15;

pub(crate) fn again(role: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "processes::role_of_another_process", "--ignored"])
        .env(ROLE, role)
        .env(PATH, path);
    command
}

fn wait(mut child: Child) {
    assert!(child.wait().unwrap().success(), "the other process failed; its output is above");
}

#[test]
#[ignore = "runs in the processes that the other tests of this module start"]
fn role_of_another_process() {
    let Ok(path) = std::env::var(PATH) else { return };
    match std::env::var(ROLE).as_deref() {
        Ok("publish") => publish(Path::new(&path)),
        Ok("build") => drop(crate::heal::build(Path::new(&path)).unwrap()),
        Ok("storm") => crate::gc::storm(Path::new(&path)),
        Ok("import") => crate::export_memory::import_file(Path::new(&path)),
        Ok("check") => crate::export_memory::check_file(Path::new(&path)),
        Ok("unpack") => crate::export_memory::unpack_file(Path::new(&path)),
        Ok("unprivileged") => unprivileged(Path::new(&path)),
        role => panic!("unknown role {role:?}"),
    }
}

/// Publishes the same units as every other publisher, and some unique ones.
fn publish(path: &Path) {
    let store = Store::create(path).unwrap();
    let (archive, record) = unit("entry", "v3");
    store.publish(&archive, &record).unwrap();
    for round in 0..ROUNDS {
        for seed in [format!("common {round}"), format!("{} {round}", std::process::id())] {
            let (archive, record) = unit(&seed, "v3");
            store.publish(&archive, &record).unwrap();
            assert_eq!(store.find(&record.members[0].key).unwrap(), [bare(&record)]);
            assert_eq!(store.load(&record).unwrap(), archive);
        }
        store.put_entry(&entry("score")).unwrap();
    }
}

#[test]
fn concurrent_publishers_and_reader_agree() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("artifacts");
    // The processes also race to create the store.
    let children: Vec<Child> = (0..2).map(|_| again("publish", &path).spawn().unwrap()).collect();
    let (store, events) = listening(Store::create(&path).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| publish(&path));
        }
        // The reader: every visible artifact must be intact.
        for round in 0..4 * ROUNDS {
            let (archive, record) = unit(&format!("common {}", round / 4), "v3");
            for found in store.find(&record.members[0].key).unwrap() {
                assert_eq!(store.load(&found).unwrap(), archive);
            }
            assert!(store.find_entry("score").unwrap().is_none_or(|found| found == entry("score")));
        }
    });
    children.into_iter().for_each(wait);
    let verified = store.verify().unwrap();
    assert!(verified.is_intact(), "{verified:?}");
    // Two processes, and this one, which published from two threads under one process id.
    assert_eq!((verified.objects, verified.records, verified.entries), (4 * ROUNDS + 1, 4 * ROUNDS + 1, 1));
    assert!(verified.unreferenced.is_empty());
    assert_eq!(*events.lock().unwrap(), Vec::<Event>::new());
    assert_eq!(walkdir::WalkDir::new(path.join("tmp")).min_depth(1).into_iter().count(), 0);
}

/// Removes write permission from the tree, so that a process without root privileges cannot write.
fn make_read_only(path: &Path, mode: u32) {
    for directory in walkdir::WalkDir::new(path).contents_first(true) {
        let directory = directory.unwrap();
        if directory.file_type().is_dir() {
            fs_err::set_permissions(directory.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

#[test]
fn read_only_store_rejects_writes() {
    let (directory, store, _) = store();
    let (archive, record) = unit("good", "v3");
    store.publish(&archive, &record).unwrap();
    store.put_entry(&entry("score")).unwrap();
    let (damaged, damaged_record) = unit("damaged", "v3");
    store.publish(&damaged, &damaged_record).unwrap();
    let digest = damaged_record.digest.to_string();
    overwrite(&store.path().join("objects").join(&digest[..2]).join(format!("{digest}.tar.zst")), b"damage");
    fs_err::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let lost = damaged_record.members[0].key.to_string();
    fs_err::remove_dir_all(store.path().join("keys").join(&lost[..2]).join(&lost)).unwrap();
    make_read_only(store.path(), 0o555);
    let mut command = again("unprivileged", store.path());
    // Root can write everywhere, so the child runs under uid 65534. The owner of our file shows whether we are root,
    // without starting `id -u`.
    if std::os::unix::fs::MetadataExt::uid(&fs_err::metadata(directory.path()).unwrap()) == 0 {
        command.uid(65534).gid(65534);
    }
    let child = command.spawn().unwrap();
    wait(child);
    make_read_only(store.path(), 0o755);
}

fn unprivileged(path: &Path) {
    let (store, events) = listening(Store::open(path).unwrap());
    let (archive, record) = unit("good", "v3");
    assert_eq!(store.find(&record.members[0].key).unwrap(), [bare(&record)]);
    assert_eq!(store.load(&record).unwrap(), archive);
    assert_eq!(store.find_entry("score").unwrap(), Some(entry("score")));
    assert_eq!(*events.lock().unwrap(), []);
    // Damaged files stay in place, and are not served.
    let (_, damaged) = unit("damaged", "v3");
    for _ in 0..2 {
        assert!(matches!(store.load(&damaged).unwrap_err(), LoadError::Damaged { .. }));
    }
    assert!(matches!(&events.lock().unwrap()[..], [Event::Damaged { quarantined: None, .. }, _]));
    // Lost pointers stay lost, and are reported.
    let told = store.verify().unwrap().events;
    assert!(told.iter().any(|event| event.to_string().contains("missing pointers of keys")), "{told:?}");
    let (archive, record) = unit("new", "v3");
    let error = store.publish(&archive, &record).unwrap_err();
    assert!(matches!(error, PublishError::Write { source: WriteError::Permission { .. }, .. }), "{error:?}");
    let error = Store::create(path).unwrap_err();
    assert!(matches!(error, CreateError::Write { source: WriteError::Permission { .. }, .. }), "{error:?}");
    let error = Store::create(path.join("below")).unwrap_err();
    assert!(matches!(error, CreateError::Write { source: WriteError::Permission { .. }, .. }), "{error:?}");
}
