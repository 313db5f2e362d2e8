//! Compares every float function with mpmath's 60 digits: `precise.jsonl`, written by `precise.py`.

use crate::cases::floats;
use precast_testkit::ulp::{ulp_distance, ulp_distance_f32};
use std::sync::LazyLock;

/// A line of the file: the range where the function varies, the allowed error in ulp, the operands of each element,
/// and the results.
pub(crate) struct Oracle {
    pub(crate) range: [f64; 2],
    ulp: u64,
    operands: Vec<Vec<u64>>,
    out: Vec<u64>,
}

static LINES: LazyLock<Vec<serde_json::Value>> = LazyLock::new(|| {
    let lines = include_str!("../golden/precise.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
});

/// Returns the line of a function, e.g. `exp_f64`.
pub(crate) fn oracle(name: &str) -> Oracle {
    let line = LINES.iter().find(|line| line["name"] == name);
    let line = line.unwrap_or_else(|| panic!("`{name}` has no line in precise.py"));
    let columns = ["x", "y", "z", "w"].map(|column| bits(line, column));
    let operands = (0..columns[0].len()).map(|i| columns.iter().filter_map(|x| x.get(i).copied()).collect());
    Oracle {
        range: [0, 1].map(|end| line["range"][end].as_f64().unwrap()),
        ulp: line["ulp"].as_u64().unwrap(),
        operands: operands.collect(),
        out: bits(line, "out"),
    }
}

fn bits(case: &serde_json::Value, key: &str) -> Vec<u64> {
    let text = case[key].as_str().unwrap_or_default();
    text.split_whitespace().map(|x| u64::from_str_radix(x, 16).unwrap()).collect()
}

/// Returns whether a result for negative `x` is within 8 ulp of 1, or of itself if it is larger. `gammaln` and
/// `digamma` have a zero between any two poles there. Two larger numbers cancel at the zero, so the error is relative
/// to them.
fn absolute(x: f64, found: f64, expected: f64) -> bool {
    x < 0.0 && (found - expected).abs() <= 8.0 * f64::EPSILON * expected.abs().max(1.0)
}

/// The functions of f32 and f64 share little C code. Their algorithms change at powers of two, so the neighbours are
/// tested too.
#[test]
fn f32_functions_match_f64_at_powers_of_two() {
    let (f32s, f64s) = floats();
    let mut compared = 0;
    for case in f32s {
        let Some(wide) = f64s.iter().find(|wide| wide.name == case.name.replace("_f32", "_f64")) else {
            continue;
        };
        let ulp = oracle(&case.name).ulp;
        if oracle(&case.name).operands[0].len() != 1 {
            continue;
        }
        compared += 1;
        let ends = (0..=254_u32).map(|exponent| exponent << 23);
        for bits in ends.flat_map(|end| [end.saturating_sub(1), end, end + 1]) {
            for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
                let (found, expected) = ((case.function)(&[x]), (wide.function)(&[f64::from(x)]) as f32);
                let near =
                    found.is_nan() && expected.is_nan() || ulp_distance_f32(found, expected) <= ulp + 1;
                assert!(near, "{}({x:e}): {found:e}, of f64 {expected:e}", case.name);
            }
        }
    }
    assert!(compared > 20, "{compared} functions");
}

#[test]
fn functions_match_60_digits_within_their_bounds() {
    let (f32s, f64s) = floats();
    assert_eq!(LINES.len(), f32s.len() + f64s.len(), "every line is held against a function");
    for case in f64s {
        let (line, name) = (oracle(&case.name), &case.name);
        for (x, expected) in line.operands.iter().zip(&line.out) {
            let x: Vec<f64> = x.iter().map(|bits| f64::from_bits(*bits)).collect();
            let (found, expected) = ((case.function)(&x), f64::from_bits(*expected));
            let sign = expected != 0.0 || found.is_sign_negative() == expected.is_sign_negative();
            let own =
                matches!(name.as_str(), "gammaln_f64" | "digamma_f64") && absolute(x[0], found, expected);
            let near = (ulp_distance(found, expected) <= line.ulp || own) && sign;
            assert!(near, "{name}({x:?}): {found:e}, to 60 digits {expected:e}");
        }
    }
    for case in f32s {
        let (line, name) = (oracle(&case.name), &case.name);
        for (x, expected) in line.operands.iter().zip(&line.out) {
            let x: Vec<f32> = x.iter().map(|bits| f32::from_bits(*bits as u32)).collect();
            let (found, expected) = ((case.function)(&x), f32::from_bits(*expected as u32));
            let sign = expected != 0.0 || found.is_sign_negative() == expected.is_sign_negative();
            let near = ulp_distance_f32(found, expected) <= line.ulp && sign;
            assert!(near, "{name}({x:?}): {found:e}, to 60 digits {expected:e}");
        }
    }
}
