//! Custom ops by name: in text, in the builder, in a dispatcher and in matrices, next to ops of the library.

use super::tutorials::{array, library};
use super::{call, chain, vector};
use precast::{Array, ArrayRef, DType, Dispatcher, FunctionGraph, Policy, Runtime, Type};
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_graph::with_array;
use precast_graph::{Prop, Props, json, text};
use precast_ops::build::Graph;
use precast_ops::rewrite::Form;
use precast_ops::{AddOpError, Ops, combinations};
use std::sync::Arc;

/// Returns the three ops of the tutorials, an affine map of numbers, and an op of two outputs.
fn ops() -> Ops {
    let product = Declaration::new("vector_times_vector")
        .file("vectorTimesVector.c", include_str!("c/vectorTimesVector.c"))
        .func("APPLY_SPECIFIC(vector_times_vector)")
        .input("{T}[?]")
        .input("{U}[?]")
        .output("upcast(T, U)[?]");
    let mut affine = Declaration::new("affine")
        .file("affine.c", "#section code\nOUTPUT_0 = PARAMS->by * INPUT_0 + INPUT_1;\n")
        .input("f64")
        .input("i32")
        .output("f64");
    affine.params.insert("by".to_owned(), Prop::Float(2.0));
    let both = Declaration::new("both")
        .file("both.c", "#section code\nOUTPUT_0 = INPUT_0 + 1;\nOUTPUT_1 = INPUT_0 - 1;\n")
        .input("f64")
        .output("f64")
        .output("f64");
    [product, affine, both].into_iter().fold(library(), |ops, declaration| {
        ops.with_external(ExternalCOp::new(declaration).unwrap()).unwrap()
    })
}

fn runtime() -> Runtime {
    Runtime::builder().ops(ops()).policy(Policy::Jit).build().unwrap()
}

/// Returns a strided view of a vector; negative steps reverse it.
fn stepped(array: &Array, step: isize) -> ArrayRef<'_> {
    with_array!(array, a => {
        let a = a.view().into_dimensionality::<ndarray::Ix1>().unwrap();
        ArrayRef::from(a.slice_move(ndarray::s![..;step]))
    })
}

fn parsed(expression: &str, inputs: &[(&str, &str)]) -> Result<FunctionGraph, String> {
    let inputs: Vec<(String, Type)> =
        inputs.iter().map(|(name, ty)| ((*name).to_owned(), ty.parse().unwrap())).collect();
    text::parse(&[expression], &inputs, &ops()).map_err(|error| chain(&error))
}

fn evaluated(expression: &str, inputs: &[(&str, &str)], values: &[Array]) -> Array {
    let graph = parsed(expression, inputs).unwrap();
    call(&runtime().function(&graph).unwrap(), values).unwrap().remove(0)
}

/// Seven dtypes with six: in one expression with an op of the library on each side, strided and reversed.
#[test]
fn tutorial_ops_are_called_by_name() {
    let first = [DType::I8, DType::I32, DType::I64, DType::U8, DType::U16, DType::F32, DType::F64];
    let second = [DType::I16, DType::I32, DType::U8, DType::U64, DType::F32, DType::F64];
    let (x, y, n) = ([1, 2, 3, 5, 7, 4], [2, 6, 4, 3, 11, 1], 3);
    let runtime = runtime();
    for a in first {
        // One function for all pairs of a dtype, because a compiler takes a quarter of a second for each op.
        let mut inputs = vec![("x".to_owned(), Type::tensor(a, 1))];
        let mut texts = Vec::new();
        for b in second {
            inputs.push((format!("y_{b}"), Type::tensor(b, 1)));
            texts.push(format!("-vector_times_vector(x, y_{b})"));
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let graph = text::parse(&texts, &inputs, &ops()).unwrap();
        let function = runtime.function(&graph).unwrap();
        let xs = array(a, &x, &[6]);
        let ys: Vec<Array> = second.iter().map(|b| array(*b, &y, &[6])).collect();
        let views = |step: isize, other: isize| -> Vec<ArrayRef<'_>> {
            std::iter::once(stepped(&xs, step)).chain(ys.iter().map(|y| stepped(y, other))).collect()
        };
        let forward: Vec<usize> = (0..6).collect();
        for (places, views) in [
            ((forward.clone(), forward), views(1, 1)),
            ((vec![0, 2, 4], vec![0, 2, 4]), views(2, 2)),
            ((vec![0, 2, 4], vec![5, 3, 1]), views(2, -2)),
        ] {
            let found = function.call(&views).unwrap();
            for (b, found) in second.iter().zip(found) {
                let product = |(i, j): (&usize, &usize)| -(x[*i] * y[*j]);
                let expected: Vec<i64> = places.0.iter().zip(&places.1).map(product).collect();
                let expected = array(a.upcast(*b), &expected, &[expected.len()]);
                assert_eq!(found, expected, "{a}, {b}, {places:?}");
            }
        }
        let scaled = format!("vector_times_scalar(x, y) + {n}");
        let graph =
            text::parse(&[&scaled], &[inputs[0].clone(), ("y".to_owned(), Type::tensor(a, 0))], &ops());
        let found =
            call(&runtime.function(&graph.unwrap()).unwrap(), &[xs.clone(), array(a, &[3], &[])]).unwrap();
        assert_eq!(found, [array(a, &x.map(|x| 3 * x + n), &[6])]);
    }
}

#[test]
fn own_ops_and_params_mix_in_expressions() {
    let inputs = [("x", "f64[?]"), ("y", "f32[?]"), ("a", "f64")];
    let values =
        [vector(&[1.0, 2.0]), Array::from(ndarray::arr1(&[3_f32, 4.0]).into_dyn()), Array::from(10.0)];
    let text = "sum(written_vector_times_vector(exp(x - x), vector_times_vector(x, y))) + affine(affine(a, 1), 3, by=0.5)";
    // (1*3 + 2*4) + (0.5*(2*10 + 1) + 3)
    assert_eq!(evaluated(text, &inputs, &values), Array::from(11.0 + 13.5));
    let text = "affine(a, 2, by=3) - both(a) * both(a, output=1)";
    assert_eq!(evaluated(text, &inputs[2..], &values[2..]), Array::from(32.0 - 11.0 * 9.0));
    // Params are values, so the module is the same.
    let modules = |by: &str| {
        let graph = parsed(&format!("affine(a, 2, by={by})"), &inputs[2..]).unwrap();
        precast_codegen::link(&ops().lower(&graph, Form::Lowered).unwrap(), ops().c()).unwrap().key()
    };
    assert_eq!(modules("3"), modules("-0.25"));
    // The JSON is self-contained: a library without the names can read it.
    let graph = parsed("affine(a, 2, by=3)", &inputs[2..]).unwrap();
    assert_eq!(json::parse(&json::render(&graph), &Ops::standard()).unwrap(), graph);
}

#[test]
fn the_builder_a_dispatcher_and_matrices_know_them() {
    let graph = Graph::with_ops(ops());
    let (x, y) = (graph.input("x", "f64[?]"), graph.input("y", "f64[?]"));
    let z = graph.apply("vector_times_vector", &[x.exp().into(), (&y).into()], &Props::new());
    graph.output("z", &(z + 1.0));
    let function = runtime().function(&graph.finish().unwrap()).unwrap();
    assert_eq!(call(&function, &[vector(&[0.0, 0.0]), vector(&[2.0, 3.0])]).unwrap(), [vector(&[3.0, 4.0])]);
    let dispatcher = Dispatcher::new(Arc::new(runtime()), "vector_times_vector");
    let (x, y) = (vector(&[2.0, 3.0]), Array::from(ndarray::arr1(&[4_i32, 5]).into_dyn()));
    let found = dispatcher.call(&[ArrayRef::from(&x), ArrayRef::from(&y)]).unwrap();
    assert_eq!(found, [vector(&[8.0, 15.0])]);
    // C scalars are arrays without dimensions here; an op in Rust is called in the same way as an op in C.
    let affine = Dispatcher::new(Arc::new(runtime()), "affine");
    let (a, b) = (Array::from(10.0), Array::from(1_i32));
    let found = affine.call(&[ArrayRef::from(&a), ArrayRef::from(&b)]).unwrap();
    assert_eq!(found, [Array::from(21.0)]);
    let error = affine.call(&[ArrayRef::from(&x), ArrayRef::from(&b)]).unwrap_err();
    assert_eq!(error.to_string(), "cannot apply `affine`");
    let written = Dispatcher::new(Arc::new(runtime()), "written_vector_times_vector");
    let found = written.call(&[ArrayRef::from(&x), ArrayRef::from(&x)]).unwrap();
    assert_eq!(found, [vector(&[4.0, 9.0])]);
    let found = combinations("vector_times_vector", &[DType::F32, DType::I64], &[1], &ops()).unwrap();
    let found: Vec<String> = found.into_iter().map(|combination| combination.signature).collect();
    assert_eq!(
        found,
        ["vector_times_vector(f32[?], f32[?]) -> f32[?]", "vector_times_vector(i64[?], i64[?]) -> i64[?]"]
    );
    let refused = combinations("vector_times_vector", &[DType::F32], &[2], &ops()).unwrap_err();
    assert!(refused.to_string().contains("input 0 has type `f32[?,?]`, expected `{T}[?]`"), "{refused}");
}

#[test]
fn mistakes_have_places_and_nearest_names() {
    let inputs = [("x", "f64[?]"), ("m", "f64[?,?]"), ("a", "f64")];
    for (text, parts) in [
        (
            "x + vector_times_vecto(x, x)",
            &["line 1, column 5", "vector_times_vecto", "nearest `vector_times_vector`", "^"][..],
        ),
        ("x + vector_times_vector(x)", &["line 1, column 5", "takes 2 input(s), found 1", "^"]),
        ("vector_times_vector(x, m)", &["input 1 has type `f64[?,?]`, expected `{U}[?]`", "^"]),
        ("affine(x, 1)", &["`affine`: input 0 has type `f64[?]`, expected `f64`"]),
        ("affine(a, 1.5)", &["`affine`: input 1", "expected `i32`"]),
        ("affine(a, 1, bye=2)", &["prop `bye` is unknown; nearest `by`"]),
        ("affine(a, 1, by=(1, 2))", &["prop `by` is invalid: "]),
        ("affine(a, 1, output=1)", &["prop `output` is unknown: the op has one output"]),
        ("both(a, output=2)", &["prop `output` is 2, expected a number below 2"]),
        (
            "written_vector_times_vector(x, x, langauge=\"c\")",
            &["prop `langauge` is unknown; nearest `language`"],
        ),
    ] {
        let error = parsed(text, &inputs).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
    }
}

#[test]
fn names_with_another_meaning_are_rejected() {
    let own = |name: &str| {
        let op = Declaration::new(name).file("f.c", "#section code\nOUTPUT_0 = -INPUT_0;\n");
        ops().with_external(ExternalCOp::new(op.input("f64").output("f64")).unwrap())
    };
    for name in ["f32", "elemwise", "external"] {
        assert_eq!(own(name).unwrap_err(), AddOpError::Taken { name: name.to_owned() });
    }
    assert_eq!(own("both").unwrap_err(), AddOpError::Twice { name: "both".to_owned() });
    // JSON refers to an op in Rust by its name.
    let rust = ops().with("exp", |_| -> Result<ExternalCOp, _> { unreachable!() }).unwrap_err();
    assert_eq!(rust, AddOpError::Taken { name: "exp".to_owned() });
    // With `preferring`, the bare name of a library function refers to the custom op.
    let inputs = [("a".to_owned(), "f64".parse::<Type>().unwrap())];
    let graph = |text: &str, ops: &Ops| json::render(&text::parse(&[text], &inputs, ops).unwrap());
    let library = own("exp").unwrap();
    let preferring = library.clone().preferring(["exp".to_owned()]);
    assert_eq!(graph("exp(a)", &library), graph("exp(a)", &ops()));
    assert_eq!(graph("np.exp(a) + a", &preferring), graph("np.exp(a) + a", &ops()));
    assert_ne!(graph("exp(a)", &preferring), graph("exp(a)", &ops()));
    for name in ["", "1st", "a b", "a-b", "True"] {
        let refused = ops().with(name, |_| -> Result<ExternalCOp, _> { unreachable!() }).unwrap_err();
        assert!(matches!(refused, AddOpError::Name { .. }), "{refused}");
    }
    let same = Declaration::new("both")
        .file("both.c", "#section code\nOUTPUT_0 = INPUT_0 + 1;\nOUTPUT_1 = INPUT_0 - 1;\n")
        .input("f64")
        .output("f64")
        .output("f64");
    assert!(ops().with_external(ExternalCOp::new(same).unwrap()).is_ok(), "what is there counts once");
}
