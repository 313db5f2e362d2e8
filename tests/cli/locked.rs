//! Lock files: forbidden changes, and damage that a locked build reports.

use crate::release::{DOUBLE, SUM, built, files};
use crate::sandbox::ISA;

/// Returns the changes that `precast update --json` lists.
fn changes(updated: &serde_json::Value) -> Vec<&str> {
    updated["changes"].as_array().unwrap().iter().map(|change| change.as_str().unwrap()).collect()
}

#[test]
fn locked_build_lists_pending_changes() {
    let place = built(&[SUM]);
    place.run(&["build", "--locked"]).fails(1, &["`precast.lock` not found", "hint: run `precast update`"]);
    // Locking needs no compiler, and locking again changes nothing.
    let first = place.run_bare(&["update", "--json"]).ok().json();
    assert_eq!(
        (&first["entries"], &first["modules"], &first["lock"]),
        (&1.into(), &1.into(), &"precast.lock".into())
    );
    assert!(changes(&first).contains(&"graph `sum` is new"), "{first:#}");
    let text = fs_err::read(place.path("precast.lock")).unwrap();
    assert!(changes(&place.run_bare(&["update", "--json"]).ok().json()).is_empty());
    assert_eq!(fs_err::read(place.path("precast.lock")).unwrap(), text);
    place.run(&["build", "--locked"]).ok();
    place.run(&["build", "--frozen"]).ok();
    // A changed graph under the same name, and a new one.
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{}{DOUBLE}", SUM.replace("x + y", "x - y")));
    let before = files(&place, "artifacts");
    let told = place.run(&["build", "--locked"]).fails(
        1,
        &[
            "`precast.lock` is out of date",
            "graph `double` is new",
            "graph `sum` changed",
            "module `add(",
            "was removed",
            "module `sub(",
        ],
    );
    assert_eq!(told.hints(), 1, "{}", told.err);
    assert_eq!(files(&place, "artifacts"), before, "nothing was compiled");
    let warned = place.run(&["build"]).ok();
    assert_eq!(warned.warnings(), 1, "{}", warned.err);
    let plan = place.run_bare(&["update", "--dry-run", "--json"]).ok().json();
    assert!(changes(&plan).contains(&"graph `double` is new"), "{plan:#}");
    assert_eq!(fs_err::read(place.path("precast.lock")).unwrap(), text);
    place.run_bare(&["update"]).ok();
    place.run(&["build", "--locked"]).ok();
    // A module missing from the store is not compiled.
    let lacking =
        place.run(&["build", "--frozen", "--store", "empty"]).fails(1, &["compiling is not allowed", "mul("]);
    assert!(lacking.hints() > 0, "{}", lacking.err);
    assert!(!place.path("empty").exists(), "a build that compiles nothing makes no store");
}

#[test]
fn hint_repairs_a_broken_lock_file() {
    let place = built(&[SUM]);
    place.run_bare(&["update"]).ok();
    let text = fs_err::read(place.path("precast.lock")).unwrap();
    for broken in [&b"version = 1\nentry = ["[..], b"\xff\xfe", b"<<<<<<< ours", b"", b"version = 0\n"] {
        place.write("precast.lock", broken);
        for how in [&["build"][..], &["build", "--locked"], &["build", "--frozen"]] {
            place.run(how).fails(1, &["cannot read `precast.lock`", "hint: run `precast update`"]);
        }
        let told = place.run_bare(&["update"]).ok();
        assert_eq!(told.warnings(), 1, "{}", told.err);
        assert_eq!(fs_err::read(place.path("precast.lock")).unwrap(), text);
        place.write("precast.lock", broken);
        place.run(&["build", "--pin"]).ok();
        place.run(&["build", "--locked"]).ok();
    }
    // A lock file of a newer version does not count as corrupt.
    place.write("precast.lock", "version = 2\n");
    for how in [&["build"][..], &["build", "--locked"], &["build", "--pin"], &["update"]] {
        place.run(how).fails(1, &["found version 2, expected 1", "update precast"]);
    }
    assert_eq!(fs_err::read(place.path("precast.lock")).unwrap(), b"version = 2\n");
}

#[test]
fn store_without_head_is_reported() {
    let place = built(&[SUM]);
    place.run(&["build", "--pin"]).ok();
    fs_err::remove_file(place.path("artifacts/STORE")).unwrap();
    let lost = ["has lost its file `STORE`", "hint: run `precast build --store 'artifacts'`"];
    place.run(&["build", "--frozen"]).fails(1, &lost);
    place.run_bare(&["build", "--frozen"]).fails(1, &lost);
    place.run_bare(&["verify", "--store", "artifacts"]).fails(1, &[]);
    place.run(&["build"]).ok();
    place.run(&["build", "--frozen"]).ok();
}

#[test]
fn lasting_damage_is_reported_once() {
    let place = built(&[SUM]);
    place.run(&["build", "--pin"]).ok();
    for object in files(&place, "artifacts/objects") {
        let mut bytes = fs_err::read(&object).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs_err::remove_file(&object).unwrap();
        fs_err::write(&object, bytes).unwrap();
    }
    // Not even root can write to this store.
    for name in ["tmp", "quarantine"] {
        fs_err::remove_dir_all(place.path("artifacts").join(name)).unwrap();
        place.write(&format!("artifacts/{name}"), "");
    }
    for _ in 0..2 {
        let told =
            place.run(&["build", "--frozen"]).fails(4, &["as the owner of the store", "`precast build`"]);
        assert_eq!(told.err.matches("is damaged").count(), 2, "{}", told.err);
        assert_eq!(told.warnings(), 0, "{}", told.err);
    }
}

/// Without `--locked`, damage is a miss with a warning.
#[test]
fn damage_fails_a_locked_build() {
    let place = built(&[SUM]);
    place.run_bare(&["update"]).ok();
    for kind in ["objects", "records"] {
        let damage = || {
            let path = files(&place, &format!("artifacts/{kind}")).swap_remove(0);
            let mut bytes = fs_err::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs_err::remove_file(&path).unwrap();
            fs_err::write(&path, bytes).unwrap();
        };
        damage();
        let before = files(&place, "artifacts").len();
        place
            .run(&["build", "--locked"])
            .fails(4, &["the store is damaged, and changes are not allowed", "hint: "]);
        assert_eq!(
            files(&place, "artifacts").len(),
            before,
            "what was damaged is in quarantine, and nothing else was made"
        );
        place.run(&["build", "--locked"]).ok();
        damage();
        let told = place.run(&["build"]).ok();
        assert!(told.warnings() > 0, "{}", told.err);
    }
}

#[test]
fn read_only_store_names_must_match_the_plan() {
    let place = built(&[SUM]);
    place.run(&["update"]).ok();
    place.run(&["build", "--frozen"]).ok();
    let other = SUM.replace("x + y", "x - y");
    place.write("other.toml", format!("isa = [\"{ISA}\"]\n{other}"));
    place.run(&["build", "other.toml", "--store", "artifacts"]).ok();
    // Not even root can write to this store.
    fs_err::remove_dir_all(place.path("artifacts/tmp")).unwrap();
    place.write("artifacts/tmp", "");
    place.run(&["build", "--frozen"]).fails(1, &["has another graph for `sum`"]);
    place.run(&["build", "--frozen", "--bundle", "frozen.precast"]).ok();
}
