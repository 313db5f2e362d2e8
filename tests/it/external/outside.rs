//! Headers outside an op's sources: a program that may compile detects a changed header, like `precast build`.

use super::{call, graph, op};
use precast::{Array, FunctionGraph, Policy, Runtime};
use precast_build::{Declared, Execution, SourceLocation, execute, plan};
use precast_codegen::external::Declaration;
use precast_compile::Isa;
use precast_store::Store;
use std::path::Path;

/// Returns an op that multiplies by a constant from a header in a directory.
fn scaled(directory: &Path) -> FunctionGraph {
    let text = "#section support_code\n#include <outer.h>\n#section code\nOUTPUT_0 = INPUT_0 * OUTER;\n";
    let mut declaration = Declaration::new("scaled").file("scaled.c", text).input("f64").output("f64");
    declaration.header_dirs = vec![directory.display().to_string()];
    graph(&op(declaration), &["f64"])
}

/// Returns the result for 1, and the number of compilations that it took.
fn asked(runtime: &Runtime, graph: &FunctionGraph) -> (f64, u64) {
    let before = runtime.stats().compiled;
    let function = runtime.function(graph).unwrap();
    let scalar = |value: f64| Array::from(ndarray::ArrayD::from_elem(vec![], value));
    let found = call(&function, &[scalar(1.0)]).unwrap();
    let value = (0..10).find(|value| found == [scalar(f64::from(*value))]).expect("a digit");
    (f64::from(value), runtime.stats().compiled - before)
}

fn runtime(store: &Path, policy: Policy) -> Runtime {
    Runtime::builder().writable(store).policy(policy).build().unwrap()
}

fn write(directory: &Path, value: u32) {
    fs_err::write(directory.join("outer.h"), format!("#define OUTER {value}\n")).unwrap();
}

#[test]
fn changed_header_is_a_miss_if_compiling() {
    let (place, outer) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, graph) = (place.path().join("store"), scaled(outer.path()));
    write(outer.path(), 2);
    let first = runtime(&store, Policy::Jit);
    assert_eq!(asked(&first, &graph), (2.0, 1));
    drop(first);
    let long = runtime(&store, Policy::Jit);
    assert_eq!(asked(&long, &graph), (2.0, 0), "published");
    write(outer.path(), 3);
    assert_eq!(asked(&long, &graph), (3.0, 1), "in a process that used the old one");
    assert_eq!(asked(&long, &graph), (3.0, 0));
    write(outer.path(), 4);
    assert_eq!(asked(&long, &graph), (4.0, 1), "in a process that compiled the old one");
    drop(long);
    assert_eq!(asked(&runtime(&store, Policy::Jit), &graph), (4.0, 0), "published in its place");
}

#[test]
fn strict_and_headerless_programs_are_served() {
    let (place, outer) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, graph) = (place.path().join("store"), scaled(outer.path()));
    write(outer.path(), 2);
    assert_eq!(asked(&runtime(&store, Policy::Jit), &graph), (2.0, 1));
    write(outer.path(), 3);
    assert_eq!(asked(&runtime(&store, Policy::Strict), &graph), (2.0, 0));
    fs_err::remove_file(outer.path().join("outer.h")).unwrap();
    assert_eq!(asked(&runtime(&store, Policy::Jit), &graph), (2.0, 0));
}

#[test]
fn build_and_program_agree() {
    let (place, outer) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, graph) = (place.path().join("store"), scaled(outer.path()));
    let build = || {
        let mut declared = Declared::default();
        declared
            .graph("scaled", scaled(outer.path()), SourceLocation::in_file(Path::new("precast.toml")))
            .unwrap();
        let (plan, toolchain) = (plan(&declared).unwrap(), crate::compiled::toolchain());
        let (store, variants) =
            (Store::create(&path).unwrap(), [crate::compiled::variant(Isa::native().unwrap())]);
        let execution = Execution { store: Some(&store), ..Execution::new(&toolchain, &variants) };
        execute(&plan, &execution).unwrap().compiled
    };
    for value in [2, 3] {
        write(outer.path(), value);
        assert_eq!(build(), 1);
        assert_eq!(build(), 0);
        assert_eq!(asked(&runtime(&path, Policy::Jit), &graph), (f64::from(value), 0));
        assert_eq!(asked(&runtime(&path, Policy::Strict), &graph), (f64::from(value), 0));
    }
}
