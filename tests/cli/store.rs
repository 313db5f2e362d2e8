//! Stores after a crash, a full disk, a loss, or changes by other users. `build` repairs them and `strict` hits, or
//! the error names the command that repairs them. `doctor` does not run in between.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use precast_testkit::is_in_share;

use crate::sandbox::{Ended, Sandbox, args};

/// A small manifest: its contents do not matter.
const MANIFEST: &str =
    "[[graph]]\nname = \"sum\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = x + y\"]\n";

fn declared() -> Sandbox {
    let place = Sandbox::new();
    place.write("precast.toml", format!("isa = [\"{}\"]\n{MANIFEST}", crate::sandbox::ISA));
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    place.npy("y.npy", &[2], vec![10.0, 20.0]);
    place
}

fn built() -> Sandbox {
    let place = declared();
    place.run(&["build"]).ok();
    place
}

const STRICT: &[&str] = &[
    "run",
    "--policy",
    "strict",
    "--store",
    "artifacts",
    "-i",
    "x=x.npy",
    "-i",
    "y=y.npy",
    "-o",
    "out=out.npy",
];

fn strict(place: &Sandbox, what: &[&str]) -> Ended {
    place.run_bare(&args(&[STRICT, what]))
}

/// Builds, then hits by name and by expression; returns how many artifacts were found, healed and compiled.
#[track_caller]
fn heals(place: &Sandbox) -> (u64, u64, u64) {
    let summary = place.run(&["build", "--json"]).ok().json();
    for what in [&["--entry", "sum"][..], &["--expr", "out = x + y"]] {
        strict(place, what).ok();
        assert_eq!(place.read_npy::<f64>("out.npy").sum(), 33.0);
    }
    let number = |name: &str| summary[name].as_u64().unwrap();
    (number("hits"), number("healed"), number("compiled"))
}

fn remove(path: &Path) {
    if path.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) }.unwrap();
}

/// Lists all paths in the store, directories before their contents.
fn paths(place: &Sandbox) -> Vec<PathBuf> {
    fn below(directory: &Path, found: &mut Vec<PathBuf>) {
        let mut names: Vec<PathBuf> =
            fs_err::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        for path in names {
            found.push(path.clone());
            if path.is_dir() {
                below(&path, found);
            }
        }
    }
    let mut found = Vec::new();
    below(&place.path("artifacts"), &mut found);
    found
}

#[test]
fn build_reports_repairs_after_any_loss() {
    let place = built();
    // The history of builds is for users, and no build restores it.
    for path in paths(&place).into_iter().filter(|path| !path.starts_with(place.path("artifacts/builds"))) {
        remove(&path);
        let below = path.strip_prefix(place.path("artifacts")).unwrap().to_str().unwrap().to_owned();
        let expected = match below.split('/').next().unwrap() {
            "keys" => (1, 1, 0),
            "records" if below.ends_with(".documents") => (1, 1, 0),
            "objects" | "records" => (0, 0, 1),
            _ => (1, 0, 0),
        };
        assert_eq!(heals(&place), expected, "{below}");
    }
    remove(&place.path("artifacts/keys"));
    assert_eq!(heals(&place), (1, 1, 0));
    assert_eq!(heals(&place), (1, 0, 0));
}

#[test]
fn next_build_finishes_after_killed_store_call() {
    let place = declared();
    place.run(&["build", "--store", "warm"]).ok();
    let traced = |place: &Sandbox, options: &[&str]| {
        let build = place.command(["build", "--jobs", "1"]);
        let mut command = Command::new("strace");
        command.args(["-qq"]).args(options).arg(build.get_program()).args(build.get_args());
        command.current_dir(place.path("")).env_clear();
        command.envs(build.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.output()
    };
    let calls = "mkdir,openat,fsync,syncfs,rename,renameat,renameat2";
    if !traced(&place, &["-o", "log", "-e", calls]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no strace here, or it may not trace");
        return;
    }
    let log = fs_err::read_to_string(place.path("log")).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    let mut found = 0;
    for line in log.lines() {
        let Some((name, arguments)) = line.split_once('(') else { continue };
        let count = counts.entry(name).or_insert(0);
        *count += 1;
        let changes = name != "openat" || arguments.contains("O_CREAT");
        if !changes || !(arguments.contains("artifacts") || matches!(name, "fsync" | "syncfs")) {
            continue;
        }
        found += 1;
        if !is_in_share(found, 2) {
            continue;
        }
        remove(&place.path("artifacts"));
        let inject = format!("inject={name}:signal=KILL:when={count}");
        let ended = traced(&place, &["-o", "/dev/null", "-e", &inject]).unwrap();
        assert_eq!(ended.status.code(), None, "nothing died at {name} {count}");
        heals(&place);
    }
    assert!(found > 20, "{found}:\n{log}");
}

/// Runs the command in the last back-ticks of an error's hint.
#[track_caller]
fn mend(refusal: &Ended) {
    let hint = refusal.err.lines().rfind(|line| line.contains("hint: ")).unwrap();
    let command = hint.split('`').nth(1).unwrap();
    assert!(Command::new("bash").args(["-c", command]).status().unwrap().success(), "{command}");
}

fn set_mode(path: &Path, mode: u32) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn every_command_rejects_unsafe_stores_with_hint() {
    const STRANGER: u32 = 65534;
    let place = built();
    let find = |part: &str| {
        let is_it = |path: &&PathBuf| path.is_file() && path.to_str().unwrap().contains(part);
        paths(&place).iter().find(is_it).unwrap().clone()
    };
    let (object, pointer) = (find("objects/"), find("keys/"));
    let shard = pointer.ancestors().nth(2).unwrap();
    let is_root = fs_err::metadata(&object).unwrap().uid() == 0;
    if !is_root {
        eprintln!("skipped in part: only root can give a file to another user");
    }
    let give = |path: &Path| {
        if is_root { lchown(path, Some(STRANGER), None).unwrap() } else { set_mode(path, 0o666) }
    };
    let link = || {
        fs_err::rename(&object, place.path("elsewhere")).unwrap();
        symlink(place.path("elsewhere"), &object).unwrap();
    };
    let wrongs: [&dyn Fn(); 6] = [
        &|| set_mode(shard, 0o777),
        &|| set_mode(&place.path("artifacts"), 0o777),
        &|| set_mode(&object, 0o646),
        &|| give(&object),
        &|| give(&pointer),
        &link,
    ];
    for wrong in wrongs {
        wrong();
        let entry = strict(&place, &["--entry", "sum"]).fails(1, &["artifacts", "hint: "]);
        assert!(!place.path("out.npy").exists());
        place.run_bare(&["doctor"]).fails(1, &[]);
        place.run(&["build"]).fails(1, &["artifacts", "hint: "]);
        mend(&entry);
        heals(&place);
        fs_err::remove_file(place.path("out.npy")).unwrap();
    }
}

#[test]
fn unsafe_bundle_is_rejected_with_hint() {
    let place = built();
    place.run(&["build", "--bundle", "sum.precast"]).ok();
    let run = args(&[
        &["run", "--policy", "strict", "--entry", "sum", "-i", "x=x.npy", "-i", "y=y.npy"],
        &["--bundle", "sum.precast"],
    ]);
    place.run_bare(&run).ok();
    set_mode(&place.path("sum.precast"), 0o666);
    let refusal = place.run_bare(&run).fails(1, &["sum.precast", "is writable by everybody"]);
    place.run_bare(&["doctor", "--bundle", "sum.precast"]).fails(1, &[]);
    mend(&refusal);
    place.run_bare(&run).ok();
}
