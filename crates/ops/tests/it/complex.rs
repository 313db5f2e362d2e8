//! The functions of complex numbers: Rust against C at every ISA level, both against mpmath, edges against NumPy.

use crate::compiler;
use precast_graph::Complex;
use precast_ops::math::complex as math;
use precast_testkit::ulp::{ulp_distance, ulp_distance_f32};
use std::path::Path;
use std::process::Command;

/// A function by its name for both dtypes, with the steps that a part of c128 may be away from the exact value rounded.
///
/// The largest errors seen are in `README.md`; e ulp from the exact value are at most e + 1/2 steps from the rounded one. A part of
/// c64 is a part of c128 rounded: 0 steps. The bound of `pow` is of |z|, since its phase may cancel in one part alone.
struct Case {
    name: &'static str,
    c64: fn(&[Complex<f32>]) -> Complex<f32>,
    c128: fn(&[Complex<f64>]) -> Complex<f64>,
    steps: u64,
}

macro_rules! cases {
    ($($name:literal $c64:ident $c128:ident ($($x:literal),+) $steps:literal),* $(,)?) => {
        [$(Case {
            name: $name,
            c64: |x| math::$c64($(x[$x]),+),
            c128: |x| math::$c128($(x[$x]),+),
            steps: $steps,
        }),*]
    };
}

fn cases() -> [Case; 19] {
    cases!(
        "exp" exp_c64 exp_c128 (0) 1, "log" log_c64 log_c128 (0) 1, "sqrt" sqrt_c64 sqrt_c128 (0) 1,
        "log2" log2_c64 log2_c128 (0) 1, "log10" log10_c64 log10_c128 (0) 2, "log1p" log1p_c64 log1p_c128 (0) 2,
        "sinh" sinh_c64 sinh_c128 (0) 1, "cosh" cosh_c64 cosh_c128 (0) 1, "tanh" tanh_c64 tanh_c128 (0) 1,
        "sin" sin_c64 sin_c128 (0) 1, "cos" cos_c64 cos_c128 (0) 1, "tan" tan_c64 tan_c128 (0) 1,
        "asin" asin_c64 asin_c128 (0) 3, "acos" acos_c64 acos_c128 (0) 3, "asinh" asinh_c64 asinh_c128 (0) 3,
        "acosh" acosh_c64 acosh_c128 (0) 3, "atan" atan_c64 atan_c128 (0) 3, "atanh" atanh_c64 atanh_c128 (0) 3,
        "pow" pow_c64 pow_c128 (0, 1) 1,
    )
}

/// Numbers where functions change their ways, and any bits at all.
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
fn rust_and_c_give_the_same_bits_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/complex.c");
    for level in compiler::levels() {
        let program = compiler::program(folder.path(), level, std::slice::from_ref(&source), "gnu11");
        for Case { name, c64, c128, .. } in cases() {
            let arity = if name == "pow" { 2 } else { 1 };
            let x = values(arity);
            let bytes: Vec<u8> = x.iter().flat_map(|z| [z.re, z.im]).flat_map(f64::to_ne_bytes).collect();
            let y = parts_f64(&run(&program, folder.path(), &format!("{name}_c128"), &bytes));
            assert_eq!(y.len() * arity, x.len() * 2);
            for (x, y) in x.chunks(arity).zip(y.as_chunks::<2>().0) {
                let rust = c128(x);
                let equal = same(y[0], rust.re) && same(y[1], rust.im);
                assert!(equal, "{} {name}_c128({x:?}): C {y:?}, Rust {rust:?}", level.0);
            }
            let x: Vec<Complex<f32>> = x.into_iter().map(narrow).collect();
            let bytes: Vec<u8> = x.iter().flat_map(|z| [z.re, z.im]).flat_map(f32::to_ne_bytes).collect();
            let y = parts_f32(&run(&program, folder.path(), &format!("{name}_c64"), &bytes));
            assert_eq!(y.len() * arity, x.len() * 2);
            for (x, y) in x.chunks(arity).zip(y.as_chunks::<2>().0) {
                let rust = c64(x);
                let equal = same(y[0].into(), rust.re.into()) && same(y[1].into(), rust.im.into());
                assert!(equal, "{} {name}_c64({x:?}): C {y:?}, Rust {rust:?}", level.0);
            }
        }
        let x = values(1);
        let bytes: Vec<u8> = x.iter().flat_map(|z| [z.re, z.im]).flat_map(f64::to_ne_bytes).collect();
        let y = parts_f64(&run(&program, folder.path(), "angle_c128", &bytes));
        for (x, y) in x.iter().zip(y) {
            assert!(same(y, math::angle_c128(*x)), "{} angle_c128({x:?}): C {y:e}", level.0);
        }
    }
}

#[test]
fn c64_is_c128_rounded() {
    for Case { name, c64, c128, .. } in cases() {
        let arity = if name == "pow" { 2 } else { 1 };
        let x: Vec<Complex<f32>> = values(arity).into_iter().map(narrow).collect();
        for x in x.chunks(arity) {
            let wide: Vec<_> = x.iter().map(|z| Complex::new(f64::from(z.re), f64::from(z.im))).collect();
            let (found, expected) = (c64(x), narrow(c128(&wide)));
            let equal =
                same(found.re.into(), expected.re.into()) && same(found.im.into(), expected.im.into());
            assert!(equal, "{name}_c64({x:?}): {found:?}, {expected:?}");
        }
    }
}

fn bits(case: &serde_json::Value, key: &str) -> Vec<u64> {
    let text = case[key].as_str().unwrap_or_default();
    text.split_whitespace().map(|x| u64::from_str_radix(x, 16).unwrap()).collect()
}

/// Steps between two parts; zeros of two signs are far from each other.
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

/// Half a step of |z| and `steps` more, as a share of |z|: the found value, the exact one rounded.
fn near_as_a_whole(found: Complex<f64>, expected: Complex<f64>, steps: u64, epsilon: f64) -> bool {
    (found - expected).norm() <= (steps as f64 + 1.0) * epsilon * expected.norm()
}

#[test]
fn values_are_within_their_bounds_of_mpmath_and_edges_are_those_of_numpy() {
    let lines: Vec<serde_json::Value> = include_str!("../golden/complex.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2 * (2 * 18 + 1));
    for line in &lines {
        let (name, dtype) = line["name"].as_str().unwrap().rsplit_once('_').unwrap();
        let Case { c64, c128, steps: bound, .. } =
            cases().into_iter().find(|case| case.name == name).expect("every line has a function");
        // NumPy's own error comes on top, but edges are no place for it.
        let bound = if line["kind"] == "edges" { bound.max(2) + 1 } else { bound };
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
                    (c128(&x), Complex::new(f64::from_bits(out[0]), f64::from_bits(out[1])));
                let near = steps(found.re, expected.re) <= bound && steps(found.im, expected.im) <= bound;
                let near = near || name == "pow" && near_as_a_whole(found, expected, bound, f64::EPSILON);
                near.then_some(()).ok_or_else(|| format!("{x:?}: {found:?}, expected {expected:?}"))
            } else {
                let of = |bits: u64| f32::from_bits(bits as u32);
                let x: Vec<_> =
                    x.as_chunks::<2>().0.iter().map(|z| Complex::new(of(z[0]), of(z[1]))).collect();
                let (found, expected) = (c64(&x), Complex::new(of(out[0]), of(out[1])));
                let bound = if line["kind"] == "edges" { 4 } else { 0 };
                let near =
                    steps_f32(found.re, expected.re) <= bound && steps_f32(found.im, expected.im) <= bound;
                near.then_some(()).ok_or_else(|| format!("{x:?}: {found:?}, expected {expected:?}"))
            };
            assert!(near.is_ok(), "{name}_{dtype} {}", near.unwrap_err());
        }
    }
}
