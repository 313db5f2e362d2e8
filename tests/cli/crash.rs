//! Kills each call by which a command changes a store in turn, and makes many of them fail. Existing entries are
//! still served, all visible files are intact, and the same command completes the interrupted work.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use precast_store::Store;
use precast_testkit::is_in_share;

use crate::release::{DOUBLE, SUM, built};
use crate::sandbox::{ISA, Sandbox};

/// The calls that change a file, or make a change durable.
const CALLS: &str =
    "mkdir,openat,write,fsync,syncfs,rename,renameat,renameat2,unlink,unlinkat,rmdir,utimensat";

/// A command, and the state of the store whenever it ends.
struct Case<'a> {
    arguments: &'a [&'a str],
    /// The store that the copy starts from; `None` if the store does not exist.
    from: Option<&'a str>,
    /// Entries that exist before and after.
    stay: &'a [&'a str],
    /// Entries that exist once the command has succeeded.
    after: &'a [&'a str],
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs_err::create_dir(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs_err::copy(entry.path(), target).unwrap();
        }
    }
}

pub(crate) fn traced(place: &Sandbox, options: &[&str], arguments: &[&str]) -> std::io::Result<Output> {
    let inner = place.command(arguments);
    let mut command = Command::new("strace");
    command.args(["-qq", "-y"]).args(options).arg(inner.get_program()).args(inner.get_args());
    command.current_dir(place.path("")).env_clear().output()
}

/// Returns the calls of a command on the store `work` or its output file: the name, and how often it has been called.
pub(crate) fn calls(place: &Sandbox, arguments: &[&str]) -> Vec<(String, usize)> {
    let output = traced(place, &["-o", "log", "-e", CALLS], arguments).unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for line in fs_err::read_to_string(place.path("log")).unwrap().lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        let count = counts.entry(name.to_owned()).or_default();
        *count += 1;
        let changes = name != "openat" || rest.contains("O_CREAT") || rest.contains("O_TMPFILE");
        if changes && (rest.contains("work") || rest.contains(".precast-")) {
            found.push((name.to_owned(), *count));
        }
    }
    found
}

/// Checks that all visible files are intact and that the expected entries exist.
#[track_caller]
pub(crate) fn check(store: &Path, entries: &[&str], what: &str) {
    let Ok(store) = Store::open(store) else {
        assert!(entries.is_empty(), "{what}: no store");
        return;
    };
    let verified = store.verify().unwrap();
    let damage = verified.events.iter().find(|event| !event.is_repair());
    assert!(damage.is_none() && verified.missing.is_empty(), "{what}: {verified:?}");
    for name in entries {
        let entry = store.find_entry(name).unwrap().unwrap_or_else(|| panic!("{what}: `{name}` is lost"));
        for key in entry.program.keys() {
            let found = store.find(&key).unwrap();
            assert!(
                found.iter().any(|record| store.load(record).is_ok()),
                "{what}: a module of `{name}` is lost"
            );
        }
    }
}

fn run(place: &Sandbox, case: &Case<'_>) -> usize {
    let work = place.path("work");
    let reset = || {
        let _ = fs_err::remove_dir_all(&work);
        let _ = fs_err::remove_file(place.path("work.export"));
        if let Some(from) = case.from {
            copy(&place.path(from), &work);
        }
    };
    reset();
    let calls = calls(place, case.arguments);
    for (at, (name, count)) in calls.iter().enumerate() {
        // Deleting needs no space, so it cannot fail because the disk is full.
        let error = match name.as_str() {
            "fsync" | "syncfs" | "unlink" | "unlinkat" | "rmdir" => "EIO",
            _ => ["ENOSPC", "EDQUOT", "EIO"][count % 3],
        };
        let faults = ["signal=KILL".to_owned(), format!("error={error}")];
        for (_, fault) in faults.into_iter().enumerate().filter(|(way, _)| is_in_share((at + way) as u64, 2))
        {
            reset();
            let what = format!("{} with {fault} at {name} {count}", case.arguments[0]);
            let inject = format!("inject={name}:{fault}:when={count}");
            let output = traced(place, &["-o", "/dev/null", "-e", &inject], case.arguments).unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!said.contains("panicked"), "{what}: {said}");
            let is_kill = fault.contains("KILL");
            let expected = if is_kill {
                output.status.code().is_none()
            } else {
                matches!(output.status.code(), Some(0 | 1))
            };
            assert!(expected, "{what}: {output:?}");
            check(&work, case.stay, &what);
            place.run_bare(case.arguments).ok();
            check(&work, case.after, &what);
        }
    }
    calls.len()
}

/// Returns whether calls can be traced here; prints a message if not.
#[allow(clippy::print_stderr, reason = "what is skipped is said")]
pub(crate) fn may_trace(place: &Sandbox) -> bool {
    let may = traced(place, &["-o", "/dev/null"], &["--version"]).is_ok_and(|output| output.status.success());
    if !may {
        eprintln!("skipped: no strace here, or it may not trace");
    }
    may
}

/// Writes two exports, with one graph and with four. An import publishes the four as a batch.
pub(crate) fn exported(place: &Sandbox) {
    let others = ["x - 2.5", "exp(x)", "-x"].iter().enumerate();
    let others: String =
        others.map(|(n, text)| DOUBLE.replace("double", &format!("g{n}")).replace("x * 2.5", text)).collect();
    place.write("one.toml", format!("isa = [\"{ISA}\"]\n{DOUBLE}{others}"));
    place.run(&["build", "one.toml", "--store", "one"]).ok();
    place.run_bare(&["export", "--store", "one", "--out", "one.export"]).ok();
    let single = ["export", "--store", "one", "--entry", "g1", "--out", "single.export", "--release", "g=1"];
    place.run_bare(&single).ok();
}

#[test]
fn commands_survive_every_killed_or_failed_call() {
    let place = built(&[SUM, DOUBLE]);
    if !may_trace(&place) {
        return;
    }
    place.write("keep.toml", format!("isa = [\"{ISA}\"]\n{SUM}"));
    exported(&place);
    place.run_bare(&["keygen", "ci.key", "--no-password"]).ok();
    let both = &["sum", "double"];
    let cases = [
        Case {
            arguments: &["gc", "--grace", "0", "--store", "work", "keep.toml"],
            from: Some("artifacts"),
            stay: &["sum"],
            after: &["sum"],
        },
        Case {
            arguments: &["import", "one.export", "--unsigned", "--store", "work"],
            from: None,
            stay: &[],
            after: &["double", "g0", "g1", "g2"],
        },
        // A single record: each of its files is synced by itself.
        Case {
            arguments: &["import", "single.export", "--unsigned", "--store", "work"],
            from: Some("artifacts"),
            stay: both,
            after: &["sum", "double", "g1"],
        },
        Case {
            arguments: &["sign", "--key", "ci.key", "--store", "work"],
            from: Some("artifacts"),
            stay: both,
            after: both,
        },
        Case {
            arguments: &["export", "--store", "work", "--out", "work.export"],
            from: Some("artifacts"),
            stay: both,
            after: both,
        },
    ];
    let counts: Vec<usize> = cases.iter().map(|case| run(&place, case)).collect();
    // Entry, graph, and nine files of a record; three files and six pointers, with their directories; …
    assert!(
        counts[0] >= 8 && counts[1] >= 60 && counts[2] >= 20 && counts[3] >= 12 && counts[4] >= 2,
        "{counts:?}"
    );
    assert!(place.path("work.export").is_file());
}

/// Signatures, statements and entries reach the disk with the records: the number of syncs depends only on the number
/// of batches.
#[test]
fn import_of_many_needs_few_syncs() {
    let place = built(&[SUM, DOUBLE]);
    if !may_trace(&place) {
        return;
    }
    exported(&place);
    place.run(&["build", "one.toml", "--store", "stated", "--builder", "https://ci.example.org"]).ok();
    place.run_bare(&["keygen", "ci.key", "--no-password"]).ok();
    place.run_bare(&["sign", "--key", "ci.key", "--store", "stated"]).ok();
    let export = ["export", "--store", "stated", "--out", "stated.export", "--release", "g=1"];
    place.run_bare(&export).ok();
    Store::create(place.path("work")).unwrap();
    let import = ["import", "stated.export", "--unsigned", "--store", "work"];
    let syncs = ["-f", "-o", "log", "-e", "fsync,fdatasync,syncfs"];
    assert!(traced(&place, &syncs, &import).unwrap().status.success());
    let log = fs_err::read_to_string(place.path("log")).unwrap();
    let count = log.lines().filter(|line| line.contains("sync")).count();
    // Release: the file, its directory and the parent directory. Records and entries: files, then names. List of the
    // release: the file, then names.
    assert_eq!(count, 3 + 2 + 2 + 2, "{log}");
    let store = Store::open(place.path("work")).unwrap();
    assert!(store.signed().all(|signed| !signed.unwrap().signatures.is_empty()));
    assert!(store.records().all(|record| store.find_provenance(&record.unwrap()).unwrap().is_some()));
}
