//! Tests of decompositions by reflections: compiled C against `perform`, bit by bit, in every layout and at every ISA
//! level; the error bounds of LAPACK's tests; and documented signs.

use crate::compiler;
use crate::linalg::{BOUND, drawn, hilbert, matrix, norm, of, plain, value};
use crate::machine::run;
use crate::structural::{Case, agree, calls, check};
use ndarray::Array2;
use precast_graph::{Array, DType, Op, interpret};
use precast_ops::{Eigh, Qr, Svd};
use precast_testkit::Choices;
use std::sync::Arc;

/// The extents: empty, of one row or column, below and above the lanes of a sum, the rows of a tile and a panel.
const EXTENTS: [(usize, usize); 13] = [
    (0, 0),
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 4),
    (4, 1),
    (2, 2),
    (5, 5),
    (17, 9),
    (9, 17),
    (33, 33),
    (40, 36),
    (36, 40),
];

fn flags() -> impl Iterator<Item = [bool; 2]> {
    (0..4).map(|flags| [flags & 1 != 0, flags & 2 != 0])
}

fn ops(is_square: bool) -> Vec<Arc<dyn Op>> {
    let mut ops: Vec<Arc<dyn Op>> = Vec::new();
    for [first, values_only] in flags() {
        ops.push(Arc::new(Qr { complete: first, r_only: values_only }));
        ops.push(Arc::new(Svd { full: first, values_only }));
        if is_square {
            ops.push(Arc::new(Eigh { upper: first, values_only }));
        }
    }
    ops
}

fn cases() -> Vec<Case> {
    let mut choices = Choices::seeded(61);
    let mut cases: Vec<Case> = Vec::new();
    for dtype in [DType::F32, DType::F64] {
        for (m, n) in EXTENTS {
            let mut all = drawn(&mut choices, dtype, &[m, n]);
            all.push(plain(&mut choices, dtype, &[2, 1, m, n]));
            for (op, a) in
                ops(m == n).into_iter().flat_map(|op| all.iter().map(move |a| (Arc::clone(&op), a)))
            {
                cases.push((op, vec![a.clone()]));
            }
        }
        for op in ops(true) {
            for shape in [&[2, 3][..], &[0, 3, 3], &[2, 0, 0]] {
                cases.push((Arc::clone(&op), vec![plain(&mut choices, dtype, shape)]));
            }
        }
    }
    cases
}

#[test]
fn factors_match_perform() {
    check("gnu11", calls(cases()));
    check("c++17", calls(cases().into_iter().step_by(13).collect()));
}

#[test]
fn every_level_matches_perform() {
    let calls = calls(cases().into_iter().step_by(3).collect());
    for level in compiler::levels() {
        for (call, outcome) in calls.iter().zip(run(level, "gnu11", &calls)) {
            let inputs: Vec<Array> = call.inputs.iter().map(|(array, _)| array.clone()).collect();
            agree(interpret(&call.graph, &inputs), outcome, &format!("{} at {level:?}", call.graph));
        }
    }
}

/// Matrices of all kinds: plain, of rank one, of zeros, graded, nearly singular, with extreme numbers, and with equal
/// singular values.
fn kinds(choices: &mut Choices, m: usize, n: usize) -> Vec<(&'static str, Array2<f64>)> {
    let Array::F64(a) = plain(choices, DType::F64, &[m, n]) else { unreachable!() };
    let a = a.into_dimensionality::<ndarray::Ix2>().unwrap();
    let by = |f: &dyn Fn(usize, usize) -> f64| Array2::from_shape_fn((m, n), |(i, j)| f(i, j));
    vec![
        ("rank one", by(&|i, j| a[[i, 0]] * a[[0, j]])),
        ("zeros", Array2::zeros((m, n))),
        ("graded", by(&|i, j| a[[i, j]] * 10_f64.powi(-(j as i32)))),
        ("Hilbert", by(&|i, j| 1.0 / (i + j + 1) as f64)),
        ("huge", a.mapv(|x| x * 1e300)),
        ("tiny", a.mapv(|x| x * 1e-290)),
        ("identity", by(&|i, j| f64::from(i == j))),
        ("integers", a.mapv(|x| (x * 1.5).round())),
        ("plain", a),
    ]
}

/// Returns the distance of columns from orthonormal ones, in units of the rounding error.
fn from_orthonormal(q: &Array2<f64>, precision: f64) -> f64 {
    norm(&(q.t().dot(q) - Array2::<f64>::eye(q.ncols()))) / (q.nrows().max(1) as f64 * precision)
}

/// Returns the norm of a difference, in units of the rounding error of a matrix.
fn rest(a: &Array2<f64>, product: &Array2<f64>, precision: f64) -> f64 {
    let scale = a.iter().fold(0.0, |scale: f64, x| scale.max(x.abs()));
    if scale == 0.0 {
        return norm(product);
    }
    let (a, product) = (a / scale, product / scale);
    norm(&(&a - &product)) / (norm(&a) * a.nrows().max(a.ncols()) as f64 * precision)
}

/// Returns the results of a call, as matrices with this number of rows.
fn parts<const N: usize>(call: &str, a: &Array, rows: [usize; N]) -> [Array2<f64>; N] {
    let mut part = 0;
    rows.map(|rows| {
        part += 1;
        matrix(value(&format!("{call}[{}]", part - 1), a, a).unwrap(), rows)
    })
}

#[test]
fn factors_have_small_backward_errors() {
    let mut choices = Choices::seeded(62);
    for (dtype, precision) in [(DType::F64, f64::EPSILON), (DType::F32, f64::from(f32::EPSILON))] {
        for (m, n) in [(1, 1), (2, 2), (3, 2), (2, 3), (17, 17), (20, 4), (4, 20), (64, 64), (70, 33)] {
            for (kind, a) in kinds(&mut choices, m, n) {
                if dtype == DType::F32 && ["huge", "tiny"].contains(&kind) {
                    continue;
                }
                let given = of(dtype, &[m, n], a.iter().copied().collect());
                let a = matrix(given.numbers().iter().map(|x| x.parts().0).collect(), m);
                let k = m.min(n);
                let near = |found: f64, what: &str| {
                    assert!(found < BOUND, "{what} of {m}×{n}, {kind}, {dtype}: {found}");
                };
                for (mode, height) in [("reduced", k), ("complete", m)] {
                    let [q, r] = parts(&format!("qr(a, '{mode}')"), &given, [m, height]);
                    near(rest(&a, &q.dot(&r), precision), "qr");
                    near(from_orthonormal(&q, precision), "q");
                    assert!(r.indexed_iter().all(|((i, j), x)| i <= j || *x == 0.0));
                }
                let [u, s, vh] = parts("svd(a, full_matrices=False)", &given, [m, k, k]);
                near(rest(&a, &(&u * &s.t()).dot(&vh), precision), "svd");
                near(from_orthonormal(&u, precision), "u");
                near(from_orthonormal(&vh.t().to_owned(), precision), "vh");
                assert!(s.iter().zip(s.iter().skip(1)).all(|(a, b)| a >= b) && s.iter().all(|s| *s >= 0.0));
                let [u, _, vh] = parts("svd(a)", &given, [m, k, n]);
                near(from_orthonormal(&u, precision), "full u");
                near(from_orthonormal(&vh, precision), "full vh");
                if m == n {
                    let symmetric = Array2::from_shape_fn((n, n), |(i, j)| a[[i.max(j), i.min(j)]]);
                    let [w, v] = parts("eigh(a)", &given, [n, n]);
                    near(rest(&(&v * &w.t()).dot(&v.t()), &symmetric, precision), "eigh");
                    near(from_orthonormal(&v, precision), "eigenvectors");
                    assert!(w.iter().zip(w.iter().skip(1)).all(|(a, b)| a <= b));
                }
            }
        }
    }
}

#[test]
fn values_are_the_same_without_vectors() {
    let mut choices = Choices::seeded(63);
    for n in [1, 2, 5, 17, 40] {
        let a = plain(&mut choices, DType::F64, &[2, n, n]);
        assert_eq!(value("eigvalsh(a)", &a, &a), value("eigh(a)[0]", &a, &a));
        assert_eq!(value("eigvalsh(a, 'U')", &a, &a), value("eigh(a.mT)[0]", &a, &a));
        assert_eq!(value("svdvals(a)", &a, &a), value("svd(a)[1]", &a, &a));
        assert_eq!(
            value("svd(a, compute_uv=False)", &a, &a),
            value("svd(a, full_matrices=False)[1]", &a, &a)
        );
        assert_eq!(value("qr(a, mode='r')", &a, &a), value("qr(a)[1]", &a, &a));
    }
}

#[test]
fn largest_elements_of_vectors_are_positive() {
    let mut choices = Choices::seeded(64);
    for (m, n) in [(5, 5), (7, 4), (4, 7)] {
        let a = plain(&mut choices, DType::F64, &[m, n]);
        let [u, _, vh] = parts("svd(a)", &a, [m, m.min(n), n]);
        let mut vectors: Vec<Vec<f64>> = u.columns().into_iter().map(|column| column.to_vec()).collect();
        vectors.extend(vh.rows().into_iter().skip(m.min(n)).map(|row| row.to_vec()));
        if m == n {
            let [_, v] = parts("eigh(a)", &a, [n, n]);
            vectors.extend(v.columns().into_iter().map(|column| column.to_vec()));
        }
        for vector in vectors {
            let largest =
                vector.iter().fold(0.0, |best: f64, x| if x.abs() > best.abs() { *x } else { best });
            assert!(largest > 0.0, "{vector:?}");
        }
    }
}

#[test]
fn only_one_triangle_is_read() {
    let lower = of(DType::F64, &[2, 2], vec![1.0, f64::NAN, 2.0, -2.0]);
    let upper = of(DType::F64, &[2, 2], vec![1.0, 2.0, f64::NAN, -2.0]);
    let found = value("eigvalsh(a)", &lower, &lower).unwrap();
    assert_eq!(value("eigvalsh(a, UPLO='U')", &upper, &upper).unwrap(), found);
    assert!((found[0] + 3.0).abs() < 1e-15 && (found[1] - 2.0).abs() < 1e-15, "{found:?}");
    assert!(value("eigvalsh(a)", &upper, &upper).unwrap().iter().all(|x| x.is_nan()));
}

#[test]
fn matrices_that_are_not_finite_give_nan() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let a = of(DType::F64, &[2, 2, 2], vec![1.0, 2.0, bad, 4.0, 1.0, 0.0, 0.0, 2.0]);
        for text in ["eigh(a)[1]", "svd(a)[0]", "svd(a)[2]", "qr(a)[0]"] {
            let found = value(text, &a, &a).unwrap();
            assert!(found[..4].iter().all(|x| x.is_nan()), "{text}: {found:?}");
            assert!(found[4..].iter().all(|x| x.is_finite()), "{text}: {found:?}");
        }
        for text in ["eigvalsh(a)", "svdvals(a)"] {
            let found = value(text, &a, &a).unwrap();
            assert!(found[..2].iter().all(|x| x.is_nan()) && found[2..].iter().all(|x| x.is_finite()));
        }
    }
}

#[test]
fn invalid_calls_have_typed_errors() {
    let (x, z) = (Array::zeros(DType::F64, &[2, 3]), Array::zeros(DType::C128, &[2, 2]));
    for (text, expected) in [
        ("qr(a, mode='raw')", "`reduced`, `complete` or `r`"),
        ("eigh(a[:, :2], 'X')", "expected `L` or `U`"),
        ("eigh(a)", "square matrices"),
        ("svd(a[0])", "a matrix, or a stack of matrices"),
        ("matrix_rank(a, tol='x')", "expected a number"),
        ("lstsq(a[None], a)", "needs a matrix"),
    ] {
        let error = value(text, &x, &x).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    for name in ["qr", "eigh", "svd", "pinv"] {
        let error = value(&format!("{name}(a)"), &z, &z).unwrap_err();
        assert!(error.contains("does not support dtype `c128`"), "{name}: {error}");
    }
}

#[test]
fn hilbert_matrices_lose_rank() {
    let a = hilbert(DType::F64, 12);
    assert_eq!(value("matrix_rank(a)", &a, &a), Ok(vec![11.0]));
    assert!(value("condition_number(a)", &a, &a).unwrap()[0] > 1e15);
}

#[test]
fn triangles_of_stacks_multiply_to_the_matrices() {
    let mut choices = Choices::seeded(65);
    for (m, n) in [(3, 3), (4, 2), (2, 4), (0, 3), (3, 0), (1, 1)] {
        let a = plain(&mut choices, DType::F64, &[2, m, n]);
        let largest =
            |text: &str| value(text, &a, &a).unwrap().into_iter().fold(0.0, |x: f64, y| x.max(y.abs()));
        assert!(largest("lu(a)[0] @ lu(a)[1] @ lu(a)[2] - a") < 1e-15, "{m}×{n}");
        assert!(largest("lu(a, True)[0] @ lu(a, True)[1] - a") < 1e-15, "{m}×{n}");
        let lower = "take_along_axis(lu(a)[1], lu(a, p_indices=True)[0][..., None], axis=-2)";
        assert!(largest(&format!("{lower} @ lu(a)[2] - a")) < 1e-15, "{m}×{n}");
    }
    let (a, b) =
        (plain(&mut choices, DType::F64, &[2, 5, 5]), plain(&mut choices, DType::F64, &[4, 1, 5, 3]));
    for (text, of) in [("lu_solve(lu_factor(a), b)", "a"), ("lu_solve(lu_factor(a), b, 1)", "a.mT")] {
        let rest = value(&format!("{of} @ {text} - b"), &a, &b).unwrap();
        assert!(rest.len() == 120 && rest.iter().all(|x| x.abs() < 1e-12), "{text}: {rest:?}");
    }
    let singular = Array::zeros(DType::F64, &[2, 2]);
    assert!(value("lu_solve(lu_factor(a), b)", &singular, &singular).unwrap().iter().all(|x| x.is_nan()));
}
