//! Tests of `stabilise`: each rule at arguments where the original formula loses digits or overflows
//! (`golden/stabilise.py`), at special values, and on graphs that it must not change.

use precast_graph::{Array, FunctionGraph, interpret, text};
use precast_ops::Ops;
use precast_ops::rewrite::{self, stabilise};
use precast_testkit::ulp::{same_bits, ulp_distance};
use std::collections::BTreeMap;

fn graph(output: &str, ty: &str) -> FunctionGraph {
    let input = |name| text::parse_input(&format!("{name}={ty}")).unwrap();
    let is_used = |name: &str| name == "x";
    text::parse_using(&[output], &[input("x"), input("y")], &is_used, &Ops::standard()).unwrap()
}

fn run(graph: &FunctionGraph, x: &Array) -> Vec<f64> {
    let inputs: Vec<Array> = graph.inputs().iter().map(|_| x.clone()).collect();
    let [out] = &interpret(graph, &inputs).unwrap()[..] else { panic!("{graph}") };
    out.numbers().iter().map(|number| number.parts().0).collect()
}

fn vector(values: &[f64]) -> Array {
    Array::from(ndarray::arr1(values).into_dyn())
}

#[test]
fn stable_formulas_recover_lost_digits() {
    let mut all_lost = BTreeMap::new();
    for line in include_str!("../golden/stabilise.jsonl").lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let list = |key: &str| -> Vec<f64> {
            line[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let (text, x, out) = (line["text"].as_str().unwrap(), vector(&list("x")), list("out"));
        let declared = graph(text, "f64[?]");
        let stable = stabilise(&declared).unwrap();
        // A logarithm of a value close to 1 is only as exact as that value: one unit of 1 is many units of the
        // result.
        let unit = |exact: f64| if text.contains("sum") || text.contains("softmax") { 1.0 } else { exact };
        let off = |(found, exact): (&f64, &f64)| match (found - exact).abs()
            <= 4.0 * f64::EPSILON * unit(*exact).abs()
        {
            true => 0,
            false => ulp_distance(*found, *exact),
        };
        let worst = |found: &[f64]| found.iter().zip(&out).map(off).max().unwrap();
        let (lost, left) = (worst(&run(&declared, &x)), worst(&run(&stable, &x)));
        assert!(left <= 4, "{text} became {stable}, {left} ulp off");
        let most = all_lost.entry(text.to_owned()).or_insert(0);
        *most = lost.max(*most);
        // A second run changes nothing, and all forms of the stable graph have its bits.
        assert_eq!(stabilise(&stable).unwrap(), stable, "{text}");
        for form in rewrite::Form::ALL {
            let lowered = form.of(&stable, &rewrite::Passes::default()).unwrap();
            let [found, want] = [&lowered, &stable].map(|graph| vector(&run(graph, &x)));
            assert!(same_bits(&found, &want), "{text}, {form:?}: {lowered}");
        }
    }
    let idle: Vec<_> = all_lost.iter().filter(|(_, lost)| **lost <= 1000).collect();
    assert!(idle.is_empty(), "these need no rule: {idle:?}");
}

#[test]
fn stable_formulas_keep_special_values() {
    let infinity = f64::INFINITY;
    let elements = [f64::NAN, infinity, -infinity, 0.0, 1.0, -1.0];
    // If the formula itself gives NaN, e.g. for inf/inf, although its argument does not require it, the stable
    // formula may return a number.
    let may_say_more = |text: &str, x: f64| text == "exp(x)/(1 + exp(x))" && x == infinity;
    for text in [
        "log(1 + x)",
        "log(1 - x)",
        "exp(x) - 1",
        "1 - exp(x)",
        "log(1 + exp(x))",
        "log(1 - exp(x))",
        "1/(1 + exp(-x))",
        "1/(1 + exp(x))",
        "exp(x)/(1 + exp(x))",
        "log(sigmoid(x))",
        "1 - sigmoid(x)",
    ] {
        let declared = graph(text, "f64[?]");
        let stable = stabilise(&declared).unwrap();
        assert_ne!(stable, declared, "{text}");
        let (found, want) = (run(&stable, &vector(&elements)), run(&declared, &vector(&elements)));
        for ((x, found), want) in elements.iter().zip(found).zip(want) {
            let near = (found - want).abs() <= 1e-15 * want.abs();
            let same = found == want || near || (found.is_nan() && want.is_nan());
            assert!(same || may_say_more(text, *x), "{text} of {x}: {found}, not {want}");
        }
    }
    let rows: [&[f64]; 6] = [
        &[infinity, 1.0],
        &[-infinity, 1.0],
        &[-infinity, -infinity],
        &[f64::NAN, 1.0],
        &[infinity, -infinity],
        &[0.5],
    ];
    for text in ["log(sum(exp(x)))", "exp(x)/sum(exp(x))", "log(exp(x)/sum(exp(x)))"] {
        let declared = graph(text, "f64[?]");
        let stable = stabilise(&declared).unwrap();
        for row in rows {
            let (found, want) = (run(&stable, &vector(row)), run(&declared, &vector(row)));
            let same = |(found, want): (&f64, &f64)| {
                found == want || (found - want).abs() < 1e-15 || (found.is_nan() && want.is_nan())
            };
            assert!(found.iter().zip(&want).all(same), "{text} of {row:?}: {found:?}, not {want:?}");
        }
    }
}

#[test]
fn sums_match_over_any_axes_and_f32() {
    for text in [
        "log(sum(exp(x), axis=1))",
        "log(sum(exp(x), axis=0, keepdims=True))",
        "log(sum(exp(x), axis=1))[None, :]",
        "exp(x)/sum(exp(x), axis=1, keepdims=True)",
        "exp(x)/sum(exp(x), axis=0)",
        "log(exp(x)/sum(exp(x), axis=-1, keepdims=True))",
    ] {
        for ty in ["f64[?, ?]", "f32[?, 3]"] {
            let declared = graph(text, ty);
            let stable = stabilise(&declared).unwrap();
            assert!(stable != declared, "{text} of {ty}");
            let near = ndarray::arr2(&[[0.1, -0.7, 2.0], [1.5, 0.25, -3.0]]);
            let of = |values: ndarray::Array2<f64>| match ty {
                "f64[?, ?]" => Array::from(values.into_dyn()),
                _ => Array::from(values.mapv(|x| x as f32).into_dyn()),
            };
            let bound = if ty == "f64[?, ?]" { 1e-15 } else { 5e-7 };
            let (found, want) = (run(&stable, &of(near.clone())), run(&declared, &of(near.clone())));
            let far = |(found, want): (&f64, &f64)| (found - want).abs() > bound * want.abs().max(1.0);
            assert!(!found.iter().zip(&want).any(far), "{text} of {ty}: {found:?}, not {want:?}");
            assert!(run(&stable, &of(near + 1000.0)).iter().all(|x| x.is_finite()), "{text} of {ty}");
        }
    }
}

#[test]
fn lookalikes_stay_unchanged() {
    for (text, ty) in [
        ("log(2 + x)", "f64[?]"),
        ("log(x - 1)", "f64[?]"),
        ("exp(x) - 2", "f64[?]"),
        ("exp(x)/(1 + exp(y))", "f64[?]"),
        ("exp(x)/sum(exp(y))", "f64[?]"),
        ("exp(x)/sum(exp(x), axis=1)", "f64[3, 3]"),
        ("log(sum(exp(x)) + 1)*0 + log(mean(exp(x)))", "c128[?]"),
        ("log(1 + x)", "c128[?]"),
        ("log(max(exp(x)))", "f64[?]"),
        ("logsumexp(x, axis=0) + softmax(x, axis=1)", "f64[?, ?]"),
        ("exp(x) + array([True])", "f64[?]"),
        ("exp(x) + array([-1], dtype=u8)", "f64[?]"),
        ("exp(x) + cast(cast(-1, u8), f64)", "f64[?]"),
        ("exp(x) + astype(array([-1.0]), bool)", "f64[?]"),
        // The constant makes the result longer than x.
        ("log(ones(1, dtype=f64) + exp(x))*0 + 1/(x + 1)", "f64[?]"),
    ] {
        let declared = graph(text, ty);
        assert_eq!(stabilise(&declared).unwrap(), declared, "{text}");
    }
}

/// The first column of STABILISE.md lists the tested formulas.
#[test]
fn the_page_lists_every_formula() {
    let page = include_str!("../../STABILISE.md");
    for line in include_str!("../golden/stabilise.jsonl").lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = line["text"].as_str().unwrap();
        assert!(page.contains(&format!("`{text}`")), "{text} is not in STABILISE.md");
    }
}
