//! Policies: the effects of declared graphs, misses, and a present or missing compiler, in one process and in several.

use crate::graphs::{product, score, values, vectors};
use crate::process::{self, answer, bare};
use precast::{ArrayRef, Check, CodeOrigin, FunctionError, Policy, Runtime};
use precast_build::{Declared, Execution, SourceLocation, execute, plan};
use precast_compile::Isa;
use precast_graph::interpret;
use precast_store::Store;
use std::path::Path;
use std::process::Command;

/// Builds the declared graphs into the store of a place, like `precast build`.
pub(crate) fn declare(place: &Path) {
    let mut declared = Declared::default();
    for (name, graph) in [("score", score()), ("product", product())] {
        declared.graph(name, graph, SourceLocation::in_file(Path::new("precast.toml"))).unwrap();
    }
    let (plan, toolchain) = (plan(&declared).unwrap(), crate::compiled::toolchain());
    let store = Store::create(place.join("store")).unwrap();
    let variants = [crate::compiled::variant(Isa::native().unwrap())];
    let execution = Execution { store: Some(&store), ..Execution::new(&toolchain, &variants) };
    let executed = execute(&plan, &execution).unwrap();
    fs_err::write(place.join("bundle"), executed.bundle(&toolchain).unwrap()).unwrap();
}

/// Requests a graph; returns the source of its function after checking the result, or the error.
fn ask(runtime: &Runtime, what: &str) -> String {
    let graph = match what {
        "score" => score(),
        "product" => product(),
        other => vectors(other, "xyz"),
    };
    let function = match runtime.function(&graph) {
        Ok(function) => function,
        Err(FunctionError::Miss { misses, no_compiler, recorded }) => {
            return format!(
                "Miss({}): {}",
                misses.len(),
                FunctionError::Miss { misses, no_compiler, recorded }
            );
        }
        Err(error @ FunctionError::NoCompiler { .. }) => return format!("NoCompiler: {error}"),
        Err(error) => return format!("another error: {error:?}"),
    };
    let inputs = values(3, 33);
    let results = function.call(&inputs.iter().map(ArrayRef::from).collect::<Vec<_>>()).unwrap();
    assert_eq!(results, interpret(&graph, &inputs).unwrap());
    let served = match &function.provenance()[0].served {
        CodeOrigin::Artifact { .. } => "artifact",
        CodeOrigin::Jit { .. } => "jit",
        CodeOrigin::Interpreted => "interpreted",
        _ => "unknown",
    };
    format!("{served}, {} compiled", runtime.stats().compiled)
}

/// Runs a process with a policy (or `default`) that requests one graph.
pub(crate) fn role(place: &Path) -> String {
    let policy = std::env::var("POLICY").unwrap();
    let mut builder = match std::env::var("LAYER").as_deref() {
        Ok("bundle") => Runtime::builder().bundle_file(place.join("bundle")),
        Ok("store") => Runtime::builder().store(place.join("store")),
        _ => Runtime::builder().writable(place.join("store")),
    };
    if policy != "default" {
        builder = builder.policy(policy.parse().unwrap());
    }
    ask(&builder.build().unwrap(), &std::env::var("GRAPH").unwrap())
}

fn asks(command: Command, place: &Path, policy: &str, layer: &str, graph: &str) -> String {
    let mut command = command;
    command.env("POLICY", policy).env("LAYER", layer).env("GRAPH", graph);
    answer(command, place)
}

#[test]
fn declared_graphs_hit_under_every_policy() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    declare(place);
    for policy in ["strict", "interpret", "jit", "tiered", "default"] {
        for (layer, graph) in [("bundle", "score"), ("store", "product")] {
            let found = asks(bare(process::role("policy", place)), place, policy, layer, graph);
            assert_eq!(found, "artifact, 0 compiled", "{policy}, {layer}");
        }
    }
    // By name, without a graph in the program.
    let runtime =
        Runtime::builder().bundle_file(place.join("bundle")).policy(Policy::Strict).build().unwrap();
    assert_eq!(runtime.entries(), ["product", "score"]);
    let inputs = values(3, 10);
    let refs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    let found = runtime.entry("score").unwrap().call(&refs).unwrap();
    assert_eq!(found, interpret(&score(), &inputs).unwrap());
    // The entry is kept in memory, so a later change of the layer has no effect.
    let stored = Runtime::builder().store(place.join("store")).policy(Policy::Strict).build().unwrap();
    stored.entry("score").unwrap();
    fs_err::rename(place.join("store"), place.join("gone")).unwrap();
    assert_eq!(stored.entry("score").unwrap().call(&refs).unwrap(), found);
    let unknown = runtime.entry("scores").unwrap_err().to_string();
    assert!(unknown.contains("`scores`") && unknown.contains("product, score"), "{unknown}");
}

#[test]
fn undeclared_graph_under_strict_names_the_nearest() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    declare(place);
    for layer in ["bundle", "store"] {
        let found = asks(bare(process::role("policy", place)), place, "strict", layer, "(x + y) / z");
        assert!(found.starts_with("Miss("), "{found}");
        assert!(found.contains("miss: `") && found.contains("nearest `"), "{found}");
    }
    let runtime = Runtime::builder().store(place.join("store")).policy(Policy::Strict).build().unwrap();
    let wanted = crate::graphs::graph("(x + y) * z", &["x=f32[?]", "y=f32[?]", "z=f32[?]"]);
    assert_eq!(runtime.check(&wanted).unwrap(), Check::Miss);
    assert_eq!(runtime.check(&product()).unwrap(), Check::Whole);
    let found = runtime.function(&wanted).unwrap_err().to_string();
    assert!(found.contains("f64") && found.contains("differs in dtype of input 0, 1, 2"), "{found}");
}

#[test]
fn next_process_hits_without_a_compiler() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let first = asks(process::role("policy", place), place, "jit", "writable", "product");
    assert_eq!(first, "jit, 1 compiled");
    let second = asks(process::role("policy", place), place, "jit", "writable", "product");
    assert_eq!(second, "artifact, 0 compiled");
    for policy in ["jit", "tiered", "strict", "default"] {
        let next = asks(bare(process::role("policy", place)), place, policy, "store", "product");
        assert_eq!(next, "artifact, 0 compiled", "{policy}");
    }
}

#[test]
fn jit_without_compiler_is_a_typed_error() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    drop(Store::create(place.join("store")).unwrap());
    for policy in ["jit", "tiered"] {
        let mut command = bare(process::role("policy", place));
        command.env("HOME", place).env("XDG_CACHE_HOME", place.join("cache"));
        let found = asks(command, place, policy, "writable", "product");
        assert!(found.starts_with("NoCompiler: miss: `"), "{policy}: {found}");
        assert!(found.contains("hint:"), "{policy}: {found}");
    }
}

/// Publishes modules of the ops in `product`.
fn publish_ops(place: &Path) {
    let runtime = Runtime::builder().writable(place.join("store")).policy(Policy::Jit).build().unwrap();
    for text in ["x + y", "x * y"] {
        runtime.function(&vectors(text, "xy")).unwrap();
    }
}

/// Runs a process under `tiered` that requests a graph whose ops are in the store, and ends in the requested way.
#[expect(clippy::exit, reason = "how a process ends that drops nothing")]
pub(crate) fn tiered_role(place: &Path) -> String {
    let runtime = Runtime::builder().writable(place.join("store")).policy(Policy::Tiered).build().unwrap();
    let inputs = values(3, 33);
    let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    let function = runtime.function(&product()).unwrap();
    let first = function.call(&inputs).unwrap();
    match std::env::var("END").unwrap().as_str() {
        "exit" => std::process::exit(0),
        "drop" => drop(runtime),
        _ => {
            runtime.flush();
            assert_eq!(function.call(&inputs).unwrap(), first);
            // Requested again: the failure is remembered, and no event occurs twice.
            runtime.function(&product()).unwrap().call(&inputs).unwrap();
            runtime.flush();
            let stats = runtime.stats();
            let told: Vec<String> = stats.events.iter().map(ToString::to_string).collect();
            let counts = [stats.compiled, stats.swapped, stats.not_swapped];
            return format!("{} modules, {counts:?}\n{}", function.provenance().len(), told.join("\n"));
        }
    }
    "ended".to_owned()
}

#[test]
fn failed_background_compile_is_an_event() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    publish_ops(place);
    let tiered = |mut command: Command| {
        command.env("END", "flush").env("HOME", place).env("XDG_CACHE_HOME", place.join("cache"));
        answer(command, place)
    };
    let no_compiler = tiered(bare(process::role("tiered", place)));
    assert!(
        no_compiler.starts_with("2 modules, [0, 0, 2]\n"),
        "it may be installed meanwhile: {no_compiler}"
    );
    assert!(no_compiler.contains("using parts instead: ") && no_compiler.contains("hint:"), "{no_compiler}");
    let mut nowhere = process::role("tiered", place);
    nowhere.env("TMPDIR", place.join("missing"));
    let no_room = tiered(nowhere);
    assert!(no_room.starts_with("2 modules, [0, 0, 1]\n"), "what failed is not tried again: {no_room}");
    assert!(tiered(process::role("tiered", place)).starts_with("1 modules, [1, 1, 0]\n"));
    assert!(tiered(bare(process::role("tiered", place))).starts_with("1 modules, [0, 0, 0]\n"));
}

#[test]
fn exit_during_compile_leaves_nothing() {
    for end in ["drop", "exit"] {
        let place = tempfile::tempdir().unwrap();
        let (place, tmp) = (place.path(), place.path().join("tmp"));
        fs_err::create_dir(&tmp).unwrap();
        publish_ops(place);
        let mut command = process::role("tiered", place);
        assert!(command.env("END", end).env("TMPDIR", &tmp).status().unwrap().success());
        let store = Store::open(place.join("store")).unwrap();
        let verified = store.verify().unwrap();
        assert!(verified.is_intact() && verified.unreferenced.is_empty(), "{end}: {verified:?}");
        assert_eq!(
            verified.records,
            if end == "drop" { 3 } else { verified.records },
            "what had begun was finished"
        );
        // The next process that compiles removes files of a process that ended in the middle of a compilation.
        let mut next = process::role("policy", place);
        next.env("TMPDIR", &tmp);
        let found = asks(next, place, "jit", "writable", "(x - y) * (x + z)");
        assert_eq!(found, "jit, 1 compiled");
        let left: Vec<_> = fs_err::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{end}: {left:?}");
    }
}

#[test]
fn background_compiles_run_once_among_processes() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    publish_ops(place);
    let answers: Vec<String> = std::thread::scope(|scope| {
        let start = |n: usize| {
            let own = place.join(n.to_string());
            fs_err::create_dir(&own).unwrap();
            std::os::unix::fs::symlink(place.join("store"), own.join("store")).unwrap();
            move || {
                let mut command = process::role("tiered", &own);
                command.env("END", "flush");
                answer(command, &own)
            }
        };
        let threads: Vec<_> = (0..3).map(|n| scope.spawn(start(n))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let compiled = answers.iter().filter(|answer| answer.starts_with("1 modules, [1, 1, 0]")).count();
    assert_eq!(compiled, 1, "{answers:#?}");
    assert!(answers.iter().all(|answer| answer.starts_with("1 modules, ")), "{answers:#?}");
}

#[test]
fn default_without_compiler_is_strict() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    drop(Store::create(place.join("store")).unwrap());
    let found = asks(bare(process::role("policy", place)), place, "default", "store", "product");
    assert!(found.starts_with("Miss(3): miss: `"), "the graph and its two ops: {found}");
    let found = asks(bare(process::role("policy", place)), place, "interpret", "store", "product");
    assert_eq!(found, "interpreted, 0 compiled");
}

#[test]
fn with_a_compiler_the_default_is_jit() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let found = asks(process::role("policy", place), place, "default", "writable", "score");
    assert_eq!(found, "jit, 1 compiled");
}
