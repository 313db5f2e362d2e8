//! Tests of Fourier transforms: compiled C against `perform`, bit by bit, in every layout and at every ISA level; and
//! the sums of the definition, computed with the host's sine and cosine.

use crate::agree::{check, check_at};
use crate::compiler::{self, share};
use crate::linalg::plain;
use crate::structural::{Case, calls};
use precast_graph::text::parse;
use precast_graph::{Array, Complex, DType, Op as _, Type, interpret};
use precast_ops::{Fft, FftKind, FftScale, Ops};
use precast_testkit::{Choices, arrays};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Lengths of each factor alone and with others, of primes that need a convolution, and above the lanes of a pass.
const LENGTHS: [usize; 24] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 20, 31, 34, 37, 49, 60, 64, 74, 100, 127, 210];

fn kinds() -> impl Iterator<Item = (FftKind, bool)> {
    let complex = [(FftKind::Complex, false), (FftKind::Complex, true)];
    complex.into_iter().chain([(FftKind::FromReal, false), (FftKind::ToReal, true)])
}

/// Returns the dtype of the elements that a kind transforms.
fn input(kind: FftKind, single: bool) -> DType {
    match (kind, single) {
        (FftKind::FromReal, true) => DType::F32,
        (FftKind::FromReal, false) => DType::F64,
        (_, true) => DType::C64,
        (_, false) => DType::C128,
    }
}

/// Draws numbers of moderate size.
fn moderate(choices: &mut Choices, dtype: DType, shape: &[usize]) -> Array {
    let mut part = || plain(choices, DType::F64, shape);
    let (Array::F64(re), Array::F64(im)) = (part(), part()) else { unreachable!() };
    if dtype.is_complex() {
        Array::C128(ndarray::Zip::from(&re).and(&im).map_collect(|re, im| Complex::new(*re, *im))).cast(dtype)
    } else {
        Array::F64(re).cast(dtype)
    }
}

fn cases() -> Vec<Case> {
    let mut choices = Choices::seeded(71);
    let mut cases: Vec<Case> = Vec::new();
    for (kind, inverse) in kinds() {
        for single in [false, true] {
            let dtype = input(kind, single);
            let mut add = |n, scale, inputs| cases.push((Arc::new(Fft { kind, inverse, scale, n }), inputs));
            for n in LENGTHS {
                let given = if kind == FftKind::ToReal { n / 2 + 1 } else { n };
                let inputs = vec![moderate(&mut choices, dtype, &[2, given]), Array::from(n as i64)];
                add(None, FftScale::Inverse, inputs);
                add(None, FftScale::Root, vec![arrays::draw(&mut choices, dtype, &[1, 2, n])]);
            }
            // Lines that are cut, filled with zeros, empty, and none.
            for (n, shape) in
                [(5, &[3, 9][..]), (5, &[3]), (8, &[9]), (8, &[3, 5]), (8, &[2, 0]), (8, &[0, 4])]
            {
                add(Some(n), FftScale::One, vec![moderate(&mut choices, dtype, shape)]);
            }
            add(None, FftScale::Root, vec![moderate(&mut choices, dtype, &[2, 0])]);
            for n in [-1_i64, 0, 4, 9] {
                add(None, FftScale::Inverse, vec![moderate(&mut choices, dtype, &[2, 5]), Array::from(n)]);
            }
        }
    }
    cases
}

#[test]
fn transforms_match_perform() {
    check("gnu11", &calls(share(cases(), 0, 2)));
    check("c++17", &calls(cases().into_iter().step_by(17).collect()));
}

#[test]
fn transforms_match_perform_at_every_level() {
    let calls = calls(share(cases(), 1, 10));
    check_at(&compiler::levels(), "gnu11", &calls);
}

/// Evaluates a text with the input `x`.
fn value(text: &str, x: &Array) -> Vec<(f64, f64)> {
    let graph = parse(&[text], &[("x".to_owned(), x.ty())], &Ops::standard()).unwrap();
    interpret(&graph, std::slice::from_ref(x)).unwrap()[0].numbers().into_iter().map(|n| n.parts()).collect()
}

#[test]
fn transforms_are_the_sums_of_their_definition() {
    let mut choices = Choices::seeded(72);
    for n in (1..80).chain([127, 128, 1000, 1009, 1024]) {
        for (dtype, precision) in [(DType::C128, f64::EPSILON), (DType::C64, f64::from(f32::EPSILON))] {
            let x = moderate(&mut choices, dtype, &[n]);
            let given: Vec<(f64, f64)> = x.numbers().into_iter().map(|x| x.parts()).collect();
            let expected: Vec<(f64, f64)> = (0..n)
                .map(|k| {
                    given.iter().enumerate().fold((0.0, 0.0), |(re, im), (i, (a, b))| {
                        let (s, c) = (-TAU * (i * k % n) as f64 / n as f64).sin_cos();
                        (re + a * c - b * s, im + a * s + b * c)
                    })
                })
                .collect();
            let norm = given.iter().map(|(re, im)| re * re + im * im).sum::<f64>();
            let apart = |found: &[(f64, f64)], expected: &[(f64, f64)]| -> f64 {
                found
                    .iter()
                    .zip(expected)
                    .map(|(a, b)| (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2))
                    .sum::<f64>()
            };
            // The root mean square of the errors grows with the logarithm of the length; the sums here have errors too.
            let bound = 4.0 * precision * (2.0 + (n as f64).log2()) + 1e-15 * (n as f64).sqrt();
            let error = (apart(&value("fft(x)", &x), &expected) / norm / n as f64).sqrt();
            assert!(error < bound, "fft of {n} {dtype}: {error:e}");
            let error = (apart(&value("ifft(fft(x))", &x), &given) / norm).sqrt();
            assert!(error < 2.0 * bound, "ifft of {n} {dtype}: {error:e}");
            let real = moderate(&mut choices, dtype.real(), &[n]);
            let given: Vec<(f64, f64)> = real.numbers().into_iter().map(|x| x.parts()).collect();
            let norm = given.iter().map(|(re, _)| re * re).sum::<f64>();
            let whole = value("fft(x)", &real);
            let error = (apart(&value("rfft(x)", &real), &whole[..=n / 2]) / norm / n as f64).sqrt();
            assert!(error < bound, "rfft of {n} {dtype}: {error:e}");
            let error = (apart(&value(&format!("irfft(rfft(x), {n})"), &real), &given) / norm).sqrt();
            assert!(error < 2.0 * bound, "irfft of {n} {dtype}: {error:e}");
        }
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let ty = |text: &str| -> Type { text.parse().unwrap() };
    for (text, x, message) in [
        ("fft(x, 0)", "f64[3]", "a positive number of elements"),
        ("fft(x, 2.5)", "f64[3]", "an integer without dimensions"),
        ("fft(x, axis=1)", "f64[3]", "axis"),
        ("fft(x, norm='whole')", "f64[3]", "expected `backward`, `ortho` or `forward`"),
        ("fft(x, x)", "f64[3]", "an integer without dimensions"),
        ("fft(x)", "f64[]", "at least one dimension"),
        ("rfft(x)", "c128[3]", "real elements"),
        ("fft2(x)", "f64[3]", "at least 2 dimensions"),
        ("fftn(x, [4, 4], axes=0)", "f64[3,3]", "as many elements of `s` as axes"),
    ] {
        let error = parse(&[text], &[("x".to_owned(), ty(x))], &Ops::standard()).unwrap_err();
        let chain = precast_core::event::chain(&error);
        assert!(chain.contains(message), "{text}: {chain}");
    }
}

#[test]
fn lines_beyond_memory_are_errors() {
    for (kind, inverse) in kinds() {
        for n in [1_u64 << 40, (1 << 40) - 87] {
            let op = Fft { kind, inverse, scale: FftScale::One, n: usize::try_from(n).ok() };
            let error = op.perform(&[&Array::zeros(input(kind, false), &[1, 4])]).unwrap_err();
            assert!(error.to_string().contains("there is no memory for it"), "{kind:?} {n}: {error}");
            assert!(op.perform(&[&Array::zeros(input(kind, false), &[0, 4])]).is_ok(), "{kind:?} {n}");
        }
    }
}
