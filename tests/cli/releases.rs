//! Releases of a store: switched and rolled back while programs read, killed at any moment, and collected.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use precast_store::{RecordId, Store};

use crate::sandbox::{Ended, ISA, Sandbox};

/// Declares two graphs that add a number: entries of one release have the same number.
pub(crate) fn declare(place: &Sandbox, number: u32) {
    let graph = |name: &str| {
        format!(
            "[[graph]]\nname = \"{name}\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = x + {number}.5\"]\n"
        )
    };
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{}{}", graph("one"), graph("two")));
}

/// Builds and records the releases 1 to `count`.
pub(crate) fn recorded(count: u32) -> Sandbox {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    for number in 1..=count {
        declare(&place, number);
        place.run(&["build"]).ok();
        place.run_bare(&["release", "create", "model"]).ok();
    }
    place
}

/// Runs an entry; returns the number that it adds.
#[track_caller]
pub(crate) fn added(place: &Sandbox, entry: &str, store: &str) -> u32 {
    let run = [
        "run",
        "--entry",
        entry,
        "--policy",
        "strict",
        "-i",
        "x=x.npy",
        "-o",
        "out=out.npy",
        "--store",
        store,
    ];
    place.run_bare(&run).ok();
    (place.read_npy::<f64>("out.npy")[0] - 1.5) as u32
}

fn current(place: &Sandbox) -> serde_json::Value {
    place.run_bare(&["release", "list", "--json"]).ok().json()["releases"][0]["current"].clone()
}

#[test]
fn release_is_served_until_the_next_switch() {
    let place = recorded(3);
    let both = || ["one", "two"].map(|entry| added(&place, entry, "artifacts"));
    assert_eq!(both(), [3, 3], "without a switch, the last build is served");
    place.run_bare(&["release", "switch", "model=2"]).ok();
    assert_eq!(both(), [2, 2]);
    declare(&place, 4);
    place.run(&["build"]).ok();
    assert_eq!(both(), [2, 2], "a build does not change what is served");
    place.run_bare(&["release", "rollback", "model"]).ok();
    assert_eq!((both(), current(&place)), ([1, 1], 1.into()));
    let none = ["the store has no release of `model` before the served one; available: 1, 2, 3"];
    place.run_bare(&["release", "rollback", "model"]).fails(1, &none);
    place.run_bare(&["release", "rollback", "model"]).fails(1, &["`precast release switch model=3`"]);
    place.run_bare(&["release", "rollback", "other"]).fails(1, &["available: none"]);
    place.run_bare(&["release", "switch", "model=9"]).fails(1, &["no release `model=9`; available: 1, 2, 3"]);
    place.run_bare(&["release", "switch", "other=1"]).fails(1, &["available: none"]);
    place.run_bare(&["release", "create", "model=2"]).fails(1, &["`model=2` already has other entries"]);
    place.run_bare(&["release", "create", "model", "--entry", "lost"]).fails(1, &["no entry `lost`"]);
    place.run_bare(&["release", "create", "other", "--switch"]).fails(1, &["is served by release `model=1`"]);
    place.run_bare(&["release", "create", "model", "--switch"]).ok();
    assert_eq!(both(), [4, 4]);
    assert_eq!(place.run_bare(&["verify"]).ok().code, 0);
}

#[test]
fn rollback_skips_releases_that_were_rolled_back_from() {
    let place = recorded(4);
    let switch = |number: u32| place.run_bare(&["release", "switch", &format!("model={number}")]).ok();
    let rollback = || place.run_bare(&["release", "rollback", "model"]);
    let list = || place.run_bare(&["release", "list", "--json"]).ok().json()["releases"][0].clone();
    for (from, expected) in [(2, 1), (3, 1), (4, 1)] {
        switch(from);
        rollback().ok();
        assert_eq!((added(&place, "one", "artifacts"), current(&place)), (expected, expected.into()));
    }
    rollback().fails(1, &["no release of `model` before the served one"]);
    // A switch by name serves it again.
    for number in [2, 3, 4] {
        switch(number);
    }
    assert_eq!(list()["before"], serde_json::json!([3, 2, 1]));
    // A switch to an earlier release is a rollback too.
    switch(2);
    assert_eq!((&list()["before"], &list()["rollback"]), (&serde_json::json!([1]), &1.into()));
    switch(4);
    rollback().ok();
    assert_eq!(current(&place), 2);
    // A collection keeps the release to go back to.
    switch(4);
    place.run_bare(&["gc", "--grace", "0", "--keep-releases", "1", "precast.toml"]).ok();
    assert_eq!(list()["numbers"], serde_json::json!([2, 4]));
    rollback().ok();
    assert_eq!(added(&place, "two", "artifacts"), 2);
}

#[test]
fn imported_release_is_rolled_back_with_one_command() {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    place.run_bare(&["trust", "new", "--expires", "2999-01-01", "k.pub"]).ok();
    let import = |file: &str, rest: &[&str]| {
        let import = ["import", file, "--keyring", "precast.keyring", "--store", "prod"];
        place.run_bare(&[&import, rest].concat())
    };
    for number in 1..=2 {
        declare(&place, number);
        place.run(&["build"]).ok();
        let (file, release) = (format!("{number}.export"), format!("model={number}"));
        place.run_bare(&["export", "--out", &file, "--release", &release, "--key", "k.key"]).ok();
        let said = import(&file, &["--switch"]).ok().out;
        assert!(said.contains(&format!("release `{release}`, ")), "{said}");
        assert!(said.ends_with(&format!("\nserving `{release}`\n")), "{said}");
        assert_eq!(added(&place, "one", "prod"), number);
    }
    place.run_bare(&["export", "--out", "none.export", "--key", "k.key"]).ok();
    import("none.export", &["--switch", "--older"]).fails(2, &["states no release to switch to"]);
    let rollback = ["release", "rollback", "model", "--store", "prod", "--keyring", "precast.keyring"];
    place.run_bare(&rollback).ok();
    assert_eq!(["one", "two"].map(|entry| added(&place, entry, "prod")), [1, 1]);
    // The store still rejects an older export.
    import("1.export", &[]).fails(7, &["the store has release 2 of `model`"]);
    // Under a keyring that does not trust the signer, nothing is switched.
    place.run_bare(&["keygen", "m.key", "--no-password"]).ok();
    place.run_bare(&["trust", "new", "--keyring", "m.keyring", "--expires", "2999-01-01", "m.pub"]).ok();
    let switch = ["release", "switch", "model=2", "--store", "prod", "--keyring", "m.keyring"];
    place.run_bare(&switch).fails(7, &["cannot serve release `model=2`"]);
    assert_eq!(added(&place, "one", "prod"), 1);
}

#[test]
fn collector_keeps_last_and_served_releases() {
    let place = recorded(6);
    place.run_bare(&["release", "switch", "model=2"]).ok();
    let gc = ["gc", "--grace", "0", "precast.toml", "--json"];
    let plan = place.run_bare(&gc).ok().json();
    let past: Vec<&str> = plan["goes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["kind"] == "release")
        .map(|item| item["name"].as_str().unwrap())
        .collect();
    assert_eq!(past, ["model=3"], "a rollback would serve release 1");
    assert_eq!(["one", "two"].map(|entry| added(&place, entry, "artifacts")), [2, 2]);
    for number in [2, 4, 5, 6] {
        place.run_bare(&["release", "switch", &format!("model={number}")]).ok();
        assert_eq!(added(&place, "two", "artifacts"), number);
    }
    place
        .run_bare(&["release", "switch", "model=3"])
        .fails(1, &["no release `model=3`; available: 1, 2, 4, 5, 6"]);
    // Graphs of deleted releases are deleted by the next collection, and nothing else.
    let plan = place.run_bare(&gc).ok().json();
    let kinds: Vec<&str> =
        plan["goes"].as_array().unwrap().iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert!(kinds.iter().filter(|kind| **kind == "leftover").count() == 2, "{plan:#}");
    place.run_bare(&["gc", "--grace", "0", "--keep-releases", "1", "precast.toml"]).ok();
    // The release that was served before is kept, whatever the number.
    place.run_bare(&["release", "rollback", "model"]).ok();
    assert_eq!(added(&place, "one", "artifacts"), 5);
    place.run_bare(&["release", "rollback", "model"]).fails(1, &["available: 5, 6"]);
}

#[test]
fn damaged_release_is_an_error() {
    let place = recorded(2);
    place.run_bare(&["release", "switch", "model=1"]).ok();
    let run = ["run", "--entry", "one", "--policy", "strict", "-i", "x=x.npy", "--store", "artifacts"];
    for (name, text) in [
        ("current", "01\n"),
        ("current", "7\n"),
        ("current", "1\n2\n"),
        ("current", "2\n\n"),
        ("1", "no list\n"),
        ("1", ""),
    ] {
        let path = place.path("artifacts/roots/deployed/model").join(name);
        let before = fs_err::read(&path).unwrap();
        fs_err::remove_file(&path).unwrap();
        fs_err::write(&path, text).unwrap();
        // Another release is never served in its place.
        place.run_bare(&run).fails(4, &["roots/deployed/model/", "hint: ", "precast release switch"]);
        let verified = place.run_bare(&["verify"]).fails(4, &[]).out;
        assert!(verified.contains("roots/deployed/model/") && verified.contains("hint: "), "{verified}");
        fs_err::write(&path, before).unwrap();
    }
    assert_eq!(added(&place, "one", "artifacts"), 1);
}

#[test]
fn damaged_release_is_repaired_by_its_hint() {
    let place = recorded(2);
    let serve = |number: u32| place.run_bare(&["release", "switch", &format!("model={number}")]);
    let path = |name: &str| place.path("artifacts/roots/deployed/model").join(name);
    for damage in [&b"01\n"[..], b"", b"\xff"] {
        serve(1).ok();
        fs_err::write(path("current"), damage).unwrap();
        place.run_bare(&["release", "rollback", "model"]).fails(4, &["available: 1, 2"]);
        place.run_bare(&["release", "list"]).fails(4, &["precast release switch model=2"]);
        serve(2).ok();
        assert_eq!(added(&place, "one", "artifacts"), 2);
        // The releases that were served before are unknown, so the next lower one follows.
        place.run_bare(&["release", "rollback", "model"]).ok();
        assert_eq!(added(&place, "one", "artifacts"), 1);
    }
    // The list of a release is written again by an import or a new record of the same entries.
    serve(2).ok();
    for damage in [Some("no list\n"), None] {
        fs_err::remove_file(path("2")).unwrap();
        damage.iter().for_each(|text| fs_err::write(path("2"), text).unwrap());
        let listed = place.run_bare(&["release", "list"]).ok().out;
        assert_eq!(listed.contains("model=2  served, missing"), damage.is_none(), "{listed}");
        for command in [&["gc", "--grace", "0"][..], &["export", "--out", "a.export"]] {
            place.run_bare(command).fails(4, &["the entries of release `model=2`", "hint: "]);
        }
        place.run_bare(&["release", "create", "model=2"]).ok();
        place.run_bare(&["verify"]).ok();
        assert_eq!(added(&place, "two", "artifacts"), 2);
    }
}

#[test]
fn readers_see_one_release_during_killed_switches() {
    let place = recorded(4);
    let id_of = |entry: &str| -> RecordId {
        Store::open(place.path("artifacts")).unwrap().find_entry(entry).unwrap().unwrap().id()
    };
    let mut releases = BTreeMap::new();
    for number in 1..=4 {
        place.run_bare(&["release", "switch", &format!("model={number}")]).ok();
        releases.extend(["one", "two"].map(|entry| (id_of(entry), number)));
    }
    assert_eq!(releases.len(), 8);
    let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let store = Store::open(place.path("artifacts")).unwrap();
                    let seen: Vec<i32> =
                        store.entries().unwrap().iter().map(|entry| releases[&entry.id()]).collect();
                    assert!(seen.len() == 2 && seen[0] == seen[1], "{seen:?}");
                    // The open store serves one release, also after a switch.
                    assert_eq!(releases[&store.find_entry("two").unwrap().unwrap().id()], seen[0]);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                Ended::of(
                    place
                        .command(["gc", "--grace", "0", "--keep-releases", "4", "precast.toml"])
                        .output()
                        .unwrap(),
                )
                .ok();
            }
        });
        for at in 0..100_u64 {
            let release = format!("model={}", at % 4 + 1);
            let mut command = place.command(["release", "switch", &release]);
            let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
            if at % 3 != 0 {
                std::thread::sleep(Duration::from_millis(at * 7 % 40));
                child.kill().unwrap();
            }
            let ended = child.wait().unwrap();
            assert!(at % 3 != 0 || ended.success());
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.load(Ordering::Relaxed) > 100);
    place.run_bare(&["release", "switch", "model=3"]).ok();
    assert_eq!((added(&place, "one", "artifacts"), current(&place)), (3, 3.into()));
}

#[test]
fn nothing_is_recorded_if_a_switch_would_fail() {
    let place = recorded(2);
    place.run_bare(&["release", "switch", "model=2"]).ok();
    let list = |store: &str| place.run_bare(&["release", "list", "--store", store]).ok().out;
    let before = list("artifacts");
    for _ in 0..2 {
        place
            .run_bare(&["release", "create", "dev", "--switch"])
            .fails(1, &["is served by release `model=2`"]);
    }
    assert_eq!(list("artifacts"), before);
    for name in ["model", "dev"] {
        let release = format!("{name}=3");
        place.run_bare(&["export", "--out", &format!("{name}.export"), "--release", &release]).ok();
    }
    let import = |file| place.run_bare(&["import", file, "--store", "prod", "--unsigned", "--switch"]);
    import("model.export").ok();
    let before = (list("prod"), crate::release::files(&place, "prod"));
    import("dev.export").fails(1, &["is served by release `model=3`"]);
    assert_eq!((list("prod"), crate::release::files(&place, "prod")), before);
}

#[test]
fn release_has_the_modules_of_its_entries() {
    let place = recorded(1);
    let graph = |sign: char| {
        format!("[[graph]]\nname = \"two\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = x {sign} 3.5\"]\n")
    };
    for sign in ['*', '+', '/', '+'] {
        place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{}", graph(sign)));
        place.run(&["build"]).ok();
    }
    let export = |rest: &[&str]| {
        let export = ["export", "--out", "a.export", "--json"];
        place.run_bare(&[&export, rest].concat()).ok().json()["records"].clone()
    };
    let (all, few) = (export(&[]), export(&["--release", "model=3"]));
    assert_eq!((&all, &few), (&3.into(), &1.into()), "both entries call the same module");
    assert_eq!(export(&["--release", "model=3", "--all"]), all);
    assert_eq!(export(&["--release", "model=3", "--entry", "one"]), few);
    export(&["--release", "model=3"]);
    place.run_bare(&["import", "a.export", "--store", "prod", "--unsigned", "--switch"]).ok();
    assert_eq!(["one", "two"].map(|entry| added(&place, entry, "prod")), [1, 3]);
    place.run_bare(&["export", "--out", "b.export", "--all"]).fails(2, &["--release"]);
    // A store without entries has only modules to release.
    let op = "[[op]]\nname = \"add\"\ndtypes = [\"f64\"]\nndim = [1]\n";
    place.write("ops.toml", format!("isa = [\"{ISA}\"]\n{op}"));
    place.run(&["build", "ops.toml", "--store", "ops"]).ok();
    assert_eq!(export(&["--store", "ops", "--release", "ops=1"]), 1);
}
