//! Functions that NumPy lacks against mpmath's 60 digits: `precise.jsonl`, made by `precise.py`.

use precast_ops::math;
use precast_testkit::ulp::{ulp_distance, ulp_distance_f32};

/// A function, and how many ulp it may be off: an ulp more than the largest error that `tests/c/accuracy.c` saw, rounded down,
/// since a distance counts steps from the rounded value.
///
/// Left of 0 `gammaln` and `digamma` have a zero between any two poles, where two numbers cancel: there the error is one of the larger
/// ([`absolute`]).
enum Case {
    F64(fn(f64) -> f64, u64),
    F32(fn(f32) -> f32, u64),
}

const CASES: [(&str, Case); 8] = [
    ("gammaln_f64", Case::F64(math::gammaln_f64, 7)),
    ("digamma_f64", Case::F64(math::digamma_f64, 3)),
    ("gammaln_f32", Case::F32(math::gammaln_f32, 0)),
    ("digamma_f32", Case::F32(math::digamma_f32, 0)),
    ("erf_f64", Case::F64(math::erf_f64, 1)),
    ("erfc_f64", Case::F64(math::erfc_f64, 2)),
    ("erf_f32", Case::F32(math::erf_f32, 0)),
    ("erfc_f32", Case::F32(math::erfc_f32, 0)),
];

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
    assert_eq!(lines.len(), CASES.len(), "every line is held against a function");
    for (name, case) in &CASES {
        let line = lines.iter().find(|line| line["name"] == *name).expect("every function has a line");
        for (x, expected) in bits(line, "x").into_iter().zip(bits(line, "out")) {
            match case {
                Case::F64(function, bound) => {
                    let (x, expected) = (f64::from_bits(x), f64::from_bits(expected));
                    let found = function(x);
                    let sign = expected != 0.0 || found.is_sign_negative() == expected.is_sign_negative();
                    let near =
                        (ulp_distance(found, expected) <= *bound || absolute(x, found, expected)) && sign;
                    assert!(near, "{name}({x:e}): {found:e}, to 60 digits {expected:e}");
                }
                Case::F32(function, bound) => {
                    let (x, expected) = (f32::from_bits(x as u32), f32::from_bits(expected as u32));
                    let found = function(x);
                    let sign = expected != 0.0 || found.is_sign_negative() == expected.is_sign_negative();
                    let near = ulp_distance_f32(found, expected) <= *bound && sign;
                    assert!(near, "{name}({x:e}): {found:e}, to 60 digits {expected:e}");
                }
            }
        }
    }
}
