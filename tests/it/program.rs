//! The virtual machine: graphs that several modules serve, run as one program.
//!
//! These tests count the memory of the calling thread: allocations of a steady call, the peak of a program, and leaks
//! after an error. Values are compared with `perform`.

use crate::compiled::{Granularity, bundle, toolchain, variant};
use crate::graphs::{graph, outputs, random};
use allocation_counter::{AllocationInfo, measure};
use ndarray::{Array1, Array2, ArrayD, array, s};
use precast::{
    Array, ArrayRef, CallError, Check, CodeOrigin, Function, FunctionGraph, Policy, Runtime, Serve,
};
use precast_build::{Declared, Execution, SourceLocation, execute, plan};
use precast_compile::Isa;
use precast_graph::interpret;
use precast_store::Store;
use std::path::Path;

const GRANULARITIES: [Granularity; 4] =
    [Granularity::Whole, Granularity::Groups, Granularity::OpByOp, Granularity::Mixed(5)];

/// Returns a runtime with only the modules of some graphs, all of one granularity.
fn served(graphs: &[FunctionGraph], granularity: Granularity) -> Runtime {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.bundle");
    fs_err::write(&path, bundle(graphs, granularity, Isa::native().unwrap())).unwrap();
    Runtime::builder().bundle_file(&path).policy(Policy::Strict).build().unwrap()
}

fn function(graph: &FunctionGraph, granularity: Granularity) -> Function {
    served(std::slice::from_ref(graph), granularity).function(graph).unwrap()
}

fn refs(inputs: &[Array]) -> Vec<ArrayRef<'_>> {
    inputs.iter().map(ArrayRef::from).collect()
}

fn f64s<D: ndarray::Dimension>(array: ndarray::Array<f64, D>) -> Array {
    Array::from(array.into_dyn())
}

fn nothing_left(info: AllocationInfo) -> bool {
    (info.count_current, info.bytes_current) == (0, 0)
}

/// Returns graphs with temporaries of several shapes, views, reductions, products and several outputs.
fn programs() -> Vec<FunctionGraph> {
    let matrices = ["x=f64[?,?]", "y=f64[?,?]"];
    [
        &["sum(exp(-x*x)*y + y)"][..],
        &["a = transpose(exp(x)) - y", "b = sum(transpose(exp(x)) - y, axis=0)"],
        &["cumsum(cumsum(x*y, axis=0), axis=1) - mean(x)"],
        &["a = transpose(cumsum(x, axis=0))", "b = max(tanh(x) + y, axis=1)", "c = transpose(tanh(x))*2.5"],
        &["(x - mean(x))/sqrt(mean((x - mean(x))*(x - mean(x))) + 1e-3)"],
        &["y[1:] - x[::-1][1:]", "sum(exp(y[1:]), axis=0)"],
    ]
    .map(|texts| outputs(texts, &matrices))
    .into()
}

fn matrices(n: usize) -> Vec<Array> {
    let x = Array2::from_shape_fn((n, n), |(i, j)| (i as f64 - 1.5) * 0.25 + j as f64 * 0.125);
    let y = Array2::from_shape_fn((n, n), |(i, j)| 1.0 + (i * n + j) as f64 / 64.0);
    vec![f64s(x), f64s(y)]
}

#[test]
fn steady_calls_allocate_nothing() {
    for granularity in GRANULARITIES {
        let runtime = served(&programs(), granularity);
        for graph in programs() {
            let function = runtime.function(&graph).unwrap();
            let inputs = matrices(5);
            let inputs = refs(&inputs);
            let mut outputs = function.call(&inputs).unwrap();
            for _ in 0..2 {
                function.call_into(&inputs, &mut outputs).unwrap();
            }
            let info = measure(|| (0..10).for_each(|_| function.call_into(&inputs, &mut outputs).unwrap()));
            assert_eq!(
                info.count_total,
                0,
                "{granularity:?}: {}: {info:?}",
                precast_ops::rewrite::lower(&graph).unwrap()
            );
        }
    }
}

#[test]
fn typed_calls_allocate_only_results() {
    type Vector = Array1<f64>;
    let function = |texts: &[&str]| function(&outputs(texts, &["x=f64[?]", "y=f64[?]"]), Granularity::Whole);
    let (x, y) = (Vector::linspace(0.0, 1.0, 5), Vector::linspace(2.0, 3.0, 5));
    let (numbers, arrays) = (function(&["sum(x)", "max(y)"]), function(&["x + y", "x*y", "sum(x)"]));
    let numbers = numbers.typed::<(Vector, Vector), (f64, f64)>().unwrap();
    let arrays = arrays.typed::<(Vector, Vector), (Vector, Vector, f64)>().unwrap();
    assert_eq!(measure(|| assert!(numbers.call((x.view(), y.view())).is_ok())).count_total, 0);
    assert_eq!(measure(|| drop(arrays.call((x.view(), y.view())).unwrap())).count_total, 2);
    let (mut a, mut b, mut c) = arrays.call((x.view(), y.view())).unwrap();
    let info = measure(|| arrays.call_into((x.view(), y.view()), (&mut a, &mut b, &mut c)).unwrap());
    assert_eq!(info.count_total, 0);
}

#[test]
fn temporaries_whose_lives_do_not_meet_share_memory() {
    // Cumulative sums cannot be fused; each needs the previous one and its own buffer.
    let chain = graph("c(c(c(c(c(c(c(c(x))))))))".replace('c', "cumsum").as_str(), &["x=f64[?]"]);
    let n = 50_000;
    let inputs = [f64s(Array1::linspace(0.0, 1.0, n))];
    let array = (n * 8) as u64;
    for granularity in [Granularity::Groups, Granularity::OpByOp] {
        let function = function(&chain, granularity);
        assert_eq!(function.provenance().len(), 8);
        let mut found = Vec::new();
        let info = measure(|| found = function.call(&refs(&inputs)).unwrap());
        assert_eq!(found, interpret(&chain, &inputs).unwrap());
        // Two temporaries and the result; at the end, at most the result and one temporary remain.
        assert!(info.bytes_max < 3 * array + array / 2, "{granularity:?}: {} arrays", info.bytes_max / array);
        assert!(
            info.bytes_total < 3 * array + array / 2,
            "{granularity:?}: {} arrays",
            info.bytes_total / array
        );
    }
}

#[test]
fn memory_of_larger_calls_is_released() {
    let graph = graph("cumsum(cumsum(cumsum(x)))", &["x=f64[?]"]);
    let function = function(&graph, Granularity::OpByOp);
    let call = |n: usize| {
        let inputs = [f64s(Array1::linspace(0.0, 1.0, n))];
        drop(function.call(&refs(&inputs)).unwrap());
    };
    call(10);
    call(10);
    let info = measure(|| {
        call(100_000);
        call(10);
        call(10);
    });
    assert!(info.bytes_current < 4096, "{} bytes are kept", info.bytes_current);
}

#[test]
fn threads_share_a_function_with_own_errors() {
    let graph = graph("sum(exp(x @ y) - cumsum(x @ y, axis=0), axis=0)", &["x=f64[?,?]", "y=f64[?,?]"]);
    for granularity in [Granularity::OpByOp, Granularity::Mixed(2)] {
        let function = function(&graph, granularity);
        std::thread::scope(|scope| {
            for number in 1..=8_usize {
                let (function, graph) = (&function, &graph);
                scope.spawn(move || {
                    let x = Array2::from_shape_fn((number, 3), |(i, j)| 0.1 * i as f64 - 0.2 * j as f64);
                    let inputs = [f64s(x.clone()), f64s(x.t().to_owned())];
                    let want = interpret(graph, &inputs).unwrap();
                    let wrong = [f64s(x), f64s(Array2::zeros((2, 2)))];
                    let mut outputs = want.clone();
                    for round in 0..100 {
                        if round % 3 == number % 3 {
                            assert!(matches!(function.call(&refs(&wrong)), Err(CallError::Op { .. })));
                        }
                        function.call_into(&refs(&inputs), &mut outputs).unwrap();
                        assert_eq!(outputs[0].bits(), want[0].bits(), "{granularity:?}, thread {number}");
                    }
                });
            }
        });
    }
}

#[test]
fn failure_leaves_nothing_and_next_call_works() {
    // By the shapes of `z` the first product succeeds and the second fails, with temporaries and views alive.
    let a = "transpose(exp(x) @ y)";
    let (b, c) = (format!("b = {a} @ (z*2) + sum({a})"), "c = cumsum(y - 1, axis=1)");
    let graph = outputs(&[a, &b, c], &["x=f64[?,?]", "y=f64[?,?]", "z=f64[?,?]"]);
    let right: Vec<Array> = [matrices(4), vec![f64s(Array2::eye(4))]].concat();
    let wrong: Vec<Array> = [matrices(4), vec![f64s(Array2::eye(3))]].concat();
    let want = interpret(&graph, &right).unwrap();
    assert!(interpret(&graph, &wrong).is_err());
    for granularity in GRANULARITIES {
        let function = function(&graph, granularity);
        let mut outputs = function.call(&refs(&right)).unwrap();
        let mut both = || {
            let error = function.call(&refs(&wrong)).unwrap_err();
            assert!(
                matches!(&error, CallError::Op { signature, .. } if signature.contains("dot")),
                "{error}"
            );
            // The same for existing arrays, which stay arrays.
            function.call_into(&refs(&wrong), &mut outputs).unwrap_err();
            function.call_into(&refs(&right), &mut outputs).unwrap();
            assert_eq!(outputs, want, "{granularity:?}");
        };
        both();
        both();
        // The set of tensors that a function keeps may alternate, but a leak in each round would add up.
        let info = measure(|| (0..40).for_each(|_| both()));
        assert!(info.count_current.abs() < 8 && info.bytes_current.abs() < 2048, "{granularity:?}: {info:?}");
    }
}

#[test]
fn functions_and_runtimes_leak_nothing() {
    let graph = programs().remove(3);
    let inputs = matrices(6);
    for granularity in GRANULARITIES {
        let runtime = served(std::slice::from_ref(&graph), granularity);
        // Loads the library once, since memory of the dynamic linker does not count.
        let _loaded = runtime.function(&graph).unwrap();
        let once = || drop(runtime.function(&graph).unwrap().call(&refs(&inputs)).unwrap());
        // The runtime caches the cover and its events, and the thread keeps headers.
        (0..300).for_each(|_| once());
        let info = measure(once);
        assert!(nothing_left(info), "{granularity:?}: {info:?}");
    }
}

#[test]
fn view_outputs_do_not_share_memory() {
    let texts = ["a = transpose(x)", "b = transpose(exp(x))", "c = x[1:]", "d = exp(x)"];
    let graph = outputs(&texts, &["x=f64[?,?]"]);
    let x = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let inputs = [f64s(x.clone())];
    let want = interpret(&graph, &inputs).unwrap();
    for granularity in GRANULARITIES {
        let function = function(&graph, granularity);
        let mut found = function.call(&refs(&inputs)).unwrap();
        assert_eq!(found, want, "{granularity:?}");
        for at in 0..found.len() {
            let Array::F64(mine) = &mut found[at] else { panic!("f64 expected") };
            mine.fill(-7.0);
            let others = (0..want.len()).filter(|other| *other > at);
            others.for_each(|other| {
                assert_eq!(found[other], want[other], "{granularity:?}: {at} reaches {other}");
            });
        }
        assert_eq!(inputs[0], f64s(x.clone()), "{granularity:?}");
        // The same again, over the written arrays.
        function.call_into(&refs(&inputs), &mut found).unwrap();
        assert_eq!(found, want, "{granularity:?}");
        // The same into strided memory of the caller.
        let mut wide = [ArrayD::zeros(vec![6, 4]), ArrayD::zeros(vec![6, 4]), ArrayD::zeros(vec![2, 6])];
        let mut last = Array2::zeros((2, 3));
        let [a, b, c] = &mut wide;
        let (a, b, c) =
            (a.slice_mut(s![..;2, ..;-2]), b.slice_mut(s![..;-2, ..2]), c.slice_mut(s![..1, ..;2]));
        let mut targets = [a.into(), b.into(), c.into(), last.view_mut().into()];
        function.call_views(&refs(&inputs), &mut targets).unwrap();
        let parts =
            [wide[0].slice(s![..;2, ..;-2]), wide[1].slice(s![..;-2, ..2]), wide[2].slice(s![..1, ..;2])];
        for (part, want) in parts.into_iter().zip(&want) {
            assert_eq!(f64s(part.to_owned()), *want, "{granularity:?}");
        }
        assert_eq!(f64s(last), want[3]);
    }
}

#[test]
fn inputs_and_constants_are_never_overwritten() {
    let seeds = 400..420_u64;
    let cases: Vec<_> = seeds.map(|seed| (seed, random(seed, 12))).collect();
    let graphs: Vec<FunctionGraph> = cases.iter().map(|(_, case)| case.graph.clone()).collect();
    let (mut calls, mut programs) = (0, 0);
    for granularity in [Granularity::Whole, Granularity::Groups, Granularity::OpByOp] {
        let runtime = served(&graphs, granularity);
        for (seed, case) in &cases {
            let function = runtime.function(&case.graph).unwrap();
            programs += usize::from(function.provenance().len() > 2);
            let Ok(first) = function.call(&refs(&case.inputs)) else { continue };
            let before: Vec<Vec<u64>> = case.inputs.iter().map(Array::bits).collect();
            // A constant that was overwritten would show in the second call.
            let second = function.call(&refs(&case.inputs)).unwrap();
            let bits = |arrays: &[Array]| arrays.iter().map(Array::bits).collect::<Vec<_>>();
            assert_eq!(bits(&first), bits(&second), "seed {seed}, {granularity:?}");
            assert_eq!(bits(&case.inputs), before, "seed {seed}, {granularity:?}");
            calls += 1;
        }
    }
    assert!(calls > 20 && programs > 12, "{calls} calls, {programs} programs");
}

#[test]
fn arrays_without_elements_go_through_every_step() {
    let texts = ["exp(x) @ y", "sum(exp(x) @ y + 1, axis=0)", "cumsum(transpose(x)*2)"];
    let graph = outputs(&texts, &["x=f64[?,?]", "y=f64[?,?]"]);
    for granularity in GRANULARITIES {
        let function = function(&graph, granularity);
        let mut outputs: Option<Vec<Array>> = None;
        for (n, m, k) in [(0, 3, 2), (3, 0, 2), (2, 3, 0), (0, 0, 0), (2, 3, 4), (0, 3, 2), (2, 0, 4)] {
            let x = Array2::from_shape_fn((n, m), |(i, j)| (i + j) as f64);
            let inputs = [f64s(x), f64s(Array2::ones((m, k)))];
            let want = interpret(&graph, &inputs).unwrap();
            assert_eq!(function.call(&refs(&inputs)).unwrap(), want, "{granularity:?}, {n} {m} {k}");
            let reused = outputs.get_or_insert_with(|| want.clone());
            function.call_into(&refs(&inputs), reused).unwrap();
            assert_eq!(*reused, want, "{granularity:?}, {n} {m} {k}, reused");
        }
    }
}

/// Builds a graph into a store: groups and ops.
fn build(graph: &FunctionGraph, path: &Path) -> Store {
    let mut declared = Declared::default();
    let place = SourceLocation::in_file(Path::new("precast.toml"));
    declared.graph_served("g", graph.clone(), &[Serve::Groups, Serve::Ops], place).unwrap();
    let (plan, toolchain) = (plan(&declared).unwrap(), toolchain());
    let store = Store::create(path).unwrap();
    let variants = [variant(Isa::native().unwrap())];
    execute(&plan, &Execution { store: Some(&store), ..Execution::new(&toolchain, &variants) }).unwrap();
    store
}

#[test]
fn module_damaged_after_loading_is_harmless() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let graph = outputs(&["a = sum(exp(x)*y)", "b = max(x - y)"], &["x=f64[?]", "y=f64[?]"]);
    drop(build(&graph, &path));
    let inputs = [f64s(array![1.0, 2.0, 3.0]), f64s(array![0.5, 0.25, 2.0])];
    let want = interpret(&graph, &inputs).unwrap();
    let open = || Runtime::builder().store(&path).policy(Policy::Strict).build().unwrap();
    let runtime = open();
    assert_eq!(runtime.check(&graph).unwrap(), Check::Groups);
    let function = runtime.function(&graph).unwrap();
    let served = function.provenance()[0].served.clone();
    let CodeOrigin::Artifact { digest, .. } = served else { panic!("{served:?}") };
    let name = digest.to_string();
    let object = path.join("objects").join(&name[..2]).join(format!("{name}.tar.zst"));
    let mut bytes = fs_err::read(&object).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    fs_err::remove_file(&object).unwrap();
    fs_err::write(&object, bytes).unwrap();
    // Loaded code is a copy, so later changes on disk have no effect.
    assert_eq!(function.call(&refs(&inputs)).unwrap(), want);
    assert_eq!(runtime.function(&graph).unwrap().call(&refs(&inputs)).unwrap(), want);
    // The next process detects the damage. A unit holds several modules, so more than the one group may be missing.
    let next = open();
    match next.function(&graph) {
        Ok(function) => {
            assert_eq!(function.call(&refs(&inputs)).unwrap(), want);
            assert!(!function.provenance().iter().any(|part| part.served == served));
        }
        Err(error) => assert!(error.to_string().contains("miss: `"), "{error}"),
    }
    assert_eq!(next.stats().damaged, 1);
    drop(next);
    // After another build it serves again.
    drop(build(&graph, &path));
    assert_eq!(open().function(&graph).unwrap().call(&refs(&inputs)).unwrap(), want);
    fs_err::remove_dir_all(&path).unwrap();
    assert_eq!(function.call(&refs(&inputs)).unwrap(), want);
}
