//! Policies: what a declared graph, a miss, a compiler and the lack of one come to, in this process and in others.

use crate::graphs::{product, score, values, vectors};
use crate::process::{self, answer, bare};
use precast::{ArrayRef, Check, FunctionError, Policy, Runtime, Served};
use precast_build::{Declared, Execution, Place, execute, plan};
use precast_compile::{Isa, Parallel};
use precast_graph::interpret;
use precast_store::Store;
use std::path::Path;
use std::process::Command;

/// Builds the declared graphs into the store of a place, as `precast build` does.
fn declare(place: &Path) {
    let mut declared = Declared::default();
    for (name, graph) in [("score", score()), ("product", product())] {
        declared.graph(name, graph, Place::in_file(Path::new("precast.toml"))).unwrap();
    }
    let (plan, toolchain) = (plan(&declared).unwrap(), crate::compiled::toolchain());
    let store = Store::create(place.join("store")).unwrap();
    let variants = [crate::compiled::variant(Isa::native().unwrap())];
    let execution = Execution {
        store: Some(&store),
        toolchain: &toolchain,
        variants: &variants,
        parallel: Parallel::Auto,
        progress: &|_| {},
    };
    let executed = execute(&plan, &execution).unwrap();
    fs_err::write(place.join("bundle"), executed.bundle(&toolchain).unwrap()).unwrap();
}

/// What a process asks for, and what became of it: served by whom and right, or the error.
fn ask(runtime: &Runtime, what: &str) -> String {
    let graph = match what {
        "score" => score(),
        "product" => product(),
        other => vectors(other, "xyz"),
    };
    let function = match runtime.function(&graph) {
        Ok(function) => function,
        Err(FunctionError::Miss { misses, recorded }) => {
            return format!("Miss({}): {}", misses.len(), FunctionError::Miss { misses, recorded });
        }
        Err(error @ FunctionError::NoCompiler { .. }) => return format!("NoCompiler: {error}"),
        Err(error) => return format!("another error: {error:?}"),
    };
    let inputs = values(3, 33);
    let results = function.call(&inputs.iter().map(ArrayRef::from).collect::<Vec<_>>()).unwrap();
    assert_eq!(results, interpret(&graph, &inputs).unwrap());
    let served = match &function.provenance()[0].served {
        Served::Artifact { .. } => "artifact",
        Served::Jit { .. } => "jit",
        Served::Interpreted => "interpreted",
        _ => "unknown",
    };
    format!("{served}, {} compiled", runtime.stats().compiled)
}

/// A process with a policy (or `default`) that asks for one graph.
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
fn declared_graphs_hit_in_a_bare_process_under_every_policy() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    declare(place);
    for policy in ["strict", "interpret", "jit", "default"] {
        for (layer, graph) in [("bundle", "score"), ("store", "product")] {
            let found = asks(bare(process::role("policy", place)), place, policy, layer, graph);
            assert_eq!(found, "artifact, 0 compiled", "{policy}, {layer}");
        }
    }
    // By name, with no graph in the program at all.
    let runtime =
        Runtime::builder().bundle_file(place.join("bundle")).policy(Policy::Strict).build().unwrap();
    assert_eq!(runtime.entries(), ["product", "score"]);
    let inputs = values(3, 10);
    let refs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    let found = runtime.entry("score").unwrap().call(&refs).unwrap();
    assert_eq!(found, interpret(&score(), &inputs).unwrap());
    // What serves it is held: what becomes of the layer is nothing to it.
    let stored = Runtime::builder().store(place.join("store")).policy(Policy::Strict).build().unwrap();
    stored.entry("score").unwrap();
    fs_err::rename(place.join("store"), place.join("gone")).unwrap();
    assert_eq!(stored.entry("score").unwrap().call(&refs).unwrap(), found);
    let unknown = runtime.entry("scores").unwrap_err().to_string();
    assert!(unknown.contains("`scores`") && unknown.contains("product, score"), "{unknown}");
}

#[test]
fn an_undeclared_graph_under_strict_is_an_error_that_names_the_nearest() {
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
fn jit_compiles_once_and_the_next_process_hits_without_a_compiler() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let first = asks(process::role("policy", place), place, "jit", "writable", "product");
    assert_eq!(first, "jit, 1 compiled");
    let second = asks(process::role("policy", place), place, "jit", "writable", "product");
    assert_eq!(second, "artifact, 0 compiled");
    for policy in ["jit", "strict", "default"] {
        let next = asks(bare(process::role("policy", place)), place, policy, "store", "product");
        assert_eq!(next, "artifact, 0 compiled", "{policy}");
    }
}

#[test]
fn jit_without_a_compiler_is_a_typed_error_with_a_hint() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    drop(Store::create(place.join("store")).unwrap());
    let mut command = bare(process::role("policy", place));
    command.env("HOME", place).env("XDG_CACHE_HOME", place.join("cache"));
    let found = asks(command, place, "jit", "writable", "product");
    assert!(found.starts_with("NoCompiler: miss: `"), "{found}");
    assert!(found.contains("hint:"), "{found}");
}

#[test]
fn without_a_compiler_the_default_is_strict_and_interpret_still_computes() {
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
