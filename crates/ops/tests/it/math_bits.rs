//! Tests that the functions called by `perform` have the bits of vector code at every ISA level, and NumPy's edge
//! cases.

use crate::cases::{Case, floats, list};
use crate::compiler;
use crate::precise::oracle;
use precast_testkit::ulp::{ulp_distance, ulp_distance_f32};
use std::path::Path;
use std::process::Command;

/// The number of elements per function: half of them random bits, half in the range where the function varies.
const VALUES: usize = 1 << 14;

/// Returns the range where `exp_f64` etc. vary, from the oracle. The range for f32 ends earlier.
fn range(name: &str) -> [f64; 2] {
    let range = oracle(name).range;
    let widest = if name.ends_with("_f32") { [-150.0, 129.0] } else { range };
    [range[0].max(widest[0]), range[1].min(widest[1])]
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Numbers where functions change their algorithm, and unusual numbers.
const EDGES: [f64; 26] = [
    0.0,
    -0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    5e-324,
    -5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    709.782_712_893_384,
    709.782_712_893_384_1,
    -745.133_219_101_941_2,
    -745.133_219_101_941_1,
    -708.396_418_532_264_1,
    22.0,
    19.061_54,
    std::f64::consts::FRAC_1_SQRT_2,
    std::f64::consts::SQRT_2,
    1.0,
    -1.0,
    0.5,
    -2.0,
    3.0,
    1e22,
];

/// Returns all edge cases, then random values. Two operands take all pairs of edge cases; a third operand takes a
/// fraction.
fn values(arity: usize, low: f64, high: f64) -> Vec<f64> {
    let mut random = Random(88_172_645_463_325_252);
    let mut all: Vec<f64> = match arity {
        1 => EDGES.to_vec(),
        2 => EDGES.iter().flat_map(|x| EDGES.iter().flat_map(|y| [*x, *y])).collect(),
        _ => EDGES
            .iter()
            .flat_map(|x| EDGES.iter().flat_map(|y| [*x, *y, y.abs() / (x.abs() + y.abs())]))
            .collect(),
    };
    while all.len() < VALUES * arity {
        all.extend((0..arity).map(|_| f64::from_bits(random.next())));
        all.extend((0..arity).map(|_| random.between(low, high)));
    }
    all
}

/// Converts values to f32: numbers are rounded, random bits become random bits of an f32.
fn narrow(values: &[f64], low: f64, high: f64) -> Vec<f32> {
    let narrow = |x: &f64| {
        let moves = (low..=high).contains(x) || EDGES.contains(x);
        if moves { *x as f32 } else { f32::from_bits((x.to_bits() >> 17) as u32) }
    };
    values.iter().map(narrow).collect()
}

fn run(program: &Path, folder: &Path, name: &str, bytes: &[u8]) -> Vec<u8> {
    let (input, output) = (folder.join("in"), folder.join("out"));
    fs_err::write(&input, bytes).unwrap();
    let status = Command::new(program).arg(name).arg(&input).arg(&output).status().unwrap();
    assert!(status.success(), "{name}: {status}");
    fs_err::read(output).unwrap()
}

#[test]
fn vector_code_matches_perform_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/math.c");
    for (position, level) in (0..).zip(compiler::levels()) {
        let (f32s, f64s) = floats();
        let f32s = compiler::share(f32s, position, 2 * compiler::LEVELS);
        let f64s = compiler::share(f64s, position, 2 * compiler::LEVELS);
        fs_err::write(folder.path().join("functions.h"), list(&f64s)).unwrap();
        let program = compiler::program(folder.path(), level, std::slice::from_ref(&source), "gnu11");
        for Case { name, arity, function, .. } in &f64s {
            let [low, high] = range(name);
            let x = values(*arity, low, high);
            let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
            let y = run(&program, folder.path(), name, &bytes);
            assert_eq!(y.len() * arity, bytes.len());
            for (x, y) in x.chunks(*arity).zip(y.as_chunks::<8>().0) {
                let (vector, one) = (f64::from_ne_bytes(*y), function(x));
                let same = vector.to_bits() == one.to_bits() || (vector.is_nan() && one.is_nan());
                assert!(same, "{} {name}({x:?}): {vector:e}, perform {one:e}", level.0);
            }
        }
        for Case { name, arity, function, .. } in &f32s {
            let [low, high] = range(name);
            let x = narrow(&values(*arity, low, high), low, high);
            let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
            let y = run(&program, folder.path(), name, &bytes);
            assert_eq!(y.len() * arity, bytes.len());
            for (x, y) in x.chunks(*arity).zip(y.as_chunks::<4>().0) {
                let (vector, one) = (f32::from_ne_bytes(*y), function(x));
                let same = vector.to_bits() == one.to_bits() || (vector.is_nan() && one.is_nan());
                assert!(same, "{} {name}({x:?}): {vector:e}, perform {one:e}", level.0);
            }
        }
    }
}

fn bits(case: &serde_json::Value, key: &str) -> Vec<u64> {
    let text = case[key].as_str().unwrap_or_default();
    text.split_whitespace().map(|x| u64::from_str_radix(x, 16).unwrap()).collect()
}

/// Compares the functions of a dtype with `special.jsonl`, and returns the number of functions found there.
fn edges_agree<T: Copy + std::fmt::LowerExp>(
    cases: impl IntoIterator<Item = Case<T>>,
    of_bits: fn(u64) -> T,
    near: fn(T, T) -> bool,
) -> usize {
    let lines: Vec<serde_json::Value> = include_str!("../golden/special.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut found = 0;
    for Case { name, arity, function, .. } in cases {
        let Some(line) = lines.iter().find(|line| line["name"] == *name) else { continue };
        let (x, y) = (bits(line, "x"), bits(line, "y"));
        for (i, expected) in bits(line, "out").into_iter().enumerate() {
            let operands = if arity == 1 { vec![x[i]] } else { vec![x[i], y[i]] };
            let operands: Vec<T> = operands.into_iter().map(of_bits).collect();
            let (ours, theirs) = (function(&operands), of_bits(expected));
            let given: Vec<String> = operands.iter().map(|x| format!("{x:e}")).collect();
            assert!(near(ours, theirs), "{name}({}): {ours:e}, NumPy {theirs:e}", given.join(", "));
        }
        found += 1;
    }
    found
}

#[test]
fn edge_cases_match_numpy() {
    let near = |a: f64, b: f64| {
        ulp_distance(a, b) <= 1 && (a.is_nan() || a.is_sign_negative() == b.is_sign_negative())
    };
    let (f32s, f64s) = floats();
    assert_eq!(edges_agree(f64s, f64::from_bits, near), 24);
    let near = |a: f32, b: f32| {
        ulp_distance_f32(a, b) <= 1 && (a.is_nan() || a.is_sign_negative() == b.is_sign_negative())
    };
    assert_eq!(edges_agree(f32s, |bits| f32::from_bits(bits as u32), near), 24);
}
