//! Damaged, foreign and read-only layers: a miss or a clear error, never a wrong value, never a crash.

use std::path::{Path, PathBuf};

use precast_store::{Bundle, Record, Store, write_bundle};

use crate::sandbox::{Ended, INPUTS, Sandbox, args, assert_close};

const STRICT: &[&str] = &["run", "--entry", "score", "--policy", "strict", "-o", "out=out.npy"];

fn built() -> (Sandbox, f64) {
    let (place, expected) = Sandbox::scored();
    place.run(&["build", "--bundle", "score.precast"]).ok();
    (place, expected)
}

/// Lists the files below a directory of the store.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Replaces a file that is read-only.
fn replace(path: &Path, bytes: &[u8]) {
    fs_err::remove_file(path).unwrap();
    fs_err::write(path, bytes).unwrap();
}

/// Checks that a run either gave the right value, or reported an error and wrote nothing.
#[track_caller]
fn right_or_refused(place: &Sandbox, ended: &Ended, expected: f64) {
    assert!(matches!(ended.code, 0 | 1 | 3), "{ended:?}");
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    let out = place.path("out.npy");
    assert_eq!(out.exists(), ended.code == 0);
    if ended.code == 0 {
        assert_close(place.read_npy::<f64>("out.npy").sum(), expected);
        fs_err::remove_file(out).unwrap();
    } else {
        assert!(ended.err.lines().any(|line| line.starts_with("error: ")), "{}", ended.err);
    }
}

#[test]
fn truncated_bundle_is_rejected() {
    let (place, _) = built();
    let whole = fs_err::read(place.path("score.precast")).unwrap();
    for len in [0, 7, 40, 200, whole.len() / 2, whole.len() - 1] {
        place.write("cut.precast", &whole[..len]);
        place.run_bare(&args(&[STRICT, INPUTS, &["--bundle", "cut.precast"]])).fails(1, &["`cut.precast`"]);
        assert!(!place.path("out.npy").exists());
    }
    place.run_bare(&["doctor", "--verify", "--bundle", "cut.precast"]).fails(4, &[]);
}

#[test]
fn a_flipped_bundle_never_gives_a_wrong_value() {
    let (place, expected) = built();
    let whole = fs_err::read(place.path("score.precast")).unwrap();
    let step = whole.len() / 60;
    for at in (0..whole.len()).step_by(step.max(1)) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        place.write("flipped.precast", &flipped);
        let ended = place.run_bare(&args(&[STRICT, INPUTS, &["--bundle", "flipped.precast"]]));
        right_or_refused(&place, &ended, expected);
    }
    place.run_bare(&["doctor", "--verify", "--bundle", "flipped.precast"]).fails(4, &[]);
}

#[test]
fn flipped_object_is_a_miss_that_heals() {
    let (place, expected) = built();
    for path in files(&place.path("artifacts/objects")) {
        let mut bytes = fs_err::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        replace(&path, &bytes);
    }
    let run = args(&[STRICT, INPUTS, &["--store", "artifacts"]]);
    place.run_bare(&run).fails(3, &["warning: ", "damaged", "error: "]);
    assert!(!place.path("out.npy").exists());
    place.run(&["build"]).ok();
    place.run_bare(&run).ok();
    assert_close(place.read_npy::<f64>("out.npy").sum(), expected);
}

#[test]
fn a_truncated_object_is_found_by_doctor() {
    let (place, _) = built();
    let objects = files(&place.path("artifacts/objects"));
    let bytes = fs_err::read(&objects[0]).unwrap();
    replace(&objects[0], &bytes[..bytes.len() - 20]);
    let found = place.run_bare(&["doctor", "--verify", "--json"]).fails(4, &[]).json();
    assert!(!found["layers"][0]["problems"].as_array().unwrap().is_empty(), "{found:#}");
    assert!(!objects[0].exists() && place.path("artifacts/quarantine").read_dir().unwrap().count() == 1);
}

/// Copies every record of the store into another store with a change; the archives stay unchanged.
fn foreign(place: &Sandbox, change: impl Fn(&mut precast_store::Requires)) {
    let (from, to) =
        (Store::open(place.path("artifacts")).unwrap(), Store::create(place.path("foreign")).unwrap());
    for record in from.records() {
        let mut record = record.unwrap();
        let archive = from.load(&record).unwrap();
        change(&mut record.requires);
        to.publish(&archive, &record).unwrap();
    }
    for entry in from.entries().unwrap() {
        to.put_entry(&entry).unwrap();
    }
}

#[test]
fn code_for_other_hosts_never_runs() {
    let (place, _) = built();
    let run = args(&[STRICT, INPUTS, &["--store", "foreign"]]);
    foreign(&place, |requires| requires.cpu.push("time-travel".into()));
    place.run_bare(&run).fails(3, &["time-travel", "not supported"]);
    fs_err::remove_dir_all(place.path("foreign")).unwrap();
    foreign(&place, |requires| requires.abi = (77, 78));
    place.run_bare(&run).fails(3, &["needs C ABI 77 to 78"]);
    fs_err::remove_dir_all(place.path("foreign")).unwrap();
    foreign(&place, |requires| requires.arch = "pdp11".into());
    place.run_bare(&run).fails(3, &["pdp11"]);
    assert!(!place.path("out.npy").exists());
}

#[test]
fn store_with_newer_format_is_rejected() {
    let (place, _) = built();
    place.write("artifacts/STORE", "format=9\nhash=blake3\nmin_reader=9\n");
    place
        .run_bare(&args(&[STRICT, INPUTS, &["--store", "artifacts"]]))
        .fails(1, &["`artifacts`", "format 9", "hint: "]);
    place.run(&["build"]).fails(1, &["`artifacts`", "format 9"]);
}

#[test]
fn a_missing_layer_is_named() {
    let (place, _) = Sandbox::scored();
    place.run_bare(&args(&[STRICT, INPUTS, &["--store", "nowhere"]])).fails(1, &["`nowhere`", "hint: "]);
    place.run_bare(&args(&[STRICT, INPUTS, &["--bundle", "none.precast"]])).fails(1, &["`none.precast`"]);
    place.run_bare(&args(&[STRICT, INPUTS])).fails(3, &["`score`"]);
    place.run_bare(&["ls", "--store", "nowhere"]).fails(1, &["`nowhere`"]);
    assert!(!place.path("nowhere").exists());
}

#[test]
fn file_instead_of_store_is_an_error() {
    let (place, _) = Sandbox::scored();
    place.write("taken", "not a directory");
    place.run(&["build", "--store", "taken"]).fails(1, &["`taken"]);
    place.run(&["build", "--store", "taken/below"]).fails(1, &["`taken/below"]);
    place.npy("v.npy", &[1], vec![1.0]);
    let run = ["run", "--expr", "v+v", "-i", "v=v.npy", "--policy", "jit", "--writable", "taken"];
    place.run(&run).fails(1, &["`taken"]);
    assert_eq!(fs_err::read(place.path("taken")).unwrap(), b"not a directory");
}

#[cfg(unix)]
#[test]
fn an_unwritable_store_still_serves() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    let (place, expected) = built();
    place.npy("v.npy", &[1], vec![1.0]);
    let set = |name: &str, mode: u32| {
        fs_err::set_permissions(place.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // Root may write everywhere, so the command runs as another user with a writable directory for results.
    let is_root = fs_err::metadata(place.path("")).unwrap().uid() == 0;
    let directories =
        ["artifacts", "artifacts/tmp", "artifacts/objects", "artifacts/records", "artifacts/keys"];
    directories.iter().for_each(|name| set(name, 0o555));
    set("", if is_root { 0o1777 } else { 0o755 });
    let run = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        if is_root {
            command.uid(65534).gid(65534);
        }
        command.output().map(Ended::of)
    };
    if let Err(error) = run(&["--version"]) {
        eprintln!("skipped: root cannot run the command as somebody else here: {error}");
        return;
    }
    run(&["build"]).unwrap().fails(1, &["`artifacts", "no permission", "hint: "]);
    run(&args(&[STRICT, INPUTS, &["--store", "artifacts"]])).unwrap().ok();
    assert_close(place.read_npy::<f64>("out.npy").sum(), expected);
    let miss = ["run", "--expr", "v*v", "-i", "v=v.npy", "--policy", "jit", "--store", "artifacts"];
    let ended = run(&miss).unwrap().ok();
    assert_eq!(ended.warnings(), 1, "{}", ended.err);
    // The default policy behaves the same. A hit compiles nothing, so it prints no warning.
    let without = run(&args(&[&miss[..5], &miss[7..]])).unwrap().ok();
    assert_eq!(without.warnings(), 1, "{}", without.err);
    let hit =
        run(&args(&[&STRICT[..1], &["--entry", "score", "--store", "artifacts", "--policy", "jit"], INPUTS]))
            .unwrap()
            .ok();
    assert_eq!(hit.err, "");
    assert_eq!(ended.out, "out: f64[1]\n[1.0]\n");
    run(&args(&[&miss, &["--writable", "artifacts"]])).unwrap().fails(1, &["`artifacts", "no permission"]);
    directories.iter().for_each(|name| set(name, 0o755));
}

/// Builds two graphs and returns their entries with the programs exchanged.
fn exchanged(place: &Sandbox) -> Vec<precast_store::Entry> {
    let graph = |name: &str, text: &str| {
        format!("[[graph]]\nname = \"{name}\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = {text}\"]\n")
    };
    place.write("precast.toml", graph("sum", "x + 1.0") + &graph("difference", "x - 1.0"));
    place.run(&["build", "--bundle", "whole.bundle"]).ok();
    let mut entries = Bundle::open(place.path("whole.bundle")).unwrap().entries();
    let [one, other] = &mut entries[..] else { panic!("two entries are expected") };
    std::mem::swap(&mut one.program, &mut other.program);
    entries
}

#[test]
fn doctor_finds_entries_with_foreign_modules() {
    let place = Sandbox::new();
    let entries = exchanged(&place);
    let whole = Bundle::open(place.path("whole.bundle")).unwrap();
    let packed = |record: Record| {
        let object = whole.load(&record).unwrap().to_vec();
        (record, object)
    };
    let records: Vec<_> = whole.records().into_iter().map(packed).collect();
    place.write("forged.bundle", write_bundle(&records, &entries, whole.generator()).unwrap());
    let verify = |layer: &[&str]| place.run_bare(&args(&[&["doctor", "--verify"], layer]));
    verify(&["--bundle", "whole.bundle"]).ok();
    let found = verify(&["--bundle", "forged.bundle"]).fails(4, &[]);
    for name in ["sum", "difference"] {
        let told = format!("entry `{name}`: its calls differ from those of the declared graph");
        assert!(found.out.contains(&told), "{}", found.out);
    }
    // The same holds for a store. A store built with other passes, or for a debugger, is not reported.
    for options in [&["--passes", "all,-fuse"][..], &["--debug-info"], &[]] {
        place.run(&args(&[&["build"], options])).ok();
        verify(&["--store", "artifacts"]).ok();
    }
    entries.iter().for_each(|entry| drop(Store::open(place.path("artifacts")).unwrap().put_entry(entry)));
    verify(&["--store", "artifacts"]).fails(4, &[]);
}

#[test]
fn equal_faults_of_many_records_are_one_warning() {
    let (place, _) = built();
    for number in 0..5_u8 {
        // A record of a future format: its bytes match its name.
        let bytes = [b"pcR".as_slice(), &[99, 0, 0, 0, number]].concat();
        let shard = place.path("artifacts/records/ab");
        fs_err::create_dir_all(&shard).unwrap();
        fs_err::write(shard.join(format!("ab{}-{}", "0".repeat(62), Record::id_of(&bytes))), bytes).unwrap();
    }
    for command in [&["ls"][..], &["gc", "--dry-run"]] {
        let told = place.run_bare(command).ok();
        assert_eq!(told.err.matches("warning: ").count(), 1, "{}", told.err);
    }
    for command in [&["verify"][..], &["challenge", "artifacts"]] {
        let told = place.run_bare(command).fails(4, &[]);
        assert_eq!(told.out.matches("was skipped").count(), 1, "{}", told.out);
    }
}

/// A killed collection has already removed some pointers of a record.
#[test]
fn verify_restores_pointers_and_reports_no_damage() {
    let (place, _) = built();
    let pointer = files(&place.path("artifacts/keys")).remove(0);
    fs_err::remove_file(&pointer).unwrap();
    assert_eq!(place.run(&["verify", "--json"]).ok().json()["whole"], true);
    assert!(pointer.exists());
}
