//! Tests of names of loaded modules: in the memory map of the process, and in files for profilers.
#![cfg(all(target_os = "linux", feature = "jit"))]

use precast_graph::{Array, text};
use precast_runtime::{Ops, Policy, Runtime};

/// Returns the memory map of this process while a function that was just called is loaded.
fn maps(runtime: &Runtime, expression: &str) -> String {
    let types = [text::parse_input("x: f64[?]").unwrap()];
    let graph = text::parse(&[expression], &types, &Ops::standard()).unwrap();
    let function = runtime.function(&graph).unwrap();
    let x = Array::from(ndarray::array![1.0, 2.0].into_dyn());
    function.call(&[(&x).into()]).unwrap();
    fs_err::read_to_string("/proc/self/maps").unwrap()
}

#[test]
fn a_mapping_is_named_after_op_and_digest() {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let maps = maps(&runtime, "sum(x * x * 3)");
    assert!(maps.contains("/memfd:precast:sum:"), "{maps}");
}

#[test]
fn profilers_find_symbols_in_the_directory() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("modules");
    let runtime = Runtime::builder().policy(Policy::Jit).profiling(&directory).build().unwrap();
    let maps = maps(&runtime, "sum(x * x * 5)");
    let files: Vec<_> = fs_err::read_dir(&directory).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    assert!(maps.contains(fs_err::canonicalize(file).unwrap().to_str().unwrap()), "{maps}");
    let bytes = fs_err::read(file).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("\0.symtab\0.strtab\0") && holds("\0sum((x * x) * c"), "no symbols");
}

#[test]
fn world_writable_directory_is_rejected() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = tempfile::tempdir().unwrap();
    fs_err::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let runtime = Runtime::builder().policy(Policy::Jit).profiling(place.path()).build().unwrap();
    let types = [text::parse_input("x: f64[?]").unwrap()];
    let graph = text::parse(&["x * 7"], &types, &Ops::standard()).unwrap();
    let refused = runtime.function(&graph).unwrap_err();
    let told = precast_core::event::chain(&refused);
    assert!(told.contains("cannot trust"), "{told}");
    assert_eq!(fs_err::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_named_graph_names_its_module() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("modules");
    let types = [text::parse_input("x: f64[?]").unwrap()];
    let graph = text::parse(&["sum(exp(-x) * 11)", "dot(x, x)"], &types, &Ops::standard()).unwrap();
    let builder = || Runtime::builder().policy(Policy::Jit);
    let memory = builder().build().unwrap().named_function("score", &graph).unwrap();
    let maps = || fs_err::read_to_string("/proc/self/maps").unwrap();
    assert!(maps().contains("/memfd:precast:score:"), "{}", maps());
    let file = builder().profiling(&directory).build().unwrap().named_function("score", &graph).unwrap();
    assert!(maps().contains("/precast-score-"), "{}", maps());
    let path = fs_err::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let bytes = fs_err::read(path).unwrap();
    let symbol = b"\0score: sum(exp(neg(x)) * c";
    assert!(bytes.windows(symbol.len()).any(|window| window == symbol), "no symbol");
    drop((memory, file));
}
