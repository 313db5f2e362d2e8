//! Entries of releases in a collection: the served release, the one that a rollback would serve, and kept ones.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::releases::{added, declare, recorded};
use crate::sandbox::{ISA, Sandbox};

/// Gives all files of a store an old modification time.
fn age(place: &Sandbox, store: &str) {
    for found in walkdir::WalkDir::new(place.path(store)).contents_first(true) {
        let file = fs_err::File::open(found.unwrap().path()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(100 * 24 * 3600)).unwrap();
    }
}

/// Sets the manifest to one of the two graphs.
fn declare_one(place: &Sandbox, number: u32) {
    let graph = format!(
        "isa = [\"{ISA}\"]\n[[graph]]\nname = \"one\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = x + {number}.5\"]\n"
    );
    place.write("one.toml", graph);
}

/// Returns the numbers of a collection: kept entries, and the bytes that it would free or has freed.
fn gc(place: &Sandbox, store: &str, rest: &[&str]) -> (u64, u64) {
    let gc = ["gc", "--store", store, "--json"];
    let found = place.run_bare(&[&gc, rest].concat()).ok().json();
    (found["stays"]["entries"].as_u64().unwrap(), found["freed"].as_u64().unwrap())
}

#[test]
fn age_does_not_delete_entries_of_kept_releases() {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    for number in 1..=2 {
        declare(&place, number);
        place.run(&["build"]).ok();
        place.run_bare(&["export", "--out", "a.export", "--release", &format!("model={number}")]).ok();
        place.run_bare(&["import", "a.export", "--store", "prod", "--unsigned", "--switch"]).ok();
    }
    age(&place, "prod");
    let planned = gc(&place, "prod", &["--max-age", "90d", "--dry-run"]);
    assert_eq!(planned, (4, 0), "two entries of each release");
    assert_eq!(gc(&place, "prod", &["--max-age", "90d"]), planned);
    assert_eq!(["one", "two"].map(|entry| added(&place, entry, "prod")), [2, 2]);
    place.run_bare(&["verify", "--store", "prod"]).ok();
    place.run_bare(&["release", "rollback", "model", "--store", "prod"]).ok();
    assert_eq!(["one", "two"].map(|entry| added(&place, entry, "prod")), [1, 1]);
}

#[test]
fn declarations_do_not_delete_entries_of_kept_releases() {
    let place = recorded(3);
    place.run_bare(&["release", "switch", "model=3"]).ok();
    declare_one(&place, 3);
    gc(&place, "artifacts", &["--grace", "0", "one.toml"]);
    assert_eq!(["one", "two"].map(|entry| added(&place, entry, "artifacts")), [3, 3]);
    for number in [2, 1] {
        place.run_bare(&["release", "rollback", "model"]).ok();
        assert_eq!(["one", "two"].map(|entry| added(&place, entry, "artifacts")), [number, number]);
    }
    // A later entry that no release has is deleted.
    declare(&place, 4);
    place.run(&["build"]).ok();
    let (kept, _) = gc(&place, "artifacts", &["--grace", "0", "one.toml"]);
    assert_eq!(kept, 7, "two entries of three releases, and the declared one");
    place.run_bare(&["verify"]).ok();
}

#[test]
fn dry_run_states_what_is_freed() {
    let place = recorded(3);
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    place.run_bare(&["sign", "--store", "artifacts", "--key", "k.key"]).ok();
    let rest = ["--grace", "0", "--keep-releases", "1", "one.toml"];
    declare_one(&place, 9);
    for _ in 0..3 {
        let planned = gc(&place, "artifacts", &[&rest[..], &["--dry-run"]].concat());
        assert_eq!(gc(&place, "artifacts", &rest), planned);
    }
}

#[test]
fn lost_entry_of_a_served_release_is_damage() {
    let place = recorded(2);
    let entry_of = |number: u32| {
        let list =
            fs_err::read_to_string(place.path(format!("artifacts/roots/deployed/model/{number}"))).unwrap();
        let id = list.split(' ').next().unwrap().to_owned();
        let mut found = walkdir::WalkDir::new(place.path("artifacts/entries")).into_iter().flatten();
        found.find(|file| file.file_name().to_str() == Some(&id)).unwrap().into_path()
    };
    let verify = |code: i32, named: &[&str]| {
        let found = place.run_bare(&["verify"]);
        assert_eq!(found.code, code, "{found:?}");
        named
            .iter()
            .for_each(|name| assert!(found.out.contains(name) || found.err.contains(name), "{found:?}"));
    };
    let moved = |path: &Path| fs_err::rename(path, place.path("lost")).unwrap();
    let (first, second) = (entry_of(1), entry_of(2));
    moved(&first);
    verify(0, &[]);
    place.run_bare(&["release", "switch", "model=2"]).ok();
    verify(4, &["model=1"]);
    fs_err::rename(place.path("lost"), &first).unwrap();
    place.run_bare(&["release", "switch", "model=1"]).ok();
    verify(0, &[]);
    moved(&first);
    verify(4, &["model=1", "one"]);
    assert!(second.exists());
    // An export or a signed store would lack the entry, and a collector warns that its modules are unknown.
    for rest in [&[][..], &["--release", "model=3"]] {
        let export = [&["export", "--out", "a.export"], rest].concat();
        place.run_bare(&export).fails(4, &["entry `one` of release `model=1` is missing", "hint: "]);
    }
    place.run_bare(&["export", "--out", "a.export", "--entry", "two"]).ok();
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    let signed = place.run_bare(&["sign", "--store", "artifacts", "--key", "k.key"]);
    assert!(signed.fails(4, &["not everything is signed", "hint: "]).out.contains("signed  "));
    let kept = place.run_bare(&["gc", "--dry-run"]).ok();
    assert!(kept.err.contains("entry `one` of release `model=1` is missing"), "{}", kept.err);
}

#[test]
fn release_after_the_largest_number_is_rejected() {
    let place = recorded(1);
    let largest = format!("model={}", u64::MAX);
    place.run_bare(&["release", "create", &largest]).ok();
    for rest in [&[][..], &["--switch"]] {
        place.run_bare(&[&["release", "create", "model"], rest].concat()).fails(1, &[&largest, "hint: "]);
    }
    place.run_bare(&["release", "create", "model=18446744073709551616"]).fails(2, &["invalid release"]);
    place.run_bare(&["release", "switch", &largest]).ok();
    place.run_bare(&["release", "rollback", "model"]).ok();
}

#[test]
fn unsigned_entry_is_not_recorded_under_a_keyring() {
    let place = recorded(1);
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    place.run_bare(&["trust", "new", "--expires", "2999-01-01", "k.pub"]).ok();
    let create = ["release", "create", "signed", "--keyring", "precast.keyring"];
    for rest in [&[][..], &["--switch"], &["--entry", "two"]] {
        let ended = place.run_bare(&[&create, rest].concat());
        ended.fails(7, &["is not signed", "hint: ", "precast sign"]);
    }
    place.run_bare(&[&create[..], &["--entry", "three"]].concat()).fails(1, &["no entry `three`"]);
    place.run_bare(&["sign", "--store", "artifacts", "--key", "k.key"]).ok();
    place.run_bare(&create).ok();
}
