//! Tests of row programs: the graphs that become one, and that they have the bits of their steps for all operands.

use crate::agree::{check, check_at};
use crate::compiler;
use crate::machine::Call;
use precast_graph::text::{parse, parse_input};
use precast_graph::{DType, FunctionGraph, interpret};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::{Ops, RowProgram, rewrite};
use precast_testkit::layout::Layout;
use precast_testkit::ulp::same_bits;
use precast_testkit::{Choices, arrays};
use std::any::Any;
use std::sync::Arc;

fn graph(outputs: &[&str], dtype: DType, ndim: usize) -> FunctionGraph {
    let extents = vec!["?"; ndim].join(",");
    let is_named = |name: &&str| {
        outputs.iter().any(|text| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == *name))
    };
    let names = ["x", "y", "z"].into_iter().filter(is_named);
    let inputs: Vec<_> =
        names.map(|name| parse_input(&format!("{name}={dtype}[{extents}]")).unwrap()).collect();
    parse(outputs, &inputs, &Ops::standard()).unwrap_or_else(|error| panic!("{outputs:?}: {error}"))
}

/// Returns the names of the ops of a lowered graph.
fn ops(outputs: &[&str]) -> Vec<String> {
    let lowered = rewrite::lower(&graph(outputs, DType::F64, 2)).unwrap();
    lowered.applies().iter().map(|apply| apply.op.name().to_owned()).collect()
}

const LAYERNORM: &str = "(x - mean(x, axis=-1, keepdims=True)) / sqrt(var(x, axis=-1, keepdims=True) + 1e-5)";

/// Graphs of rows, some with several outputs.
const TEXTS: &[&[&str]] = &[
    &["softmax(x, axis=-1)"],
    &["log_softmax(x, axis=-1)"],
    &["logsumexp(x, axis=-1)"],
    &["logsumexp(x, axis=-1, keepdims=True)"],
    &["var(x, axis=1)"],
    &["std(x, axis=-1, ddof=1)"],
    &[LAYERNORM],
    &["(x - mean(x, axis=-1, keepdims=True)) / std(x, axis=-1, keepdims=True) * y + z"],
    &["e = exp(x)", "e / sum(e, axis=1, keepdims=True)", "sum(e, axis=1)"],
    &[
        "sum(x, axis=1)",
        "max(x, axis=1) - min(x, axis=1, keepdims=True)",
        "x > mean(x, axis=1, keepdims=True)",
    ],
    &["x * y / sum(x*y, axis=1, keepdims=True) - sum(y, axis=1, keepdims=True)"],
    &["where(x > mean(x, axis=1, keepdims=True), x, y) - max(y, axis=1, keepdims=True)"],
    &["f32(x) - f32(sum(x, axis=1, keepdims=True))", "f64(x) - f64(max(x, axis=1, keepdims=True))"],
];

fn calls(shapes: &[&[[usize; 2]]], levels: usize) -> Vec<Call> {
    let mut choices = Choices::seeded(13);
    let mut calls = Vec::new();
    for texts in TEXTS.iter().take(levels) {
        for dtype in [DType::F32, DType::F64] {
            let lowered = Arc::new(rewrite::lower(&graph(texts, dtype, 2)).unwrap());
            for shapes in shapes {
                for layout in Layout::ALL {
                    let shape = |at: usize| shapes.get(at).unwrap_or(&shapes[0]);
                    let mut draw = |at: usize| match choices.below(3) {
                        0 => arrays::draw(&mut choices, dtype, shape(at)),
                        _ => arrays::draw_plain(&mut choices, dtype, shape(at)),
                    };
                    let inputs = (0..lowered.inputs().len()).map(|at| (draw(at), layout)).collect();
                    calls.push(Call { graph: Arc::clone(&lowered), inputs, output: None, stretched: false });
                }
            }
        }
    }
    calls
}

#[test]
fn row_computations_become_one_op() {
    for texts in [
        &["softmax(x, axis=-1)"][..],
        &["log_softmax(x, axis=1)"],
        &["var(x, axis=1)"],
        &[LAYERNORM],
        &["(x - mean(x, axis=-1, keepdims=True)) / std(x, axis=-1, keepdims=True) * y + z"],
        &["sum(x, axis=1)", "max(x, axis=1)"],
        &["e = exp(x)", "sum(e, axis=1)"],
    ] {
        assert_eq!(ops(texts), ["row_program"], "{texts:?}");
    }
}

#[test]
fn single_reductions_and_columns_stay_unchanged() {
    for texts in [
        &["sum(x*y, axis=1)"][..],
        &["x - mean(x, axis=0, keepdims=True)"],
        &["x - mean(x)"],
        &["sum(x, axis=1)", "sum(y, axis=1)"],
    ] {
        assert!(!ops(texts).contains(&"row_program".to_owned()), "{texts:?}");
    }
}

/// The second sums need a matrix product that needs the first sums, so they cannot be part of the same program.
#[test]
fn indirect_dependents_are_computed_later() {
    let texts =
        ["s = sum(x, axis=1, keepdims=True); p = x - s; p - sum(dot(p, y) + x, axis=1, keepdims=True)"];
    let (inputs, declared) = (2, graph(&texts, DType::F64, 2));
    let lowered = rewrite::lower(&declared).unwrap();
    let programs = lowered.applies().iter().filter(|apply| apply.op.name() == "row_program").count();
    assert_eq!(programs, 2, "{lowered}");
    let mut choices = Choices::seeded(1);
    let values: Vec<_> = (0..inputs).map(|_| arrays::draw_plain(&mut choices, DType::F64, &[3, 3])).collect();
    let (found, expected) = (interpret(&lowered, &values).unwrap(), interpret(&declared, &values).unwrap());
    assert!(found.iter().zip(&expected).all(|(found, expected)| same_bits(found, expected)));
}

#[test]
fn groups_do_not_wait_for_each_other() {
    for other in ["jvp(p, x, x)", "jvp(p, x, sin(x + 1))"] {
        let texts = ["p = sum(prod(x, axis=1)); a = grad(p*p, x)", &format!("b = {other}")];
        let lowered = rewrite::lower(&graph(&texts, DType::F64, 2)).unwrap();
        assert_eq!(lowered.outputs().len(), 2);
    }
}

#[test]
fn program_is_rebuilt_from_props_and_parts() {
    for texts in TEXTS {
        let lowered = rewrite::lower(&graph(texts, DType::F64, 2)).unwrap();
        for (position, apply) in lowered.applies().iter().enumerate() {
            let op: &dyn Any = &*apply.op;
            let Some(program) = op.downcast_ref::<RowProgram>() else { continue };
            let again = RowProgram::from_props(&apply.op.props()).unwrap();
            assert_eq!(again.props(), apply.op.props());
            let parts = rewrite::unfuse(&lowered, position).unwrap().unwrap();
            assert!(parts.applies().len() >= program.steps().len());
            let joined = Form::Lowered.of(&parts, &Passes::default()).unwrap();
            assert_eq!(joined.applies().len(), 1, "{parts}");
        }
    }
}

#[test]
fn rows_match_perform_in_every_layout() {
    let shapes: &[&[[usize; 2]]] = &[
        &[[0, 3]],
        &[[3, 0]],
        &[[1, 1]],
        &[[9, 4]],
        &[[130, 7]],
        &[[3, 1000]],
        &[[2, 5000]],
        &[[3, 40], [3, 1], [1, 40]],
        &[[3, 1], [3, 40], [1, 1]],
        &[[1, 40], [3, 40], [3, 1]],
        // Up to 128 elements, several rows are processed at once; shorter rows are packed.
        &[[6, 127], [1, 127], [6, 1]],
        &[[6, 128], [1, 128], [6, 1]],
        &[[6, 129], [1, 129], [6, 1]],
        &[[300, 2], [300, 1], [1, 2]],
        // Rows with fewer elements than lanes, as many, and more, which are folded together.
        &[[7, 3]],
        &[[41, 16], [41, 16], [1, 16]],
        &[[33, 17], [33, 1], [33, 17]],
        &[[40, 33], [1, 33], [1, 33]],
        &[[19, 64], [19, 64], [19, 1]],
    ];
    check("gnu11", &calls(shapes, TEXTS.len()));
}

#[test]
fn rows_have_equal_bits_at_every_level() {
    check_at(&compiler::levels(), "gnu11", &calls(&[&[[3, 700]]], 8));
    check_at(&compiler::levels()[..1], "c++17", &calls(&[&[[3, 20]]], TEXTS.len()));
}

/// If there are more rows than a cache can hold, the next row is prefetched.
#[test]
fn many_rows_match_perform() {
    let (mut choices, mut calls) = (Choices::seeded(5), Vec::new());
    for texts in
        [&["softmax(x, axis=-1)"][..], &[LAYERNORM], &["e = exp(x)", "e / sum(e, axis=1, keepdims=True)"]]
    {
        let lowered = Arc::new(rewrite::lower(&graph(texts, DType::F64, 2)).unwrap());
        for shape in [[70, 1000], [1800, 40], [9, 9000]] {
            for layout in Layout::ALL {
                let inputs = vec![(arrays::draw_plain(&mut choices, DType::F64, &shape), layout)];
                calls.push(Call { graph: Arc::clone(&lowered), inputs, output: None, stretched: false });
            }
        }
    }
    check("gnu11", &calls);
}

/// The number of rows processed at once is limited by the memory for their values.
#[test]
fn short_rows_with_many_values_match_perform() {
    let many: Vec<String> = [
        "x / sum(x, K)",
        "x * mean(x, K)",
        "x + prod(x, K)",
        "x - prod(x + 1, K)",
        "x * sum(exp(x), K)",
        "x * prod(x * x, K)",
        "x * sum(x * x, K) - sum(x + x * x, K) + prod(x * x + 3, K)",
    ]
    .map(|text| text.replace('K', "axis=1, keepdims=True"))
    .into();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (mut choices, mut calls) = (Choices::seeded(7), Vec::new());
    for dtype in [DType::F32, DType::F64, DType::C128] {
        for texts in [&many[..], &many[..5]] {
            let lowered = Arc::new(rewrite::lower(&graph(texts, dtype, 2)).unwrap());
            assert!(lowered.applies().iter().any(|apply| apply.op.name() == "row_program"), "{lowered}");
            for shape in
                [[512, 1], [1000, 1], [256, 2], [300, 2], [128, 4], [100, 5], [64, 8], [6, 128], [3, 700]]
            {
                for layout in Layout::ALL {
                    let inputs = vec![(arrays::draw_plain(&mut choices, dtype, &shape), layout)];
                    calls.push(Call { graph: Arc::clone(&lowered), inputs, output: None, stretched: false });
                }
            }
        }
    }
    check("gnu11", &calls);
}

/// The rows span several dimensions, separated by kept ones.
#[test]
fn multidimensional_rows_keep_element_order() {
    let texts = ["(x - mean(x, axis=[1, 3], keepdims=True)) / (1 + sum(x*x, axis=[1, 3], keepdims=True))"];
    let lowered = Arc::new(rewrite::lower(&graph(&texts, DType::F64, 4)).unwrap());
    assert!(lowered.applies().iter().any(|apply| apply.op.name() == "row_program"), "{lowered}");
    let mut choices = Choices::seeded(3);
    let mut calls = Vec::new();
    for shape in [[2, 3, 4, 5], [2, 90, 3, 60], [1, 1, 7, 1], [2, 0, 3, 4]] {
        for layout in Layout::ALL {
            let inputs = vec![(arrays::draw_plain(&mut choices, DType::F64, &shape), layout)];
            calls.push(Call { graph: Arc::clone(&lowered), inputs, output: None, stretched: false });
        }
    }
    check("gnu11", &calls);
}
