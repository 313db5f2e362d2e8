//! The derivatives of loops and branches.

use super::{check, input, numbers};

#[test]
fn loops_match_differences() {
    let inputs = || {
        [
            input("p0", numbers(&[], 1)),
            input("p1", numbers(&[4], 2)),
            input("p2", numbers(&[3], 3)),
            input("p3", numbers(&[4, 3], 4)),
            input("p4", numbers(&[3, 3], 5)),
        ]
    };
    for text in [
        "scan(lambda c, x: (c * x + sin(c), c * c), p0, p1)[0]",
        "scan(lambda c, x: (c * x + sin(c), c * c), p0, p1)[1]",
        "scan(lambda c, x: (c * x + sin(c), c * c), p0, p1, reverse=True)[1]",
        "scan(lambda c, x: (c * x + p2, c * c), p2, p3)[1]",
        "scan(lambda c, x: (tanh(p4 @ c + x), c), p2, p3)[1]",
        "scan(lambda c, x: (tanh(p4 @ c + x), c), p2, p3)[0]",
        "scan(lambda (a, b), x: ((b * x, a + p0), a * b), (p2, 2.0 * p2), p1)[1]",
        "scan(lambda (i, c), x: ((i + 1, c * x), c * i), (0, p0), p1)[1]",
        "scan(lambda c, x: (c, x * p2), p0, p3)[1]",
        "scan(lambda c, x: (scan(lambda d, y: (d * y + p0, d), c, x)[0], c), p0, p3)[1]",
        "scan(lambda c, x: (cond(x > 0.5, lambda: c * x, lambda: c + p0), c), p0, p1)[1]",
        "while_loop(lambda c: c < 20.0, lambda c: c * c + 1.0 + p0, p0)",
        "while_loop(lambda c: c.sum() < 20.0, lambda c: p4 @ c + 1.0, p2)",
        "scan(lambda c, x: (c + x * c, c, c > 1.2), p0, p1, until=True)[0]",
        "scan(lambda c, x: (c + x * c, c * x, c > 0.0), p0, p1, until=True)[1]",
        "scan(lambda c, x: (c + x.sum() * c, None, c > 1.0), p0, p3 * 2.0, until=True)[0] * p1",
        "fori_loop(0, 3, lambda i, c: c * p2[i] + p0, p2)",
        "cond(p0 > 0.1, lambda: p2 * p0, lambda: p2)",
        "cond(p0 > 10.0, lambda: p2 * p0, lambda: p2 * p2)",
        "branch(1, [lambda x: x, lambda x: x * x * p0, lambda x: -x], p2)",
        "out1 = scan(lambda c, x: (c * x, c * c), p0, p1); out1[0] * out1[1]",
    ] {
        check(text, &inputs());
    }
}

#[test]
fn second_derivatives_of_loops_match_differences() {
    let inputs = [input("p0", numbers(&[], 1)), input("p1", numbers(&[3], 2))];
    for text in [
        "grad(scan(lambda c, x: (c * x + sin(c), None), p0, p1)[0], p0)",
        "grad(scan(lambda c, x: (c * x + sin(c), None), p0, p1)[0], p1)",
        "grad(while_loop(lambda c: c < 20.0, lambda c: c * c + 1.0 + p0, p0), p0)",
        "grad(cond(p0 > 0.1, lambda: sum(p1 * p0 * p0), lambda: sum(p1)), p0)",
        "jvp(scan(lambda c, x: (c * x + sin(c), c), p0, p1)[1], p1, cos(p1))",
        "hvp(scan(lambda c, x: (c * x + sin(c), None), p0, p1)[0], p1, cos(p1))",
    ] {
        check(text, &inputs);
    }
}

#[test]
fn jacobians_and_hessians_match_differences() {
    let inputs = || [input("p1", numbers(&[3], 2)), input("p3", numbers(&[2, 3], 4))];
    for text in [
        "jacobian(sin(p1) * p1, p1)",
        "jacobian(p3 @ (p1 * p1), p1)",
        "jacobian(p3 * p1, p3)",
        "hessian(sum(sin(p3 @ p1)), p1)",
        "hessian(sum(p3 ** 3 * p1), p3)",
    ] {
        check(text, &inputs());
    }
    // The derivative of an element by an element has the shape of both.
    let found = super::values(&super::graph("jacobian(p3 @ (p1 * p1), p1)", &inputs()), &inputs()).remove(0);
    let (p1, p3) = (numbers(&[3], 2), numbers(&[2, 3], 4));
    assert_eq!(found.shape(), [2, 3]);
    for i in 0..2 {
        for j in 0..3 {
            assert!((found[[i, j]] - 2.0 * p3[[i, j]] * p1[[j]]).abs() < 1e-12);
        }
    }
    let found = super::values(&super::graph("hessian(sum(p1 * 2.0), p1)", &inputs()), &inputs()).remove(0);
    assert!(found.shape() == [3, 3] && found.iter().all(|x| *x == 0.0));
}
