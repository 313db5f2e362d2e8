//! The oracle: compiled as a whole, op by op, at every ISA level, and interpreted by `perform`, a graph gives the same bits.
//!
//! ```text
//! seeds ─▶ graphs, inputs, expected ─▶ all modules ─▶ a few dozen units ─▶ one bundle for each cut and level
//!                                                                               │ strict: nothing else can serve
//!                              layouts of the inputs ─▶ call, call_into ◀───────┘
//! ```
//! `PRECAST_ORACLE_GRAPHS` sets the number of graphs, `PRECAST_ORACLE_SEED` the first seed.

use crate::compiled::{Cut, bundle, levels};
use crate::graphs::{graph, random};
use ndarray::Axis;
use precast::{Array, ArrayRef, FunctionGraph, Policy, Runtime, Served};
use precast_compile::Isa;
use precast_graph::{DType, interpret, with_array};
use precast_testkit::layout::{Layout, lay_out_any};
use precast_testkit::ulp::same_bits as same;
use precast_testkit::{Choices, arrays};

/// Most applies of a random graph.
const APPLIES: usize = 10;

/// A graph with several sets of inputs, and what `perform` makes of each.
struct Case {
    /// What repeats it.
    name: String,
    graph: FunctionGraph,
    calls: Vec<(Vec<Array>, Vec<Array>)>,
}

impl Case {
    fn new(name: String, graph: FunctionGraph, inputs: Vec<Vec<Array>>) -> Self {
        let expect = |inputs: Vec<Array>| {
            let expected = interpret(&graph, &inputs).ok()?;
            Some((inputs, expected))
        };
        let calls: Vec<_> = inputs.into_iter().filter_map(expect).collect();
        Self { name, graph, calls }
    }
}

/// The inputs as drawn, in a random layout, and with axes of stride 0.
fn presentations(inputs: &[Array], choices: &mut Choices) -> Vec<Vec<Array>> {
    let laid_out =
        inputs.iter().map(|a| lay_out_any(a, *choices.pick(&Layout::ALL).unwrap())).collect::<Vec<_>>();
    vec![inputs.to_vec(), laid_out]
}

fn drawn(count: u64) -> Vec<Case> {
    let first = number("PRECAST_ORACLE_SEED", 0);
    let case = |seed| {
        let case = random(seed, APPLIES);
        let inputs = presentations(&case.inputs, &mut Choices::seeded(seed));
        Case::new(format!("PRECAST_ORACLE_SEED={seed}"), case.graph, inputs)
    };
    (first..first + count).map(case).collect()
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// Graphs over sizes at the boundaries of vectors, tiles and reduction blocks.
fn boundaries() -> Vec<Case> {
    let mut choices = Choices::seeded(3);
    let mut cases = Vec::new();
    for dtype in [DType::F32, DType::F64] {
        let input = |name: &str, dims: &str| format!("{name}={dtype}[{dims}]");
        let (x, y) = (input("x", "?"), input("y", "?"));
        for text in [
            "sum(exp(-x*x)*y + x)",
            "a = tanh(x) + y; b = max(x*y)",
            "mean(sigmoid(x) > y)",
            "log(x)/sqrt(y)",
        ] {
            let shapes = [0, 1, 7, 16, 33, 255, 4095, 4096, 4097, 12_289].map(|n| [vec![n], vec![n]]);
            cases.push(sized(graph(text, &[&x, &y]), dtype, &shapes, &mut choices));
        }
        let (x, y) = (input("x", "?,?"), input("y", "?"));
        for text in
            ["sum(x*y, axis=0)", "mean(exp(x) + y, axis=1)", "max(transpose(x), axis=0) + sum(y)", "x @ y"]
        {
            let shapes = [[0, 5], [5, 0], [1, 4097], [3, 4096], [513, 33], [4097, 2]];
            let shapes = shapes.map(|[n, m]| [vec![n, m], vec![m]]);
            cases.push(sized(graph(text, &[&x, &y]), dtype, &shapes, &mut choices));
        }
    }
    cases
}

fn sized(graph: FunctionGraph, dtype: DType, shapes: &[[Vec<usize>; 2]], choices: &mut Choices) -> Case {
    let mut inputs = Vec::new();
    for shapes in shapes {
        let drawn: Vec<Array> = shapes.iter().map(|shape| arrays::draw(choices, dtype, shape)).collect();
        inputs.extend(presentations(&drawn, choices));
    }
    Case::new(graph.to_string(), graph, inputs)
}

/// Checks every case with what a bundle of one cut and level serves.
fn check(cases: &[Case], cut: Cut, isa: Isa) {
    let graphs: Vec<FunctionGraph> = cases.iter().map(|case| case.graph.clone()).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("oracle.bundle");
    fs_err::write(&path, bundle(&graphs, cut, isa)).unwrap();
    let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).build().unwrap();
    let wrong: Vec<String> = cases.iter().filter_map(|case| disagreement(&runtime, case)).collect();
    assert!(wrong.is_empty(), "{cut:?} at {isa}, {} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert_eq!(runtime.stats().damaged, 0);
}

/// The first difference between what a graph gives and what it should.
fn disagreement(runtime: &Runtime, case: &Case) -> Option<String> {
    let told = |what: String| Some(format!("{}: {}\n  {what}", case.name, case.graph));
    let function = match runtime.function(&case.graph) {
        Ok(function) => function,
        Err(error) => return told(error.to_string()),
    };
    assert!(function.provenance().iter().all(|p| matches!(p.served, Served::Artifact { .. })));
    let mut reused: Option<Vec<Array>> = None;
    for (inputs, expected) in &case.calls {
        let refs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
        let fresh = match function.call(&refs) {
            Ok(fresh) => fresh,
            Err(error) => return told(error.to_string()),
        };
        // The arrays of the call before are reused, whatever their shapes.
        let outputs = reused.get_or_insert_with(|| fresh.clone());
        if let Err(error) = function.call_into(&refs, outputs) {
            return told(error.to_string());
        }
        for (position, want) in expected.iter().enumerate() {
            for (how, found) in [("new", &fresh[position]), ("reused", &outputs[position])] {
                if !same(found, want) {
                    return told(format!(
                        "output {position} ({how}) is {found:?}, expected {want:?}, from {inputs:?}"
                    ));
                }
            }
        }
    }
    None
}

#[test]
fn whole_graphs_and_perform_give_the_same_bits() {
    check(&drawn(number("PRECAST_ORACLE_GRAPHS", 320)), Cut::Whole, Isa::native().unwrap());
}

#[test]
fn op_by_op_and_perform_give_the_same_bits() {
    check(&drawn(number("PRECAST_ORACLE_GRAPHS", 320)), Cut::OpByOp, Isa::native().unwrap());
}

#[test]
fn groups_and_perform_give_the_same_bits() {
    check(&drawn(number("PRECAST_ORACLE_GRAPHS", 320) / 4), Cut::Groups, Isa::native().unwrap());
}

#[test]
fn mixed_artifacts_and_perform_give_the_same_bits() {
    let cases = drawn(number("PRECAST_ORACLE_GRAPHS", 320) / 2);
    check(&cases, Cut::Mixed(number("PRECAST_ORACLE_SEED", 0)), Isa::native().unwrap());
}

#[test]
fn every_level_of_this_cpu_gives_the_same_bits() {
    let native = Isa::native().unwrap();
    let cases = drawn(number("PRECAST_ORACLE_GRAPHS", 320) / 6);
    let below: Vec<Isa> = levels().into_iter().filter(|isa| *isa != native).collect();
    if below.is_empty() {
        println!("skipped: other ISA levels, `{native}` is the only one of this CPU");
    }
    for isa in below {
        check(&cases, Cut::Whole, isa);
    }
    if native < Isa::X86_64V4 && native.arch() == "x86_64" {
        println!("skipped: levels above `{native}`, which this CPU lacks");
    }
}

#[test]
fn sizes_at_the_boundaries_of_blocks_give_the_same_bits_at_every_level() {
    let cases = boundaries();
    assert!(cases.iter().all(|case| case.calls.len() > 4), "perform refuses too much");
    for isa in levels() {
        check(&cases, Cut::Whole, isa);
    }
    check(&cases, Cut::OpByOp, Isa::native().unwrap());
    check(&cases, Cut::Mixed(1), Isa::native().unwrap());
}

/// gcc may take an integer that was a float for the float's truncation, which has another zero: -0.0.
#[test]
fn casts_to_integers_and_back_give_positive_zeros_at_every_level() {
    let mut choices = Choices::seeded(5);
    let mut cases = Vec::new();
    for dtype in [DType::F32, DType::F64] {
        let input = format!("x={dtype}[?]");
        for text in ["f64(i64(x))", "f32(i64(x))", "1/f64(i64(x))", "1/f32(i64(x))", "maximum(i64(x)*0.5, x)"]
        {
            let small = arrays::draw_plain(&mut choices, dtype, &[67]);
            let fractions = Array::from_bits(dtype, &[67], &[minus_half(dtype); 67]).unwrap();
            let inputs = vec![vec![small], vec![fractions], vec![arrays::specials(dtype)]];
            cases.push(Case::new(text.to_owned(), graph(text, &[&input]), inputs));
        }
    }
    for isa in levels() {
        check(&cases, Cut::Whole, isa);
        check(&cases, Cut::OpByOp, isa);
    }
}

fn minus_half(dtype: DType) -> u64 {
    if dtype == DType::F32 { u64::from((-0.5_f32).to_bits()) } else { (-0.5_f64).to_bits() }
}

#[test]
fn strides_of_zero_are_read_like_any_other() {
    let isa = Isa::native().unwrap();
    let graphs = [
        graph("sum(x*y + x, axis=0)", &["x=f64[?,?]", "y=f64[?,?]"]),
        graph("x - y", &["x=f32[?,?]", "y=f32[?,?]"]),
    ];
    let directory = tempfile::tempdir().unwrap();
    let mut choices = Choices::seeded(11);
    for cut in [Cut::Whole, Cut::OpByOp] {
        let path = directory.path().join(format!("{cut:?}.bundle"));
        fs_err::write(&path, bundle(&graphs, cut, isa)).unwrap();
        let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).build().unwrap();
        for graph in &graphs {
            let dtype = graph.ty(graph.inputs()[0]).dtype();
            let function = runtime.function(graph).unwrap();
            for shape in [[3, 5], [17, 1], [0, 4], [2, 4097]] {
                let y = arrays::draw(&mut choices, dtype, &shape);
                for axis in [0, 1] {
                    let thin = arrays::draw(&mut choices, dtype, &[shape[1 - axis]]);
                    let (call, wide) = with_array!(&thin, a => {
                        let inserted = a.view().insert_axis(Axis(axis));
                        let wide = inserted.broadcast(ndarray::IxDyn(&shape)).unwrap();
                        (function.call(&[wide.view().into(), (&y).into()]).unwrap(), Array::from(wide.to_owned()))
                    });
                    let want = interpret(graph, &[wide, y.clone()]).unwrap();
                    assert!(same(&call[0], &want[0]), "{graph} {cut:?} {shape:?} axis {axis}");
                }
            }
        }
    }
}
