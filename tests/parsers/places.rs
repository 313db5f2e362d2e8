//! Stores in which one file was edited: only published content is served, and damage is a cache miss.

use std::path::{Path, PathBuf};

use precast_store::Store;

use crate::edit::Case;
use crate::seeds::BUILT;

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(directory).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Copies a store. All files but the edited one are links to files of the real store, which no test writes to.
fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().map(Result::unwrap) {
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs_err::create_dir_all(target).unwrap();
        } else {
            fs_err::hard_link(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn stores() {
    let real = BUILT.store();
    let names: Vec<PathBuf> =
        files(&real).iter().map(|path| path.strip_prefix(&real).unwrap().to_owned()).collect();
    let contents: Vec<Vec<u8>> = names.iter().map(|name| fs_err::read(real.join(name)).unwrap()).collect();
    let place = tempfile::tempdir_in(real.parent().unwrap()).unwrap();
    bolero::check!().with_iterations(60).with_type::<(Case, bool)>().for_each(|(case, is_name)| {
        // Each case has its own directory, so that leftovers of a failure do not affect the
        // smaller cases tried while shrinking.
        let place = tempfile::tempdir_in(place.path()).unwrap();
        let work = place.path().join("work");
        copy(&real, &work);
        let file = &names[case.choose(names.len())];
        fs_err::remove_file(work.join(file)).unwrap();
        if *is_name {
            // The content stays whole; the file is renamed.
            let name = file.file_name().unwrap().as_encoded_bytes().to_vec();
            let other =
                String::from_utf8_lossy(&case.edit(&vec![name; names.len()])).replace(['/', '\0'], "_");
            // A file name may have 255 bytes, and a character up to four.
            let other: String = other.chars().take(60).collect();
            let other = work.join(file).with_file_name(if other.is_empty() || other.starts_with('.') {
                "x".to_owned()
            } else {
                other
            });
            if !other.exists() {
                fs_err::hard_link(real.join(file), other).unwrap();
            }
        } else {
            fs_err::write(work.join(file), case.edit(&contents)).unwrap();
        }
        crate::bounded(1 << 20, 64, || look(&work));
    });
}

/// Looks up and loads everything that exists, in every way.
fn look(work: &Path) {
    let Ok(store) = Store::open(work) else { return };
    for (record, archive) in &BUILT.records {
        for member in &record.members {
            for found in store.find(&member.key).unwrap() {
                assert_eq!(found.digest, record.digest);
                assert!(store.load(&found).map_or(true, |loaded| loaded == *archive));
            }
            for fingerprint in &member.fingerprints {
                for (found, key) in store.find_fingerprint(fingerprint).unwrap() {
                    assert_eq!((found.digest, key), (record.digest, member.key));
                }
            }
        }
        assert!(store.find_action(&record.action).unwrap().iter().all(|found| found.id() == record.id()));
    }
    let entries = store.entries().unwrap();
    assert!(entries.iter().all(|entry| BUILT.entries.contains(&entry.to_bytes())));
    for record in store.records() {
        let id = record.unwrap().id();
        assert!(BUILT.records.iter().any(|(real, _)| real.id() == id));
    }
    store.verify().unwrap();
    // Corrupt files were removed by now; the rest is intact.
    for (record, archive) in &BUILT.records {
        assert!(store.load(record).map_or(true, |loaded| loaded == *archive));
    }
}
