//! Tests of decompositions and systems of linear equations: compiled C against `perform`, bit by bit, in every layout
//! and at every ISA level, and both against the error bounds of LAPACK's tests.

use crate::agree::{check, check_at};
use crate::compiler::{self, share};
use crate::structural::{Case, calls};
use ndarray::{Array2, ArrayD, IxDyn, Zip};
use precast_graph::text::parse;
use precast_graph::{Array, Complex, DType, Op, interpret};
use precast_ops::{Cholesky, LuFactor, Ops, Solve, SolveBanded, SolveTriangular};
use precast_testkit::{Choices, arrays};
use std::sync::Arc;

/// The extents: no rows, one, fewer than a vector, a block and one more, and several blocks.
const ROWS: [usize; 7] = [0, 1, 2, 5, 17, 33, 70];

/// Fewer extents for complex numbers, which have no tiles.
const COMPLEX_ROWS: [usize; 5] = [0, 1, 2, 5, 40];

fn rows(dtype: DType) -> &'static [usize] {
    if dtype.is_complex() { &COMPLEX_ROWS } else { &ROWS }
}

/// The largest error of LAPACK's tests, in units of the rounding error.
pub(crate) const BOUND: f64 = 30.0;

/// Returns an array of a float dtype.
pub(crate) fn of(dtype: DType, shape: &[usize], values: Vec<f64>) -> Array {
    Array::F64(ArrayD::from_shape_vec(IxDyn(shape), values).unwrap()).cast(dtype)
}

/// Draws numbers whose parts are from -1 to 1.
pub(crate) fn plain(choices: &mut Choices, dtype: DType, shape: &[usize]) -> Array {
    let mut one = || choices.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0;
    let mut part = || ArrayD::from_shape_simple_fn(IxDyn(shape), &mut one);
    if !dtype.is_complex() {
        return Array::F64(part()).cast(dtype);
    }
    let (re, im) = (part(), part());
    Array::C128(Zip::from(&re).and(&im).map_collect(|re, im| Complex::new(*re, *im))).cast(dtype)
}

/// Draws Hermitian matrices with large diagonals, which are positive definite.
fn definite(choices: &mut Choices, dtype: DType, stack: usize, n: usize) -> Array {
    let kind = if dtype.is_complex() { DType::C128 } else { DType::F64 };
    let Array::C128(mut a) = plain(choices, kind, &[stack, n, n]).cast(DType::C128) else { unreachable!() };
    for s in 0..stack {
        for i in 0..n {
            for j in 0..i {
                a[[s, j, i]] = a[[s, i, j]].conj();
            }
            a[[s, i, i]] = Complex::new(n as f64 + 1.0, 0.0);
        }
    }
    Array::C128(a).cast(dtype)
}

/// The dtypes of matrices.
const DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::C64, DType::C128];

/// Returns matrices with special values, with few values, of zeros, and of moderate numbers.
pub(crate) fn drawn(choices: &mut Choices, dtype: DType, shape: &[usize]) -> Vec<Array> {
    let integers: Vec<f64> = (0..shape.iter().product()).map(|_| choices.below(3) as f64 - 1.0).collect();
    vec![
        arrays::draw(choices, dtype, shape),
        of(dtype, shape, integers),
        Array::zeros(dtype, shape),
        plain(choices, dtype, shape),
    ]
}

fn ops_of_one() -> Vec<Arc<dyn Op>> {
    vec![
        Arc::new(Cholesky { nan_on_error: false }),
        Arc::new(Cholesky { nan_on_error: true }),
        Arc::new(LuFactor),
    ]
}

fn ops_of_systems() -> Vec<Arc<dyn Op>> {
    let mut ops: Vec<Arc<dyn Op>> =
        [false, true].map(|nan_on_error| Arc::new(Solve { nan_on_error }) as Arc<dyn Op>).to_vec();
    for flags in 0..8 {
        let [lower, unit_diagonal, nan_on_error] = [1, 2, 4].map(|bit| flags & bit != 0);
        ops.push(Arc::new(SolveTriangular { lower, unit_diagonal, nan_on_error }));
    }
    ops
}

fn decomposition_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(51);
    let mut cases: Vec<Case> = Vec::new();
    for dtype in DTYPES {
        for op in ops_of_one() {
            for n in rows(dtype).iter().copied() {
                let mut all = drawn(&mut choices, dtype, &[n, n]);
                all.push(definite(&mut choices, dtype, 2, n));
                all.push(plain(&mut choices, dtype, &[2, 1, n, n]));
                cases.extend(all.into_iter().map(|a| -> Case { (Arc::clone(&op), vec![a]) }));
            }
            cases.extend(stacks(&mut choices, dtype).map(|a| -> Case { (Arc::clone(&op), vec![a]) }));
            cases.push((Arc::clone(&op), vec![edges(dtype)]));
            for shape in [&[2, 3][..], &[0, 3, 3], &[0, 3, 2], &[2, 0, 0]] {
                cases.push((Arc::clone(&op), vec![plain(&mut choices, dtype, shape)]));
            }
        }
    }
    cases
}

/// Draws stacks of small matrices, which are computed in groups: those of systems with and without a solution, positive
/// definite or not, with special values, and with equal pivots.
fn stacks(choices: &mut Choices, dtype: DType) -> impl Iterator<Item = Array> + use<> {
    let mut stacks = Vec::new();
    for (count, n) in [(3, 1), (19, 2), (9, 3), (33, 4), (17, 7), (5, 16), (2, 17)] {
        stacks.extend(drawn(choices, dtype, &[count, n, n]));
        stacks.push(definite(choices, dtype, count, n));
    }
    stacks.into_iter()
}

/// Returns a matrix with a subnormal and with a huge pivot.
fn edges(dtype: DType) -> Array {
    let (least, most) = if dtype.real() == DType::F32 { (1e-40, 3e38) } else { (1e-310, 1.7e308) };
    of(dtype, &[2, 2, 2], vec![0.0, 1.0, least, 0.0, 2.0, most, 0.1 * most, 2.0])
}

fn system_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(52);
    let mut cases: Vec<Case> = Vec::new();
    for dtype in DTYPES {
        for op in ops_of_systems() {
            cases
                .push((Arc::clone(&op), vec![edges(dtype), plain(&mut Choices::seeded(55), dtype, &[2, 2])]));
            for n in rows(dtype).iter().copied() {
                for m in [0, 1, 21] {
                    let b = plain(&mut choices, dtype, &[n, m]);
                    let all = drawn(&mut choices, dtype, &[n, n]);
                    cases.extend(all.into_iter().map(|a| -> Case { (Arc::clone(&op), vec![a, b.clone()]) }));
                }
            }
            for (at, a) in stacks(&mut choices, dtype).enumerate() {
                let [count, n] = [a.shape()[0], a.shape()[1]];
                let shapes = [vec![n, 3], vec![count, n, 1], vec![2, 1, n, 2], vec![n, 17]];
                let b = plain(&mut choices, dtype, &shapes[at % 4]);
                cases.push((Arc::clone(&op), vec![a, b]));
            }
            let shapes: [[&[usize]; 2]; 8] = [
                [&[2, 3, 3], &[3, 2]],
                [&[3, 3], &[2, 1, 3, 2]],
                [&[2, 1, 3, 3], &[1, 4, 3, 2]],
                [&[0, 3, 3], &[3, 2]],
                [&[2, 3, 3], &[3, 3, 2]],
                [&[3, 2], &[3, 2]],
                [&[3, 3], &[2, 2]],
                [&[2, 0, 0], &[0, 2]],
            ];
            for [a, b] in shapes {
                let inputs = vec![plain(&mut choices, dtype, a), plain(&mut choices, dtype, b)];
                cases.push((Arc::clone(&op), inputs));
            }
        }
    }
    cases
}

fn banded_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(54);
    let mut cases: Vec<Case> = Vec::new();
    for dtype in [DType::F32, DType::F64] {
        for (lower, upper) in [(0, 0), (1, 1), (2, 0), (0, 3), (3, 1), (9, 20)] {
            for nan_on_error in [false, true] {
                let op: Arc<dyn Op> = Arc::new(SolveBanded { lower, upper, nan_on_error });
                let height = lower + 1 + upper;
                let mut add = |bands: Array, b: &Array| cases.push((Arc::clone(&op), vec![bands, b.clone()]));
                for n in [0, 1, 2, 5, 17] {
                    for m in [0, 1, 5] {
                        let b = plain(&mut choices, dtype, &[n, m]);
                        drawn(&mut choices, dtype, &[height, n]).into_iter().for_each(|bands| add(bands, &b));
                    }
                }
                let shapes: [[&[usize]; 2]; 5] = [
                    [&[2, height, 3], &[3, 2]],
                    [&[height, 3], &[2, 1, 3, 2]],
                    [&[2, 1, height, 3], &[1, 4, 3, 2]],
                    [&[height + 1, 3], &[3, 2]],
                    [&[height, 4], &[3, 2]],
                ];
                for [bands, b] in shapes {
                    add(plain(&mut choices, dtype, bands), &plain(&mut choices, dtype, b));
                }
            }
        }
    }
    cases
}

#[test]
fn banded_systems_match_perform() {
    check("gnu11", &calls(banded_cases()));
    check("c++17", &calls(banded_cases().into_iter().step_by(41).collect()));
}

/// Returns the dense matrix of diagonals.
fn dense(bands: &Array, lower: usize, upper: usize, n: usize) -> Array2<f64> {
    let bands: Vec<f64> = bands.numbers().iter().map(|x| x.parts().0).collect();
    Array2::from_shape_fn((n, n), |(i, j)| {
        if i <= j + lower && j <= i + upper { bands[(upper + i - j) * n + j] } else { 0.0 }
    })
}

#[test]
fn banded_solutions_have_small_backward_errors() {
    let mut choices = Choices::seeded(55);
    for (dtype, precision) in [(DType::F32, f64::from(f32::EPSILON)), (DType::F64, f64::EPSILON)] {
        for (lower, upper) in [(0, 0), (1, 1), (2, 0), (0, 3), (3, 1), (70, 70)] {
            for n in [1, 2, 3, 17, 200] {
                let bands = plain(&mut choices, dtype, &[lower + 1 + upper, n]);
                let b = plain(&mut choices, dtype, &[n, 3]);
                let a = dense(&bands, lower, upper, n);
                let x =
                    matrix(value(&format!("solve_banded(({lower}, {upper}), a, b)"), &bands, &b).unwrap(), n);
                let of_b = matrix(b.numbers().iter().map(|x| x.parts().0).collect(), n);
                let rest = norm(&(a.dot(&x) - &of_b)) / (norm(&a) * norm(&x) * n as f64 * precision);
                assert!(rest < BOUND, "{n} rows of {dtype}, ({lower}, {upper}): {rest}");
            }
        }
    }
}

#[test]
fn structured_systems_equal_dense_ones() {
    let mut choices = Choices::seeded(56);
    for n in [1, 2, 3, 17] {
        let (a, b) = (plain(&mut choices, DType::F64, &[4, n]), plain(&mut choices, DType::F64, &[n, 2]));
        // The elements that are not read are NaN.
        let tridiagonal = "tridiagonal_solve(where(arange(shape(a)[1]) > 0, a[0], nan), a[1] + 3, \
                           where(arange(shape(a)[1]) < shape(a)[1] - 1, a[2], nan), b)";
        let of_b = matrix(b.numbers().iter().map(|x| x.parts().0).collect(), n);
        let x = matrix(value(tridiagonal, &a, &b).unwrap(), n);
        let mut diagonals = matrix(a.numbers().iter().map(|x| x.parts().0).collect(), 4);
        diagonals.row_mut(1).mapv_inplace(|x| x + 3.0);
        let whole = Array2::from_shape_fn((n, n), |(i, j)| match (j + 1).checked_sub(i) {
            Some(offset @ 0..=2) => diagonals[[offset, i]],
            _ => 0.0,
        });
        assert!((whole.dot(&x) - &of_b).iter().all(|x| x.abs() < 1e-13), "{n}");
        let rest = "toeplitz(a[0] + 2, a[1]) @ solve_toeplitz((a[0] + 2, a[1]), b) - b";
        assert!(value(rest, &a, &b).unwrap().iter().all(|x| x.abs() < 1e-12), "{n}");
        let rest = "toeplitz(a[0]) @ solve_toeplitz(a[0], b[:, 0]) - b[:, 0]";
        assert!(value(rest, &a, &b).unwrap().iter().all(|x| x.abs() < 1e-11), "{n}");
    }
}

#[test]
fn decompositions_match_perform() {
    check("gnu11", &calls(share(decomposition_cases(), 0, 4)));
    check("c++17", &calls(decomposition_cases().into_iter().step_by(7).collect()));
}

#[test]
fn systems_match_perform() {
    check("gnu11", &calls(share(system_cases(), 0, 6)));
    check("c++17", &calls(system_cases().into_iter().step_by(41).collect()));
}

#[test]
fn every_level_matches_perform() {
    let systems = share(system_cases().into_iter().chain(banded_cases()).collect(), 1, 30);
    let calls = calls(share(decomposition_cases(), 1, 8).into_iter().chain(systems).collect());
    check_at(&compiler::levels(), "gnu11", &calls);
}

/// Evaluates a text with the inputs `a` and `b`.
pub(crate) fn value(text: &str, a: &Array, b: &Array) -> Result<Vec<f64>, String> {
    let types = [("a".to_owned(), a.ty()), ("b".to_owned(), b.ty())];
    let inputs: Vec<_> = types.into_iter().filter(|(name, _)| used(text, name)).collect();
    let graph = parse(&[text], &inputs, &Ops::standard()).map_err(|e| precast_core::event::chain(&e))?;
    let values: Vec<Array> = [("a", a), ("b", b)]
        .into_iter()
        .filter(|(name, _)| used(text, name))
        .map(|(_, v)| v.clone())
        .collect();
    let results = interpret(&graph, &values).map_err(|error| precast_core::event::chain(&error))?;
    Ok(results[0].numbers().into_iter().map(|n| n.parts().0).collect())
}

fn used(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

/// Returns the largest sum of absolute values in a column.
pub(crate) fn norm(a: &Array2<f64>) -> f64 {
    a.columns().into_iter().map(|column| column.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

pub(crate) fn matrix(values: Vec<f64>, n: usize) -> Array2<f64> {
    let width = values.len() / n;
    Array2::from_shape_vec((n, width), values).unwrap()
}

/// Returns an ill-conditioned matrix: the elements are `1 / (i + j + 1)`.
pub(crate) fn hilbert(dtype: DType, n: usize) -> Array {
    of(dtype, &[n, n], (0..n * n).map(|at| 1.0 / (at / n + at % n + 1) as f64).collect())
}

#[test]
fn solutions_have_small_backward_errors() {
    let mut choices = Choices::seeded(53);
    for (dtype, precision) in [(DType::F32, f64::from(f32::EPSILON)), (DType::F64, f64::EPSILON)] {
        for n in [1, 2, 3, 17, 64] {
            let mut all = vec![plain(&mut choices, dtype, &[n, n]), hilbert(dtype, n.min(6))];
            all.push(definite(&mut choices, dtype, 1, n));
            for a in all {
                let n = a.shape()[a.shape().len() - 1];
                let b = plain(&mut choices, dtype, &[n, 3]);
                let numbers = |array: &Array| array.numbers().iter().map(|x| x.parts().0).collect::<Vec<_>>();
                let (of_a, of_b) = (matrix(numbers(&a), n), matrix(numbers(&b), n));
                let x = matrix(value("solve(a, b)", &a, &b).unwrap(), n);
                let rest = norm(&(of_a.dot(&x) - &of_b)) / (norm(&of_a) * norm(&x) * n as f64 * precision);
                assert!(rest < BOUND, "solve of {n} rows of {dtype}: {rest}");
                let inverse = matrix(value("inv(a)", &a, &b).unwrap(), n);
                let scale = norm(&of_a) * norm(&inverse) * n as f64 * precision;
                let rest = norm(&(of_a.dot(&inverse) - Array2::<f64>::eye(n))) / scale;
                assert!(rest < BOUND, "inv of {n} rows of {dtype}: {rest}");
                let Ok(l) = value("cholesky(a)", &a, &b) else { continue };
                if a.shape().len() == 3 {
                    let l = matrix(l, n);
                    let rest = norm(&(l.dot(&l.t()) - &of_a)) / (norm(&of_a) * n as f64 * precision);
                    assert!(rest < BOUND, "cholesky of {n} rows of {dtype}: {rest}");
                }
            }
        }
    }
}

/// Returns the real matrix of twice the size whose products and sums are those of a complex matrix of `n` rows.
pub(crate) fn embedded(text: &str, a: &Array, b: &Array, n: usize) -> Array2<f64> {
    let [re, im] = ["real", "imag"].map(|part| matrix(value(&format!("{part}({text})"), a, b).unwrap(), n));
    let (rows, columns) = re.dim();
    Array2::from_shape_fn((2 * rows, 2 * columns), |(i, j)| {
        let at = [i % rows, j % columns];
        match (i < rows, j < columns) {
            (true, false) => -im[at],
            (false, true) => im[at],
            _ => re[at],
        }
    })
}

/// The precision of complex dtypes.
pub(crate) const PRECISIONS: [(DType, f64); 2] =
    [(DType::C64, f32::EPSILON as f64), (DType::C128, f64::EPSILON)];

#[test]
fn complex_solutions_have_small_backward_errors() {
    let mut choices = Choices::seeded(57);
    for (dtype, precision) in PRECISIONS {
        for n in [1, 2, 3, 17, 64] {
            let (a, b) = (plain(&mut choices, dtype, &[n, n]), plain(&mut choices, dtype, &[n, 3]));
            let part = |text: &str, rows: usize| embedded(text, &a, &b, rows);
            let (of_a, of_b) = (part("a", n), part("b", n));
            let near = |rest: Array2<f64>, scale: f64, what: &str| {
                let rest = norm(&rest) / (scale * n as f64 * precision);
                assert!(rest < BOUND, "{what} of {n} rows of {dtype}: {rest}");
            };
            for (text, of_a) in [
                ("solve(a, b)", of_a.clone()),
                ("inv(a) @ b", of_a.clone()),
                ("lu_solve(lu_factor(a), b)", of_a.clone()),
                ("lu_solve(lu_factor(a), b, 1)", part("a.T", n)),
                ("lu_solve(lu_factor(a), b, 2)", part("conj(a.T)", n)),
            ] {
                let x = part(text, n);
                let scale = if text.starts_with("inv") {
                    norm(&of_a) * norm(&part("inv(a)", n)) * norm(&of_b)
                } else {
                    norm(&of_a) * norm(&x)
                };
                near(of_a.dot(&x) - &of_b, scale, text);
            }
            let (p, l, u) = (part("lu(a)[0]", n), part("lu(a)[1]", n), part("lu(a)[2]", n));
            near(p.dot(&l).dot(&u) - &of_a, norm(&of_a), "lu");
            let sizes = value("abs(lu(a)[1])", &a, &b).unwrap();
            assert!(sizes.iter().all(|x| *x <= 1.5), "pivots have the largest |re| + |im|");
            let well = "(tril(a) + 9 * eye(shape(a)[0]))";
            for (trans, matrix) in [("0", part(well, n)), ("1", part(&format!("{well}.T"), n))] {
                let text = format!("solve_triangular({well}, b, {trans}, lower=True)");
                near(matrix.dot(&part(&text, n)) - &of_b, norm(&matrix) * norm(&part(&text, n)), &text);
            }
            let text = format!("solve_triangular({well}, b, 'C', lower=True)");
            near(part(&format!("conj({well}.T)"), n).dot(&part(&text, n)) - &of_b, 10.0 * norm(&of_b), &text);
            let c = definite(&mut choices, dtype, 1, n);
            let part = |text: &str| embedded(text, &c, &b, n);
            let (of_c, l, u) = (part("a[0]"), part("cholesky(a[0])"), part("cholesky(a[0], upper=True)"));
            near(l.dot(&l.t()) - &of_c, norm(&of_c), "cholesky");
            near(u.t().dot(&u) - &of_c, norm(&of_c), "upper cholesky");
            let x = part("cho_solve((cholesky(a[0]), True), b)");
            near(of_c.dot(&x) - &of_b, norm(&of_c) * norm(&x), "cho_solve");
        }
    }
}

#[test]
fn complex_determinants_match_known_ones() {
    let a = Array::C128(
        ArrayD::from_shape_vec(
            IxDyn(&[2, 2]),
            [(0.0, 1.0), (2.0, 0.0), (3.0, -1.0), (1.0, 1.0)].map(|(re, im)| Complex::new(re, im)).to_vec(),
        )
        .unwrap(),
    );
    // i (1 + i) - 2 (3 - i) = -7 + 3i
    for (text, expected) in [
        ("real(det(a))", -7.0),
        ("imag(det(a))", 3.0),
        ("real(slogdet(a)[0])", -7.0 / 58_f64.sqrt()),
        ("imag(slogdet(a)[0])", 3.0 / 58_f64.sqrt()),
        ("slogdet(a)[1]", 58_f64.ln() / 2.0),
        ("real(inv(a)[0, 1] * det(a))", -2.0),
        ("imag(matrix_power(a, -1)[1, 0] * det(a))", 1.0),
        ("real(solve(real(a) + 9, a)[0, 1])", -9.0 / 42.0),
    ] {
        let found = value(text, &a, &a).unwrap()[0];
        assert!((found - expected).abs() < 1e-14, "{text}: {found}");
    }
    let singular = "solve(a * 0, a, on_error='nan')";
    assert!(value(&format!("imag({singular})"), &a, &a).unwrap().iter().all(|x| x.is_nan()));
    let error = value("cholesky(a - 9)", &a, &a).unwrap_err();
    assert!(error.contains("the matrix is not positive definite"), "{error}");
}

#[test]
fn complex_pivots_at_the_edges_of_the_range_are_exact() {
    for dtype in [DType::C64, DType::C128] {
        let (a, least) = (edges(dtype), if dtype == DType::C64 { 1e-40_f64 as f32 as f64 } else { 1e-310 });
        let most = if dtype == DType::C64 { 3e38_f64 as f32 as f64 } else { 1.7e308 };
        for (text, expected) in [
            ("real(lu_factor(a)[0][0])", [least, 0.0, 0.0, 1.0].to_vec()),
            ("real(det(a)[0])", vec![-least]),
            ("real(slogdet(a)[0])[:1]", vec![-1.0]),
            ("real(solve(a[0], a[0] * 3))", vec![3.0, 0.0, 0.0, 3.0]),
            (
                "real(solve_triangular(a[1] * 0 + a[1][0, 1] * eye(2), a[1][0, 1] * eye(2)))",
                vec![1.0, 0.0, 0.0, 1.0],
            ),
            ("real(lu_factor(a)[0][1][0])", vec![0.1 * most, 2.0]),
        ] {
            let found = value(text, &a, &a).unwrap();
            let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-6 * y.abs();
            assert!(
                found.len() == expected.len() && found.iter().zip(&expected).all(near),
                "{dtype}: {text}: {found:?}"
            );
        }
    }
}

#[test]
fn singular_matrices_are_errors_or_nan() {
    let (a, b) = (of(DType::F64, &[2, 2], vec![1.0, 2.0, 2.0, 4.0]), of(DType::F64, &[2], vec![1.0, 2.0]));
    for text in [
        "solve(a, b)",
        "inv(a)",
        "solve_triangular(a - 1, b, lower=True)",
        "cho_solve((a - 1, True), b)",
        "solve_banded((1, 0), a - 1, b)",
        "tridiagonal_solve(a[0], a[0] * 0, a[1] * 0, b)",
        "solve_toeplitz(a[0] * 0 + 1, b)",
    ] {
        assert!(value(text, &a, &b).unwrap_err().contains("singular matrix"), "{text}");
    }
    let error = value("cholesky(a - 2)", &a, &b).unwrap_err();
    assert!(error.contains("the matrix is not positive definite"), "{error}");
    for text in [
        "solve_banded((1, 0), a - 1, b, on_error='nan')",
        "solve(a, b, on_error='nan')",
        "inv(a, on_error='nan')",
        "cholesky(a - 2, on_error='nan')",
    ] {
        assert!(value(text, &a, &b).unwrap().iter().all(|x| x.is_nan()), "{text}");
    }
    assert_eq!(value("det(a)", &a, &b), Ok(vec![0.0]));
    assert_eq!(value("slogdet(a)[0]", &a, &b), Ok(vec![0.0]));
    assert_eq!(value("slogdet(a)[1]", &a, &b), Ok(vec![f64::NEG_INFINITY]));
    // The lower triangle, whose elements are regular, is the only one that is read.
    assert_eq!(value("solve_triangular(a, b, lower=True)", &a, &b), Ok(vec![1.0, 0.0]));
    assert_eq!(value("solve_triangular(a, b, 'T')", &a, &b), Ok(vec![1.0, 0.0]));
    assert_eq!(value("cho_solve(a * 2 + a, b)", &a, &b).map(|x| x.len()), Ok(2));
}

#[test]
fn nan_reaches_the_results() {
    let a = of(DType::F64, &[2, 2], vec![0.0, 1.0, f64::NAN, 1.0]);
    let b = of(DType::F64, &[2], vec![1.0, 2.0]);
    for text in ["solve(a, b)", "inv(a)", "det(a)", "slogdet(a)[1]", "cholesky(a + 1)[1]"] {
        assert!(value(text, &a, &b).unwrap().iter().all(|x| x.is_nan()), "{text}");
    }
}

#[test]
fn invalid_matrices_have_typed_errors() {
    let h = Array::zeros(DType::F16, &[2, 2]);
    let x = Array::zeros(DType::F64, &[2, 3]);
    for name in ["cholesky", "lu_factor", "inv", "det", "slogdet"] {
        let error = |a| value(&format!("{name}(a)"), a, &x).unwrap_err();
        assert!(
            error(&h).contains("does not support dtype `f16` of input 0; it supports f32, f64, c64, c128"),
            "{name}: {}",
            error(&h)
        );
        assert!(error(&x).contains("square"), "{name}: {}", error(&x));
        let vector = Array::zeros(DType::F64, &[3]);
        assert!(error(&vector).contains("expected a matrix, or a stack of matrices"), "{name}");
    }
    for text in ["solve_banded(1, b, b)", "solve_banded((1, -1), b, b)", "solve_banded((1, 2, 3), b, b)"] {
        let said = value(text, &x, &x).unwrap_err();
        assert!(said.contains("needs the numbers of diagonals"), "{said}");
    }
    let said = value("solve_banded((1, 1), a, b)", &x, &x).unwrap_err();
    assert!(said.contains("expected 3 rows, one for each diagonal"), "{said}");
    let square = Array::zeros(DType::F64, &[3, 3]);
    let said = value("solve(a, b)", &square, &x).unwrap_err();
    assert!(said.contains("expected 3 rows, as in input 0"), "{said}");
    let said = value("cholesky(a, on_error='ignore')", &square, &x).unwrap_err();
    assert!(said.contains("expected `raise` or `nan`"), "{said}");
}
