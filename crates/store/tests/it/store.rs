//! The store on disk: published artifacts are found, damaged files are not served and are repaired, and failures have
//! typed errors.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use precast_store::{Entry, Event, LoadError, OpenError, PublishError, PutEntryError, Record, Store};

use crate::sample::{bare, entry, file, listening, overwrite, store, unit};

#[test]
fn published_module_is_found_by_every_key() {
    let (_directory, store, events) = store();
    let (archive, record) = unit("a", "v3");
    let published = store.publish(&archive, &record).unwrap();
    assert_eq!((published.digest, published.record, published.fresh), (record.digest, record.id(), true));
    for member in &record.members {
        assert_eq!(store.find(&member.key).unwrap(), [bare(&record)]);
        assert_eq!(store.find_fingerprint(&member.fingerprints[0]).unwrap(), [(bare(&record), member.key)]);
    }
    assert_eq!(store.find_action(&record.action).unwrap(), std::slice::from_ref(&record));
    assert_eq!(store.load(&record).unwrap(), archive);
    assert_eq!(store.records().collect::<Result<Vec<_>, _>>().unwrap(), std::slice::from_ref(&record));
    assert!(!store.publish(&archive, &record).unwrap().fresh);
    let verified = store.verify().unwrap();
    assert!(verified.is_intact() && verified.unreferenced.is_empty());
    assert_eq!((verified.objects, verified.records, verified.entries), (1, 1, 0));
    assert_eq!(*events.lock().unwrap(), []);
}

#[test]
fn missing_module_is_a_miss() {
    let (_directory, store, _) = store();
    let (_, record) = unit("a", "v3");
    assert_eq!(store.find(&record.members[0].key).unwrap(), []);
    assert_eq!(store.find_fingerprint(&record.members[0].fingerprints[0]).unwrap(), []);
    assert_eq!(store.find_action(&record.action).unwrap(), []);
    assert!(matches!(store.load(&record).unwrap_err(), LoadError::Missing { .. }));
    assert_eq!(store.find_entry("score").unwrap(), None);
    assert_eq!(store.find_entry("../STORE").unwrap(), None);
    assert_eq!(store.records().count(), 0);
}

#[test]
fn variants_of_a_key_coexist() {
    let (_directory, store, _) = store();
    for isa in ["v2", "v3", "v4"] {
        let (archive, record) = unit("a", isa);
        store.publish(&archive, &record).unwrap();
    }
    let found = store.find(&unit("a", "v2").1.members[0].key).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(found.iter().map(|record| &record.isa).collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn published_files_are_read_only() {
    let (_directory, store, _) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    store.put_entry(&entry("score")).unwrap();
    let mode = |path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    for (directory, suffix) in
        [("objects", ".tar.zst"), ("records", ".documents"), ("entries", ""), ("roots", "score")]
    {
        assert_eq!(mode(file(&store, directory, suffix)), 0o444);
    }
    assert_eq!(walkdir::WalkDir::new(store.path().join("tmp")).min_depth(1).into_iter().count(), 0);
}

#[test]
fn a_damaged_object_is_quarantined_and_heals() {
    let (archive, record) = unit("a", "v3");
    let good = archive.pack().unwrap().1;
    let other = unit("b", "v3").0.pack().unwrap().1;
    for damage in [b"".to_vec(), good[..good.len() - 1].to_vec(), other, [&good[..], b"x"].concat()] {
        let (_directory, store, events) = store();
        store.publish(&archive, &record).unwrap();
        let path = file(&store, "objects", ".tar.zst");
        overwrite(&path, &damage);
        assert!(matches!(store.load(&record).unwrap_err(), LoadError::Damaged { .. }));
        let told = events.lock().unwrap().clone();
        let [Event::Damaged { quarantined: Some(moved), .. }] = &told[..] else { panic!("{told:?}") };
        assert_eq!(fs_err::read(moved).unwrap(), damage);
        assert!(matches!(store.load(&record).unwrap_err(), LoadError::Missing { .. }));
        assert!(store.publish(&archive, &record).unwrap().fresh);
        assert_eq!(store.load(&record).unwrap(), archive);
    }
}

#[test]
fn publish_verifies_existing_objects() {
    let (_directory, store, events) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    overwrite(&file(&store, "objects", ".tar.zst"), b"damage");
    assert!(store.publish(&archive, &record).unwrap().fresh);
    assert_eq!(events.lock().unwrap().len(), 1);
    assert_eq!(store.load(&record).unwrap(), archive);
}

#[test]
fn a_damaged_record_is_a_miss_and_heals() {
    let (_directory, store, events) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    let path = file(&store, "records", &record.id().to_string());
    let mut bytes = record.to_bytes();
    let at = bytes.windows(4).position(|window| window == b"avx2").unwrap();
    bytes[at + 3] = b'1';
    overwrite(&path, &bytes);
    assert_eq!(store.find(&record.members[0].key).unwrap(), []);
    assert_eq!(store.find_action(&record.action).unwrap(), []);
    assert!(events.lock().unwrap()[0].to_string().contains("hash mismatch"));
    assert!(store.publish(&archive, &record).unwrap().fresh);
    assert_eq!(store.find(&record.members[0].key).unwrap(), [bare(&record)]);
}

#[test]
fn lost_documents_cost_only_the_explanation() {
    let (_directory, store, events) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    let path = file(&store, "records", ".documents");
    let mut bytes = fs_err::read(&path).unwrap();
    let at = bytes.windows(4).position(|window| window == b"=off").unwrap();
    bytes[at + 2] = b'm';
    overwrite(&path, &bytes);
    assert_eq!(store.find_action(&record.action).unwrap(), [bare(&record)]);
    assert!(matches!(&events.lock().unwrap()[0], Event::Damaged { quarantined: Some(_), .. }));
    assert_eq!(store.find(&record.members[0].key).unwrap(), [bare(&record)]);
    assert_eq!(store.verify().unwrap().undocumented, 1);
    // A record without documents cannot restore them; a record with documents can, without the archive.
    assert!(!store.reuse(&bare(&record)).unwrap().unwrap().healed);
    assert!(store.reuse(&record).unwrap().unwrap().healed);
    assert_eq!(store.find_action(&record.action).unwrap(), [record]);
}

#[test]
fn intact_documents_are_not_reported_as_damaged() {
    let (_directory, store, events) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    let mut other = record;
    other.members[0].document.as_mut().unwrap().ops = vec!["add: printed by another version".into()];
    assert!(!store.publish(&archive, &other).unwrap().fresh);
    assert_eq!(*events.lock().unwrap(), []);
}

#[test]
fn pointers_are_not_trusted() {
    let (_directory, store, events) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    let wanted = unit("other", "v3").1.members[0].key.to_string();
    let directory = store.path().join("keys").join(&wanted[..2]).join(&wanted);
    fs_err::create_dir_all(&directory).unwrap();
    let absent = unit("absent", "v3").1;
    fs_err::write(directory.join(format!("{}-{}", record.action, record.id())), b"").unwrap();
    fs_err::write(directory.join(format!("{}-{}", absent.action, absent.id())), b"").unwrap();
    fs_err::write(directory.join("junk"), b"").unwrap();
    assert_eq!(store.find(&wanted.parse().unwrap()).unwrap(), []);
    let told: Vec<String> = events.lock().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    for reason in ["does not list the key", "points to a missing record", "not a record name"] {
        assert!(told.iter().any(|event| event.contains(reason)), "{reason}: {told:?}");
    }
    assert_eq!(walkdir::WalkDir::new(directory).min_depth(1).into_iter().count(), 0);
}

#[test]
fn lost_pointers_are_restored() {
    let (_directory, store, _) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    fs_err::remove_dir_all(store.path().join("keys")).unwrap();
    assert_eq!(store.find(&record.members[0].key).unwrap(), []);
    let verified = store.verify().unwrap();
    assert_eq!(verified.events.len(), 6, "three keys and three fingerprints");
    assert_eq!(store.find(&record.members[0].key).unwrap(), [bare(&record)]);
    assert!(store.verify().unwrap().is_intact());
}

#[test]
fn interrupted_publish_is_harmless() {
    let (archive, record) = unit("a", "v3");
    // Removes the files of a publish one after the other, from last to first, with a leftover in `tmp`.
    let (_directory, store, _) = store();
    store.publish(&archive, &record).unwrap();
    fs_err::write(store.path().join("tmp/put-XYZ"), b"half").unwrap();
    let object = file(&store, "objects", ".tar.zst");
    let (path, documents) =
        (file(&store, "records", &record.id().to_string()), file(&store, "records", ".documents"));
    fs_err::remove_dir_all(store.path().join("keys")).unwrap();
    for gone in [None, Some(path), Some(documents), Some(object)] {
        gone.map(fs_err::remove_file).transpose().unwrap();
        assert_eq!(store.find(&record.members[0].key).unwrap(), []);
        let again = Store::open(store.path()).unwrap();
        assert!(again.records().all(|found| found.unwrap() == record));
    }
    assert!(store.publish(&archive, &record).unwrap().fresh);
    assert!(store.verify().unwrap().is_intact());
}

#[test]
fn verify_lists_missing_and_stray_files() {
    let (_directory, store, _) = store();
    let [(archive, record), (other, unnamed)] = [unit("a", "v3"), unit("b", "v3")];
    store.publish(&archive, &record).unwrap();
    fs_err::remove_file(file(&store, "objects", ".tar.zst")).unwrap();
    let text = unnamed.digest.to_string();
    let shard = store.path().join("objects").join(&text[..2]);
    fs_err::create_dir_all(&shard).unwrap();
    fs_err::write(shard.join(format!("{text}.tar.zst")), other.pack().unwrap().1).unwrap();
    fs_err::write(shard.join("junk"), b"").unwrap();
    let verified = store.verify().unwrap();
    assert_eq!((verified.missing, verified.unreferenced), (vec![record.digest], vec![unnamed.digest]));
    assert_eq!(verified.events.len(), 1, "{:?}", verified.events);
}

#[test]
fn differing_results_of_an_action_are_kept() {
    let (_directory, store, events) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    let mut other = archive;
    other.members.insert("unit.so".into(), b"other".to_vec());
    let second = Record { digest: other.digest().unwrap(), size: other.size(), ..record.clone() };
    store.publish(&other, &second).unwrap();
    let expected =
        Event::NotReproducible { action: record.action, digests: vec![record.digest, second.digest] };
    assert_eq!(*events.lock().unwrap(), [expected]);
    assert_eq!(store.find(&record.members[0].key).unwrap().len(), 2);
    assert_eq!(store.load(&second).unwrap(), other);
}

#[test]
fn member_is_returned_after_verifying_its_archive() {
    let (_directory, store, _) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    for (name, content) in &archive.members {
        assert_eq!(store.load_member(&record, name).unwrap().as_ref(), Some(content));
    }
    assert_eq!(store.load_member(&record, "unit").unwrap(), None);
    let short = Record { size: record.size - 512, ..record.clone() };
    assert!(matches!(store.load_member(&short, "unit.so").unwrap_err(), LoadError::Damaged { .. }));
    // The archive is intact, but a member differs from the digest.
    let mut other = archive.clone();
    other.members.values_mut().next().unwrap()[0] ^= 1;
    overwrite(&file(&store, "objects", ".tar.zst"), &other.pack().unwrap().1);
    assert!(matches!(store.load_member(&record, "unit.so").unwrap_err(), LoadError::Damaged { .. }));
    assert!(matches!(store.load_member(&record, "unit.so").unwrap_err(), LoadError::Missing { .. }));
}

#[test]
fn publish_rejects_mismatched_records() {
    let (_directory, store, _) = store();
    let (archive, record) = unit("a", "v3");
    let (_, foreign) = unit("b", "v3");
    assert!(matches!(store.publish(&archive, &foreign).unwrap_err(), PublishError::Mismatch { .. }));
    assert!(matches!(store.publish(&archive, &bare(&record)).unwrap_err(), PublishError::NoDocument { .. }));
    let mut slots = record;
    slots.members[1].slot = 0;
    assert!(matches!(store.publish(&archive, &slots).unwrap_err(), PublishError::Record(_)));
    assert_eq!(walkdir::WalkDir::new(store.path().join("objects")).min_depth(1).into_iter().count(), 0);
}

#[test]
fn entries_are_replaced_whole() {
    let (_directory, store, events) = store();
    let first = entry("score");
    let second = Entry { program: precast_core::Program::default(), ..first.clone() };
    store.put_entry(&first).unwrap();
    store.put_entry(&entry("loss")).unwrap();
    assert_eq!(store.find_entry("score").unwrap(), Some(first));
    assert_eq!(store.put_entry(&second).unwrap(), second.id());
    assert_eq!(store.find_entry("score").unwrap(), Some(second.clone()));
    let names: Vec<String> = store.entries().unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["loss", "score"]);
    assert_eq!(*events.lock().unwrap(), []);
    for name in ["", ".", "..", ".hidden", "a/b", "ä", &"x".repeat(129)] {
        assert!(matches!(store.put_entry(&entry(name)).unwrap_err(), PutEntryError::Name(_)), "{name}");
    }
}

#[test]
fn damaged_entries_are_a_miss_and_heal() {
    let (_directory, store, events) = store();
    store.put_entry(&entry("score")).unwrap();
    let root = store.path().join("roots/entry/score");
    for damage in [b"junk\n".to_vec(), format!("{}\n", unit("a", "v3").1.id()).into_bytes()] {
        overwrite(&root, &damage);
        assert_eq!(store.find_entry("score").unwrap(), None);
        store.put_entry(&entry("score")).unwrap();
        assert_eq!(store.find_entry("score").unwrap(), Some(entry("score")));
    }
    overwrite(&file(&store, "entries", ""), b"{}");
    assert_eq!(store.find_entry("score").unwrap(), None);
    store.put_entry(&entry("score")).unwrap();
    assert_eq!(store.find_entry("score").unwrap(), Some(entry("score")));
    fs_err::copy(&root, store.path().join("roots/entry/alias")).unwrap();
    assert_eq!(store.find_entry("alias").unwrap(), None, "an entry answers to its own name only");
    assert_eq!(events.lock().unwrap().len(), 4);
}

#[test]
fn open_rejects_foreign_directories() {
    let (directory, store, _) = store();
    let open = || Store::open(store.path()).unwrap_err();
    assert!(matches!(Store::open(directory.path()).unwrap_err(), OpenError::Missing { .. }));
    assert!(matches!(Store::open(store.path().join("STORE")).unwrap_err(), OpenError::File { .. }));
    let write = |text: &str| fs_err::write(store.path().join("STORE"), text).unwrap();
    write("format=9\nhash=blake3\nmin_reader=1\n");
    assert!(Store::open(store.path()).is_ok(), "newer, but says that we can read it");
    write("format=9\nhash=blake3\nmin_reader=9\n");
    let newer = open().to_string();
    assert!(newer.contains("requires a reader of format 9, expected at most 2\nhint: "), "{newer}");
    for (text, found) in [
        ("", "found no `min_reader`"),
        ("min_reader=x", "`min_reader=x`"),
        ("min_reader=1", "no `format`"),
        ("min_reader=1\nformat=1\nhash=md5", "`hash=md5`"),
    ] {
        write(text);
        assert!(open().to_string().contains(found), "{}", open());
    }
    fs_err::write(store.path().join("STORE"), b"\xff").unwrap();
    assert!(open().to_string().contains("bytes that are not UTF-8"));
}

#[test]
fn store_without_empty_directories_is_completed() {
    let (_directory, store, _) = store();
    for name in ["tmp", "quarantine", "roots", "entries", "keys", "objects", "records"] {
        fs_err::remove_dir(store.path().join(name)).unwrap();
    }
    let (archive, record) = unit("a", "v3");
    let (read, _) = listening(Store::open(store.path()).unwrap());
    assert_eq!(read.find(&record.members[0].key).unwrap(), []);
    assert!(read.verify().unwrap().is_intact());
    Store::create(store.path()).unwrap().publish(&archive, &record).unwrap();
    assert_eq!(read.find(&record.members[0].key).unwrap(), [bare(&record)]);
}

#[test]
fn a_store_cannot_be_created_below_a_file() {
    let (_directory, store, _) = store();
    let error = Store::create(store.path().join("STORE/below")).unwrap_err();
    assert!(error.to_string().contains("STORE/below"), "{error}");
}

#[test]
fn irregular_file_is_damage_without_waiting() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path().join("store")).unwrap();
    drop(store);
    let path = directory.path().join("store/STORE");
    fs_err::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mkfifo here");
        return;
    }
    let error = Store::open(directory.path().join("store")).unwrap_err();
    assert!(error.to_string().contains("STORE"), "{error}");
}
