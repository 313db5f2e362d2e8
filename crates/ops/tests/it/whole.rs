//! The errors of unary f32 functions over the whole range of bits, measured by `tests/c/whole.c` against the f64 functions.
//!
//! The test takes each 20 011th number; `PRECAST_WHOLE=1` takes all 2³² numbers, which takes about a quarter of an hour.

use crate::compiler;
use std::path::Path;
use std::process::Command;

/// The functions that are computed in f32, and one with the errors of two short polynomials, with their largest errors in ulp. All
/// others are computed in f64 or in pairs, and rounded once.
const WIDER: [(&str, f64); 7] = [
    ("exp", 1.0),
    ("log", 1.1),
    ("log1p", 1.1),
    ("tanh", 1.2),
    ("erf", 1.0),
    ("sigmoid", 0.8),
    ("log_ndtr", 0.58),
];
/// The functions that are computed in pairs of f32, and the largest error of their results.
const IN_PAIRS: [&str; 9] = ["log2", "log10", "asin", "acos", "atan", "asinh", "acosh", "atanh", "cbrt"];
const OF_PAIRS: f64 = 0.6;
/// The largest error of the other functions: half an ulp for rounding, and the error of short polynomials.
const ROUNDED_ONCE: f64 = 0.56;

#[test]
fn f32_functions_round_nearly_like_exact_ones() {
    let folder = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/whole.c");
    let level = *compiler::levels().last().unwrap();
    let program = compiler::program(folder.path(), level, &[file], "gnu11");
    let step = if std::env::var_os("PRECAST_WHOLE").is_some() { "1" } else { "20011" };
    let output = Command::new(program).arg(step).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let others = if IN_PAIRS.contains(&words[0]) { OF_PAIRS } else { ROUNDED_ONCE };
        let bound = WIDER.iter().find(|(name, _)| *name == words[0]).map_or(others, |(_, bound)| *bound);
        let error: f64 = words[2].parse().unwrap();
        assert!(error <= bound, "{line}; at most {bound}");
    }
    assert_eq!(text.lines().count(), 41, "the functions of whole.c");
}
