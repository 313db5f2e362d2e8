//! Exports: a store's export can be imported into another store. An export that was changed on the way is rejected with
//! the member's name, and nothing of it is written.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use precast_store::{Archive, Export, ExportError, ImportError, OpenExportError, Record, Store};
use proptest::prelude::*;

use crate::sample::{bare, entry, file, store, unit};

/// Returns a store with an entry, the unit that it calls and another unit, and its export.
pub(crate) fn exported() -> (tempfile::TempDir, Store, Vec<u8>) {
    let (directory, store, _) = store();
    for seed in ["entry", "other"] {
        let (archive, record) = unit(seed, "v3");
        store.publish(&archive, &record).unwrap();
    }
    store.put_entry(&entry("score")).unwrap();
    let bytes = store.export(None).unwrap().pack().unwrap();
    (directory, store, bytes)
}

/// Exports everything as a release, e.g. `model=2`.
fn released(source: &Store, release: &str) -> Export {
    let mut export = source.export(None).unwrap();
    export.set_release(&release.parse().unwrap());
    export
}

fn target() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path().join("target")).unwrap();
    (directory, store)
}

fn is_empty(store: &Store) -> bool {
    store.records().next().is_none() && store.entries().unwrap().is_empty()
}

#[test]
fn export_round_trips() {
    let (_directory, source, bytes) = exported();
    assert_eq!(source.export(None).unwrap().pack().unwrap(), bytes, "the same store, the same file");
    let (_other, store) = target();
    let export = Export::open(&bytes).unwrap();
    assert_eq!((export.records(), export.entries()), (2, 1));
    assert_eq!(export.verify().unwrap().records, 2);
    assert!(is_empty(&store));
    let imported = export.import(&store).unwrap();
    assert_eq!((imported.records, imported.fresh, imported.entries), (2, 2, 1));
    for seed in ["entry", "other"] {
        let (archive, record) = unit(seed, "v3");
        assert_eq!(store.find(&record.members[0].key).unwrap(), [bare(&record)]);
        assert_eq!(store.load(&record).unwrap(), archive);
    }
    assert_eq!(store.find_entry("score").unwrap(), Some(entry("score")));
    assert!(store.verify().unwrap().is_intact());
    assert_eq!(export.import(&store).unwrap().fresh, 0);
    assert_eq!(store.export(None).unwrap().pack().unwrap(), bytes);
}

#[test]
fn entry_is_exported_with_its_modules() {
    let (_directory, source, _) = exported();
    let names = |name: &str| Some(BTreeSet::from([name.to_owned()]));
    let export = source.export(names("score").as_ref()).unwrap();
    assert_eq!((export.records(), export.entries()), (1, 1));
    let error = source.export(names("unknown").as_ref()).unwrap_err();
    assert!(error.to_string().contains("available: score"), "{error}");
    let (_, record) = unit("entry", "v3");
    fs_err::remove_file(file(&source, "objects", &format!("{}.tar.zst", record.digest))).unwrap();
    assert!(matches!(source.export(None).unwrap_err(), ExportError::Load { .. }));
    fs_err::remove_file(file(&source, "records", &record.id().to_string())).unwrap();
    let error = source.export(None).unwrap_err();
    assert!(
        matches!(error, ExportError::MissingModule { .. }) && error.to_string().contains("hint: "),
        "{error}"
    );
}

/// Unpacks an export, changes its members, and packs it without a new statement.
fn changed(bytes: &[u8], change: impl Fn(&mut Archive)) -> Vec<u8> {
    let (_, mut archive) = Archive::unpack(bytes, &precast_store::Limits::default()).unwrap();
    change(&mut archive);
    archive.pack().unwrap().1
}

fn member(archive: &Archive, directory: &str) -> String {
    archive.members.keys().find(|name| name.starts_with(directory)).unwrap().clone()
}

#[test]
fn export_changes_are_named() {
    let (_directory, _, bytes) = exported();
    let refusal = |change: &dyn Fn(&mut Archive)| {
        let bytes = changed(&bytes, change);
        let refused = Export::open(&bytes).unwrap_err().to_string();
        assert_eq!(Export::check(&bytes).unwrap_err().to_string(), refused);
        assert!(refused.contains("\nhint: "), "{refused}");
        refused
    };
    for directory in ["documents/", "entries/", "objects/", "records/"] {
        let taken = refusal(&|archive| drop(archive.members.remove(&member(archive, directory))));
        assert!(taken.contains(directory) && taken.contains("is missing"), "{taken}");
        let flipped = refusal(&|archive| {
            let name = member(archive, directory);
            archive.members.get_mut(&name).unwrap()[10] ^= 1;
        });
        assert!(flipped.contains(directory) && flipped.contains("does not match its hash"), "{flipped}");
        let added = refusal(&|archive| drop(archive.members.insert(format!("{directory}0"), b"x".to_vec())));
        assert!(added.contains("is not in the statement"), "{added}");
    }
    let none = refusal(&|archive| drop(archive.members.remove("statement")));
    assert!(none.contains("missing statement"), "{none}");
    let later =
        refusal(&|archive| drop(archive.members.insert("statement".into(), b"precast export 3\n".to_vec())));
    assert!(later.contains("may come from a later precast"), "{later}");
    let loose = refusal(&|archive| archive.members.get_mut("statement").unwrap().push(b'\n'));
    assert!(loose.contains("not in canonical form") || loose.contains("is missing"), "{loose}");
    assert!(matches!(Export::open(b"no export").unwrap_err(), OpenExportError::Unpack(_)));
}

/// Like [`changed`], but with a new statement, so that only signatures can detect the change.
pub(crate) fn restated(bytes: &[u8], change: impl Fn(&mut Archive)) -> Vec<u8> {
    changed(bytes, |archive| {
        change(archive);
        archive.members.remove("statement");
        let mut statement = "precast export 2\n".to_owned();
        for (name, content) in archive.members.iter().filter(|(name, _)| !name.starts_with("signatures/")) {
            statement += &format!("{} {name}\n", precast_store::key::ContentId::of(content));
        }
        archive.members.insert("statement".to_owned(), statement.into_bytes());
    })
}

#[test]
fn inconsistent_export_writes_nothing() {
    let (_directory, _, bytes) = exported();
    let (_other, store) = target();
    let swap = |archive: &mut Archive, directory: &str| {
        let names: Vec<String> =
            archive.members.keys().filter(|name| name.starts_with(directory)).cloned().collect();
        let [one, two] = [0, 1].map(|at: usize| archive.members[&names[at]].clone());
        archive.members.insert(names[0].clone(), two);
        archive.members.insert(names[1].clone(), one);
    };
    let changes: [&dyn Fn(&mut Archive); 6] = [
        &|archive| swap(archive, "objects/"),
        &|archive| swap(archive, "records/"),
        &|archive| swap(archive, "documents/"),
        &|archive| drop(archive.members.remove(&member(archive, "objects/"))),
        &|archive| drop(archive.members.remove(&member(archive, "documents/"))),
        &|archive| drop(archive.members.insert("entries/../../x".replace("../", "_"), b"pcE".to_vec())),
    ];
    for change in changes {
        let export = Export::open(&restated(&bytes, change)).unwrap();
        let error = export.import(&store).unwrap_err();
        assert!(!matches!(error, ImportError::Publish(_)), "{error}");
        assert!(export.verify().is_err() && is_empty(&store), "{error}");
    }
}

#[test]
fn a_release_is_stated_and_remembered() {
    let (_directory, source, bytes) = exported();
    let (_other, store) = target();
    let with = |release: &str| Export::open(&released(&source, release).pack().unwrap()).unwrap();
    let plain = Export::open(&bytes).unwrap();
    plain.check_release(&store).unwrap();
    let two = with("model=2");
    assert!(std::str::from_utf8(two.statement()).unwrap().contains(" release\n"));
    assert_eq!(two.release().unwrap().unwrap().to_string(), "model=2");
    two.import(&store).unwrap();
    with("model=3").import(&store).unwrap();
    assert_eq!(store.releases().unwrap(), ["model=3".parse().unwrap()]);
    for earlier in [&two, &plain] {
        assert!(matches!(
            earlier.check_release(&store).unwrap_err(),
            ImportError::Rollback { current: 3, .. }
        ));
    }
    for fine in ["model=3", "model=4", "other=1"] {
        with(fine).check_release(&store).unwrap();
    }
    // A damaged, cut or replaced release file does not count as missing, and stays in place until repaired.
    let remembered = store.path().join("roots/release/model");
    for wrong in [&b"model=3"[..], b"", b"other=3\n", b"model=03\n", b"\xff"] {
        fs_err::remove_file(&remembered).unwrap();
        fs_err::write(&remembered, wrong).unwrap();
        let refused = |told: String| {
            assert!(
                told.contains("cannot read the last imported release of `model`") && told.contains("hint: "),
                "{told}"
            );
        };
        refused(precast_store::event::chain(&store.releases().unwrap_err()));
        refused(precast_store::event::chain(&two.check_release(&store).unwrap_err()));
        refused(precast_store::event::chain(&two.import(&store).unwrap_err()));
        let found = store.verify().unwrap().events;
        assert!(found.iter().any(|event| event.to_string().contains("roots/release/model")), "{found:?}");
        assert_eq!(fs_err::read(&remembered).unwrap(), wrong);
    }
    fs_err::remove_file(&remembered).unwrap();
    fs_err::create_dir(&remembered).unwrap();
    assert!(matches!(store.releases().unwrap_err(), precast_store::ReleaseError::Damaged { .. }));
    fs_err::remove_dir(&remembered).unwrap();
    fs_err::write(&remembered, "model=3\n").unwrap();
    assert!(matches!(two.check_release(&store).unwrap_err(), ImportError::Rollback { current: 3, .. }));
    // The release member has one canonical form, even with a valid statement.
    for wrong in ["model=2", "model=+2\n", "model\n", "../x=2\n"] {
        let bytes = restated(&bytes, |archive| drop(archive.members.insert("release".into(), wrong.into())));
        assert!(matches!(Export::open(&bytes).unwrap_err(), OpenExportError::Release(_)), "{wrong}");
    }
}

#[test]
fn later_release_wins_concurrent_imports() {
    let (_directory, source, bytes) = exported();
    let (_other, store) = target();
    let with = |release: &str| released(&source, release);
    let none = Export::open(&bytes).unwrap();
    for earlier in [with("model=1"), none] {
        let _ = fs_err::remove_dir_all(store.path().join("roots/release"));
        earlier.check_release(&store).unwrap();
        // The import waits for an earlier one, checks the release again, and fails.
        let roots = fs_err::File::open(store.path().join("roots")).unwrap();
        roots.file().lock().unwrap();
        let refused = std::thread::scope(|scope| {
            let import = scope.spawn(|| earlier.import(&store).unwrap_err());
            std::thread::sleep(std::time::Duration::from_millis(100));
            assert!(!import.is_finished());
            fs_err::create_dir(store.path().join("roots/release")).unwrap();
            fs_err::write(store.path().join("roots/release/model"), "model=2\n").unwrap();
            roots.file().unlock().unwrap();
            import.join().unwrap()
        });
        assert!(matches!(refused, ImportError::Rollback { current: 2, .. }), "{refused}");
        assert!(is_empty(&store));
    }
    // If an earlier release is imported on request, the later one is still remembered.
    with("model=1").import_older(&store).unwrap();
    assert_eq!(store.releases().unwrap(), ["model=2".parse().unwrap()]);
    assert!(!is_empty(&store));
}

#[test]
fn stray_files_do_not_hide_releases() {
    let (_directory, source, bytes) = exported();
    let (_other, store) = target();
    let with = |release: &str| released(&source, release);
    with("model=2").import(&store).unwrap();
    let place = store.path().join("roots/release");
    for name in ["model~", ".model.swp", "#model#", "4913 x"] {
        fs_err::write(place.join(name), "model=9\n").unwrap();
    }
    assert_eq!(store.releases().unwrap(), ["model=2".parse().unwrap()]);
    assert!(store.verify().unwrap().is_intact());
    // A release file with invalid content blocks releases of its name and exports without a release, but no other
    // release.
    fs_err::write(place.join("model.orig"), "model=9\n").unwrap();
    with("model=3").import(&store).unwrap();
    with("other=1").import(&store).unwrap();
    for refused in [Export::open(&bytes).unwrap(), with("model.orig=1")] {
        assert!(matches!(refused.import(&store).unwrap_err(), ImportError::Release(_)));
    }
    // Releases do not count as missing either if a file replaces their directory, although the directory existed
    // before.
    for gone in ["roots/release", "roots"] {
        let place = store.path().join(gone);
        fs_err::remove_dir_all(&place).unwrap();
        fs_err::write(&place, "").unwrap();
        for refused in [with("model=1"), with("new=1"), Export::open(&bytes).unwrap()] {
            let told = precast_store::event::chain(&refused.check_release(&store).unwrap_err());
            assert!(told.contains("is not a directory") && told.contains("hint: "), "{told}");
            assert!(matches!(refused.import(&store).unwrap_err(), ImportError::Release(_)));
        }
        let found = store.verify().unwrap().events;
        assert!(found.iter().any(|event| event.to_string().contains(gone)), "{found:?}");
        fs_err::remove_file(&place).unwrap();
        fs_err::create_dir_all(store.path().join("roots/release")).unwrap();
    }
}

/// An export of one unit.
static ONE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (archive, record) = unit("one", "v3");
    let (_directory, source, _) = store();
    source.publish(&archive, &record).unwrap();
    source.export(None).unwrap().pack().unwrap()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn altered_export_is_never_another_export(at in any::<prop::sample::Index>(), other in any::<prop::sample::Index>(), bit in 0..8_u8, kind in 0..3) {
        let (at, other) = (at.index(ONE.len()), other.index(ONE.len()));
        let mut wrong = ONE.clone();
        match kind {
            0 => wrong[at] ^= 1 << bit,
            1 => wrong.truncate(at),
            _ => drop(wrong.splice(at.min(other)..at.max(other), ONE[other..].iter().copied())),
        }
        prop_assert_eq!(Export::check(&wrong).is_ok(), Export::open(&wrong).is_ok());
        // Some bits of a frame have no meaning; the opened export is then the same.
        prop_assert!(Export::open(&wrong).map_or(true, |found| found == Export::open(&ONE).unwrap()));
    }
}

#[test]
fn record_with_wrong_size_is_rejected_early() {
    let (_directory, source, _) = store();
    let (archive, record) = unit("one", "v3");
    source.publish(&archive, &record).unwrap();
    let whole = source.export(None).unwrap().pack().unwrap();
    let id = std::cell::RefCell::new(String::new());
    let bytes = restated(&whole, |archive| {
        let name = archive.members.keys().find(|name| name.starts_with("records/")).unwrap().clone();
        let old = name.strip_prefix("records/").unwrap();
        let mut lying = Record::parse(&archive.members.remove(&name).unwrap()).unwrap();
        lying.size += 512;
        id.replace(Record::id_of(&lying.to_bytes()).to_string());
        let id = id.borrow();
        let documents = archive.members.remove(&format!("documents/{old}")).unwrap();
        archive.members.insert(format!("records/{id}"), lying.to_bytes());
        archive.members.insert(format!("documents/{id}"), documents);
    });
    let export = Export::open(&bytes).unwrap();
    let (_other, into) = target();
    for refused in [export.verify().map(drop), export.import(&into).map(drop)] {
        let Err(ImportError::Member { member, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(member, format!("records/{}", id.borrow()));
    }
    assert!(is_empty(&into));
}
