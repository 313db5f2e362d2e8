//! The same declarations give the same bytes, for any user, place, time, parallelism and store.

use crate::compiled::{toolchain, variant};
use crate::graphs::{product, score};
use crate::process::{self, answer};
use precast::{CodeOrigin, Policy, Runtime};
use precast_build::{Declared, Execution, Manifest, Plan, SourceLocation, execute, plan};
use precast_compile::{Isa, Parallel};
use precast_store::{Archive, Record, Store};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use walkdir::WalkDir;

const MANIFEST: &str = r#"
[[op]]
name = "add"
dtypes = ["f32", "f64", "i64"]
ndim = [1, 2]

[[op]]
name = "exp"
dtypes = ["f64", "f32"]
ndim = [1]

[[op]]
name = "sum"
dtypes = ["f64"]
ndim = [2]

[[graph]]
name = "score"
inputs = ["x: f64[?]", "y: f64[?]", "z: f64[?]"]
outputs = ["out = sum(exp(-x*x)*y + z)"]

[[graph]]
name = "centred"
inputs = ["x: f32[?,?]"]
outputs = ["out = x - mean(x, axis=0)"]
"#;

/// Returns the same declarations in another order.
fn reversed() -> String {
    let tables = MANIFEST.split("\n\n").collect::<Vec<_>>();
    tables.into_iter().rev().collect::<Vec<_>>().join("\n\n")
}

fn declared(place: &Path) -> Plan {
    let manifest = Manifest::read(&place.join("precast.toml")).unwrap();
    let mut declared = Declared::default();
    manifest.declare(&mut declared).unwrap();
    plan(&declared).unwrap()
}

/// Builds a plan into the store of a place and returns the bundle.
fn build(place: &Path, plan: &Plan, jobs: usize) -> Vec<u8> {
    let (store, toolchain) = (Store::create(place.join("store")).unwrap(), toolchain());
    let variants = [Isa::X86_64V2, Isa::native().unwrap()].map(variant);
    let variants = if variants[0] == variants[1] { &variants[..1] } else { &variants[..] };
    let parallel = Parallel::Jobs(NonZeroUsize::new(jobs).unwrap());
    let execution = Execution { store: Some(&store), parallel, ..Execution::new(&toolchain, variants) };
    execute(plan, &execution).unwrap().bundle(&toolchain).unwrap()
}

/// Builds the manifest of a place and writes the bundle next to it.
pub(crate) fn build_role(place: &Path) -> String {
    let jobs = std::env::var("JOBS").unwrap().parse().unwrap();
    let plan = declared(place);
    fs_err::write(place.join("bundle"), build(place, &plan, jobs)).unwrap();
    format!("{} units", plan.units.len())
}

/// Returns the content of a store: every file except those with random names, with its bytes and mode.
fn content(place: &Path) -> BTreeMap<String, (Vec<u8>, u32)> {
    use std::os::unix::fs::PermissionsExt as _;
    let root = place.join("store");
    let files =
        WalkDir::new(&root).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let file = |entry: walkdir::DirEntry| {
        let mode = entry.metadata().unwrap().permissions().mode();
        let name = entry.path().strip_prefix(&root).unwrap().display().to_string();
        (name, (fs_err::read(entry.path()).unwrap(), mode & 0o222))
    };
    files.map(file).collect()
}

/// Prepares a directory of a given depth, so that paths differ in length too.
fn prepare(parent: &Path, name: &str, manifest: &str) -> std::path::PathBuf {
    let place = parent.join(name);
    fs_err::create_dir_all(&place).unwrap();
    fs_err::write(place.join("precast.toml"), manifest).unwrap();
    place
}

#[test]
fn users_directories_times_and_jobs_share_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let first = prepare(directory.path(), "a", MANIFEST);
    let second = prepare(directory.path(), "another/and a much longer/path", &reversed());
    let mut one = process::role("build", &first);
    one.env("JOBS", "1").env("TZ", "UTC").env("LANG", "C").env("USER", "anna").env("HOME", &first);
    assert_eq!(answer(one, &first), answer_of_second(&second));
    let (bundle, store) = (fs_err::read(first.join("bundle")).unwrap(), content(&first));
    assert_eq!(fs_err::read(second.join("bundle")).unwrap(), bundle);
    assert!(content(&second) == store, "{:?}\n{:?}", store.keys(), content(&second).keys());
    assert!(store.keys().filter(|name| name.starts_with("objects/")).count() >= 4);
    let text = [bundle, store.into_values().flat_map(|(bytes, _)| bytes).collect()].concat();
    for trace in [directory.path().to_str().unwrap(), "anna", "bert"] {
        assert!(
            !text.windows(trace.len()).any(|window| window == trace.as_bytes()),
            "`{trace}` got into the bytes"
        );
    }
}

fn answer_of_second(place: &Path) -> String {
    let mut two = process::role_with_umask("build", place, "077");
    two.env("JOBS", "2").env("TZ", "Asia/Kathmandu").env("LANG", "tr_TR.UTF-8").env("LC_ALL", "tr_TR.UTF-8");
    two.env("USER", "bert")
        .env("HOME", "/nonexistent")
        .env("SOURCE_DATE_EPOCH", "86400")
        .env("TMPDIR", place);
    two.env("CFLAGS", "-O0 -g").env("CPATH", "/nonexistent").env("GCC_COLORS", "error=01;31");
    answer(two, place)
}

#[test]
fn half_filled_store_gives_equal_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let [empty, half] = ["empty", "half"].map(|name| prepare(directory.path(), name, MANIFEST));
    let plan = declared(&empty);
    let mut part = plan.clone();
    part.units.truncate(plan.units.len().div_ceil(2));
    part.entries.truncate(1);
    build(&half, &part, 2);
    let before = content(&half);
    let bundle = build(&empty, &plan, 2);
    assert!(build(&half, &plan, 1) == bundle, "bundles differ");
    assert!(content(&half) == content(&empty), "stores differ");
    assert!(before.len() < content(&half).len());
    // A build with no work changes nothing.
    assert!(build(&half, &plan, 2) == bundle, "a rerun gives another bundle");
    assert!(content(&half) == content(&empty), "a rerun changes the store");
}

#[test]
fn build_and_jit_share_action_and_archive() {
    let directory = tempfile::tempdir().unwrap();
    let (ahead, jit) = (directory.path().join("ahead"), directory.path().join("jit"));
    let mut declared = Declared::default();
    let graphs = [("product", product()), ("score", score())];
    for (name, graph) in &graphs {
        declared.graph(name, graph.clone(), SourceLocation::in_file(Path::new("precast.toml"))).unwrap();
    }
    let store = Store::create(&ahead).unwrap();
    let (toolchain, variants) = (toolchain(), [variant(Isa::native().unwrap())]);
    let execution = Execution { store: Some(&store), ..Execution::new(&toolchain, &variants) };
    execute(&plan(&declared).unwrap(), &execution).unwrap();
    let runtime = Runtime::builder().writable(&jit).policy(Policy::Jit).build().unwrap();
    let functions = graphs.each_ref().map(|(name, graph)| (name, runtime.function(graph).unwrap()));
    assert_eq!(runtime.stats().compiled, 2);
    // Publishing continues during the first calls, and has ended when the runtime is dropped.
    drop(runtime);
    for (name, function) in &functions {
        let CodeOrigin::Jit { key, digest, .. } = &function.provenance()[0].served else {
            panic!("{name} hit")
        };
        let of = |store: &Store| -> (Record, Archive) {
            let records = store.find(key).unwrap();
            assert_eq!(records.len(), 1, "{name}");
            (records[0].clone(), store.load(&records[0]).unwrap())
        };
        let (aot, aot_archive) = of(&store);
        let (made, made_archive) = of(&Store::open(&jit).unwrap());
        assert_eq!(made, aot, "{name}");
        assert_eq!(made.digest, *digest);
        assert!(made_archive == aot_archive, "{name}: the archives differ");
    }
}
