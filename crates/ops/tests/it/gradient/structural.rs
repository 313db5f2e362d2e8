//! The derivatives of ops that are not elementwise, and of functions that are composed.

use super::{check, check_by, graph, input, numbers, values};

#[test]
fn reductions_match_differences() {
    let x = || input("x", numbers(&[2, 3, 4], 2));
    for function in ["sum", "mean", "max", "min", "prod", "var", "std", "logsumexp", "norm", "median", "ptp"]
    {
        check(&format!("{function}(x)"), &[x()]);
        if function == "norm" {
            continue;
        }
        for axis in ["0", "1", "-1", "(0, 2)"] {
            if function == "median" && axis.starts_with('(') {
                continue;
            }
            check(&format!("{function}(x, axis={axis})"), &[x()]);
            check(&format!("{function}(x, axis={axis}, keepdims=True)"), &[x()]);
        }
    }
    for text in [
        "cumsum(x)",
        "cumsum(x, axis=1)",
        "cumprod(x, axis=2)",
        "cumprod(x)",
        "sort(x, axis=0)",
        "sort(x)",
        "softmax(x, axis=1)",
        "log_softmax(x, axis=-1)",
        "quantile(x, 0.3)",
        "quantile(x, 0.3, axis=1)",
        "diff(x)",
        "topk(x, 2)",
        "trapezoid(x)",
        "gradient(x[0, 0])",
        "nanmean(x)",
        "percentile(x, 20.0, axis=0)",
    ] {
        check(text, &[x()]);
    }
}

#[test]
fn products_are_safe_at_zeros() {
    for (zeros, second) in [(0, 2), (1, 2), (2, 2), (3, 0)] {
        let mut x = ndarray::arr1(&[2.0, 3.0, 5.0, 7.0]).into_dyn();
        (0..zeros).for_each(|i| x[[i]] = 0.0);
        let inputs = [input("x", x)];
        check("prod(x)", &inputs);
        if second > 0 {
            check("grad(prod(x), x)", &inputs);
        }
    }
}

#[test]
fn movements_match_differences() {
    let x = || input("x", numbers(&[3, 4], 5));
    let y = || input("y", numbers(&[3, 2], 6));
    for text in [
        "transpose(x)",
        "x.T",
        "reshape(x, 2, 6)",
        "reshape(x, -1)",
        "x[None, :, 1]",
        "x[1]",
        "x[1:, ::-2]",
        "x[-1, 1:3]",
        "flip(x, axis=0)",
        "roll(x, 1, axis=1)",
        "tile(x, 2, 1)",
        "repeat(x, 2, axis=0)",
        "squeeze(x[:1], axis=0)",
        "split(x, sizes=(1, 2), axis=0, piece=1)",
        "diagonal(x)",
        "trace(x)",
        "tril(x)",
        "triu(x, 1)",
        "diag(x[0])",
        "swapaxes(x, 0, 1)",
        "take(x, array([2, 0, 2]), axis=0)",
        "take(x, array([5, 0, 5]))",
        "x[array([1, 1, -1])]",
        "x[x > 0.5]",
        "compress(array([True, False, True]), x, axis=0)",
        "take_along_axis(x, argsort(x, axis=1), axis=1)",
        "make_vector(x[0, 0], x[1, 2])",
        "assert(x, all(x > 0), message=\"positive\")",
        "broadcast_to(x, (2, 3, 4))",
        "full((2, 3), x[0, 1])",
        "sum_to(x, (1, 4))",
        "sum_to(x, (4,))",
        "pad(x, 1)",
        "kron(x, x)",
        "f64(f32(x))",
    ] {
        if text.contains("f32") {
            // The difference of numbers of f32 says little.
            let found = values(&graph(&format!("grad(sum({text} * 2), x)"), &[x()]), &[x()]).remove(0);
            assert!(found.iter().all(|g| *g == 2.0));
            continue;
        }
        check(text, &[x()]);
    }
    for text in [
        "concatenate([x, y], axis=1)",
        "stack([x[:, :2], y])",
        "hstack([x, y])",
        "set_subtensor(x[:, 1:3], y)",
        "inc_subtensor(x[:, 1:3], y)",
        "set_subtensor(x[array([0, 2, 0])], concatenate([y, y], axis=1))",
        "inc_subtensor(x[array([0, 2, 0])], concatenate([y, y], axis=1))",
        "set_subtensor(x[1:], y[1, 0])",
        "inc_subtensor(x[0], y[1, 1])",
        "set_subtensor(x[x > 0.6], y[0, 0])",
        "where(x > 0.5, x * y[:, :1], exp(x))",
        "outer(x, y)",
        "convolve(x[0], y[:, 0])",
        "conv1d(x[None], y[None, :, :2], padding=1)",
        "conv1d(x[:2], y[:2, None, :2], groups=2, dilation=2)",
        "conv2d(x[None, None], y[None, None], padding='same')",
        "max_pool(x, (2, 1), stride=1) + sum(y)",
        "avg_pool(x, 2, padding=1, count_include_pad=False) + sum(y)",
    ] {
        check(text, &[x(), y()]);
    }
}

#[test]
fn products_match_differences() {
    let shapes: [(&[usize], &[usize]); 9] = [
        (&[3], &[3]),
        (&[2, 3], &[3]),
        (&[3], &[3, 2]),
        (&[2, 3], &[3, 4]),
        (&[2, 2, 3], &[3]),
        (&[2, 2, 3], &[3, 2]),
        (&[2, 3], &[2, 3, 2]),
        (&[3], &[2, 3, 2]),
        (&[2, 2, 3], &[2, 3, 2]),
    ];
    for (a, b) in shapes {
        check("dot(x, y)", &[input("x", numbers(a, 3)), input("y", numbers(b, 4))]);
    }
    for (text, a, b) in [
        ("x @ y", &[2, 2, 3][..], &[2, 3, 2][..]),
        ("x @ y", &[2, 2, 3], &[1, 3, 2]),
        ("x @ y", &[2, 1, 2, 3], &[4, 3, 2]),
        ("x @ y", &[2, 3], &[4, 3, 2]),
        ("batched_dot(x, y)", &[2, 2, 3], &[2, 3, 2]),
        ("batched_dot(x, y)", &[2, 3], &[2, 3, 2]),
        ("batched_dot(x, y)", &[2, 2, 3], &[2, 3]),
        ("einsum('ij,kj->ik', x, y)", &[2, 3], &[4, 3]),
        ("einsum('ij,ij->', x, y)", &[2, 3], &[2, 1]),
        ("einsum('ii,ij->j', x, y)", &[3, 3], &[3, 2]),
        ("tensordot(x, y, axes=1)", &[2, 3], &[3, 2]),
        ("vecdot(x, y)", &[2, 3], &[2, 3]),
    ] {
        check(text, &[input("x", numbers(a, 3)), input("y", numbers(b, 4))]);
    }
}

#[test]
fn systems_match_differences() {
    let x = || input("x", numbers(&[3, 3], 8) + ndarray::Array2::<f64>::eye(3).into_dyn() * 2.0);
    let stack = || input("x", numbers(&[2, 3, 3], 8) + ndarray::Array2::<f64>::eye(3).into_dyn() * 2.0);
    let y = || input("y", numbers(&[3, 2], 9));
    for (text, by) in [
        ("cholesky(x @ x.T)", &[0][..]),
        ("cholesky(x @ x.T, upper=True)", &[0]),
        ("solve(x, y)", &[0, 1]),
        ("solve(x, y[:, 0])", &[0, 1]),
        ("inv(x)", &[0]),
        ("det(x)", &[0]),
        ("det(x[::-1])", &[0]),
        ("slogdet(-x[array([1, 2, 0])])[1]", &[0]),
        ("lu_factor(x[array([1, 2, 0])])[0]", &[0]),
        ("solve_triangular(x, y, lower=True)", &[0, 1]),
        ("solve_triangular(x, y)", &[0, 1]),
        ("solve_triangular(x, y, trans=1)", &[0, 1]),
        ("solve_triangular(x, y, unit_diagonal=True)", &[0, 1]),
        ("cho_solve(cholesky(x @ x.T), y, lower=True)", &[0, 1]),
    ] {
        check_by(text, &[x(), y()], by);
    }
    for text in [
        "solve(x, y)",
        "cholesky(x @ x.mT) @ y",
        "solve_triangular(x, y)",
        "inv(x) @ y",
        "det(x[:, ::-1])[:, None] * y[0]",
    ] {
        check(text, &[stack(), y()]);
    }
}

#[test]
fn directional_derivatives_match_gradients() {
    let inputs =
        [input("x", numbers(&[3, 4], 5)), input("v", numbers(&[3, 4], 6)), input("w", numbers(&[3], 7))];
    for text in [
        "exp(x).sum(axis=1)",
        "log(x @ x.T)[0]",
        "softmax(x, axis=1)[:, 0]",
        "sort(x, axis=1)[:, 1]",
        "x[:, 1] * x[:, 2]",
        "prod(x, axis=1)",
    ] {
        let forward = values(&graph(&format!("sum(jvp({text}, x, v) * w)"), &inputs), &inputs);
        let backward = values(&graph(&format!("sum(vjp({text}, x, w) * v)"), &inputs), &inputs);
        super::assert_near(&forward[0], &backward[0], text);
    }
}
