//! Gradients by operands that are broadcast.

use super::{check, graph, input, numbers, values};

/// Shapes that can be broadcast to (2, 3).
const SHAPES: [&[usize]; 7] = [&[], &[1], &[3], &[1, 1], &[1, 3], &[2, 1], &[2, 3]];

/// Returns the types of an array: all extents open, those of 1 given, and all given.
fn types(shape: &[usize]) -> [String; 3] {
    let text = |given: fn(usize) -> bool| {
        let extents: Vec<String> =
            shape.iter().map(|n| if given(*n) { n.to_string() } else { "?".to_owned() }).collect();
        format!("f64[{}]", extents.join(","))
    };
    [text(|_| false), text(|n| n == 1), text(|_| true)]
}

#[test]
fn broadcast_operands_have_gradients_of_their_shape() {
    for (i, a) in SHAPES.iter().enumerate() {
        for (j, b) in SHAPES.iter().enumerate() {
            for (left, right) in types(a).into_iter().zip(types(b)) {
                let mut inputs = [input("x", numbers(a, i + 1)), input("y", numbers(b, j + 11))];
                inputs[0].1 = left;
                inputs[1].1 = right;
                for text in [
                    "x * y",
                    "x + y",
                    "exp(x) - y",
                    "exp(x * y) * y + sin(x)",
                    "(x + y) * (x - y) / y",
                    "where(x > y, x, y * y)",
                    "sum(x + y)",
                    "mean(x + y) * x",
                    "sum(x * y) + y",
                    "maximum(x, y) + sum(x)",
                ] {
                    check(text, &inputs);
                }
            }
        }
    }
}

#[test]
fn sums_of_wide_and_narrow_gradients_have_their_shape() {
    let inputs =
        [input("x", numbers(&[1, 3], 2)), input("y", numbers(&[2, 3], 3)), input("z", numbers(&[2, 1], 4))];
    for text in [
        "x * y + x * z + sum(x)",
        "exp(x) * (y + exp(x) * z)",
        "sum(exp(x), axis=0) + y",
        "(x - mean(x)) * y / z",
        "sum(x * y * z, axis=1) * z[:, 0]",
        "exp(x).T @ y[:1] + sum(exp(x))",
        "softmax(x * z, axis=1) * y",
    ] {
        check(text, &inputs);
    }
}

#[test]
fn more_copies_than_f16_can_count_are_summed() {
    let mut inputs = [input("x", numbers(&[], 1)), input("y", numbers(&[70_000], 2))];
    inputs[0].1 = "f16[]".to_owned();
    inputs[1].1 = "f16[?]".to_owned();
    let found = values(&graph("grad(mean(x + y), x)", &inputs), &inputs).remove(0);
    assert!((found.sum() - 1.0).abs() < 1e-2, "{found}");
}
