//! Batches: the result equals that of single publishes, and an error names the right item.

use precast_store::{Event, PublishError, Record, Store};

use crate::sample::{bare, store, unit};

#[test]
fn batch_equals_single_publishes() {
    let (_directory, alone, _) = store();
    let (_other, together, events) = store();
    let units: Vec<_> = (0..6).map(|n| unit(&format!("batch {n}"), "v3")).collect();
    // One unit twice, one with the archive of another, one that already exists.
    let twin = Record { action: precast_store::ActionKey::from_bytes([3; 32]), ..units[0].1.clone() };
    let mut items: Vec<_> = units.iter().map(|(archive, record)| (archive, record)).collect();
    items.extend([(&units[0].0, &units[0].1), (&units[0].0, &twin)]);
    together.publish(items[5].0, items[5].1).unwrap();
    for (archive, record) in &items {
        alone.publish(archive, record).unwrap();
    }
    let published = together.publish_all(&items).unwrap();
    let fresh: Vec<bool> = published.iter().map(|published| published.fresh).collect();
    assert_eq!(fresh[..6], [true, true, true, true, true, false]);
    let names = |store: &Store| -> Vec<_> {
        let files = walkdir::WalkDir::new(store.path()).sort_by_file_name().into_iter().map(Result::unwrap);
        files.map(|found| found.path().strip_prefix(store.path()).unwrap().to_owned()).collect()
    };
    assert_eq!(names(&alone), names(&together));
    for (archive, record) in &items {
        assert!(together.find(&record.members[0].key).unwrap().contains(&bare(record)));
        assert_eq!(together.load(record).unwrap(), **archive);
    }
    assert!(together.verify().unwrap().is_intact());
    assert_eq!(*events.lock().unwrap(), []);
    // An error names the failed item, and nothing of the batch is written.
    let (archive, _) = unit("another", "v3");
    let (whole, record) = unit("new", "v3");
    let (at, error) =
        together.publish_all(&[(&whole, &record), items[1], items[2], (&archive, &record)]).unwrap_err();
    assert!(at == Some(3) && matches!(error, PublishError::Mismatch { .. }), "{error}");
    assert!(
        together.find(&record.members[0].key).unwrap().is_empty() && together.verify().unwrap().is_intact()
    );
    assert_eq!(together.publish_all(&[]).unwrap(), []);
}

#[test]
fn differing_results_are_reported_within_a_batch() {
    let (_directory, store, events) = store();
    let (archive, record) = unit("a", "v3");
    let mut other = archive.clone();
    other.members.insert("unit.so".into(), b"other".to_vec());
    let second = Record { digest: other.digest().unwrap(), size: other.size(), ..record.clone() };
    store.publish_all(&[(&archive, &record), (&other, &second), (&archive, &record)]).unwrap();
    let told = |digests| Event::NotReproducible { action: record.action, digests };
    let [one, two] = [record.digest, second.digest];
    assert_eq!(events.lock().unwrap()[0], told(vec![one, two]));
    assert!(store.verify().unwrap().is_intact());
}

#[test]
fn verify_restores_pointers_after_the_collector_unlocks() {
    let (_directory, store, _) = store();
    let (archive, record) = unit("a", "v3");
    store.publish(&archive, &record).unwrap();
    fs_err::remove_dir_all(store.path().join("keys")).unwrap();
    // Locks the store like a collector.
    let root = fs_err::File::open(store.path()).unwrap();
    root.file().lock().unwrap();
    std::thread::scope(|scope| {
        let verify = scope.spawn(|| store.verify().unwrap());
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(!store.path().join("keys").exists() && !verify.is_finished());
        root.file().unlock().unwrap();
        assert_eq!(verify.join().unwrap().events.len(), 6);
    });
    assert_eq!(store.find(&record.members[0].key).unwrap(), [bare(&record)]);
}

#[cfg(target_os = "linux")]
#[test]
fn unit_without_file_name_is_reported() {
    let (_directory, store, _) = store();
    let units = ["a", "b", "c"].map(|seed| unit(seed, "v3"));
    // A shard on another file system, so that renames into it fail.
    let shard =
        |(_, record): &(_, Record)| store.path().join("records").join(&record.action.to_string()[..2]);
    let other = shard(&units[1]);
    assert!(units.iter().filter(|unit| shard(unit) == other).count() == 1);
    fs_err::create_dir(&other).unwrap();
    let run =
        |command: &mut std::process::Command| command.output().is_ok_and(|output| output.status.success());
    if !run(std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "mode=755", "none"]).arg(&other)) {
        eprintln!("skipped: no tmpfs can be mounted here");
        return;
    }
    let items: Vec<_> = units.iter().map(|(archive, record)| (archive, record)).collect();
    let refused = store.publish_all(&items).unwrap_err();
    assert!(run(std::process::Command::new("umount").arg(&other)));
    assert_eq!(refused.0, Some(1), "{:?}", refused.1);
    assert!(matches!(refused.1, PublishError::Write { digest, .. } if digest == units[1].1.digest));
}
