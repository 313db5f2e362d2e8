//! Large stores: the files read by a command do not grow with unrelated records, and its memory is bounded. By
//! default the stores have a fraction of the records; `PRECAST_SCALE=100000` creates that many.

use precast_store::{Record, Store};

use crate::release::built;
use crate::sandbox::{Ended, Sandbox};

const SUM: &str =
    "[[graph]]\nname = \"sum\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = x + y\"]\n";

/// Returns the number of records in addition to the real one.
fn scale() -> u64 {
    std::env::var("PRECAST_SCALE").map_or(400, |count| count.parse().unwrap())
}

/// Returns the lines of a trace in which a command opens, lists or reads a file of the store `artifacts`.
fn reads(place: &Sandbox, arguments: &[&str]) -> Option<Vec<String>> {
    let inner = place.command(arguments);
    let mut command = std::process::Command::new("strace");
    command.args([
        "-qq",
        "-f",
        "--seccomp-bpf",
        "-y",
        "-o",
        "log",
        "-e",
        "?open,openat,getdents64,read,pread64",
    ]);
    let output = command
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(place.path(""))
        .env_clear()
        .output();
    output.ok().filter(|output| output.status.success())?;
    let log = fs_err::read_to_string(place.path("log")).unwrap();
    Some(log.lines().filter(|line| line.contains("/artifacts/")).map(str::to_owned).collect())
}

const RUN: &[&str] = &[
    "run",
    "--policy",
    "strict",
    "--store",
    "artifacts",
    "--entry",
    "sum",
    "-i",
    "x=x.npy",
    "-i",
    "y=y.npy",
];
const CHECK: &[&str] =
    &["check", "--store", "artifacts", "--expr", "x + y", "--type", "x=f64[?]", "--type", "y=f64[?]"];
const LS: &[&str] = &["ls", "--store", "artifacts"];
const PLAN: &[&str] = &["gc", "--dry-run", "--grace", "0", "--store", "artifacts", "precast.toml"];
const VERIFY: &[&str] = &["verify", "--store", "artifacts"];

/// Publishes records of unused modules, all with the same archive.
fn fill(place: &Sandbox) {
    let store = Store::open(place.path("artifacts")).unwrap();
    let real = store.records().next().unwrap().unwrap();
    let archive = store.load(&real).unwrap();
    let all: Vec<u64> = (0..scale()).collect();
    for some in all.chunks(2000) {
        let others: Vec<Record> = some.iter().map(|number| other(&real, *number)).collect();
        store.publish_all(&others.iter().map(|record| (&archive, record)).collect::<Vec<_>>()).unwrap();
    }
}

#[test]
fn command_cost_is_independent_of_store_size() {
    let place = built(&[SUM]);
    let count = || [RUN, CHECK].map(|arguments| reads(&place, arguments).map(|lines| lines.len()));
    let before = count();
    fill(&place);
    within_memory(&place);
    if before[0].is_none() {
        eprintln!("skipped: what is read: no strace here, or it may not trace");
        return;
    }
    // A hit reads the same files as in the small store.
    assert_eq!(count(), before);
    // `ls` and `gc` open each record, but no documents and no archive; `verify` opens each file once.
    let records = scale() as usize + 1;
    for (arguments, each, archives) in [(LS, 1, 0), (PLAN, 1, 0), (VERIFY, 2, 1)] {
        let lines = reads(&place, arguments).unwrap();
        let opened = |part: &str| {
            let is_one = |line: &&String| {
                line.contains(" open") && line.contains(part) && !line.contains("O_DIRECTORY")
            };
            lines.iter().filter(is_one).count()
        };
        assert_eq!(opened("/records/"), each * records, "{arguments:?}");
        assert_eq!(opened("/objects/"), archives, "{arguments:?}");
        assert_eq!(opened("/keys/"), 0, "{arguments:?}: pointers are looked at, and not opened");
    }
    let gc = place.run_bare(&["gc", "--grace", "0", "precast.toml", "--json"]).ok().json();
    assert_eq!((&gc["removed"], &gc["stays"]["records"]), (&scale().into(), &1.into()));
    place.run_bare(RUN).ok();
}

/// Runs commands with half a gigabyte of mapped memory, and two kilobytes per record.
fn within_memory(place: &Sandbox) {
    let limit = (512 << 10) + 2 * scale();
    for arguments in [LS, PLAN, VERIFY, RUN] {
        let inner = place.command(arguments);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("ulimit -v {limit}; exec \"$@\""), "sh"]);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(place.path("")).env_clear();
        Ended::of(command.output().unwrap()).ok();
    }
}

/// Returns a record of other modules.
fn other(record: &Record, number: u64) -> Record {
    let mut record = record.clone();
    let id = precast_store::key::ContentId::of(number.to_string());
    record.action = precast_store::ActionKey::from_bytes(*id.as_bytes());
    for member in &mut record.members {
        let document = member.document.as_mut().unwrap();
        document.text = id;
        member.key = document.key();
        member.fingerprints.clear();
    }
    record
}
