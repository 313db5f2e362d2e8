//! Gradients of random expressions of smooth functions.

use super::{Input, check, input, numbers};
use precast_testkit::Choices;

/// The number of expressions, and the most statements of one.
const COUNT: u64 = 150;
const STATEMENTS: usize = 30;

/// Results stay between -1 and 1, where all functions are smooth and differences are accurate.
const UNARY: [&str; 12] = [
    "tanh(X)",
    "sin(X)",
    "exp(-X*X)",
    "sigmoid(X)",
    "X / (1 + X*X)",
    "sqrt(X*X + 1) - 1",
    "log1p(X*X)",
    "erf(X)",
    "softmax(X, axis=-1)",
    "cumsum(X, axis=-1) / 4",
    "flip(X)",
    "atan(X)",
];
const BINARY: [&str; 6] =
    ["X * Y", "(X + Y) / 2", "X - Y / 3", "X / (1 + Y*Y)", "where(X > 5, X, Y * X)", "hypot(X, 1 + Y) / 3"];
const REDUCTIONS: [&str; 4] = [
    "mean(X, axis=DIM, keepdims=KEEP)",
    "sum(X, axis=DIM, keepdims=KEEP) / 4",
    "logsumexp(X, axis=DIM, keepdims=KEEP) / 4",
    "var(X, axis=DIM, keepdims=KEEP)",
];

/// A value: its name and shape.
type Value = (String, Vec<usize>);

/// Returns the shape to which two shapes are broadcast.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let ndim = a.len().max(b.len());
    let at = |shape: &[usize], d: usize| (d + shape.len()).checked_sub(ndim).map_or(1, |d| shape[d]);
    (0..ndim)
        .map(|d| match (at(a, d), at(b, d)) {
            (n, m) if n == m || m == 1 => Some(n),
            (1, m) => Some(m),
            _ => None,
        })
        .collect()
}

/// Draws a statement's expression, and its shape.
fn draw(choices: &mut Choices, pool: &[Value]) -> Option<(String, Vec<usize>)> {
    let (x, shape) = &pool[choices.below(pool.len())];
    let (y, other) = &pool[choices.below(pool.len())];
    let ndim = shape.len();
    Some(match choices.below(10) {
        0..=3 => {
            let text = UNARY[choices.below(UNARY.len())];
            if ndim == 0 && (text.contains("axis") || text.contains("flip")) {
                return None;
            }
            (text.replace('X', x), shape.clone())
        }
        4..=6 => {
            (BINARY[choices.below(BINARY.len())].replace('X', x).replace('Y', y), broadcast(shape, other)?)
        }
        7 if ndim > 0 => {
            let (axis, keep) = (choices.below(ndim), choices.below(2) == 0);
            let mut reduced = shape.clone();
            if keep {
                reduced[axis] = 1;
            } else {
                reduced.remove(axis);
            }
            let text = REDUCTIONS[choices.below(REDUCTIONS.len())].replace('X', x);
            let keep = if keep { "True" } else { "False" };
            (text.replace("DIM", &axis.to_string()).replace("KEEP", keep), reduced)
        }
        8 if ndim == 2 => match choices.below(4) {
            0 => (format!("transpose({x})"), vec![shape[1], shape[0]]),
            1 => (format!("reshape({x}, -1)"), vec![shape[0] * shape[1]]),
            2 => (format!("concatenate([{x}, {x} * {x}], axis=0)[1:]"), vec![2 * shape[0] - 1, shape[1]]),
            _ => (format!("{x}[:, ::-1][array([0, 0])]"), vec![2, shape[1]]),
        },
        9 if ndim == 2 && other.len() == 2 && shape[1] == other[0] => {
            (format!("({x} @ {y}) / 4"), vec![shape[0], other[1]])
        }
        _ => return None,
    })
    .filter(|(_, shape): &(String, Vec<usize>)| shape.iter().product::<usize>() <= 24)
}

#[test]
fn random_expressions_match_differences() {
    for seed in 0..COUNT {
        let mut choices = Choices::seeded(seed);
        let shapes = [&[2, 3][..], &[3], &[2, 1], &[1, 3], &[3, 2], &[]];
        let mut inputs: Vec<Input> = Vec::new();
        for (position, name) in ["a", "b", "c"].into_iter().enumerate() {
            let shape = shapes[choices.below(shapes.len())];
            let mut one = input(name, numbers(shape, position + seed as usize + 1));
            if choices.one_in(2) {
                let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
                one.1 = format!("f64[{}]", extents.join(","));
            }
            inputs.push(one);
        }
        let mut pool: Vec<Value> =
            inputs.iter().map(|(name, _, value)| ((*name).to_owned(), value.shape().to_vec())).collect();
        let (mut statements, count) = (String::new(), 1 + choices.below(STATEMENTS));
        while pool.len() < inputs.len() + count {
            if let Some((text, shape)) = draw(&mut choices, &pool) {
                let name = format!("v{}", pool.len());
                statements += &format!("{name} = {text}; ");
                pool.push((name, shape));
            }
        }
        // All values count, so that none is unused.
        let all: Vec<String> = pool.iter().map(|(name, _)| format!("sum(sin({name}))")).collect();
        check(&format!("{statements}sum(make_vector({}))", all.join(", ")), &inputs);
    }
}
