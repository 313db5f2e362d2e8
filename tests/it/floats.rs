//! Calls by threads with another floating-point environment: rounding modes and subnormal settings of a caller or
//! another library. Every way to call must give the bits of the default environment, and leave the caller's
//! environment unchanged.

use crate::compiled::{Granularity, bundle};
use crate::external::{call, compiled};
use crate::graphs::{graph, outputs};
use ndarray::{Array1, array};
use precast::{Array, ArrayMut, ArrayRef, CallError, Function, FunctionGraph, Ops, Policy, Runtime, threads};
use precast_codegen::external::Declaration;
use precast_compile::Isa;
use precast_core::native::OtherFloats;
use precast_graph::interpret;
use precast_ops::rewrite;
use precast_testkit::ulp::same_bits;
use std::hint::black_box;

/// The arguments of each function: large, small and subnormal numbers, and numbers close to zeros of functions.
const VALUES: [f64; 12] =
    [1e300, 2.0, -0.3, 0.3, 1.4616, 5e-324, -2.5e-310, 0.1, -1e-5, 37.25, -0.75, 1.0 / 3.0];

fn same(found: &[Array], expected: &[Array], how: &dyn std::fmt::Debug) {
    assert_eq!(found.len(), expected.len());
    for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(same_bits(found, expected), "{how:?}, output {position}: {found:?}, expected {expected:?}");
    }
}

const INPUTS: [&str; 2] = ["x=f64[?]", "y=f64[?]"];

/// Returns graphs of a dozen functions each: elementwise functions and reductions.
fn rows() -> Vec<FunctionGraph> {
    let ops = Ops::standard();
    let types = INPUTS.map(|input| precast_graph::text::parse_input(input).unwrap());
    let takes = |text: &str| precast_graph::text::parse(&[text], &types, &ops).is_ok();
    let is_asked = |row: &&precast_ops::Row| {
        let is_reduction = row.arguments == ["x"] && row.keyword("axis").is_some();
        is_reduction || precast_ops::scalar::find(row.name).is_some()
    };
    let called = Ops::rows().filter(is_asked).filter_map(|row| {
        let [one, two] = ["x", "x, y"].map(|arguments| format!("{}({arguments})", row.name));
        [one, two].into_iter().find(|text| takes(text))
    });
    let texts: Vec<String> = called.collect();
    assert!(texts.len() > 80, "{texts:?}");
    texts
        .chunks(12)
        .map(|texts| {
            let named = texts.iter().enumerate().map(|(i, text)| format!("r{i} = {text}"));
            let named: Vec<String> = named.collect();
            let named: Vec<&str> = named.iter().map(String::as_str).collect();
            outputs(&named, &INPUTS)
        })
        .collect()
}

#[test]
fn functions_have_equal_bits_in_every_environment() {
    let graphs = rows();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("floats.bundle");
    fs_err::write(&path, bundle(&graphs, Granularity::Whole, Isa::native().unwrap())).unwrap();
    let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).build().unwrap();
    for graph in &graphs {
        let (x, y) = (Array1::from_iter(VALUES), Array1::from_iter(VALUES.into_iter().rev()));
        let inputs: [Array; 2] = [x.into(), y.into()];
        let function = runtime.function(graph).unwrap();
        let expected = interpret(graph, &inputs).unwrap();
        for other in OtherFloats::ALL {
            let found = other.during(|| function.call(&inputs.each_ref().map(ArrayRef::from)));
            same(&found.unwrap(), &expected, &(other, graph.to_string()));
            let interpreted = other.during(|| interpret(graph, &inputs));
            same(&interpreted.unwrap(), &expected, &("perform", other, graph.to_string()));
        }
    }
}

/// Includes a sum long enough to be split among threads, and an author's C code.
#[test]
fn every_way_to_call_has_equal_bits() {
    let map = compiled(&graph("sin(x)/3 + x*0.5", &["x=f64[?]"]));
    let sum = compiled(&graph("sum(exp(-x*x)/3)", &["x=f64[?,?]"]));
    let x = Array1::from_iter(VALUES);
    let rows = ndarray::Array2::from_shape_fn((700, 300), |(i, j)| (i * 31 + j * 17) as f64 / 1e4);
    let typed = map.typed::<(Array1<f64>,), Array1<f64>>().unwrap();
    let expected = map.call(&[(&x).into()]).unwrap();
    let total = sum.call(&[(&rows).into()]).unwrap();
    let twice = Array1::from_iter(VALUES.into_iter().flat_map(|x| [x, 0.0]));
    let gaps = twice.slice(ndarray::s![..;2]);
    for other in OtherFloats::ALL {
        let found = other.during(|| map.call(&[(&x).into()]).unwrap());
        same(&found, &expected, other);
        // An input with gaps, which goes through a frame.
        let found = other.during(|| map.call(&[gaps.into()]).unwrap());
        same(&found, &expected, other);
        let mut reused = vec![Array::zeros(precast::DType::F64, &[VALUES.len()])];
        other.during(|| map.call_into(&[(&x).into()], &mut reused).unwrap());
        same(&reused, &expected, other);
        let mut written = Array1::<f64>::zeros(VALUES.len());
        other.during(|| map.call_views(&[(&x).into()], &mut [ArrayMut::from(written.view_mut())]).unwrap());
        same(&[written.into()], &expected, other);
        let mut again = Array1::<f64>::zeros(VALUES.len());
        let found = other.during(|| {
            typed.call_into((x.view(),), &mut again).unwrap();
            typed.call((x.view(),)).unwrap()
        });
        same(&[found.into()], &expected, other);
        same(&[again.into()], &expected, other);
        for n in [3, 1] {
            threads::limit(n);
            same(&other.during(|| sum.call(&[(&rows).into()]).unwrap()), &total, &(n, other));
        }
    }
}

#[test]
fn native_functions_set_the_environment_themselves() {
    let gauss = compiled(&graph("exp(-x*x)*0.5", &["x=f64"]));
    let several = compiled(&outputs(&["a = sin(x)/3", "b = i // 3", "c = x/7"], &["x=f64", "i=i64"]));
    let whole = compiled(&graph("round(i/3) + i", &["i=i64"]));
    let (one, three) =
        (gauss.native::<fn(f64) -> f64>().unwrap(), several.native::<fn(f64, i64) -> (f64, i64, f64)>());
    let three = three.unwrap();
    for x in VALUES {
        let bits = |(a, b, c): (f64, i64, f64)| (a.to_bits(), b, c.to_bits());
        let (expected, all) = (one.call(x).to_bits(), bits(three.call(x, -7)));
        for other in OtherFloats::ALL {
            assert_eq!(other.during(|| one.call(x)).to_bits(), expected, "{other:?} {x}");
            assert_eq!(bits(other.during(|| three.call(x, -7))), all, "{other:?} {x}");
        }
    }
    let expected = call(&whole, &[Array::from(5_i64)]).unwrap();
    for other in OtherFloats::ALL {
        same(&other.during(|| call(&whole, &[Array::from(5_i64)]).unwrap()), &expected, other);
    }
}

/// An author's C code, called through its module and as a native function, including settings that it changes itself.
#[test]
fn author_code_runs_in_the_default_environment() {
    let text = "#section code\nvolatile double x = INPUT_0;\nvolatile long double y = INPUT_0;\n\
                OUTPUT_0 = x / 3 + (double)(y / 7);\n";
    let declared = Declaration::new("own").file("own.c", text).input("f64").output("f64");
    let function: Function = compiled(&crate::external::graph(&crate::external::op(declared), &["f64"]));
    let native = function.native::<fn(f64) -> Result<f64, CallError>>().unwrap();
    for x in VALUES {
        let inputs = [Array::from(x)];
        let expected = call(&function, &inputs).unwrap();
        for other in OtherFloats::ALL {
            same(&other.during(|| call(&function, &inputs).unwrap()), &expected, other);
            same(&[Array::from(other.during(|| native.call(x).unwrap()))], &expected, other);
        }
    }
}

#[test]
fn caller_float_state_is_preserved() {
    let function = compiled(&graph("1/x", &["x=f64[?]"]));
    for other in OtherFloats::ALL {
        other.during(|| {
            let ten = array![10.0, 3.0];
            function.call(&[(&ten).into()]).unwrap();
            // Rejected: a rank that the graph does not accept.
            assert!(function.call(&[ArrayRef::from(&Array::from(1.0))]).is_err());
            if *other == OtherFloats::Upward {
                assert!(black_box(1.0) + black_box(1e-20) > 1.0);
            }
            if *other == OtherFloats::FlushesOperands {
                assert_eq!((black_box(5e-324) * black_box(1.0_f64)).to_bits(), 0);
            }
        });
    }
}

/// Literals, decimal numbers and folded constants are the same, and so are keys.
#[test]
fn graphs_are_equal_in_every_environment() {
    let make = || {
        let graph = graph("x*(1/3) + 0.1 + sin(2.5) + exp(zeros(3) + 0.7)", &["x=f64[?]"]);
        let json = precast_graph::json::render(&graph);
        let read = precast_graph::json::parse(&json, &Ops::standard()).unwrap();
        let canonical = |graph: &FunctionGraph| {
            let lowered = rewrite::lower(graph).unwrap();
            precast_graph::encode::canonical(&lowered)
        };
        (canonical(&graph), canonical(&read))
    };
    let expected = make();
    for other in OtherFloats::ALL {
        assert_eq!(other.during(make), expected, "{other:?}");
    }
}
