//! Tests of the policy `tiered`: parts answer at once, a compiled module replaces them, and the results have the same
//! bits.

use crate::call::graph;
use crate::resolve::{fill, objects, strict};
use ndarray::{Array1, array};
use precast_graph::interpret;
use precast_runtime::{Array, ArrayRef, Check, CodeOrigin, Event, Function, FunctionGraph, Policy, Runtime};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const INPUTS: [&str; 2] = ["x=f64[?]", "y=f64[?]"];

/// Returns a segment of two groups with an op between them.
fn wanted() -> FunctionGraph {
    graph("cumsum(exp(x)*y - 0.25)*y + x", &INPUTS)
}

/// Possible contents of a store.
const HOLDINGS: [(&str, &[&str], Check); 4] = [
    ("nothing", &[], Check::Miss),
    ("ops", &["exp(x)", "x*y", "x - y", "x + y", "cumsum(x)"], Check::OpByOp),
    ("groups", &["exp(x)*y - z", "cumsum(x)", "x*y + z"], Check::Groups),
    ("the whole", &["cumsum(exp(x)*y - 0.25)*y + x"], Check::Whole),
];

fn hold(store: &Path, texts: &[&str]) {
    let inputs = ["x=f64[?]", "y=f64[?]", "z=f64[?]"];
    let graphs = texts.iter().map(|text| {
        let used = inputs.iter().filter(|input| text.contains(&input[..1]));
        graph(text, &used.copied().collect::<Vec<_>>())
    });
    fill(store, &graphs.collect::<Vec<_>>());
}

fn values(n: usize) -> [Array; 2] {
    [Array1::linspace(-2.0, 2.0, n), Array1::linspace(0.5, 0.75, n)].map(|array| array.into_dyn().into())
}

fn call(function: &Function, inputs: &[Array]) -> Vec<Array> {
    function.call(&inputs.iter().map(ArrayRef::from).collect::<Vec<_>>()).unwrap()
}

fn tiered(store: &Path) -> Runtime {
    Runtime::builder().writable(store).policy(Policy::Tiered).build().unwrap()
}

/// Returns the number of modules that serve a function, and the source of the first.
fn served(function: &Function) -> (usize, &'static str) {
    let by = match function.provenance()[0].served {
        CodeOrigin::Artifact { .. } => "artifact",
        CodeOrigin::Jit { .. } => "jit",
        _ => "interpreter",
    };
    (function.provenance().len(), by)
}

#[test]
fn every_policy_has_the_same_bits() {
    let (inputs, graph) = (values(1000), wanted());
    let expected = interpret(&graph, &inputs).unwrap();
    for (what, texts, check) in HOLDINGS {
        for policy in Policy::ALL {
            for is_writable in [true, false] {
                let store = tempfile::tempdir().unwrap();
                drop(Runtime::builder().writable(store.path()).build().unwrap());
                hold(store.path(), texts);
                let case = format!("{policy}, {what}, writable: {is_writable}");
                let builder = Runtime::builder().policy(policy);
                let runtime = match is_writable {
                    true => builder.writable(store.path()),
                    false => builder.store(store.path()),
                };
                let runtime = runtime.build().unwrap();
                let told = runtime.explain(&graph).unwrap();
                assert_eq!(told.check(), check, "{case}: {:?}", told.groups);
                let function = runtime.function(&graph);
                let is_miss = check == Check::Miss;
                if is_miss && policy == Policy::Strict {
                    assert!(function.is_err(), "{case}");
                    continue;
                }
                let function = function.unwrap();
                assert_eq!(call(&function, &inputs), expected, "{case}");
                runtime.flush();
                assert_eq!(call(&function, &inputs), expected, "{case}, after what was compiled");
                let stats = runtime.stats();
                let swaps = policy == Policy::Tiered && !is_miss && check != Check::Whole;
                let compiles = swaps || (is_miss && policy.compiles());
                assert_eq!((stats.swapped, stats.not_swapped), (u64::from(swaps), 0), "{case}");
                assert_eq!(stats.compiled, u64::from(compiles), "{case}");
                assert_eq!(stats.misses, u64::from(is_miss), "{case}");
                let whole = compiles || check == Check::Whole;
                assert_eq!(served(&function).0 == 1, whole || is_miss, "{case}");
                let published = compiles && is_writable;
                assert_eq!(
                    strict(store.path()).check(&graph).unwrap() == Check::Whole,
                    published || check == Check::Whole,
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn calls_during_the_swap_keep_their_bits() {
    let store = tempfile::tempdir().unwrap();
    hold(store.path(), HOLDINGS[1].1);
    let (runtime, inputs) = (tiered(store.path()), values(257));
    let expected = interpret(&wanted(), &inputs).unwrap();
    let function = runtime.function(&wanted()).unwrap();
    let (swapped, before, after) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut into: Vec<Array> = vec![Array::zeros(expected[0].dtype(), &[257])];
                for extra in 0.. {
                    let is_over = swapped.load(Ordering::Acquire);
                    match extra % 2 {
                        0 => assert_eq!(call(&function, &inputs), expected),
                        _ => {
                            let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
                            function.call_into(&inputs, &mut into).unwrap();
                            assert_eq!(into, expected);
                        }
                    }
                    let count = if is_over { &after } else { &before };
                    count.fetch_add(1, Ordering::Relaxed);
                    if is_over && after.load(Ordering::Relaxed) > 800 {
                        break;
                    }
                }
            });
        }
        runtime.flush();
        swapped.store(true, Ordering::Release);
    });
    assert_eq!(served(&function), (1, "jit"));
    assert!(before.into_inner() > 0, "calls were served while it was compiled");
}

#[test]
fn repeatedly_requested_graph_is_compiled_once() {
    let store = tempfile::tempdir().unwrap();
    hold(store.path(), HOLDINGS[1].1);
    let (runtime, other) = (tiered(store.path()), tiered(store.path()));
    let inputs = values(5);
    let functions: Vec<Function> = std::thread::scope(|scope| {
        let asks = |runtime| move || Runtime::function(runtime, &wanted()).unwrap();
        let threads = (0..8).map(|n| scope.spawn(asks(if n % 2 == 0 { &runtime } else { &other })));
        threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    runtime.flush();
    other.flush();
    assert_eq!(runtime.stats().compiled + other.stats().compiled, 1, "the other waited for its turn");
    for function in &functions {
        assert_eq!(served(function).0, 1);
        assert_eq!(call(function, &inputs), call(&functions[0], &inputs));
    }
}

/// Flips a bit in each object of a store.
fn damage(store: &Path) {
    for object in &objects(store) {
        let mut bytes = fs_err::read(object).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs_err::remove_file(object).unwrap();
        fs_err::write(object, &bytes).unwrap();
    }
}

#[test]
fn every_policy_survives_damage() {
    let inputs = values(33);
    let expected = interpret(&wanted(), &inputs).unwrap();
    for policy in Policy::ALL {
        for ops_are_there in [true, false] {
            let case = format!("{policy}, ops: {ops_are_there}");
            let store = tempfile::tempdir().unwrap();
            let texts = if ops_are_there { HOLDINGS[3].1 } else { HOLDINGS[1].1 };
            hold(store.path(), texts);
            damage(store.path());
            if ops_are_there {
                hold(store.path(), HOLDINGS[1].1);
            }
            let runtime = Runtime::builder().writable(store.path()).policy(policy).build().unwrap();
            let function = runtime.function(&wanted());
            assert!(runtime.stats().damaged > 0, "{case}");
            if policy == Policy::Strict && !ops_are_there {
                assert!(function.is_err());
                continue;
            }
            let function = function.unwrap();
            assert_eq!(call(&function, &inputs), expected, "{case}");
            runtime.flush();
            assert_eq!(call(&function, &inputs), expected, "{case}");
            let swaps = policy == Policy::Tiered && ops_are_there;
            let compiles = swaps || (policy.compiles() && !ops_are_there);
            let stats = runtime.stats();
            assert_eq!((stats.compiled, stats.swapped), (u64::from(compiles), u64::from(swaps)), "{case}");
            let next = strict(store.path()).function(&wanted());
            assert_eq!(next.is_ok_and(|function| served(&function).0 == 1), compiles, "{case}: it heals");
        }
    }
}

#[test]
fn read_only_store_does_not_stop_swapping() {
    let store = tempfile::tempdir().unwrap();
    hold(store.path(), HOLDINGS[1].1);
    let runtime = tiered(store.path());
    // A file in place of the directory: even root cannot publish now.
    fs_err::remove_dir_all(store.path().join("tmp")).unwrap();
    fs_err::write(store.path().join("tmp"), "").unwrap();
    let function = runtime.function(&wanted()).unwrap();
    runtime.flush();
    assert_eq!(served(&function), (1, "jit"));
    assert_eq!(runtime.stats().swapped, 1);
}

#[test]
fn a_function_outlives_its_runtime_in_either_state() {
    let store = tempfile::tempdir().unwrap();
    hold(store.path(), HOLDINGS[1].1);
    let inputs = values(9);
    let functions: Vec<Function> =
        (0..3).map(|_| tiered(store.path()).function(&wanted()).unwrap()).collect();
    for function in functions {
        assert_eq!(call(&function, &inputs), interpret(&wanted(), &inputs).unwrap());
    }
}

#[test]
fn typed_and_debugged_calls_follow_the_swap() {
    let store = tempfile::tempdir().unwrap();
    fill(store.path(), &[graph("x + y", &INPUTS), graph("x*y", &INPUTS)]);
    let product = graph("(x + y)*y", &INPUTS);
    let (x, y) = (array![1.0, 2.0], array![0.5, 0.25]);
    type Vector = Array1<f64>;
    let runtime = tiered(store.path());
    let typed = runtime.function(&product).unwrap().typed::<(Vector, Vector), Vector>().unwrap();
    let first = typed.call((x.view(), y.view())).unwrap();
    runtime.flush();
    let mut into = array![0.0, 0.0];
    typed.call_into((x.view(), y.view()), &mut into).unwrap();
    assert_eq!((&first, &into), (&((&x + &y) * &y), &typed.call((x.view(), y.view())).unwrap()));
    assert_eq!(served(typed.function()), (1, "jit"));
    let debugged = Runtime::builder().store(store.path()).policy(Policy::Tiered).debug(true).build().unwrap();
    let function = debugged.function(&product).unwrap();
    debugged.flush();
    assert_eq!(function.call(&[x.view().into(), y.view().into()]).unwrap()[0], first.into_dyn().into());
    assert_eq!(served(&function).0, 1, "what is around it tells of what serves now");
}

#[test]
fn compiled_scalar_graph_has_a_plain_function() {
    let store = tempfile::tempdir().unwrap();
    let scalars = ["x=float64", "y=float64"];
    let wanted = graph("(x + y)*y", &scalars);
    fill(store.path(), &[graph("x + y", &scalars), graph("x*y", &scalars)]);
    let runtime = tiered(store.path());
    let function = runtime.function(&wanted).unwrap();
    runtime.flush();
    if runtime.stats().swapped == 0 {
        assert_eq!(runtime.stats().compiled, 1, "its ops are not served one by one");
    }
    assert!(function.native_function().is_ok(), "{:?}", function.native_function());
}

#[test]
fn events_report_the_swap() {
    let store = tempfile::tempdir().unwrap();
    hold(store.path(), HOLDINGS[1].1);
    let runtime = tiered(store.path());
    runtime.function(&wanted()).unwrap();
    runtime.flush();
    let events = runtime.stats().events;
    let position = |what: fn(&Event) -> bool| events.iter().position(what);
    let compiled = position(|event| matches!(event, Event::Compiled { .. })).unwrap();
    let swapped = position(|event| matches!(event, Event::Swapped { .. })).unwrap();
    assert!(compiled < swapped, "{events:?}");
    assert!(position(|event| matches!(event, Event::Published { .. })).is_some(), "{events:?}");
    assert!(events[swapped].to_string().starts_with("switched to "), "{}", events[swapped]);
}
