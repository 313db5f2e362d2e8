//! Tests of lock files and read-only stores.

use super::{Package, SCORE, names};
use std::path::Path;
use std::process::Command;

#[test]
fn build_script_uses_the_lock_file() {
    let mut package = Package::new(SCORE);
    package.environment.is_locked = true;
    assert!(
        package.refusal().contains("not found, and changes are not allowed"),
        "nothing may change, and nobody said from what"
    );
    (package.environment.is_locked, package.environment.updates_lock) = (false, true);
    package.build().unwrap();
    let locked = fs_err::read_to_string(package.path("precast.lock")).unwrap();
    (package.environment.is_locked, package.environment.updates_lock) = (true, false);
    let outcome = package.build().unwrap();
    assert!(outcome.inputs.contains(&package.path("precast.lock")), "{:?}", outcome.inputs);
    assert_eq!(package.build().unwrap().compiled, 0);
    package.write("precast.toml", &SCORE.replace("score", "other"));
    let message = package.refusal();
    assert!(
        message.contains("graph `other` is new") && message.contains("graph `score` was removed"),
        "{message}"
    );
    assert!(message.lines().last().unwrap().contains("PRECAST_LOCKED=update"), "{message}");
    // Without `PRECAST_LOCKED`, a difference is a warning, and the file stays unchanged.
    package.environment.is_locked = false;
    let outcome = package.build().unwrap();
    assert!(outcome.warnings[0].contains("is out of date"), "{:?}", outcome.warnings);
    assert_eq!(fs_err::read_to_string(package.path("precast.lock")).unwrap(), locked);
    package.write("precast.lock", "version = 7\n");
    assert!(package.refusal().contains("found version 7, expected 1"));
    // Simulate a file of an earlier version, which generated another program for the graph.
    package.write("precast.toml", SCORE);
    let key = locked.split("key = \"").nth(1).unwrap().split('"').next().unwrap();
    let aged = locked.replace(precast_ops::GENERATOR, "precast 0.0.9+0123").replace(key, &"0".repeat(64));
    package.write("precast.lock", &aged);
    package.environment.is_locked = true;
    let message = package.refusal();
    let told = [
        "another version of precast (0.0.9+0123, this is ",
        "graph `score` changed",
        "build with that version",
    ];
    assert!(told.iter().all(|part| message.contains(part)), "{message}");
    package.environment.is_locked = false;
    // The command in the hint repairs an invalid file.
    package.write("precast.lock", "<<<<<<< ours\n");
    assert!(package.refusal().contains("PRECAST_LOCKED=update"));
    package.environment.updates_lock = true;
    package.build().unwrap();
    (package.environment.is_locked, package.environment.updates_lock) = (true, false);
    package.build().unwrap();
    // Frozen: artifacts in the store are used, and missing ones are not compiled.
    package.environment.is_frozen = true;
    fs_err::remove_file(package.path("out/precast/build.json")).unwrap();
    assert_eq!(package.build().unwrap().compiled, 0);
    let store = package.environment.store.replace(package.path("empty"));
    let message = package.refusal();
    assert!(message.contains("compiling is not allowed") && message.contains("hint: "), "{message}");
    package.environment.store = store;
    package.build().unwrap();
}

/// Lists all files below a directory with their modification times.
fn files(directory: &Path) -> Vec<(std::path::PathBuf, std::time::SystemTime)> {
    let entries = walkdir::WalkDir::new(directory).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.map(|entry| (entry.path().to_owned(), entry.metadata().unwrap().modified().unwrap())).collect()
}

/// A directory mounted read-only over itself.
struct Sealed<'p>(&'p Path);

impl<'p> Sealed<'p> {
    fn new(path: &'p Path) -> Option<Self> {
        mount(&["--bind"], &[path, path]).then_some(())?;
        let sealed = Self(path);
        mount(&["-o", "remount,bind,ro"], &[path]).then_some(sealed)
    }
}

impl Drop for Sealed<'_> {
    fn drop(&mut self) {
        assert!(Command::new("umount").arg(self.0).status().unwrap().success());
    }
}

fn mount(options: &[&str], paths: &[&Path]) -> bool {
    let output = Command::new("mount").args(options).args(paths).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
#[allow(clippy::print_stderr, reason = "what is skipped is said")]
fn frozen_build_uses_a_read_only_store() {
    let mut package = Package::new(SCORE);
    let store = package.path("store");
    package.environment.store = Some(store.clone());
    package.environment.updates_lock = true;
    let built = package.build().unwrap();
    let bundle = fs_err::read(&built.bundle).unwrap();
    let environment = &mut package.environment;
    (environment.updates_lock, environment.is_locked, environment.is_frozen) = (false, true, true);
    // Use a copy without its empty directories, in which no file can be created; missing directories stay missing.
    for name in ["tmp", "quarantine", "keys", "roots"] {
        fs_err::remove_dir_all(store.join(name)).unwrap();
    }
    let before = files(&store);
    let taken = |package: &Package| {
        fs_err::remove_dir_all(package.path("out")).unwrap();
        let outcome = package.build().unwrap();
        assert_eq!((outcome.compiled, outcome.hits, outcome.healed), (0, built.compiled, 0), "{outcome:?}");
        assert_eq!(fs_err::read(&outcome.bundle).unwrap(), bundle);
        assert_eq!(names(&outcome.bundle), ["score"]);
    };
    taken(&package);
    assert_eq!(files(&store), before);
    // Use the user's store by default, mounted read-only.
    package.environment.store = None;
    package.environment.shared = Some(store.clone());
    match Sealed::new(&store) {
        Some(_sealed) => taken(&package),
        None => eprintln!("skipped: no directory can be mounted here"),
    }
    // A missing store is not created.
    package.environment.shared = Some(package.path("none"));
    assert!(package.refusal().contains("compiling is not allowed"));
    assert!(!package.path("none").exists() && !package.path("out/precast-store").exists());
}
