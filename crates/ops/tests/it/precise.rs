//! Every function of floats against mpmath's 60 digits: `precise.jsonl`, made by `precise.py`.

use crate::cases::floats;
use precast_testkit::ulp::{ulp_distance, ulp_distance_f32};

/// How many ulp a function may be off in f32 and f64: half an ulp more than the largest error that `tests/c/accuracy.c`
/// saw, rounded down, since a distance counts steps from the rounded value. Most functions of f32 are those of f64 rounded once.
///
/// Left of 0 `gammaln` and `digamma` have a zero between any two poles, where two numbers cancel: there the error is one of the larger
/// ([`absolute`]).
const BOUNDS: [(&str, u64, u64); 30] = [
    ("acos", 0, 1),
    ("acosh", 0, 1),
    ("asin", 0, 1),
    ("asinh", 0, 1),
    ("atan", 0, 1),
    ("atan2", 0, 1),
    ("atanh", 0, 1),
    ("cbrt", 0, 1),
    ("cos", 0, 1),
    ("cosh", 0, 1),
    ("digamma", 0, 3),
    ("erf", 0, 1),
    ("erfc", 0, 2),
    ("exp", 1, 1),
    ("exp2", 0, 1),
    ("expm1", 0, 1),
    ("gammaln", 0, 7),
    ("hypot", 0, 0),
    ("log", 1, 1),
    ("log10", 0, 1),
    ("log1mexp", 0, 1),
    ("log1p", 0, 1),
    ("log2", 0, 1),
    ("pow", 0, 1),
    ("sigmoid", 1, 1),
    ("sin", 0, 1),
    ("sinh", 0, 1),
    ("softplus", 0, 1),
    ("tan", 0, 1),
    ("tanh", 1, 1),
];

/// A line of the file: the operands of each element, and the result.
struct Line {
    operands: Vec<Vec<u64>>,
    out: Vec<u64>,
}

fn line(all: &[serde_json::Value], name: &str) -> Line {
    let line = all.iter().find(|line| line["name"] == name).expect("every function has a line");
    let (x, y) = (bits(line, "x"), bits(line, "y"));
    let operands = x.iter().enumerate().map(|(i, x)| std::iter::once(*x).chain(y.get(i).copied()).collect());
    Line { operands: operands.collect(), out: bits(line, "out") }
}

fn bounds(name: &str) -> (u64, u64) {
    let (function, _) = name.rsplit_once('_').unwrap();
    let (_, f32, f64) = BOUNDS.iter().find(|row| row.0 == function).expect("every function has its bounds");
    (*f32, *f64)
}

fn bits(case: &serde_json::Value, key: &str) -> Vec<u64> {
    let text = case[key].as_str().unwrap_or_default();
    text.split_whitespace().map(|x| u64::from_str_radix(x, 16).unwrap()).collect()
}

/// Whether a result left of 0 is within 8 ulp of 1, or of itself if it is larger.
fn absolute(x: f64, found: f64, expected: f64) -> bool {
    x < 0.0 && (found - expected).abs() <= 8.0 * f64::EPSILON * expected.abs().max(1.0)
}

#[test]
fn functions_are_within_their_bounds_of_60_digits() {
    let lines: Vec<serde_json::Value> = include_str!("../golden/precise.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (f32s, f64s) = floats();
    assert_eq!(lines.len(), f32s.len() + f64s.len(), "every line is held against a function");
    for case in f64s {
        let (line, name) = (line(&lines, case.name), case.name);
        for (x, expected) in line.operands.iter().zip(line.out) {
            let x: Vec<f64> = x.iter().map(|bits| f64::from_bits(*bits)).collect();
            let (found, expected) = ((case.function)(&x), f64::from_bits(expected));
            let sign = expected != 0.0 || found.is_sign_negative() == expected.is_sign_negative();
            let own = matches!(name, "gammaln_f64" | "digamma_f64") && absolute(x[0], found, expected);
            let near = (ulp_distance(found, expected) <= bounds(name).1 || own) && sign;
            assert!(near, "{name}({x:?}): {found:e}, to 60 digits {expected:e}");
        }
    }
    for case in f32s {
        let (line, name) = (line(&lines, case.name), case.name);
        for (x, expected) in line.operands.iter().zip(line.out) {
            let x: Vec<f32> = x.iter().map(|bits| f32::from_bits(*bits as u32)).collect();
            let (found, expected) = ((case.function)(&x), f32::from_bits(expected as u32));
            let sign = expected != 0.0 || found.is_sign_negative() == expected.is_sign_negative();
            let near = ulp_distance_f32(found, expected) <= bounds(name).0 && sign;
            assert!(near, "{name}({x:?}): {found:e}, to 60 digits {expected:e}");
        }
    }
}
