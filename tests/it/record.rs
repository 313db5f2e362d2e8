//! Recording: the misses of a program become a manifest. After a build of it, the program has no misses, without a
//! compiler.

use crate::graphs::{product, score, vectors};
use crate::process::{self, answer, bare};
use precast::{
    ArrayRef, BuildRuntimeError, CodeOrigin, Event, FunctionError, FunctionGraph, Policy, Runtime, Serve,
};
use precast_build::{Declared, Execution, Manifest, execute, plan};
use precast_compile::Isa;
use precast_graph::interpret;
use precast_store::Store;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Returns the graphs of the program in these tests: whole graphs, single ops of any rank, constants, several types.
fn graphs() -> Vec<FunctionGraph> {
    let mut graphs: Vec<FunctionGraph> = ["x + y", "2.5*x - z", "2.5*x - z", "sqrt(x)", "sum(x*y + z)"]
        .map(|text| vectors(text, "xyz"))
        .into();
    graphs.push(crate::graphs::graph("a @ b", &["a=f64[?,?]", "b=f64[?,?]"]));
    graphs.push(crate::graphs::graph("mean(abs(a), axis=1)", &["a=f32[?,?]"]));
    graphs.extend([score(), product()]);
    graphs
}

/// Returns inputs for a graph.
fn inputs(graph: &FunctionGraph) -> Vec<precast::Array> {
    let mut choices = precast_testkit::Choices::seeded(3);
    let shape = |ty: &precast::Type| vec![6; ty.ndim()];
    let types = graph.inputs().iter().map(|input| graph.ty(*input));
    types.map(|ty| precast_testkit::arrays::draw_plain(&mut choices, ty.dtype(), &shape(ty))).collect()
}

/// Loads every graph and calls it; a wrong result panics.
fn compute(runtime: &Runtime, graphs: &[FunctionGraph]) -> Vec<CodeOrigin> {
    let one = |graph: &FunctionGraph| {
        let inputs = inputs(graph);
        let function = runtime.function(graph).unwrap();
        let found = function.call(&inputs.iter().map(ArrayRef::from).collect::<Vec<_>>()).unwrap();
        assert_eq!(found, interpret(graph, &inputs).unwrap(), "{graph}");
        function.provenance()[0].served.clone()
    };
    graphs.iter().map(one).collect()
}

/// Builds a manifest into a store, like `precast build`.
fn build(manifest: &Path, store: &Path) {
    let mut declared = Declared::default();
    let read = Manifest::read(manifest).unwrap();
    read.declare(&mut declared).unwrap();
    let plan = plan(&declared).unwrap();
    let (store, toolchain) = (Store::create(store).unwrap(), crate::compiled::toolchain());
    let variants = [crate::compiled::variant(Isa::native().unwrap())];
    let execution = Execution { store: Some(&store), ..Execution::new(&toolchain, &variants) };
    execute(&plan, &execution).unwrap();
}

fn tables(manifest: &Path) -> Vec<String> {
    let manifest = Manifest::read(manifest).unwrap();
    let document = manifest.document();
    let ops = document.op.iter().map(|table| table.get_ref().name.get_ref().clone());
    ops.chain(document.graph.iter().map(|table| table.get_ref().name.get_ref().clone())).collect()
}

fn recording(manifest: &Path) -> Runtime {
    Runtime::builder().policy(Policy::Interpret).record(manifest).build().unwrap()
}

/// Runs a program that computes every graph, with the policy and the store from its environment.
pub(crate) fn role(place: &Path) -> String {
    let policy: Policy = std::env::var("POLICY").unwrap().parse().unwrap();
    let mut builder = Runtime::builder().policy(policy);
    if let Some(store) = std::env::var_os("STORE") {
        builder = builder.store(store);
    }
    let runtime = builder.build().unwrap();
    let mut graphs = graphs();
    if place.ends_with("odd") {
        graphs.reverse();
    }
    let served = compute(&runtime, &graphs);
    let artifacts = served.iter().filter(|served| matches!(served, CodeOrigin::Artifact { .. })).count();
    let stats = runtime.stats();
    let lost = stats.events.iter().filter(|event| matches!(event, Event::NotRecorded { .. }));
    let lost: Vec<String> = lost.map(ToString::to_string).collect();
    format!("{artifacts} served, {} misses, {} recorded {}", stats.misses, stats.recorded, lost.join("; "))
        .trim_end()
        .to_owned()
}

fn program(place: &Path, policy: &str) -> Command {
    let mut command = bare(process::role("record", place));
    command.env("POLICY", policy);
    command
}

#[test]
fn recorded_program_hits_once_built() {
    let directory = tempfile::tempdir().unwrap();
    let (place, manifest) = (directory.path(), directory.path().join("precast.toml"));
    let mut first = program(place, "interpret");
    first.env("PRECAST_RECORD", &manifest);
    assert_eq!(answer(first, place), "0 served, 9 misses, 8 recorded");
    // The single ops become matrices, which serve other graphs too.
    let tables = tables(&manifest);
    assert_eq!(tables[..3], ["add", "sqrt", "dot"]);
    assert!(tables[3..].iter().all(|name| name.starts_with("recorded-")), "{tables:?}");
    build(&manifest, &place.join("store"));
    let mut second = program(place, "strict");
    second.env("STORE", place.join("store")).env("PRECAST_RECORD", &manifest).env("CC", "/nonexistent/cc");
    let before = fs_err::read(&manifest).unwrap();
    assert_eq!(answer(second, place), "9 served, 0 misses, 0 recorded");
    assert_eq!(fs_err::read(&manifest).unwrap(), before);
}

#[test]
fn recorder_can_serve_groups_and_ops() {
    let directory = tempfile::tempdir().unwrap();
    for serve in [Serve::Groups, Serve::Ops] {
        let manifest = directory.path().join(format!("{serve}.toml"));
        let store = directory.path().join(serve.name());
        let runtime = Runtime::builder().policy(Policy::Interpret).record_serve(&manifest, &[serve]);
        compute(&runtime.build().unwrap(), &[score()]);
        build(&manifest, &store);
        let strict = Runtime::builder().policy(Policy::Strict).store(&store).build().unwrap();
        let served = strict.function(&score()).unwrap().provenance().len();
        assert_eq!(served > 1, serve == Serve::Ops, "{serve}: served by {served}");
        compute(&strict, &[score()]);
    }
}

#[test]
fn strict_records_the_miss_and_names_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("my manifest.toml");
    let runtime = Runtime::builder().policy(Policy::Strict).record(&manifest).build().unwrap();
    for added in [1, 1] {
        let error = runtime.function(&score()).unwrap_err();
        assert!(matches!(&error, FunctionError::Miss { recorded: Some(path), .. } if *path == manifest));
        let hint = format!("hint: run `precast build {}` to compile the recorded graph", manifest.display());
        assert!(error.to_string().ends_with(&hint), "{error}");
        assert_eq!((runtime.stats().recorded, tables(&manifest).len() as u64), (added, added));
    }
    build(&manifest, &directory.path().join("store"));
    let strict = Runtime::builder().policy(Policy::Strict).store(directory.path().join("store"));
    compute(&strict.build().unwrap(), &[score()]);
}

#[test]
fn handwritten_declarations_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("precast.toml");
    // The text has no line break at the end; its first table declares the program's first graph.
    let mine = "# mine\n[[op]]\nname = \"add\"\ndtypes = [\"f32\", \"f64\"]\nndim = [0, 1]\n\n[[graph]] # mine too\nname = \
                \"twice\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"x + x\"]";
    fs_err::write(&manifest, mine).unwrap();
    compute(&recording(&manifest), &[vectors("x + y", "xyz"), vectors("sqrt(x)", "x")]);
    let text = fs_err::read_to_string(&manifest).unwrap();
    let rest = "\n\n# sqrt(f64[?]) -> f64[?]\n[[op]]\nname = \"sqrt\"\ndtypes = [\"f64\"]\nndim = [1]\n";
    assert_eq!(text.strip_prefix(mine), Some(rest));
}

#[test]
fn concurrent_records_keep_each_declaration_once() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("precast.toml");
    let start = |number: usize| -> (Child, PathBuf) {
        let place = directory.path().join(number.to_string()).join(["even", "odd"][number % 2]);
        fs_err::create_dir_all(&place).unwrap();
        let mut command = program(&place, "interpret");
        (command.env("PRECAST_RECORD", &manifest).spawn().unwrap(), place)
    };
    let processes: Vec<(Child, PathBuf)> = (0..6).map(start).collect();
    let runtime = recording(&manifest);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| compute(&runtime, &graphs()));
        }
    });
    let mut recorded = runtime.stats().recorded;
    for (mut child, place) in processes {
        assert!(child.wait().unwrap().success());
        let told = fs_err::read_to_string(place.join("answer")).unwrap();
        let count = told.strip_prefix("0 served, 9 misses, ").and_then(|rest| rest.strip_suffix(" recorded"));
        recorded += count.unwrap_or_else(|| panic!("{told}")).parse::<u64>().unwrap();
    }
    let mut names = tables(&manifest);
    assert_eq!((names.len(), recorded), (8, 8), "{names:?}");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 8);
    // No process left a temporary file behind.
    let files = fs_err::read_dir(directory.path()).unwrap().filter(|e| e.as_ref().unwrap().path().is_file());
    assert_eq!(files.count(), 1);
}

#[test]
fn a_killed_recorder_leaves_a_whole_manifest() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("precast.toml");
    let mut seen = 0;
    for round in 0..12 {
        let place = directory.path().join(round.to_string());
        fs_err::create_dir_all(&place).unwrap();
        let mut child = program(&place, "interpret").env("PRECAST_RECORD", &manifest).spawn().unwrap();
        // Killed at an arbitrary point: the wait grows with the rounds and depends on the other processes.
        while child.try_wait().unwrap().is_none() {
            let now = if manifest.exists() { tables(&manifest).len() } else { 0 };
            assert!(now >= seen, "a declaration got lost");
            if now > seen {
                seen = now;
                child.kill().unwrap();
                child.wait().unwrap();
                break;
            }
        }
    }
    assert!(tables(&manifest).len() >= seen && seen == 8, "{seen}");
    build(&manifest, &directory.path().join("store"));
}

#[test]
fn other_file_is_rejected_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("precast.toml");
    let damaged: [(&[u8], &str); 5] = [
        (b"[[graph]]\nname = \"sco", "invalid"),
        (b"[package]\nname = \"a crate\"\n", "`package`"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[[op]]\nname = 'add'\n[[op", ""),
        (b"op = 3\ngraph = [{ name = 'x' }]\n", ""),
    ];
    for (bytes, problem) in damaged {
        fs_err::write(&manifest, bytes).unwrap();
        // With the environment variable, the program continues and its results are right.
        let mut command = program(directory.path(), "interpret");
        command.env("PRECAST_RECORD", &manifest);
        let told = answer(command, directory.path());
        assert!(told.starts_with("0 served, 9 misses, 0 recorded `"), "{told}");
        assert!(told.contains("not a recorded manifest") && told.contains(problem), "{told}");
        assert_eq!(fs_err::read(&manifest).unwrap(), bytes);
    }
    // With the builder, an error is returned at once if it is detectable.
    let refused = Runtime::builder().record(&manifest).build();
    assert!(refused.is_ok(), "valid TOML, to which nothing can be added");
    fs_err::write(&manifest, "name = ").unwrap();
    assert!(matches!(Runtime::builder().record(&manifest).build(), Err(BuildRuntimeError::Record(_))));
}

#[test]
fn full_disk_costs_only_the_recording() {
    let directory = tempfile::tempdir().unwrap();
    for (file, problem) in [("/dev/full", "No space left"), ("nowhere/precast.toml", "No such file")] {
        let runtime = recording(&directory.path().join(file));
        compute(&runtime, &[score()]);
        let told = runtime.stats().events.last().unwrap().to_string();
        assert!(told.contains("was not recorded: cannot") && told.contains(problem), "{told}");
        assert_eq!(runtime.stats().recorded, 0);
        let strict = Runtime::builder().policy(Policy::Strict).record(directory.path().join(file));
        let error = strict.build().unwrap().function(&score()).unwrap_err();
        assert!(matches!(&error, FunctionError::Miss { recorded: None, .. }));
    }
    assert!(!Path::new("/dev/full").is_file());
}

#[test]
fn graphs_with_equal_code_are_recorded_once() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("precast.toml");
    // Constants are data, not code.
    compute(&recording(&manifest), &[vectors("exp(x)*2.0", "x"), vectors("exp(x)*3.0", "x")]);
    assert_eq!(tables(&manifest).len(), 1);
}
