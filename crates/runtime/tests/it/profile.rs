//! Tests of profiles: the kernels, their ops, and the counted work. Times are not checked.

use precast_graph::{Array, text};
use precast_runtime::profile::{Bound, Options, Profile, profile};
use precast_runtime::{Ops, Policy, Runtime};
use std::time::Duration;

/// Profiles a text whose inputs are matrices of ones, with the interpreter.
fn profiled(outputs: &[&str], inputs: &[(&str, [usize; 2])]) -> Profile {
    let types = inputs.iter().map(|(name, _)| text::parse_input(&format!("{name}: f64[?, ?]")).unwrap());
    let graph = text::parse(outputs, &types.collect::<Vec<_>>(), &Ops::standard()).unwrap();
    let runtime = Runtime::builder().policy(Policy::Interpret).build().unwrap();
    let arrays: Vec<Array> = inputs
        .iter()
        .map(|(_, shape)| Array::from(ndarray::Array2::<f64>::ones(*shape).into_dyn()))
        .collect();
    let mut options = Options::default();
    options.time = Duration::ZERO;
    profile(&runtime, &graph, &arrays, &options).unwrap()
}

#[test]
fn profile_counts_bytes_and_operations() {
    let cases = [
        // Operands and results count once, the product's terms twice.
        ("x @ y", vec![("x", [4, 5]), ("y", [5, 3])], 8 * (20 + 15 + 12), 2.0 * 60.0),
        // One operation per element, and one for each summed element.
        ("sum(x * x, axis=1)", vec![("x", [6, 7])], 8 * (42 + 6), 84.0),
        // A function counts as twenty operations, as does a division.
        ("exp(x) + y", vec![("x", [2, 3]), ("y", [2, 3])], 8 * 18, 126.0),
        // Folds and maps of rows: max, sub, exp, sum, div.
        ("softmax(x, axis=1)", vec![("x", [10, 10])], 8 * 200, 4300.0),
    ];
    for (expression, inputs, bytes, operations) in cases {
        let told = profiled(&[expression], &inputs);
        let [kernel] = &told.kernels[..] else { panic!("{expression}: {told:#?}") };
        let measured = kernel.measured.as_ref().unwrap();
        assert_eq!((measured.bytes, measured.operations), (bytes, operations), "{expression}: {kernel:#?}");
        assert!(measured.seconds > 0.0 && measured.limit_seconds > 0.0 && measured.isa.is_none());
        assert!(measured.operations > 0.0 || measured.bound == Bound::Memory);
    }
}

#[test]
fn view_belongs_to_its_readers() {
    let told = profiled(&["a = x.T @ y", "b = exp(x.T)"], &[("x", [3, 4]), ("y", [3, 2])]);
    let ops: Vec<Vec<&str>> =
        told.kernels.iter().map(|kernel| kernel.ops.iter().map(String::as_str).collect()).collect();
    assert_eq!(ops, [["dimshuffle{order=[1,0]}", "dot"], ["dimshuffle{order=[1,0]}", "exp"]]);
    assert_eq!(told.kernels[0].shapes, [[4, 2]]);
    assert_eq!((told.served.len(), told.served[0].as_deref()), (1, None));
}

/// The loop plans of kernels that C drivers run, by expressions over `x` and `y`.
#[test]
fn kernels_name_their_loop_plans() {
    let cases = [
        ("x + y", ([40, 300], [40, 1]), Some(("rows, in blocks", [40, 300, 256]))),
        ("x + y", ([4000, 3], [4000, 1]), Some(("short rows, packed", [4000, 3, 240]))),
        ("x + y.T", ([300, 200], [200, 300]), Some(("tiles, turned", [300, 200, 200]))),
        ("sum(x * y, axis=1)", ([40, 300], [40, 300]), Some(("rows", [40, 300, 300]))),
        ("max(x * y, axis=0)", ([300, 40], [300, 40]), Some(("columns, few", [40, 300, 300]))),
        ("x @ y", ([30, 40], [40, 30]), None),
    ];
    let store = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder().writable(store.path()).policy(Policy::Jit).build().unwrap();
    let mut options = Options::default();
    options.time = Duration::ZERO;
    for (expression, (x, y), expected) in cases {
        let types = ["x: f64[?, ?]", "y: f64[?, ?]"].map(|input| text::parse_input(input).unwrap());
        let graph = text::parse(&[expression], &types, &Ops::standard()).unwrap();
        let arrays = [x, y].map(|shape| Array::from(ndarray::Array2::<f64>::ones(shape).into_dyn()));
        let told = profile(&runtime, &graph, &arrays, &options).unwrap();
        let [kernel] = &told.kernels[..] else { panic!("{expression}: {told:#?}") };
        let plan = kernel.measured.as_ref().unwrap().plan.as_ref();
        let plan = plan.map(|plan| (plan.way, [plan.rows, plan.row, plan.most]));
        assert_eq!(plan, expected, "{expression} of {x:?} and {y:?}");
    }
}
