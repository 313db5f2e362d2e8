//! Ops that overwrite an input, in every context: the caller's arrays, constants and other readers must not change.

use super::{call, vector};
use precast::{Array, ArrayMut, ArrayRef, FunctionGraph, Policy, Runtime, Type};
use precast_build::{Declared, Execution, Serve, SourceLocation, execute, plan};
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_compile::Isa;
use precast_graph::text;
use precast_ops::Ops;
use precast_store::Store;
use std::path::Path;

/// Returns ops for negation in the memory of the input, and for addition in the memory of the second input.
fn ops() -> Ops {
    let negate = Declaration {
        destroy_map: vec![(0, 0)],
        ..Declaration::new("mirror").file("mirror.c", include_str!("../writing_ops/c/negate.c"))
    };
    let into = "#section code\n\
        for (int64_t i = 0; i < INPUT_1->shape[0]; i++)\n\
          *(pc_f64 *)(INPUT_1->data + i * INPUT_1->strides[0]) += *(const pc_f64 *)(INPUT_0->data + i * INPUT_0->strides[0]);\n\
        pc_incref(&INPUT_1->object);\npc_xdecref((pc_object *)OUTPUT_0);\nOUTPUT_0 = INPUT_1;\n";
    let add = Declaration { destroy_map: vec![(0, 1)], ..Declaration::new("add_into").file("into.c", into) };
    let declared =
        [negate.input("f64[?]").output("f64[?]"), add.input("f64[?]").input("f64[?]").output("f64[?]")];
    declared.into_iter().fold(Ops::standard(), |ops, declaration| {
        ops.with_external(ExternalCOp::new(declaration).unwrap()).unwrap()
    })
}

fn graph(outputs: &[&str]) -> FunctionGraph {
    let input = |name: &str| (name.to_owned(), Type::tensor(precast::DType::F64, 1));
    text::parse(outputs, &["x", "y"].map(input), &ops()).unwrap()
}

/// Returns the reference graph, with ops of the library in place of the custom ones.
fn oracle(outputs: &[&str]) -> FunctionGraph {
    let plain: Vec<String> =
        outputs.iter().map(|text| text.replace("mirror(", "neg(").replace("add_into(", "add(")).collect();
    graph(&plain.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Custom ops in each position: on inputs, intermediates, views and constants, twice, read before and after, and as
/// outputs.
const EXPRESSIONS: &[&[&str]] = &[
    &["mirror(x)"],
    &["mirror(x)", "x + y"],
    &["mirror(mirror(x))"],
    &["mirror(exp(x))"],
    &["exp(mirror(x))"],
    &["t = exp(x); mirror(t) + t"],
    &["t = exp(x); mirror(t) * mirror(t)"],
    &["t = exp(x); t + mirror(t)", "mirror(y)"],
    &["t = x + y; mirror(t)", "t2 = x * y; t2"],
    &["mirror(x[::-1])"],
    &["t = exp(x); mirror(t[::-1]) + t"],
    &["t = exp(x); add_into(t, t)"],
    &["t = exp(x); add_into(t[::-1], t)"],
    &["add_into(x, x)"],
    &["add_into(mirror(x), mirror(y)) - x"],
    &["t = exp(x); u = mirror(t); v = add_into(y, u); v * u"],
    &["t = exp(x); sum(mirror(t)) + t"],
    &["mirror(arange(0, 3) * 1.0) + x"],
    &["mirror(f64(arange(3))) + x * y"],
];

#[test]
fn readers_see_values_before_overwriting() {
    let runtime = Runtime::builder().ops(ops()).policy(Policy::Jit).build().unwrap();
    let long =
        [[1.5, -2.0, 0.25, 9.0, 4.0, -1.0], [8.0, 3.0, -0.5, 2.0, 6.0, 7.0]].map(|x| ndarray::arr1(&x));
    for outputs in EXPRESSIONS {
        let (graph, plain) = (graph(outputs), oracle(outputs));
        let [function, expected] = [&graph, &plain].map(|graph| runtime.function(graph).unwrap());
        let before = long.clone();
        let views = |how: usize| match how {
            0 => [long[0].slice(ndarray::s![..3]), long[1].slice(ndarray::s![3..])],
            1 => [long[0].slice(ndarray::s![..;2]), long[1].slice(ndarray::s![..;-2])],
            _ => [long[0].slice(ndarray::s![3..;-1]), long[1].slice(ndarray::s![1..4])],
        };
        // Holds results while later calls run, and writes to memory of the caller.
        let mut held: Vec<(Vec<Array>, Vec<Array>)> = Vec::new();
        for how in [0, 1, 2, 0] {
            let views = views(how).map(ArrayRef::from);
            let want = expected.call(&views).unwrap();
            held.push((function.call(&views).unwrap(), want.clone()));
            let mut reused =
                want.iter().map(|want| vector(&vec![f64::NAN; want.shape()[0]])).collect::<Vec<_>>();
            function.call_into(&views, &mut reused).unwrap();
            assert_eq!(reused, want, "{outputs:?}");
            let mut memory = want.iter().map(|want| vec![f64::NAN; want.shape()[0]]).collect::<Vec<_>>();
            let mut targets: Vec<ArrayMut<'_>> = Vec::new();
            for memory in &mut memory {
                targets.push(ndarray::ArrayViewMut1::from(memory.as_mut_slice()).into());
            }
            function.call_views(&views, &mut targets).unwrap_or_else(|error| panic!("{outputs:?}: {error}"));
            drop(targets);
            for (memory, want) in memory.iter().zip(&want) {
                assert_eq!(vector(memory), *want, "{outputs:?}");
            }
        }
        for (found, want) in held {
            assert_eq!(found, want, "{outputs:?}");
        }
        assert_eq!(long, before, "{outputs:?}: the caller's arrays");
    }
}

#[test]
fn in_place_op_matches_op_by_op() {
    let (place, text) = (tempfile::tempdir().unwrap(), ["t = exp(x); mirror(t) + t", "mirror(x)"]);
    let mut declared = Declared::new(ops());
    let file = SourceLocation::in_file(Path::new("precast.toml"));
    declared.graph_served("g", graph(&text), &[Serve::Ops], file).unwrap();
    let store = Store::create(place.path().join("store")).unwrap();
    let variants = [crate::compiled::variant(Isa::native().unwrap())];
    let toolchain = crate::compiled::toolchain();
    let execution = Execution { store: Some(&store), ..Execution::new(&toolchain, &variants) };
    execute(&plan(&declared).unwrap(), &execution).unwrap();
    let strict = Runtime::builder().ops(ops()).store(store.path()).policy(Policy::Strict).build().unwrap();
    let plain = Runtime::builder().ops(ops()).policy(Policy::Jit).build().unwrap();
    let values = [vector(&[0.5, 1.0]), vector(&[1.0, 1.0])];
    let expected = call(&plain.function(&oracle(&text)).unwrap(), &values).unwrap();
    assert_eq!(call(&strict.function(&graph(&text)).unwrap(), &values).unwrap(), expected);
    // A part of it in another graph.
    let found = call(&strict.function(&graph(&["mirror(exp(x))"])).unwrap(), &values).unwrap();
    let expected = plain.function(&oracle(&["mirror(exp(x))"])).unwrap();
    assert_eq!(found, call(&expected, &values).unwrap());
}
