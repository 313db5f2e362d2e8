//! Tests of sorted and generalized Schur decompositions: compiled C against `perform`, bit by bit, in every layout and at
//! every ISA level; the error bounds of LAPACK's tests; and the order of eigenvalues.

use crate::agree::{check, check_at};
use crate::compiler::{self, share};
use crate::factors::{from_orthonormal, hard, kinds};
use crate::linalg::{BOUND, drawn, norm, of, plain, value};
use crate::structural::{Case, calls};
use ndarray::Array2;
use precast_graph::{Array, Complex, DType, Op, Prop, Props};
use precast_ops::{Qz, Schur};
use precast_testkit::Choices;
use std::sync::Arc;

const SORTS: [Option<&str>; 5] = [None, Some("lhp"), Some("rhp"), Some("iuc"), Some("ouc")];

const DTYPES: [(DType, f64); 4] = [
    (DType::F32, f32::EPSILON as f64),
    (DType::F64, f64::EPSILON),
    (DType::C64, f32::EPSILON as f64),
    (DType::C128, f64::EPSILON),
];

fn props(sort: Option<&str>) -> Props {
    sort.map(|sort| ("sort".to_owned(), Prop::Str(sort.to_owned()))).into_iter().collect()
}

fn qz(sort: Option<&str>) -> Arc<dyn Op> {
    Qz::from_props(&props(sort)).unwrap()
}

fn schur(sort: Option<&str>) -> Arc<dyn Op> {
    Schur::from_props(&props(sort)).unwrap()
}

#[test]
fn ops_keep_their_props() {
    for sort in SORTS {
        assert_eq!(qz(sort).props(), props(sort));
        assert_eq!(schur(sort).props(), props(sort));
    }
}

/// Returns pairs of real matrices: regular, with either or both of them singular, defective, and with equal eigenvalues.
fn pairs(choices: &mut Choices, n: usize) -> Vec<(&'static str, [Array2<f64>; 2])> {
    let mut one = || {
        let Array::F64(a) = plain(choices, DType::F64, &[n, n]) else { unreachable!() };
        a.into_dimensionality::<ndarray::Ix2>().unwrap()
    };
    let (a, b, c) = (one(), one(), one());
    let by = |f: &dyn Fn(usize, usize) -> f64| Array2::from_shape_fn((n, n), |(i, j)| f(i, j));
    let without =
        |x: &Array2<f64>| Array2::from_shape_fn((n, n), |(i, j)| if j == n / 2 { 0.0 } else { x[[i, j]] });
    let low = Array2::from_shape_fn((n, n), |(i, j)| (0..n / 2).map(|k| b[[i, k]] * c[[k, j]]).sum());
    let jordan = by(&|i, j| if i == j { 2.0 } else { f64::from(i + 1 == j) });
    let next = by(&|i, j| f64::from(i + 1 == j));
    let cycle = by(&|i, j| f64::from((i + 1) % n == j));
    let steps = by(&|i, j| if i == j { [1.0, 2.0, 0.5][i % 3] } else { 0.0 });
    let unit = Array2::<f64>::eye(n);
    let zero = Array2::<f64>::zeros((n, n));
    vec![
        ("plain", [a.clone(), b.clone()]),
        ("b of low rank", [a.clone(), low.clone()]),
        ("a of low rank", [low, b.clone()]),
        ("a singular", [without(&a), b.clone()]),
        ("b singular", [a.clone(), without(&b)]),
        ("both singular", [without(&a), without(&b)]),
        ("a of zeros", [zero.clone(), b.clone()]),
        ("b of zeros", [a.clone(), zero.clone()]),
        ("zeros", [zero.clone(), zero]),
        ("defective", [b.dot(&jordan).dot(&c), b.dot(&c)]),
        ("infinite defective", [b.dot(&c), b.dot(&next).dot(&c)]),
        ("cycle", [cycle, unit.clone()]),
        ("equal eigenvalues", [b.dot(&steps).dot(&c), b.dot(&c)]),
        ("identities", [unit.clone(), unit]),
        ("integers", [a.mapv(|x| (x * 2.0).round()), b.mapv(|x| (x * 2.0).round())]),
        (
            "graded",
            [
                by(&|i, j| a[[i, j]] * 10_f64.powi(-(j as i32))),
                by(&|i, j| b[[i, j]] * 10_f64.powi(-(i as i32))),
            ],
        ),
        (
            "triangular",
            [
                by(&|i, j| if i <= j { a[[i, j]] } else { 0.0 }),
                by(&|i, j| if i <= j { b[[i, j]] } else { 0.0 }),
            ],
        ),
    ]
}

/// Returns an array of a dtype; complex numbers have other imaginary parts.
fn given(dtype: DType, x: &Array2<f64>, turn: f64) -> Array {
    let n = x.nrows();
    let values: Vec<f64> = x.iter().copied().collect();
    if !dtype.is_complex() {
        return of(dtype, &[n, n], values);
    }
    let turned = values.into_iter().map(|x| Complex::new(x * turn.cos(), x * turn.sin())).collect();
    Array::C128(ndarray::ArrayD::from_shape_vec(ndarray::IxDyn(&[n, n]), turned).unwrap()).cast(dtype)
}

fn cases() -> Vec<Case> {
    let mut choices = Choices::seeded(71);
    let mut cases: Vec<Case> = Vec::new();
    for (dtype, _) in DTYPES {
        for n in [0, 1, 2, 3, 5, 9, 17] {
            let (all, others) = (drawn(&mut choices, dtype, &[n, n]), drawn(&mut choices, dtype, &[n, n]));
            for (at, sort) in SORTS.into_iter().enumerate() {
                for (k, a) in all.iter().enumerate() {
                    cases.push((schur(sort), vec![a.clone()]));
                    cases.push((qz(sort), vec![a.clone(), others[(k + at) % 4].clone()]));
                }
                cases.push((qz(sort), [0, 1].map(|_| plain(&mut choices, dtype, &[2, 1, n, n])).to_vec()));
            }
        }
        for (at, (_, [a, b])) in pairs(&mut choices, 5).into_iter().enumerate() {
            let inputs = vec![given(dtype, &a, 0.5), given(dtype, &b, 2.0)];
            cases.push((qz(SORTS[at % 5]), inputs.clone()));
            cases.push((qz(SORTS[(at + 1) % 5]), inputs));
        }
        cases.push((qz(None), vec![Array::zeros(dtype, &[0, 3, 3]); 2]));
        cases.push((qz(None), vec![Array::zeros(dtype, &[2, 3, 3]), Array::zeros(dtype, &[1, 3, 3])]));
        cases.push((qz(None), vec![Array::zeros(dtype, &[2, 3]), Array::zeros(dtype, &[2, 3])]));
    }
    cases.retain(|(op, inputs)| op.make_node(&inputs.iter().map(Array::ty).collect::<Vec<_>>()).is_ok());
    cases
}

#[test]
fn sorted_forms_match_perform() {
    check("gnu11", &calls(share(cases(), 0, 3)));
    check("c++17", &calls(cases().into_iter().step_by(13).collect()));
}

#[test]
fn every_level_of_sorted_forms_matches_perform() {
    let calls = calls(share(cases(), 1, 9));
    check_at(&compiler::levels(), "gnu11", &calls);
}

/// Returns complex numbers in C order.
fn numbers(x: &Array) -> Vec<Complex<f64>> {
    let Array::C128(x) = x.cast(DType::C128) else { unreachable!() };
    x.iter().copied().collect()
}

/// Returns the real matrix of twice the size that stands for a complex matrix.
fn wide(x: &Array) -> Array2<f64> {
    let n = x.shape()[0];
    let x = numbers(x);
    Array2::from_shape_fn((2 * n, 2 * n), |(i, j)| {
        let at = x[i % n * n + j % n];
        match (i < n, j < n) {
            (true, false) => -at.im,
            (false, true) => at.im,
            _ => at.re,
        }
    })
}

/// Returns whether an eigenvalue comes first.
fn is_first(sort: &str, of_pair: bool, alpha: Complex<f64>, beta: f64) -> bool {
    if beta == 0.0 {
        return sort == "ouc" && alpha.re.hypot(alpha.im) != 0.0;
    }
    let (re, size) = (alpha.re / beta, (alpha.re / beta).hypot(alpha.im / beta));
    match sort {
        "lhp" => re < 0.0,
        "rhp" => {
            if of_pair {
                re > 0.0
            } else {
                re >= 0.0
            }
        }
        "iuc" => {
            if of_pair {
                size < 1.0
            } else {
                size <= 1.0
            }
        }
        _ => size > 1.0,
    }
}

/// Asserts that `a` is `q @ form @ zᴴ`.
fn expect_product(a: &Array, [q, form, z]: [&Array; 3], precision: f64, context: &str) {
    let (wanted, found) = (wide(a), wide(q).dot(&wide(form)).dot(&wide(z).t()));
    let bound = BOUND * norm(&wanted) * a.shape()[0] as f64 * precision;
    let rest = norm(&(found - &wanted));
    assert!(rest <= bound, "{context}: {rest} of {bound}");
    for vectors in [q, z] {
        assert!(from_orthonormal(&wide(vectors), precision) < BOUND, "{context}");
    }
}

/// Asserts that a form is triangular, or quasi-triangular if it is real.
fn expect_form(form: &Array, context: &str) {
    let (n, x) = (form.shape()[0], numbers(form));
    let below = usize::from(!form.dtype().is_complex());
    let is_zero = |i: usize, j: usize| x[i * n + j].re == 0.0 && x[i * n + j].im == 0.0;
    assert!((0..n).all(|i| (0..n).all(|j| i <= j + below || is_zero(i, j))), "{context}");
    assert!((2..n).all(|k| is_zero(k, k - 1) || is_zero(k - 1, k - 2)), "{context}");
}

/// Asserts that the eigenvalues that come first are the first ones. Rounding errors change eigenvalues near the bounds.
fn expect_order(sort: Option<&str>, of_pair: bool, values: &[(Complex<f64>, f64)], context: &str) {
    let Some(sort) = sort else { return };
    let near = 1e-5;
    let is_near = |(alpha, beta): &(Complex<f64>, f64)| {
        let size = alpha.re.hypot(alpha.im);
        (size - beta).abs() < near * beta || alpha.re.abs() < near * size || size < near || *beta < near
    };
    let firsts: Vec<bool> = values
        .iter()
        .filter(|value| !is_near(value))
        .map(|(alpha, beta)| is_first(sort, of_pair, *alpha, *beta))
        .collect();
    assert!(firsts.is_sorted_by(|one, next| one >= next), "{context}: {values:?}");
}

#[test]
fn generalized_forms_have_small_residuals() {
    let mut choices = Choices::seeded(72);
    for (dtype, precision) in DTYPES {
        for n in [1, 2, 3, 5, 17, 64] {
            let all = pairs(&mut choices, n).into_iter();
            for (at, (kind, [a, b])) in all.enumerate().filter(|(at, _)| n < 64 || at % 4 == 0) {
                let (a, b) = (given(dtype, &a, 0.5), given(dtype, &b, 2.0));
                for sort in SORTS.into_iter().filter(|sort| n < 64 || *sort == SORTS[at % 5]) {
                    let context = format!("{n} rows, {kind}, {dtype}, {sort:?}");
                    let made = qz(sort).perform(&[&a, &b]).unwrap();
                    let [aa, bb, alpha, beta, q, z] = made.as_slice() else { unreachable!() };
                    if numbers(aa)[0].re.is_nan() {
                        // Eigenvalues of singular pairs are arbitrary, and cannot always be exchanged.
                        assert!(
                            sort.is_some()
                                && ["both singular", "b of zeros", "zeros", "infinite defective"]
                                    .contains(&kind),
                            "{context}"
                        );
                        continue;
                    }
                    expect_product(&a, [q, aa, z], precision, &context);
                    expect_product(&b, [q, bb, z], precision, &context);
                    expect_form(aa, &context);
                    let (form, bb) = (numbers(aa), numbers(bb));
                    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                        let x = bb[i * n + j];
                        let is_fine = if i == j {
                            x.re >= 0.0 && x.im == 0.0
                        } else {
                            i < j || x.re == 0.0 && x.im == 0.0
                        };
                        assert!(is_fine, "{context}: {x:?} at ({i}, {j})");
                    }
                    let values: Vec<_> =
                        numbers(alpha).into_iter().zip(numbers(beta)).map(|(x, y)| (x, y.re)).collect();
                    for k in 1..n {
                        if dtype.is_complex() || form[k * n + k - 1].re == 0.0 {
                            continue;
                        }
                        assert_eq!(bb[(k - 1) * n + k].re, 0.0, "{context}");
                        let [(one, of_one), (other, of_other)] = [values[k - 1], values[k]];
                        assert!(
                            one == other.conj() && one.im > 0.0 && of_one == of_other,
                            "{context}: {values:?}"
                        );
                    }
                    expect_order(sort, true, &values, &context);
                }
            }
        }
    }
}

/// Returns the eigenvalues of a Schur form.
fn eigenvalues(form: &Array) -> Vec<(Complex<f64>, f64)> {
    let (n, x) = (form.shape()[0], numbers(form));
    let at = |i: usize, j: usize| x[i * n + j];
    let mut values = Vec::new();
    while values.len() < n {
        let k = values.len();
        if k + 1 < n && at(k + 1, k).re != 0.0 {
            let size = at(k, k + 1).re.abs().sqrt() * at(k + 1, k).re.abs().sqrt();
            values.extend([size, -size].map(|im| (Complex::new(at(k, k).re, im), 1.0)));
        } else {
            values.push((at(k, k), 1.0));
        }
    }
    values
}

#[test]
fn sorted_forms_have_small_residuals() {
    let mut choices = Choices::seeded(73);
    for (dtype, precision) in DTYPES {
        for n in [1, 2, 3, 5, 17, 64] {
            let all = kinds(&mut choices, n, n).into_iter().chain(hard(n));
            for (at, (kind, a)) in all.enumerate().filter(|(at, _)| n < 64 || at % 4 == 0) {
                if dtype.real() == DType::F32 && ["huge", "tiny", "unbalanced"].contains(&kind) {
                    continue;
                }
                let largest = a.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
                let a = given(dtype, &if largest == 0.0 { a } else { a / largest }, 0.5);
                for sort in SORTS.into_iter().filter(|sort| n < 64 || *sort == SORTS[at % 5]) {
                    let context = format!("{n} rows, {kind}, {dtype}, {sort:?}");
                    let made = schur(sort).perform(&[&a]).unwrap();
                    expect_product(&a, [&made[1], &made[0], &made[1]], precision, &context);
                    expect_form(&made[0], &context);
                    expect_order(sort, false, &eigenvalues(&made[0]), &context);
                }
            }
        }
    }
}

#[test]
fn extreme_scales_change_only_exponents() {
    let mut choices = Choices::seeded(74);
    let [a, b] = [0, 1].map(|_| plain(&mut choices, DType::F64, &[4, 4]));
    for part in 0..6 {
        let text = |a: &str, b: &str| format!("real(ordqz({a}, {b}, 'ouc')[{part}])");
        let plain = value(&text("a", "b"), &a, &b).unwrap();
        let scaled = value(&text("(a * 2.0 ** 900)", "(b * 2.0 ** 900)"), &a, &b).unwrap();
        let by = if part < 4 { 2_f64.powi(900) } else { 1.0 };
        assert_eq!(scaled, plain.into_iter().map(|x| x * by).collect::<Vec<_>>(), "{part}");
    }
}

/// Compares with numbers of SciPy.
#[test]
fn generalized_eigenvalues_match_scipy() {
    let a = of(
        DType::F64,
        &[4, 4],
        vec![1.0, 2.0, -1.0, 0.5, -3.0, 1.0, 2.0, 1.0, 0.0, 1.0, 4.0, -2.0, 1.0, 0.0, 2.0, 3.0],
    );
    let b = of(
        DType::F64,
        &[4, 4],
        vec![2.0, 1.0, 0.0, 1.0, 1.0, 3.0, 1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 1.0, 0.0, 1.0],
    );
    let found = |text: &str| value(text, &a, &b).unwrap();
    let text = "ordqz(a, b, 'ouc')";
    let beta = found(&format!("{text}[3]"));
    let [re, im] = ["real", "imag"].map(|part| found(&format!("{part}({text}[2])")));
    let expected: [[f64; 2]; 3] = [
        [-2.889766647515448, 0.0],
        [0.9589678307999766, -0.6523680769866457],
        [0.9589678307999767, 0.6523680769866457],
    ];
    assert_eq!(beta.iter().filter(|beta| **beta == 0.0).count(), 1, "{beta:?}");
    let mut values: Vec<[f64; 2]> =
        (0..4).filter(|k| beta[*k] != 0.0).map(|k| [re[k] / beta[k], im[k] / beta[k]]).collect();
    values.sort_by(|x, y| x[0].total_cmp(&y[0]).then(x[1].total_cmp(&y[1])));
    for (found, expected) in values.iter().flatten().zip(expected.iter().flatten()) {
        assert!((found - expected).abs() < 1e-13, "{values:?}");
    }
}

#[test]
fn sorted_matrices_that_are_not_finite_give_nan() {
    for bad in [f64::NAN, f64::INFINITY] {
        let a = of(DType::F64, &[2, 2, 2], vec![1.0, 2.0, bad, 4.0, 1.0, 0.0, 0.0, 2.0]);
        let b = of(DType::F64, &[2, 2, 2], vec![1.0; 8]);
        for part in 0..6 {
            for pair in ["a, b", "b, a"] {
                let found = value(&format!("real(ordqz({pair}, 'iuc')[{part}])"), &a, &b).unwrap();
                let (first, second) = found.split_at(found.len() / 2);
                assert!(
                    first.iter().all(|x| x.is_nan()) && second.iter().all(|x| x.is_finite()),
                    "{part}: {found:?}"
                );
            }
        }
        for part in 0..2 {
            let found = value(&format!("schur(a, sort='iuc')[{part}]"), &a, &a).unwrap();
            assert!(found[..4].iter().all(|x| x.is_nan()) && found[4..].iter().all(|x| x.is_finite()));
        }
    }
}

#[test]
fn pairs_of_different_shapes_are_errors() {
    let (a, b) = (Array::zeros(DType::F64, &[2, 2]), Array::zeros(DType::F64, &[3, 3]));
    let error = qz(None).perform(&[&a, &b]).unwrap_err().to_string();
    assert!(error.contains("expected matrices of equal shapes"), "{error}");
}
