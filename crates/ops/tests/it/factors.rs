//! Tests of decompositions by reflections: compiled C against `perform`, bit by bit, in every layout and at every ISA
//! level; the error bounds of LAPACK's tests; and documented signs.

use crate::agree::{check, check_at};
use crate::compiler::{self, share};
use crate::linalg::{BOUND, PRECISIONS, drawn, embedded, hilbert, matrix, norm, of, plain, value};
use crate::structural::{Case, calls};
use ndarray::{Array2, Axis};
use precast_graph::{Array, DType, Op};
use precast_ops::{Eig, Eigh, Qr, Schur, Svd};
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
        for pivoting in [false, true] {
            ops.push(Arc::new(Qr { complete: first, r_only: values_only, pivoting }));
        }
        ops.push(Arc::new(Svd { full: first, values_only }));
        if is_square {
            ops.push(Arc::new(Eigh { upper: first, values_only }));
            if first {
                ops.push(Arc::new(Eig { values_only }));
            }
            if first && values_only {
                ops.push(Arc::new(Schur::default()));
            }
        }
    }
    ops
}

fn cases() -> Vec<Case> {
    let mut choices = Choices::seeded(61);
    let mut cases: Vec<Case> = Vec::new();
    for dtype in [DType::F32, DType::F64, DType::C64, DType::C128] {
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
            if dtype.real() == DType::F64 {
                cases.extend(
                    GRADED
                        .iter()
                        .map(|(a, _)| -> Case { (Arc::clone(&op), vec![of(dtype, &[3, 3], a.to_vec())]) }),
                );
                cases.push((Arc::clone(&op), vec![steep(dtype)]));
            }
            for shape in [&[2, 3][..], &[0, 3, 3], &[2, 0, 0]] {
                cases.push((Arc::clone(&op), vec![plain(&mut choices, dtype, shape)]));
            }
        }
    }
    cases
}

/// Matrices of 3 rows whose numbers have extreme quotients, and the real parts of their eigenvalues without the order, from NumPy.
const GRADED: [([f64; 9], [f64; 3]); 4] = [
    (
        [
            -1343118753.051041,
            81756265.43114905,
            0.0,
            -1.5381353405487137e47,
            -4.630179827420264e46,
            -1.917502596199589e47,
            -2.6115976038483004e98,
            2.4297395049387247e98,
            0.0,
        ],
        [-1.2552433e9, 0.0, 0.0],
    ),
    (
        [0.0, 0.0, 1e45, 0.0, 0.0, -4e-57, 2e-67, -1.3e-67, 0.0],
        [-1.414213562373095e-11, 0.0, 1.414213562373095e-11],
    ),
    (
        [1.0, 0.0, 0.0, 0.0, 0.0, 1e-242, 0.0, 4e-233, 0.0],
        [-6.324555320336759e-238, 6.324555320336759e-238, 1.0],
    ),
    ([1e-310, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 1e-310, 1.0]),
];

/// Returns a matrix whose rows become smaller by 200 orders.
fn steep(dtype: DType) -> Array {
    let Array::F64(a) = plain(&mut Choices::seeded(68), DType::F64, &[40, 40]) else { unreachable!() };
    let a = a.into_dimensionality::<ndarray::Ix2>().unwrap();
    let rows = Array2::from_shape_fn((40, 40), |(i, j)| a[[i, j]] * 10_f64.powi(-5 * i as i32));
    of(dtype, &[40, 40], rows.into_iter().collect())
}

#[test]
fn eigenvalues_of_graded_matrices_converge() {
    for dtype in [DType::F64, DType::C128] {
        for (a, expected) in GRADED {
            let a = of(dtype, &[3, 3], a.to_vec());
            let mut found = value("real(eigvals(a))", &a, &a).unwrap();
            found.sort_by(f64::total_cmp);
            // NumPy's numbers of the first matrix are those of a real matrix.
            if dtype == DType::F64 || expected[0] != GRADED[0].1[0] {
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        (found - expected).abs() <= 1e-7 * expected.abs() + 1e-70,
                        "{dtype}: {found:e}, not {expected:e}"
                    );
                }
            }
            let schur = value("real(schur(a)[0])", &a, &a).unwrap();
            assert!(found.iter().chain(&schur).all(|x| x.is_finite()), "{dtype}: {found:?}");
        }
        assert!(value("abs(eig(a)[0])", &steep(dtype), &steep(dtype)).unwrap().iter().all(|x| x.is_finite()));
    }
}

#[test]
fn eigenvalues_of_graded_symmetric_matrices_converge() {
    let a = of(DType::F64, &[3, 3], vec![0.0, 0.0, 0.0, -3.6e262, 1.25e264, 0.0, -2.7e-107, 0.0, 0.0]);
    let found = value("eigvalsh(a)", &a, &a).unwrap();
    for (found, expected) in found.iter().zip([-1.0359414602327767e261, 0.0, 1.251035941460233e264]) {
        assert!((found - expected).abs() <= 1e-13 * 1.25e264, "{found:e}, not {expected:e}");
    }
}

#[test]
fn factors_match_perform() {
    check("gnu11", &calls(share(cases(), 0, 6)));
    check("c++17", &calls(cases().into_iter().step_by(13).collect()));
}

#[test]
fn every_level_matches_perform() {
    let calls = calls(share(cases(), 1, 18));
    check_at(&compiler::levels(), "gnu11", &calls);
}

/// Matrices of all kinds: plain, of rank one, of zeros, graded, nearly singular, with extreme numbers, and with equal
/// singular values.
pub(crate) fn kinds(choices: &mut Choices, m: usize, n: usize) -> Vec<(&'static str, Array2<f64>)> {
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
pub(crate) fn from_orthonormal(q: &Array2<f64>, precision: f64) -> f64 {
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
                let [q, r, order] = parts("qr(a, pivoting=True)", &given, [m, k, n]);
                let moved =
                    a.select(Axis(1), &order.iter().map(|column| *column as usize).collect::<Vec<_>>());
                near(rest(&moved, &q.dot(&r), precision), "qr with pivoting");
                near(from_orthonormal(&q, precision), "q with pivoting");
                let sizes: Vec<f64> = r.diag().iter().map(|x| x.abs()).collect();
                let slack = 8.0 * precision * sizes[0];
                assert!(sizes.windows(2).all(|pair| pair[1] <= pair[0] + slack), "{kind}: {sizes:?}");
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
fn factors_of_complex_matrices_have_small_backward_errors() {
    let mut choices = Choices::seeded(68);
    for (dtype, precision) in PRECISIONS {
        for (m, n) in [(1, 1), (2, 2), (3, 2), (2, 3), (17, 17), (20, 4), (4, 20), (64, 64), (70, 33)] {
            for scale in ["1", "1j", "1e-300", "1e300", "0"] {
                if dtype == DType::C64 && scale.contains('e') {
                    continue;
                }
                let given = plain(&mut choices, dtype, &[m, n]);
                let k = m.min(n);
                let near = |found: f64, what: &str| {
                    assert!(found < BOUND, "{what} of {m}×{n} · {scale}, {dtype}: {found}");
                };
                let part = |text: &str, rows: usize| {
                    let scale = if dtype == DType::C64 { format!("c64({scale})") } else { scale.to_owned() };
                    embedded(&text.replace('X', &format!("(a * {scale})")), &given, &given, rows)
                };
                let a = part("X", m);
                for (mode, height) in [("reduced", k), ("complete", m)] {
                    let (q, r) = (
                        part(&format!("qr(X, '{mode}')[0]"), m),
                        part(&format!("qr(X, '{mode}')[1]"), height),
                    );
                    near(rest(&a, &q.dot(&r), precision), "qr");
                    near(from_orthonormal(&q, precision), "q");
                    let moved = part(&format!("X[..., qr(X, '{mode}', True)[2]]"), m);
                    let [q_of_moved, r_of_moved] = [(0, m), (1, height)]
                        .map(|(at, rows)| part(&format!("qr(X, '{mode}', True)[{at}]"), rows));
                    near(rest(&moved, &q_of_moved.dot(&r_of_moved), precision), "qr with pivoting");
                    assert!(r.indexed_iter().all(|((i, j), x)| i % height <= j % n || *x == 0.0));
                }
                let text = "svd(X, full_matrices=False)";
                let (u, vh) = (part(&format!("{text}[0]"), m), part(&format!("{text}[2]"), k));
                let s = part(&format!("diag({text}[1]) * (1 + 0j)"), k);
                near(rest(&a, &u.dot(&s).dot(&vh), precision), "svd");
                near(from_orthonormal(&u, precision), "u");
                near(from_orthonormal(&vh.t().to_owned(), precision), "vh");
                near(from_orthonormal(&part("svd(X)[0]", m), precision), "full u");
                near(from_orthonormal(&part("svd(X)[2]", n), precision), "full vh");
                if !scale.contains('e') && scale != "0" {
                    let inverse = part("pinv(X)", n);
                    let bound = norm(&a) * norm(&inverse) * precision * m.max(n) as f64;
                    near(norm(&(a.dot(&inverse).dot(&a) - &a)) / (norm(&a) * bound), "pinv");
                }
                if m != n {
                    continue;
                }
                for (uplo, hermitian) in
                    [("L", "tril(X) + conj(tril(X, -1).T)"), ("U", "triu(X) + conj(triu(X, 1).T)")]
                {
                    let hermitian = part(&format!("{hermitian} - 1j * diag(imag(diag(X)))"), n);
                    let text = format!("eigh(X, '{uplo}')");
                    let w = part(&format!("diag({text}[0]) * (1 + 0j)"), n);
                    let v = part(&format!("{text}[1]"), n);
                    near(rest(&hermitian, &v.dot(&w).dot(&v.t()), precision), "eigh");
                    near(from_orthonormal(&v, precision), "eigenvectors");
                }
            }
        }
    }
}

#[test]
fn values_are_the_same_without_vectors() {
    let mut choices = Choices::seeded(63);
    for n in [1, 2, 5, 17, 40] {
        let z = plain(&mut choices, DType::C128, &[2, n, n]);
        assert_eq!(value("eigvalsh(a)", &z, &z), value("eigh(a)[0]", &z, &z));
        assert_eq!(value("svdvals(a)", &z, &z), value("svd(a)[1]", &z, &z));
        let a = plain(&mut choices, DType::F64, &[2, n, n]);
        assert_eq!(value("eigvalsh(a)", &a, &a), value("eigh(a)[0]", &a, &a));
        assert_eq!(value("eigvalsh(a, 'U')", &a, &a), value("eigh(a.mT)[0]", &a, &a));
        assert_eq!(value("svdvals(a)", &a, &a), value("svd(a)[1]", &a, &a));
        for part in ["real", "imag"] {
            let [all, alone] =
                ["eig(a)[0]", "eigvals(a)"].map(|text| value(&format!("{part}({text})"), &a, &a));
            assert_eq!(all, alone);
        }
        assert_eq!(
            value("svd(a, compute_uv=False)", &a, &a),
            value("svd(a, full_matrices=False)[1]", &a, &a)
        );
        assert_eq!(value("qr(a, mode='r')", &a, &a), value("qr(a)[1]", &a, &a));
    }
}

/// Matrices whose eigenvalues are hard to find: defective, nilpotent, with cycles, with rows of very different norms.
pub(crate) fn hard(n: usize) -> Vec<(&'static str, Array2<f64>)> {
    let by = |f: &dyn Fn(usize, usize) -> f64| Array2::from_shape_fn((n, n), |(i, j)| f(i, j));
    let next = |i: usize, j: usize| f64::from(i + 1 == j);
    vec![
        ("a Jordan block", by(&|i, j| if i == j { 2.0 } else { next(i, j) })),
        ("the transpose of a Jordan block", by(&|i, j| if i == j { -2.0 } else { next(j, i) })),
        ("nilpotent", by(&next)),
        ("a cycle", by(&|i, j| f64::from((i + 1) % n == j))),
        ("a companion matrix", by(&|i, j| if i == 0 { -((j + 1) as f64) } else { next(j, i) })),
        ("triangular", by(&|i, j| if i <= j { 1.0 + (i * j % 7) as f64 } else { 0.0 })),
        ("skew", by(&|i, j| (i as f64 - j as f64) / n as f64)),
        ("unbalanced", by(&|i, j| (1.0 + ((i * 3 + j) % 5) as f64) * 2_f64.powi(i as i32 - j as i32))),
        ("a Frank matrix", by(&|i, j| if i <= j + 1 { (n - i.max(j)) as f64 } else { 0.0 })),
    ]
}

/// Asserts that the columns have norm 1, and that their largest elements are real and positive.
fn expect_normal(vectors: &Array2<f64>, precision: f64, context: &str) {
    let n = vectors.nrows() / 2;
    for column in vectors.columns().into_iter().take(n) {
        let part = |i: usize| (column[i], column[n + i]);
        let sizes: Vec<f64> = (0..n).map(|i| part(i).0.hypot(part(i).1)).collect();
        let length = sizes.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((length - 1.0).abs() < 8.0 * precision, "{context}: {length}");
        let least = sizes.iter().copied().fold(0.0, f64::max) * (1.0 - 4.0 * precision);
        assert!((0..n).any(|i| part(i).1 == 0.0 && part(i).0 >= least), "{context}: {column}");
    }
}

#[test]
fn eigenvectors_and_schur_forms_have_small_residuals() {
    let mut choices = Choices::seeded(66);
    for (dtype, precision) in [(DType::F64, f64::EPSILON), (DType::F32, f64::from(f32::EPSILON))] {
        for n in [1, 2, 3, 5, 17, 64] {
            let all = kinds(&mut choices, n, n).into_iter().chain(hard(n)).collect();
            for (kind, a) in share(all, 0, if n < 64 { 1 } else { 4 }) {
                if dtype == DType::F32 && ["huge", "tiny", "unbalanced"].contains(&kind) {
                    continue;
                }
                let given = of(dtype, &[n, n], a.iter().copied().collect());
                let largest = a.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
                let scale = if largest == 0.0 { 1.0 } else { largest };
                for matrix in ["a", "(a * (1 + 0j))", "(a - 0.5j * a.T)"] {
                    let part = |text: &str| embedded(&text.replace('X', matrix), &given, &given, n);
                    let context = format!("{n} rows, {kind}, {dtype}, {matrix}");
                    let wide = part("X * (1 + 0j)") / scale;
                    let bound = BOUND * norm(&wide) * n as f64 * precision;
                    let (values, vectors) = (part("diag(eig(X)[0])") / scale, part("eig(X)[1]"));
                    let rest = norm(&(wide.dot(&vectors) - vectors.dot(&values)));
                    assert!(rest <= bound, "eig of {context}: {rest} of {bound}");
                    expect_normal(&vectors, precision, &context);
                    for output in ["real", "complex"] {
                        let [t, z] = [0, 1].map(|at| part(&format!("schur(X, '{output}')[{at}] * (1 + 0j)")));
                        let t = t / scale;
                        let rest = norm(&(z.dot(&t).dot(&z.t()) - &wide));
                        assert!(rest <= bound, "schur of {context}: {rest} of {bound}");
                        assert!(from_orthonormal(&z, precision) < BOUND, "{context}");
                        let below = usize::from(matrix == "a" && output == "real");
                        let is_zero = |i: usize, j: usize| i <= j + below || t[[i, j]] == 0.0;
                        assert!((0..n).all(|i| (0..n).all(|j| is_zero(i, j))), "{context}");
                        // No two blocks overlap, and blocks of two rows have conjugate eigenvalues.
                        for k in (1..n).filter(|k| t[[*k, k - 1]] != 0.0) {
                            let signs = [[k, k - 1], [k - 1, k]].map(|at| t[at].is_sign_negative());
                            assert!(t[[k, k]] == t[[k - 1, k - 1]] && signs[0] != signs[1], "{context}");
                            assert!(k + 1 == n || t[[k + 1, k]] == 0.0, "{context}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn eigenvalues_have_their_order() {
    let of_matrix = |n: usize, values: Vec<f64>| {
        let a = of(DType::F64, &[n, n], values);
        ["real", "imag"].map(|part| value(&format!("{part}(eigvals(a))"), &a, &a).unwrap())
    };
    assert_eq!(
        of_matrix(3, vec![3.0, 1.0, 2.0, 0.0, -1.0, 5.0, 0.0, 0.0, 2.0]),
        [vec![3.0, -1.0, 2.0], vec![0.0; 3]]
    );
    assert_eq!(of_matrix(2, vec![0.0, -1.0, 1.0, 0.0]), [vec![0.0; 2], vec![1.0, -1.0]]);
    let [re, im] = of_matrix(2, vec![1.0, 4.0, -1.0, 1.0]);
    assert!(re == [1.0, 1.0] && im[0] == -im[1] && (im[0] - 2.0).abs() < 1e-15, "{im:?}");
    assert_eq!(of_matrix(0, vec![]), [Vec::<f64>::new(), Vec::new()]);
    let mut choices = Choices::seeded(67);
    let a = plain(&mut choices, DType::F64, &[17, 17]);
    let [im, re] = ["imag", "real"].map(|part| value(&format!("{part}(eigvals(a))"), &a, &a).unwrap());
    let mut k = 0;
    while k < 17 {
        if im[k] != 0.0 {
            assert!(im[k] > 0.0 && im[k + 1] == -im[k] && re[k] == re[k + 1]);
            k += 1;
        }
        k += 1;
    }
    let trace = value("trace(a)", &a, &a).unwrap()[0];
    assert!((re.iter().sum::<f64>() - trace).abs() < 1e-13);
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
fn largest_elements_of_complex_vectors_are_positive() {
    let mut choices = Choices::seeded(69);
    for (m, n) in [(5, 5), (7, 4), (4, 7)] {
        let a = plain(&mut choices, DType::C128, &[m, n]);
        let mut vectors = vec![("svd(a)[0]", m), ("svd(a)[2][min(array([shape(a)[0], shape(a)[1]])):].T", n)];
        if m == n {
            vectors.push(("eigh(a)[1]", n));
        }
        for (text, rows) in vectors {
            let [re, im] =
                ["real", "imag"].map(|part| matrix(value(&format!("{part}({text})"), &a, &a).unwrap(), rows));
            for (re, im) in re.columns().into_iter().zip(im.columns()) {
                let largest = re.iter().zip(&im).map(|(re, im)| re.hypot(*im)).fold(0.0, f64::max);
                let is_first = |(re, im): &(&f64, &f64)| **im == 0.0 && **re >= largest * (1.0 - 1e-15);
                assert!(re.iter().zip(&im).any(|pair| is_first(&pair)), "{text}: {re} {im}");
            }
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
        for text in ["eigh(a)[1]", "real(eig(a)[1])", "imag(eig(a)[1])", "svd(a)[0]", "svd(a)[2]", "qr(a)[0]"]
        {
            let found = value(text, &a, &a).unwrap();
            assert!(found[..4].iter().all(|x| x.is_nan()), "{text}: {found:?}");
            assert!(found[4..].iter().all(|x| x.is_finite()), "{text}: {found:?}");
        }
        for text in ["eigvalsh(a)", "imag(eigvals(a))", "svdvals(a)"] {
            let found = value(text, &a, &a).unwrap();
            assert!(found[..2].iter().all(|x| x.is_nan()) && found[2..].iter().all(|x| x.is_finite()));
        }
    }
}

#[test]
fn invalid_calls_have_typed_errors() {
    let x = Array::zeros(DType::F64, &[2, 3]);
    for (text, expected) in [
        ("qr(a, mode='raw')", "`reduced`, `complete` or `r`"),
        ("eigh(a[:, :2], 'X')", "expected `L` or `U`"),
        ("eigh(a)", "square matrices"),
        ("eig(a)", "square matrices"),
        ("schur(a)", "square matrices"),
        ("schur(a[:, :2], 'triangular')", "expected `real` or `complex`"),
        ("schur(a[:, :2], sort='left')", "expected `lhp`, `rhp`, `iuc` or `ouc`"),
        ("qr(a, 'raw')", "expected `reduced`, `complete` or `r`"),
        ("grad(sum(qr(a, pivoting=True)[0]), a)", "has no derivative"),
        ("qz(a, a)", "square matrices"),
        ("qz(a[:, :2], a[0, :2])", "a matrix, or a stack"),
        ("qz([[1.0, 2.0], [3.0, 4.0]], [[1.0]])[0]", "expected matrices of equal shapes"),
        ("qz(a[:, :2], a[:, :2], 'triangular')", "expected `real` or `complex`"),
        ("ordqz(a[:, :2], a[:, :2], sort=1)", "expected `lhp`, `rhp`, `iuc` or `ouc`"),
        ("grad(sum(qz(a[:, :2], a[:, :2])[0]), a)", "cannot apply `grad`"),
        ("grad(sum(real(eigvals(a[:, :2]))), a)", "c128"),
        ("grad(sum(schur(a[:, :2])[0]), a)", "has no derivative"),
        ("svd(a[0])", "a matrix, or a stack of matrices"),
        ("matrix_rank(a, tol='x')", "expected a number"),
        ("lstsq(a[None], a)", "needs a matrix"),
        ("solve_sylvester(a[:, :2], a[0, :2], a[:, :2])", "a matrix, or a stack"),
        ("solve_sylvester(a[:, :2], a[:, :2], a[0, :2])", "a matrix, or a stack"),
        ("solve_sylvester(a[:, :2], a, a)", "square matrices"),
        ("solve_discrete_lyapunov(a[:, :2], a[0])", "a matrix, or a stack"),
    ] {
        let error = value(text, &x, &x).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
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
