//! Tests of complex functions: `perform` against every ISA level and mpmath, edge cases against NumPy.

use crate::cases::{Case, complex, list};
use crate::compiler;
use precast_graph::Complex;
use precast_testkit::ulp::{ulp_distance, ulp_distance_f32};
use std::path::Path;
use std::process::Command;

/// Returns numbers where the functions change their algorithm, and random bits.
fn values(arity: usize) -> Vec<Complex<f64>> {
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1e-310,
        5e-324,
        30.0,
        709.5,
        1400.0,
        1e19,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    let parts: Vec<Complex<f64>> =
        edges.iter().flat_map(|x| edges.iter().map(|y| Complex::new(*x, -*y))).collect();
    let mut all: Vec<Complex<f64>> = match arity {
        1 => parts,
        _ => parts.iter().step_by(3).flat_map(|z| parts.iter().step_by(5).flat_map(|w| [*z, *w])).collect(),
    };
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    while all.len() < 4096 * arity {
        let mut part = |near: bool| match near {
            true => (next() >> 11) as f64 / (1_u64 << 50) as f64 - 4.0,
            false => f64::from_bits(next()),
        };
        for near in [true, true, false] {
            all.extend((0..arity).map(|_| Complex::new(part(near), part(true))));
            all.extend((0..arity).map(|_| Complex::new(part(true), part(near))));
        }
    }
    all
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn run(program: &Path, folder: &Path, name: &str, bytes: &[u8]) -> Vec<u8> {
    let (input, output) = (folder.join("in"), folder.join("out"));
    fs_err::write(&input, bytes).unwrap();
    let status = Command::new(program).arg(name).arg(&input).arg(&output).status().unwrap();
    assert!(status.success(), "{name}: {status}");
    fs_err::read(output).unwrap()
}

fn parts_f64(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|x| f64::from_ne_bytes(*x)).collect()
}

fn parts_f32(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|x| f32::from_ne_bytes(*x)).collect()
}

fn narrow(z: Complex<f64>) -> Complex<f32> {
    Complex::new(z.re as f32, z.im as f32)
}

#[test]
fn vector_code_matches_perform_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/complex.c");
    for (position, level) in (0..).zip(compiler::levels()) {
        let (c64s, c128s) = complex();
        let c64s = compiler::share(c64s, position, 2 * compiler::LEVELS);
        let c128s = compiler::share(c128s, position, 2 * compiler::LEVELS);
        fs_err::write(folder.path().join("functions.h"), list(&c128s)).unwrap();
        let program = compiler::program(folder.path(), level, std::slice::from_ref(&source), "gnu11");
        for Case { name, arity, function, .. } in &c128s {
            let x = values(*arity);
            let bytes: Vec<u8> = x.iter().flat_map(|z| [z.re, z.im]).flat_map(f64::to_ne_bytes).collect();
            let y = parts_f64(&run(&program, folder.path(), name, &bytes));
            assert_eq!(y.len() * arity, x.len() * 2);
            for (x, y) in x.chunks(*arity).zip(y.as_chunks::<2>().0) {
                let one = function(x);
                let equal = same(y[0], one.re) && same(y[1], one.im);
                assert!(equal, "{} {name}({x:?}): {y:?}, perform {one:?}", level.0);
            }
        }
        for Case { name, arity, function, .. } in &c64s {
            let x: Vec<Complex<f32>> = values(*arity).into_iter().map(narrow).collect();
            let bytes: Vec<u8> = x.iter().flat_map(|z| [z.re, z.im]).flat_map(f32::to_ne_bytes).collect();
            let y = parts_f32(&run(&program, folder.path(), name, &bytes));
            assert_eq!(y.len() * arity, x.len() * 2);
            for (x, y) in x.chunks(*arity).zip(y.as_chunks::<2>().0) {
                let one = function(x);
                let equal = same(y[0].into(), one.re.into()) && same(y[1].into(), one.im.into());
                assert!(equal, "{} {name}({x:?}): {y:?}, perform {one:?}", level.0);
            }
        }
    }
}

#[test]
fn c64_is_c128_rounded() {
    let (c64s, c128s) = complex();
    for (Case { name, arity, function, .. }, exact) in c64s.iter().zip(c128s) {
        let x: Vec<Complex<f32>> = values(*arity).into_iter().map(narrow).collect();
        for x in x.chunks(*arity) {
            let wide: Vec<_> = x.iter().map(|z| Complex::new(f64::from(z.re), f64::from(z.im))).collect();
            let (found, expected) = (function(x), narrow((exact.function)(&wide)));
            let equal =
                same(found.re.into(), expected.re.into()) && same(found.im.into(), expected.im.into());
            assert!(equal, "{name}({x:?}): {found:?}, {expected:?}");
        }
    }
}

fn bits(case: &serde_json::Value, key: &str) -> Vec<u64> {
    let text = case[key].as_str().unwrap_or_default();
    text.split_whitespace().map(|x| u64::from_str_radix(x, 16).unwrap()).collect()
}

/// Returns the number of steps between two parts. Zeros of different sign count as far apart.
fn steps(a: f64, b: f64) -> u64 {
    if a == 0.0 && b == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        u64::MAX
    } else {
        ulp_distance(a, b)
    }
}

fn steps_f32(a: f32, b: f32) -> u64 {
    if a == 0.0 && b == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        u64::MAX
    } else {
        ulp_distance_f32(a, b)
    }
}

/// Returns whether a value is within half a step of |z| plus `steps`, relative to |z|. The found value is rounded,
/// and so is the exact one.
fn near_as_a_whole(found: Complex<f64>, expected: Complex<f64>, steps: u64, epsilon: f64) -> bool {
    (found - expected).norm() <= (steps as f64 + 1.0) * epsilon * expected.norm()
}

#[test]
fn values_match_mpmath_and_edges_match_numpy() {
    let lines: Vec<serde_json::Value> = include_str!("../golden/complex.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (c64s, c128s) = complex();
    assert_eq!(
        lines.len(),
        2 * (2 * (c128s.len() - 1) + 1),
        "values and edges of all functions, values of pow"
    );
    for line in &lines {
        let symbol = line["name"].as_str().unwrap();
        let (name, dtype) = symbol.rsplit_once('_').unwrap();
        let c64 = c64s.iter().find(|case| case.name == symbol).map(|case| &case.function);
        let c128 = c128s.iter().find(|case| case.name == symbol).map(|case| &case.function);
        let bound = line["steps"].as_u64().unwrap();
        // NumPy's own error is added to the bound, except for edge cases.
        let bound = if line["kind"] == "edges" { 2.max(bound) + 1 } else { bound };
        let arity = if name == "pow" { 2 } else { 1 };
        let (x, out) = (bits(line, "x"), bits(line, "out"));
        assert!(out.len() >= 2 * 81, "{name}: enough values");
        for (x, out) in x.chunks(2 * arity).zip(out.as_chunks::<2>().0) {
            let near = if dtype == "c128" {
                let x: Vec<_> = x
                    .as_chunks::<2>()
                    .0
                    .iter()
                    .map(|z| Complex::new(f64::from_bits(z[0]), f64::from_bits(z[1])))
                    .collect();
                let (found, expected) =
                    (c128.unwrap()(&x), Complex::new(f64::from_bits(out[0]), f64::from_bits(out[1])));
                let near = steps(found.re, expected.re) <= bound && steps(found.im, expected.im) <= bound;
                let as_a_whole = ["pow", "expm1"].contains(&name) && line["kind"] == "values";
                let near = near || as_a_whole && near_as_a_whole(found, expected, bound, f64::EPSILON);
                near.then_some(()).ok_or_else(|| format!("{x:?}: {found:?}, expected {expected:?}"))
            } else {
                let of = |bits: u64| f32::from_bits(bits as u32);
                let x: Vec<_> =
                    x.as_chunks::<2>().0.iter().map(|z| Complex::new(of(z[0]), of(z[1]))).collect();
                let (found, expected) = (c64.unwrap()(&x), Complex::new(of(out[0]), of(out[1])));
                let bound = if line["kind"] == "edges" { 4 } else { 0 };
                let near =
                    steps_f32(found.re, expected.re) <= bound && steps_f32(found.im, expected.im) <= bound;
                near.then_some(()).ok_or_else(|| format!("{x:?}: {found:?}, expected {expected:?}"))
            };
            assert!(near.is_ok(), "{name}_{dtype} {}", near.unwrap_err());
        }
    }
}
