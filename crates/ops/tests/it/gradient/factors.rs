//! The derivatives of decompositions by reflections.

use super::{check, input};

/// Returns matrices of full rank.
fn numbers(shape: &[usize], salt: usize) -> ndarray::ArrayD<f64> {
    super::numbers(shape, salt).mapv(|x| (29.0 * x * x).sin())
}

#[test]
fn qr_matches_differences() {
    for shape in [&[3, 3][..], &[4, 3], &[3, 5], &[2, 3, 3], &[2, 2, 3]] {
        for text in ["qr(x)[0]", "qr(x)[1]", "qr(x, mode='r')", "qr(x)[0].mT @ x + 2 * qr(x)[1]"] {
            check(text, &[input("x", numbers(shape, 8))]);
        }
    }
    check("qr(x, mode='complete')[1]", &[("x", "f64[3,4]".to_owned(), numbers(&[3, 4], 8))]);
}

#[test]
fn eigh_matches_differences() {
    for text in [
        "eigh(x + x.mT)[0]",
        "eigvalsh(x + x.mT)",
        "eigh(x + x.mT, 'U')[1]",
        "eigh(x + x.mT)[1] * eigh(x + x.mT)[0]",
    ] {
        check(text, &[input("x", numbers(&[4, 4], 8))]);
    }
    check("eigh(x + x.mT)[1]", &[input("x", numbers(&[2, 3, 3], 8))]);
}

#[test]
fn svd_matches_differences() {
    for shape in [&[3, 3][..], &[4, 3], &[3, 4], &[2, 3, 3]] {
        for text in [
            "svd(x, full_matrices=False)[0]",
            "svd(x, full_matrices=False)[1]",
            "svd(x, full_matrices=False)[2]",
            "svd(x)[1]",
            "svdvals(x)",
            "pinv(x)",
            "norm(x, 'nuc', axis=(-2, -1))",
            "norm(x, 2, axis=(-2, -1))",
            "condition_number(x)",
        ] {
            check(text, &[input("x", numbers(shape, 8))]);
        }
    }
    check("svd(x)[0] @ svd(x)[2]", &[("x", "f64[3,3]".to_owned(), numbers(&[3, 3], 8))]);
    for text in [
        "lu(x)[1]",
        "lu(x)[2]",
        "lu(x, True)[0]",
        "expm(x)",
        "expm(9 * x)",
        "matrix_power(x, 3)",
        "matrix_power(x, -1)",
    ] {
        check(text, &[input("x", numbers(&[3, 3], 8))]);
    }
    for text in ["vander(x[0])", "toeplitz(x[0], x[1])", "block_diag(x, 2 * x[0])"] {
        check(text, &[input("x", numbers(&[3, 3], 8))]);
    }
    for text in ["lu_solve(lu_factor(x), y)", "lu_solve(lu_factor(x), y[:, 0], trans=1)"] {
        check(text, &[input("x", numbers(&[3, 3], 8)), input("y", numbers(&[3, 2], 9))]);
    }
    for text in [
        "solve_banded((1, 1), x + 2, y)",
        "solve_banded((0, 2), x + 2, y[:, 0])",
        "solve_banded((2, 0), x + 2, y)",
    ] {
        check(text, &[input("x", numbers(&[3, 3], 8)), input("y", numbers(&[3, 2], 9))]);
    }
    check(
        "solve_banded((2, 1), x + 2, y)",
        &[input("x", numbers(&[2, 4, 5], 8)), input("y", numbers(&[5, 2], 9))],
    );
    for text in ["tridiagonal_solve(x[0], x[1] + 2, x[2], y)", "solve_toeplitz((x[0] + 2, x[1]), y)"] {
        check(text, &[input("x", numbers(&[3, 3], 8)), input("y", numbers(&[3, 2], 9))]);
    }
    let pair = [input("x", numbers(&[3, 3], 8)), input("y", numbers(&[3, 2], 9))];
    check("solve_sylvester(x, 5 * eye(2) + y[:2], y)", &pair);
    for text in ["solve_continuous_lyapunov(x + 5 * eye(3), x)", "solve_discrete_lyapunov(x / 9, x)"] {
        check(text, &pair[..1]);
    }
    check("lstsq(x, y)[0]", &[input("x", numbers(&[4, 2], 8)), input("y", numbers(&[4, 3], 9))]);
    check("lstsq(x, y)[1]", &[input("x", numbers(&[4, 2], 8)), input("y", numbers(&[4], 9))]);
}
