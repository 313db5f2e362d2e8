//! ACCURACY.md: the largest error of each float function, measured by `tests/c/accuracy.c` against libquadmath's 113
//! bits.
//!
//! `PRECAST_WRITE_PAGE=1 cargo test -p precast-ops --test it accuracy` rewrites the page with 10⁶ values per
//! function, which takes some minutes. The test uses 10⁴ values, whose errors must not exceed those on the page.
//! Without libquadmath the test is skipped.

#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use crate::compiler;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const PAGE: &str = include_str!("../../ACCURACY.md");
/// The text before and after the table.
const ENDS: [&str; 2] = ["| function |", "\n\n## "];
/// The number of values per function, in thousands: for the test, and for the page.
const THOUSANDS: (u32, u32) = (10, 1000);
/// The additional error allowed for the 10⁴ values of the test, which differ from the 10⁶ values of the page.
const SLACK: f64 = 0.05;

/// A function, its header in `c/precast/ops/math/`, and its algorithm.
type Row = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const ROWS: [Row; 30] = [
    ("exp", "exp.h", "x = k ln 2 + r, a polynomial in r"),
    ("exp2", "exp2.h", "x = k + r; 1 + r/2 is exact, the rest a polynomial in r"),
    ("expm1", "exp2.h", "like `exp`; 1 is subtracted as a pair"),
    ("log", "log.h", "x = 2^k m, a series in (m - 1)/(m + 1)"),
    ("log2", "log2.h", "after K. C. Ng's fdlibm"),
    ("log10", "log2.h", "after K. C. Ng's fdlibm"),
    ("log1p", "log1p.h", "like `log` of a pair (f32: adds the rounding error of 1 + x)"),
    ("softplus", "log1p.h", "max(x, 0) and `log1p` of a power"),
    ("log1mexp", "log1p.h", "`log` of a pair"),
    ("sigmoid", "sigmoid.h", "a quotient of pairs"),
    ("tanh", "sigmoid.h", "one quotient: below 0.9 (f32: 1) of polynomials, above it of sums with r coth r"),
    ("sinh", "hyperbolic.h", "x = k ln 2 + r, sums of sinh r and cosh r"),
    ("cosh", "hyperbolic.h", "e^x as a pair"),
    ("asinh", "area.h", "`log` of a pair"),
    ("acosh", "area.h", "`log` of a pair"),
    ("atanh", "area.h", "a series in (1 + x - 2^k (1 - x))/(1 + x + 2^k (1 - x))"),
    ("asin", "arc.h", "a polynomial up to 1/2, above it with a square root as a pair"),
    ("acos", "arc.h", "a polynomial up to 1/2, above it with a square root as a pair"),
    ("atan", "atan.h", "a multiple of pi/4 and a polynomial, as pairs"),
    ("cbrt", "root.h", "a polynomial of 23 bits, two terms of a series for the rest"),
    ("erf", "erf.h", "a polynomial up to 3/4 (f32: 0.845), above it 1 minus `erfc` without pairs (f32: 1 minus a power of 2)"),
    ("erfc", "erf.h", "after M. M. Shepherd and J. G. Laframboise (1981)"),
    ("sin", "trig.h", "reduction after Cody and Waite, or Payne and Hanek; a polynomial"),
    ("cos", "trig.h", "reduction after Cody and Waite, or Payne and Hanek; a polynomial"),
    ("tan", "trig.h", "a quotient of polynomials, as pairs"),
    ("gammaln", "gamma.h", "x > 0: a polynomial, from 8 Stirling's series"),
    ("digamma", "gamma.h", "x > 0: a polynomial, from 8 Stirling's series"),
    ("pow", "pow.h", "`exp` of y ln x, with ln x accurate to 2^-63"),
    ("atan2", "atan.h", "like `atan`"),
    ("hypot", "root.h", "a square root of pairs"),
];

/// Returns the error budget of a function: NumPy's or SciPy's error, but at least 1 ulp, or 2 ulp for `gammaln` and
/// `digamma`.
fn budget(name: &str, peer: Option<f64>) -> f64 {
    let least = if matches!(name, "gammaln" | "digamma") { 2.0 } else { 1.0 };
    peer.unwrap_or(least).max(least)
}

/// Returns the errors of NumPy and SciPy in f64 and f32, as printed by `accuracy.py`.
fn peers(name: &str) -> [Option<f64>; 2] {
    let lines = include_str!("../golden/accuracy.txt").lines();
    let mut lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|words| words[0] == name);
    line.map_or([None; 2], |words| [words[2], words[4]].map(|word| word.parse().ok()))
}

/// Measures the largest error of each function, in f64 and f32; `None` without libquadmath.
fn measured(thousands: u32) -> Option<Vec<(String, [f64; 2])>> {
    let folder = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/accuracy.c");
    let program = compiler::program_with_quad(folder.path(), compiler::levels()[0], &file)?;
    let output = Command::new(program).arg(thousands.to_string()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut found: Vec<(String, [f64; 2])> = Vec::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let error: f64 = words[2].parse().unwrap();
        match found.last_mut() {
            Some((name, errors)) if name == words[0] => errors[1] = error,
            _ => found.push((words[0].to_owned(), [error, f64::NAN])),
        }
    }
    Some(found)
}

/// Renders the table of the page.
fn table(measured: &[(String, [f64; 2])]) -> String {
    let mut text = "| function | header | algorithm | f64 | f32 | NumPy, SciPy: f64 | f32 | budget |\n|---|---|---|---|---|---|---|---|".to_owned();
    for ((name, errors), (_, header, how)) in measured.iter().zip(ROWS) {
        let peers = peers(name);
        let missed: Vec<String> = (0..2)
            .filter(|i| errors[*i] > budget(name, peers[*i]))
            .map(|i| format!("{} missed: {:.2}", ["f64", "f32"][i], budget(name, peers[i])))
            .collect();
        let verdict = if missed.is_empty() { "met".to_owned() } else { missed.join(", ") };
        let peers = peers.map(|peer| peer.map_or("–".to_owned(), |error| format!("{error:.2}")));
        let [f64, f32] = errors.map(|error| format!("{error:.2}"));
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n| `{name}` | `{header}` | {how} | {f64} | {f32} | {} | {} | {verdict} |",
            peers[0], peers[1]
        );
    }
    text
}

/// Returns the errors on the page, in f64 and f32.
fn stated(name: &str) -> [f64; 2] {
    let start = format!("| `{name}` |");
    let row = PAGE.lines().find(|line| line.starts_with(&start));
    let cells: Vec<&str> = row.unwrap_or_else(|| panic!("ACCURACY.md lacks `{name}`")).split('|').collect();
    [cells[4], cells[5]].map(|cell| cell.trim().parse().unwrap())
}

#[test]
fn errors_stay_within_documented_bounds() {
    let writes = std::env::var_os("PRECAST_WRITE_PAGE").is_some();
    let Some(measured) = measured(if writes { THOUSANDS.1 } else { THOUSANDS.0 }) else {
        eprintln!("skipped: accuracy against 113 bits: no libquadmath beside the C compiler");
        return;
    };
    let names: Vec<&str> = measured.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ROWS.map(|(name, ..)| name), "the functions of accuracy.c");
    if writes {
        let start = PAGE.find(ENDS[0]).unwrap();
        let end = start + PAGE[start..].find(ENDS[1]).unwrap();
        let page = format!("{}{}{}", &PAGE[..start], table(&measured), &PAGE[end..]);
        fs_err::write(concat!(env!("CARGO_MANIFEST_DIR"), "/ACCURACY.md"), page).unwrap();
        return;
    }
    for (name, errors) in &measured {
        for ((error, stated), dtype) in errors.iter().zip(stated(name)).zip(["f64", "f32"]) {
            assert!(*error <= stated + SLACK, "{name} of {dtype} is {error} ulp off, the page says {stated}");
        }
    }
    // The page must mark every missed budget.
    let told: Vec<&str> = PAGE.lines().filter(|line| line.contains("missed: ")).collect();
    for (name, ..) in ROWS {
        let late = (0..2).any(|i| stated(name)[i] > budget(name, peers(name)[i]));
        assert_eq!(late, told.iter().any(|line| line.starts_with(&format!("| `{name}` |"))), "{name}");
    }
}
