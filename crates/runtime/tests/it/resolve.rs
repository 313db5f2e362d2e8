//! Tests of resolution: hits, misses, policies, corrupt files.

use crate::call::graph;
use ndarray::array;
use precast_graph::{MakeNodeError, Op, PerformError};
use precast_runtime::{
    Array, Check, CodeOrigin, Dispatcher, Event, FunctionError, FunctionGraph, Policy, Runtime, Type,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn product() -> FunctionGraph {
    graph("(x + y) * z", &["x=f64[?]", "y=f64[?]", "z=f64[?]"])
}

/// Compiles graphs into a store.
pub(crate) fn fill(store: &Path, graphs: &[FunctionGraph]) {
    let runtime = Runtime::builder().writable(store).policy(Policy::Jit).build().unwrap();
    for graph in graphs {
        runtime.function(graph).unwrap();
    }
}

pub(crate) fn strict(store: &Path) -> Runtime {
    Runtime::builder().store(store).policy(Policy::Strict).build().unwrap()
}

pub(crate) fn objects(store: &Path) -> Vec<PathBuf> {
    let files =
        walkdir::WalkDir::new(store.join("objects")).into_iter().map(|entry| entry.unwrap().into_path());
    files.filter(|path| path.is_file()).collect()
}

#[test]
fn compiled_miss_is_a_hit_next_time() {
    let store = tempfile::tempdir().unwrap();
    let first = Runtime::builder().writable(store.path()).policy(Policy::Jit).build().unwrap();
    let function = first.function(&product()).unwrap();
    assert!(matches!(function.provenance()[0].served, CodeOrigin::Jit { .. }));
    assert_eq!((first.stats().misses, first.stats().compiled), (1, 1));
    drop(first);
    let next = strict(store.path());
    let function = next.function(&product()).unwrap();
    assert!(matches!(function.provenance()[0].served, CodeOrigin::Artifact { .. }));
    assert_eq!((next.stats().misses, next.stats().hits), (0, 1));
    let (x, y) = (array![1.0, 2.0], array![0.5, 0.25]);
    let got = function.call(&[x.view().into(), y.view().into(), x.view().into()]).unwrap();
    assert_eq!(got[0], Array::from(((&x + &y) * &x).into_dyn()));
}

#[test]
fn modules_for_all_extents_serve_known_ones() {
    let (text, known, open) = ("exp(x)/sum(exp(x)) + sum(x)", ["x=f64[3]"], ["x=f64[?]"]);
    let store = tempfile::tempdir().unwrap();
    fill(store.path(), &[graph(text, &open)]);
    let runtime = strict(store.path());
    let x = array![0.5, -1.25, 2.0];
    let general = runtime.function(&graph(text, &known)).unwrap().call(&[x.view().into()]).unwrap();
    assert_eq!(runtime.check(&graph(text, &known)).unwrap(), Check::Whole);

    // Modules for other extents serve neither.
    let store = tempfile::tempdir().unwrap();
    fill(store.path(), &[graph(text, &known)]);
    let runtime = strict(store.path());
    assert_eq!(runtime.function(&graph(text, &known)).unwrap().call(&[x.view().into()]).unwrap(), general);
    assert!(runtime.function(&graph(text, &["x=f64[4]"])).is_err());
    assert!(runtime.function(&graph(text, &open)).is_err());
}

#[test]
fn strict_miss_names_nearest_and_difference() {
    let store = tempfile::tempdir().unwrap();
    fill(store.path(), &[graph("x + y", &["x=f64[?]", "y=f64[?]"])]);
    let error = strict(store.path()).function(&graph("x + y", &["x=f32[?]", "y=f32[?]"])).unwrap_err();
    assert!(matches!(&error, FunctionError::Miss { misses, .. } if misses.len() == 1));
    let text = error.to_string();
    assert!(text.contains("miss: `add(f32[..], f32[..]) -> f32[..]`"), "{text}");
    assert!(
        text.contains("nearest `add(f64[..], f64[..]) -> f64[..]` differs in dtype of input 0, 1"),
        "{text}"
    );
}

#[test]
fn a_missing_module_appears_once() {
    let store = tempfile::tempdir().unwrap();
    fill(store.path(), &[graph("x + y", &["x=f64[?]", "y=f64[?]"])]);
    let text = "cumsum(cumsum(cumsum(x)))";
    let error = strict(store.path()).function(&graph(text, &["x=f64[?]"])).unwrap_err();
    let FunctionError::Miss { misses, .. } = &error else { panic!("{error}") };
    // The whole graph, and the op.
    assert_eq!(misses.len(), 2, "{error}");
}

#[test]
fn miss_in_empty_store_names_no_nearest() {
    let store = tempfile::tempdir().unwrap();
    drop(Runtime::builder().writable(store.path()).build().unwrap());
    let error = strict(store.path()).function(&product()).unwrap_err().to_string();
    assert!(error.contains("the layers contain no modules"), "{error}");
}

#[test]
fn op_by_op_serving_works_under_every_policy() {
    let store = tempfile::tempdir().unwrap();
    fill(
        store.path(),
        &[graph("x + y", &["x=f64[?]", "y=f64[?]"]), graph("x * y", &["x=f64[?,?]", "y=f64[?,?]"])],
    );
    let graph = graph("2 * (x + x) * z", &["x=f64[?]", "z=f64[?]"]);
    let (x, z) = (array![1.0, 2.0], array![3.0, 4.0]);
    for policy in Policy::ALL {
        let runtime = Runtime::builder().store(store.path()).policy(policy).build().unwrap();
        assert_eq!(runtime.check(&graph).unwrap(), Check::OpByOp);
        let function = runtime.function(&graph).unwrap();
        assert_eq!(function.provenance().len(), 3, "{policy}");
        assert_eq!(runtime.stats().misses, 0);
        for _ in 0..3 {
            let got = function.call(&[x.view().into(), z.view().into()]).unwrap();
            assert_eq!(got[0], Array::from(((&x + &x) * 2.0 * &z).into_dyn()));
        }
    }
}

#[test]
fn interpret_computes_missing_modules() {
    let runtime = Runtime::builder().policy(Policy::Interpret).build().unwrap();
    let function = runtime.function(&product()).unwrap();
    let x = array![1.0, 2.0];
    let got = function.call(&[x.view().into(), x.view().into(), x.view().into()]).unwrap();
    assert_eq!(got[0], Array::from(((&x + &x) * &x).into_dyn()));
    assert_eq!(function.provenance()[0].served, CodeOrigin::Interpreted);
}

/// An op with a reference, but no C.
#[derive(Debug)]
struct Twice;

impl Op for Twice {
    fn name(&self) -> &str {
        "twice"
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(inputs.to_vec())
    }
    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let Array::F64(x) = inputs[0] else { return Err(PerformError::value("twice", "no floats")) };
        Ok(vec![Array::F64(x * 2.0)])
    }
}

#[test]
fn interpret_computes_ops_without_c() {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
    let y = graph.apply(Arc::new(Twice), &[x]).unwrap()[0];
    graph.output(y, None).unwrap();
    let with = |policy| Runtime::builder().policy(policy).build().unwrap().function(&graph);
    let got = with(Policy::Interpret).unwrap().call(&[array![1.0, 2.0].view().into()]).unwrap();
    assert_eq!(got[0], Array::from(array![2.0, 4.0].into_dyn()));
    for policy in [Policy::Strict, Policy::Jit] {
        assert!(matches!(with(policy).unwrap_err(), FunctionError::Link(_)));
    }
}

#[test]
fn damage_is_a_miss_with_event_and_heals() {
    let store = tempfile::tempdir().unwrap();
    fill(store.path(), &[product()]);
    let object = &objects(store.path())[0];
    let mut bytes = fs_err::read(object).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs_err::remove_file(object).unwrap();
    fs_err::write(object, &bytes).unwrap();
    let runtime = strict(store.path());
    let error = runtime.function(&product()).unwrap_err();
    assert!(matches!(error, FunctionError::Miss { .. }));
    assert!(error.to_string().contains("a layer has it, but"), "{error}");
    assert!(error.to_string().contains("damaged"), "{error}");
    assert_eq!(runtime.stats().damaged, 1);
    assert!(runtime.stats().events.iter().any(|event| matches!(event, Event::Layer(_))));
    fill(store.path(), &[product()]);
    assert!(strict(store.path()).function(&product()).is_ok(), "published again");
}

#[test]
fn a_truncated_object_is_a_miss() {
    let store = tempfile::tempdir().unwrap();
    fill(store.path(), &[product()]);
    let object = &objects(store.path())[0];
    let bytes = fs_err::read(object).unwrap();
    fs_err::remove_file(object).unwrap();
    fs_err::write(object, &bytes[..bytes.len() / 2]).unwrap();
    assert!(strict(store.path()).function(&product()).is_err());
}

#[test]
fn read_only_store_does_not_stop_a_graph() {
    let store = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder().writable(store.path()).policy(Policy::Jit).build().unwrap();
    // A file in place of the directory: even root cannot publish now.
    fs_err::remove_dir_all(store.path().join("tmp")).unwrap();
    fs_err::write(store.path().join("tmp"), "").unwrap();
    assert!(runtime.function(&product()).is_ok());
    drop(runtime);
}

#[test]
fn different_edges_never_share_a_module() {
    let store = tempfile::tempdir().unwrap();
    let inputs = ["x=f64[?]", "y=f64[?]"];
    let [a, b] = ["exp(x)*y - exp(x)", "exp(x) - exp(x)*y"].map(|text| graph(text, &inputs));
    fill(store.path(), &[a.clone(), b.clone()]);
    let runtime = strict(store.path());
    let (x, y) = (array![0.5, 1.0], array![2.0, -3.0]);
    let [a, b] = [a, b].map(|graph| {
        let got = runtime.function(&graph).unwrap().call(&[x.view().into(), y.view().into()]).unwrap();
        match &got[0] {
            Array::F64(a) => a.clone(),
            _ => panic!("f64 expected"),
        }
    });
    assert_eq!(a, -&b);
    assert_ne!(a, b);
}

#[test]
fn different_constants_share_a_module() {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let x = array![1.0, 2.0];
    let value = |text: &str| {
        let function = runtime.function(&graph(text, &["x=f64[?]"])).unwrap();
        let got = function.call(&[x.view().into()]).unwrap();
        (function.provenance()[0].served.clone(), got)
    };
    let ((a, three), (b, five)) = (value("x * 3"), value("x * 5"));
    assert_eq!(a, b);
    assert_eq!(three[0], Array::from((&x * 3.0).into_dyn()));
    assert_eq!(five[0], Array::from((&x * 5.0).into_dyn()));
    assert_eq!(runtime.stats().compiled, 1, "the second is the first");
}

#[test]
fn a_dispatcher_picks_by_dtype_and_rank() {
    let runtime = Arc::new(Runtime::builder().policy(Policy::Jit).build().unwrap());
    let add = Dispatcher::new(Arc::clone(&runtime), "add");
    let (f, d, i) = (array![1.0_f32], array![[2.0_f64]], array![3_i64]);
    for _ in 0..2 {
        assert_eq!(
            add.call(&[f.view().into(), f.view().into()]).unwrap()[0],
            Array::from(array![2.0_f32].into_dyn())
        );
        assert_eq!(
            add.call(&[d.view().into(), d.view().into()]).unwrap()[0],
            Array::from(array![[4.0]].into_dyn())
        );
        assert_eq!(
            add.call(&[i.view().into(), i.view().into()]).unwrap()[0],
            Array::from(array![6_i64].into_dyn())
        );
        assert_eq!(
            add.call(&[i.view().into(), f.view().into()]).unwrap()[0],
            Array::from(array![4.0].into_dyn())
        );
    }
    assert!(Dispatcher::new(runtime, "nonsense").call(&[f.view().into()]).is_err());
}

#[test]
fn dispatcher_returns_typed_functions_and_signatures() {
    type Vector = ndarray::Array1<f64>;
    let runtime = Arc::new(Runtime::builder().policy(Policy::Jit).build().unwrap());
    let add = Dispatcher::new(Arc::clone(&runtime), "add");
    let (x, mut into) = (array![1.0, 2.0], array![0.0, 0.0]);
    let typed = add.typed::<(Vector, Vector), Vector>().unwrap();
    assert_eq!(typed.call((x.view(), x.view())).unwrap(), array![2.0, 4.0]);
    typed.call_into((x.view(), x.slice(ndarray::s![..;-1])), &mut into).unwrap();
    assert_eq!(into, array![3.0, 3.0]);
    typed.call_into((x.view(), array![1.0].view()), &mut into).unwrap();
    assert_eq!(into, array![2.0, 3.0]);
    typed.call_into((array![1.0, 2.0, 3.0].view(), array![1.0].view()), &mut into).unwrap();
    assert_eq!(into, array![2.0, 3.0, 4.0]);
    assert!(typed.call((x.view(), array![1.0, 2.0, 3.0].view())).is_err());
    let scalars = add.typed::<(Vector, f64), Vector>().unwrap();
    assert_eq!(scalars.call((x.view(), 0.5)).unwrap(), array![1.5, 2.5]);
    assert_eq!(add.typed::<(f64, f64), f64>().unwrap().call((1.0, 0.5)).unwrap(), 1.5);
    let other = add.typed::<(Vector, Vector), ndarray::Array1<f32>>().unwrap_err();
    assert_eq!(
        std::error::Error::source(&other).unwrap().to_string(),
        "the function is `(f64[?], f64[?]) -> f64[?]`, expected `(f64[?], f64[?]) -> f32[?]`"
    );
    assert_eq!(add.signatures(), ["#1d#1d)#1d", "#1d#0d)#1d", "#0d#0d)#0d"]);
}

#[test]
fn dispatcher_preloads_without_compiling() {
    let store = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder().writable(store.path()).policy(Policy::Jit).build().unwrap();
    let add = Dispatcher::new(runtime.into(), "add");
    let (f, d) = (array![1.0_f32], array![[2.0_f64]]);
    add.call(&[f.view().into(), f.view().into()]).unwrap();
    add.call(&[d.view().into(), d.view().into()]).unwrap();
    // Dropping the runtime waits until it has published its modules.
    drop(add);
    let runtime = Runtime::builder().store(store.path()).policy(Policy::Jit).build().unwrap();
    let runtime = Arc::new(runtime);
    let add = Dispatcher::new(Arc::clone(&runtime), "add");
    assert_eq!(add.preload(&[0, 1, 2]).unwrap(), 4);
    // One module serves every rank except 0.
    assert_eq!(add.signatures(), ["#1f#1f)#1f", "#2f#2f)#2f", "#1d#1d)#1d", "#2d#2d)#2d"]);
    assert_eq!(add.preload(&[1]).unwrap(), 4);
    assert_eq!(Dispatcher::new(Arc::clone(&runtime), "mul").preload(&[1]).unwrap(), 0);
    assert_eq!(Dispatcher::new(Arc::clone(&runtime), "nonsense").preload(&[1]).unwrap(), 0);
    assert_eq!(runtime.stats().compiled, 0);
    let sum = add.call(&[f.view().into(), f.view().into()]).unwrap();
    assert_eq!(sum, [Array::from(array![2.0_f32].into_dyn())]);
}

#[test]
fn concurrent_misses_compile_once() {
    let store = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder().writable(store.path()).policy(Policy::Jit).build().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| runtime.function(&product()).unwrap());
        }
    });
    assert_eq!(runtime.stats().compiled, 1);
}

#[test]
fn a_missing_object_is_named_in_the_miss() {
    let store = tempfile::tempdir().unwrap();
    fill(store.path(), &[product()]);
    for object in objects(store.path()) {
        fs_err::remove_file(object).unwrap();
    }
    let error = strict(store.path()).function(&product()).unwrap_err().to_string();
    assert!(error.contains("a layer has it, but"), "{error}");
}
