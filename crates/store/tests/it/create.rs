//! Creates stores, and checks the content of `STORE`.

use precast_store::{CreateError, OpenError, Store};

#[test]
fn used_directory_does_not_become_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("place");
    for foreign in ["letter", "src", ".git", "lost+found"] {
        fs_err::create_dir_all(path.join(foreign)).unwrap();
        let error = Store::create(&path).unwrap_err();
        assert!(matches!(&error, CreateError::Foreign { found, .. } if found == foreign), "{error}");
        assert!(error.to_string().contains("\nhint: "), "{error}");
        assert_eq!(path.read_dir().unwrap().count(), 1, "nothing was made");
        fs_err::remove_dir_all(&path).unwrap();
    }
    // An unfinished store, or one that lost its `STORE` file, is still a store.
    for own in ["objects", "tmp", "builds"] {
        fs_err::create_dir_all(path.join(own)).unwrap();
    }
    fs_err::write(path.join(".gitignore"), "*\n").unwrap();
    Store::create(&path).unwrap();
    // Other files may be added after the store was created.
    fs_err::write(path.join("README.md"), "of people").unwrap();
    Store::create(&path).unwrap();
}

#[test]
fn concurrent_creation_makes_one_store() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..100 {
        let path = directory.path().join(round.to_string());
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for wait in 0..4 {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    start.wait();
                    (0..wait * 100).for_each(|_| std::thread::yield_now());
                    Store::create(path).unwrap();
                });
            }
        });
    }
}

#[test]
fn head_has_each_field_once() {
    let directory = tempfile::tempdir().unwrap();
    let head = Store::create(directory.path()).unwrap().path().join("STORE");
    let good = fs_err::read_to_string(&head).unwrap();
    for (fine, added) in
        [(true, "# a comment\n"), (true, ""), (false, "junk\n"), (false, "\n"), (false, "min_reader=2\n")]
    {
        fs_err::write(&head, format!("{good}{added}")).unwrap();
        let opened = Store::open(directory.path());
        assert_eq!(opened.is_ok(), fine, "`{added}`");
        assert!(fine || matches!(opened.unwrap_err(), OpenError::Malformed { .. }));
    }
    for (from, to) in [
        ("format=2", "format = 2"),
        ("format=2", "format=+2"),
        ("hash=blake3", "hash=md5"),
        ("format=2\n", "format=2\nowner=me\n"),
    ] {
        fs_err::write(&head, good.replace(from, to)).unwrap();
        let error = Store::open(directory.path()).unwrap_err();
        assert!(matches!(error, OpenError::Malformed { .. }), "{to}: {error}");
    }
    // A later format that this version may read can have additional lines.
    fs_err::write(&head, good.replace("format=2\n", "format=3\nowner=me\n")).unwrap();
    Store::open(directory.path()).unwrap();
}
