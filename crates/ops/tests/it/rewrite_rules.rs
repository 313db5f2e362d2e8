//! Tests of each pass by example: the number of remaining Applies, and their ops.

use precast_graph::text::{parse, parse_input};
use precast_graph::{Array, DType, FunctionGraph, Op, encode, interpret};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::{Composite, Elemwise, Ops, Reduce, rewrite};
use precast_testkit::arrays;
use precast_testkit::ulp::same_bits as same;
use std::any::Any;
use std::slice;
use std::sync::Arc;

/// Parses texts over inputs in text form.
pub(crate) fn graph(outputs: &[&str], inputs: &[&str]) -> FunctionGraph {
    let inputs: Vec<_> = inputs.iter().map(|input| parse_input(input).unwrap()).collect();
    parse(outputs, &inputs, &Ops::standard()).unwrap_or_else(|error| panic!("{outputs:?}: {error}"))
}

/// Runs the passes with these names.
pub(crate) fn after(names: &str, graph: &FunctionGraph) -> FunctionGraph {
    rewrite::run(graph, &names.parse::<Passes>().unwrap()).unwrap()
}

fn labels(graph: &FunctionGraph) -> Vec<String> {
    graph.applies().iter().map(|apply| apply.op.label()).collect()
}

const XYZ: [&str; 3] = ["x=f64[?]", "y=f64[?]", "z=f64[?]"];
const MATRIX: [&str; 2] = ["x=f64[?,?]", "b=f64[?]"];

#[test]
fn simplify_removes_ops_without_effect() {
    let rows: [(&str, &str, &[&str]); 14] = [
        ("transpose(transpose(x))", "x=f64[?,?]", &[]),
        ("transpose(x)", "x=f64[?,?]", &["dimshuffle{order=[1,0]}"]),
        (
            "dimshuffle(dimshuffle(x, order=[1,-1,0]), order=[2,0])",
            "x=f64[?,?]",
            &["dimshuffle{order=[0,1]}"],
        ),
        (
            "dimshuffle(dimshuffle(x, order=[-1,0]), order=[-1,1,0])",
            "x=f64[?]",
            &["dimshuffle{order=[-1,0,-1]}"],
        ),
        ("dimshuffle(x, order=[0])", "x=f64[?,1]", &["dimshuffle{order=[0]}"]),
        ("f64(x)", "x=f64[?]", &[]),
        ("f32(f64(x))", "x=f32[?]", &[]),
        ("f64(f32(x))", "x=f64[?]", &["cast{to=f32}", "cast{to=f64}"]),
        ("f64(i64(x))", "x=bool[?]", &["cast{to=f64}"]),
        ("i64(f64(x))", "x=i64[?]", &["cast{to=f64}", "cast{to=i64}"]),
        ("neg(neg(x))", "x=f64[?]", &[]),
        ("neg(neg(neg(x)))", "x=f64[?]", &["neg"]),
        ("abs(neg(abs(x)))", "x=f64[?]", &["abs"]),
        ("logical_not(logical_not(x))", "x=bool[?]", &[]),
    ];
    for (text, input, left) in rows {
        // The third row keeps both dimensions in place, but the type rule of the first dimshuffle cannot know this.
        let left: &[&str] = if left == ["dimshuffle{order=[0,1]}"] { &[] } else { left };
        assert_eq!(labels(&after("simplify,order", &graph(&[text], &[input]))), left, "{text}");
    }
}

#[test]
fn casts_to_a_dtype_and_back_are_dropped_only_without_loss() {
    let dropped = [
        ("i8", "bool"),
        ("f16", "bool"),
        ("i16", "i8"),
        ("i64", "u32"),
        ("u16", "u8"),
        ("f16", "i8"),
        ("f16", "u8"),
        ("bf16", "u8"),
        ("f32", "i16"),
        ("f32", "u16"),
        ("f64", "i32"),
        ("f64", "u32"),
        ("f32", "f16"),
        ("f32", "bf16"),
        ("f64", "f32"),
    ];
    let kept = [
        ("bool", "i8"),
        ("u16", "i8"),
        ("i16", "u16"),
        ("i8", "u8"),
        ("u64", "i64"),
        ("f16", "i16"),
        ("bf16", "i16"),
        ("f32", "i32"),
        ("f64", "i64"),
        ("f64", "u64"),
        ("f16", "bf16"),
        ("bf16", "f16"),
        ("f32", "f64"),
        ("i64", "f32"),
    ];
    for (pairs, left) in [(&dropped[..], 0), (&kept, 2)] {
        for (wide, from) in pairs {
            let there_and_back = graph(&[&format!("{from}({wide}(x))")], &[&format!("x={from}[?]")]);
            let left_over = after("simplify,order", &there_and_back).applies().len();
            assert_eq!(left_over, left, "{from} through {wide}");
        }
    }
}

#[test]
fn simplified_pairs_keep_bits_of_every_dtype() {
    let functions = Ops::rows().filter(|row| row.arguments == ["x"] && row.keywords.is_empty());
    let mut names: Vec<&str> = functions.map(|row| row.name).collect();
    names.extend(DType::ALL.into_iter().map(DType::name));
    // Functions with several results are not valid arguments.
    names.retain(|name| {
        let parses = |dtype: DType| {
            let input = parse_input(&format!("x={dtype}[?]")).unwrap();
            parse(&[&format!("{name}(x)")], &[input], &Ops::standard()).is_ok()
        };
        DType::ALL.into_iter().any(parses)
    });
    let (mut tried, mut simpler) = (0, 0);
    for dtype in DType::ALL {
        let (input, specials) = (parse_input(&format!("x={dtype}[?]")).unwrap(), arrays::specials(dtype));
        for (outer, inner) in names.iter().flat_map(|outer| names.iter().map(move |inner| (outer, inner))) {
            let text = format!("{outer}({inner}(x))");
            let Ok(graph) = parse(&[&text], slice::from_ref(&input), &Ops::standard()) else { continue };
            let simple = after("simplify", &graph);
            tried += 1;
            if labels(&simple) == labels(&graph) {
                continue;
            }
            simpler += 1;
            let results = [&graph, &simple]
                .map(|graph| interpret(graph, slice::from_ref(&specials)).unwrap().remove(0));
            assert!(same(&results[0], &results[1]), "{text} of {dtype}: {results:?}");
        }
    }
    assert!(tried > 10_000 && simpler > 100, "{simpler} of {tried}");
}

#[test]
fn merge_computes_equal_applies_once() {
    let twice = graph(&["exp(x)*y - exp(x)", "exp(x)*y"], &XYZ);
    assert_eq!(labels(&after("merge", &twice)), ["exp", "mul", "sub"]);
    let axes = graph(&["sum(x, axis=0)", "sum(x, axis=1)", "max(x, axis=0)"], &MATRIX);
    assert_eq!(after("merge", &axes).applies().len(), axes.applies().len(), "equal ops have equal props");
    // The slots stay separate even for equal values; otherwise graphs with other constants would have other modules.
    let same = |a: f64, b: f64| {
        let mut graph = FunctionGraph::new();
        let x = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
        let ops = Ops::standard();
        let mut product = |value: f64| {
            let c = graph.constant(Array::from(value));
            let args = [precast_graph::Operand::Var(x), precast_graph::Operand::Var(c)];
            let product = precast_graph::OpLibrary::call(
                &ops,
                &mut graph,
                "mul",
                &args,
                &precast_graph::Keywords::new(),
            );
            product.unwrap().unwrap().variable(&mut graph).unwrap()
        };
        let products = [product(a), product(b)];
        products.iter().for_each(|v| graph.output(*v, None).unwrap());
        encode::canonical(&rewrite::lower(&graph).unwrap())
    };
    assert_eq!(same(2.0, 2.0), same(2.0, 3.0));
}

#[test]
fn graphs_differing_in_one_edge_stay_different() {
    let texts = ["exp(x)*y - exp(x)", "exp(x) - exp(x)*y", "exp(y)*x - exp(y)", "exp(x)*y - exp(y)"];
    let mut all: Vec<_> =
        texts.iter().map(|text| encode::canonical(&rewrite::lower(&graph(&[text], &XYZ)).unwrap())).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), texts.len());
}

#[test]
fn small_constants_are_folded_like_perform() {
    let mut small = graph(&["x*sum(exp(c)*2)"], &["x=f64[?]", "c=f64[?]"]);
    small = with_constant(&small, 1, &Array::from(ndarray(&[1.0, -0.0, 3.5])));
    let folded = after("constant_fold,order", &small);
    assert_eq!(labels(&folded), ["mul"]);
    let x = [Array::from(ndarray(&[0.1, 7.0]))];
    assert!(same(&interpret(&folded, &x).unwrap()[0], &interpret(&small, &x).unwrap()[0]));
    // 2¹³ elements are 64 KiB of f64; one more exceeds the limit.
    for (len, left) in [(8192, 1), (8193, 2)] {
        let large = graph(&["x*exp(c)"], &["x=f64[?]", "c=f64[?]"]);
        let large = with_constant(&large, 1, &Array::zeros(DType::F64, &[len]));
        assert_eq!(after("constant_fold,order", &large).applies().len(), left, "{len}");
    }
    // The operands are small, but the result is large.
    let outer = graph(&["x*(c*dimshuffle(c, order=[0,-1]))"], &["x=f64[?]", "c=f64[?]"]);
    let outer = with_constant(&outer, 1, &Array::zeros(DType::F64, &[1000]));
    assert_eq!(labels(&after("constant_fold,order", &outer)), ["mul", "mul"]);
    // The error belongs to the call.
    let empty = graph(&["x*max(c)"], &["x=f64[?]", "c=f64[?]"]);
    let empty = with_constant(&empty, 1, &Array::zeros(DType::F64, &[0]));
    assert_eq!(labels(&after("constant_fold,order", &empty)), ["max", "mul"]);
    assert!(interpret(&rewrite::lower(&empty).unwrap(), &x).is_err());
}

pub(crate) fn ndarray(values: &[f64]) -> ndarray::ArrayD<f64> {
    ndarray::ArrayD::from_shape_vec(vec![values.len()], values.to_vec()).unwrap()
}

/// Replaces an input of a graph by a constant.
fn with_constant(old: &FunctionGraph, at: usize, value: &Array) -> FunctionGraph {
    let mut new = FunctionGraph::new();
    let mut known = vec![None; old.variables().len()];
    for (position, v) in old.inputs().iter().enumerate() {
        known[v.index()] = Some(if position == at {
            new.constant(value.clone())
        } else {
            new.input(old.input_name(position), old.ty(*v).clone()).unwrap()
        });
    }
    for (v, value) in old.constants() {
        known[v.index()] = Some(new.constant_of(value.clone(), old.ty(v).clone()));
    }
    for apply in old.applies() {
        let inputs: Vec<_> = apply.inputs.iter().map(|v| known[v.index()].unwrap()).collect();
        let outputs = new.apply(apply.op.clone(), &inputs).unwrap();
        apply.outputs.iter().zip(outputs).for_each(|(old, fresh)| known[old.index()] = Some(fresh));
    }
    old.outputs().iter().for_each(|v| new.output(known[v.index()].unwrap(), None).unwrap());
    new
}

/// Returns the numbers of steps and results of each Apply of the lowered graph; 0 steps for an Apply that is not a
/// group.
fn groups(outputs: &[&str], inputs: &[&str]) -> Vec<(usize, usize)> {
    let lowered =
        Form::Lowered.of(&graph(outputs, inputs), &Passes::default().without("row_programs")).unwrap();
    let steps = |op: &dyn Op| {
        let any: &dyn Any = op;
        let map = any.downcast_ref::<Reduce>().and_then(|reduce| reduce.map.clone());
        let scalar = any.downcast_ref::<Elemwise>().map(|elemwise| Arc::clone(&elemwise.scalar)).or(map)?;
        let any: &dyn Any = &*scalar;
        any.downcast_ref::<Composite>().map(|composite| composite.steps().len())
    };
    lowered.applies().iter().map(|apply| (steps(&*apply.op).unwrap_or(0), apply.outputs.len())).collect()
}

#[test]
fn chains_fuse_with_their_reduction() {
    assert_eq!(groups(&["(x + y)*z"], &XYZ), [(2, 1)]);
    assert_eq!(groups(&["sum(exp(-x*x)*y + z)"], &XYZ), [(5, 1)]);
    assert_eq!(groups(&["sum(x)"], &XYZ), [(0, 1)]);
    // A scalar is computed before the loop; a row would be recomputed for every row of the matrix.
    assert_eq!(groups(&["x*(sum(x) + 1)"], &XYZ), [(0, 1), (2, 1)]);
    assert_eq!(groups(&["x*exp(b)"], &MATRIX), [(0, 1), (0, 1)]);
    assert_eq!(groups(&["x*exp(b)*2"], &MATRIX), [(0, 1), (2, 1)]);
}

#[test]
fn shared_values_are_computed_once() {
    // e is an output and is also used inside the group.
    assert_eq!(groups(&["e = exp(x)", "e*e + 1"], &XYZ), [(3, 2)]);
    // Two results of the same shape use it.
    assert_eq!(groups(&["exp(x)*2", "exp(x) - x"], &XYZ), [(3, 2)]);
    assert_eq!(groups(&["exp(x)*2", "exp(x) - x", "exp(x)"], &XYZ), [(3, 3)]);
    // y may be longer than x, so exp(x) has its own loop.
    assert_eq!(groups(&["exp(x)", "exp(x)*y + x"], &XYZ), [(0, 1), (2, 1)]);
    // In a softmax, the value used by the sum and by the quotient is stored once.
    let softmax = ["m = max(x, axis=1, keepdims=True); e = exp(x - m); e/sum(e, axis=1, keepdims=True)"];
    let found = groups(&softmax, &MATRIX);
    assert_eq!(found.iter().filter(|(steps, _)| *steps > 0).collect::<Vec<_>>(), [&(2, 1)], "{found:?}");
    // The quotient needs the finished sum over all of e, so they cannot share a loop.
    assert_eq!(groups(&["e = exp(x); e/sum(e)"], &XYZ), [(0, 1), (0, 1), (0, 1)]);
    // A repeated output is a copy, which supports every dtype and joins no loop.
    assert_eq!(groups(&["x + y", "x + y"], &XYZ), [(0, 1), (0, 1)]);
}

#[test]
fn large_graphs_are_cut_into_bounded_groups() {
    let texts = |term: fn(usize) -> String| (0..2000).map(term).collect::<Vec<_>>().join(" + ");
    for (text, at_most) in [
        (texts(|i| format!("(x*{i}.5 - y)")), 200),
        (texts(|i| format!("tanh(x + {i})*y")), 250),
        (texts(|_| "x".to_owned()), 30),
    ] {
        let before = graph(&[text.as_str()], &XYZ);
        let lowered = rewrite::lower(&before).unwrap();
        assert!(lowered.applies().len() <= at_most, "{} groups: {}", lowered.applies().len(), &text[..40]);
        for apply in lowered.applies() {
            assert!(apply.inputs.len() + apply.outputs.len() <= 48);
            let reads = apply.inputs.iter().filter(|v| lowered.ty(**v).ndim() > 0).count();
            assert!(reads <= 12 && reads + apply.outputs.len() <= 16, "{reads}");
        }
    }
}

#[test]
fn passes_are_chosen_by_name() {
    let names = |text: &str| {
        let passes = text.parse::<Passes>().map_err(|error| error.to_string())?;
        Ok::<_, String>(passes.iter().map(|pass| pass.name).collect::<Vec<_>>().join(" "))
    };
    let all = rewrite::PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join(" ");
    assert_eq!(names("all"), Ok(all.clone()));
    assert_eq!(names("fuse, order"), Ok("order fuse".to_owned()), "in the order of the list");
    assert_eq!(names("all,-fuse"), Ok(all.replace(" fuse", "")));
    assert_eq!(names("none"), Ok(String::new()));
    assert!(
        names("all,-fusion").unwrap_err().starts_with("unknown pass `fusion`, expected one of simplify, ")
    );
    let graph = graph(&["exp(x)*y"], &XYZ);
    let trace = rewrite::trace(&graph).unwrap();
    assert_eq!(trace.iter().map(|(pass, _)| pass.name).collect::<Vec<_>>().join(" "), all);
    assert_eq!(trace.last().unwrap().1, rewrite::lower(&graph).unwrap());
}
