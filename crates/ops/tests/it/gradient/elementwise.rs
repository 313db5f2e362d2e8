//! The derivatives of elementwise functions.

use super::{Input, check_by, cost, graph, input, numbers, values};
use precast_ops::Ops;

/// Functions of floats whose results have no gradient, or whose arguments are not real floats.
const WITHOUT: [&str; 4] = ["angle", "complex", "conj", "real"];

/// Arguments by which no derivative is known: the order of a function, and shapes of distributions.
const OPEN: [(&str, &[usize]); 14] = [
    ("zeta", &[0]),
    ("polygamma", &[0]),
    ("gammainc", &[0]),
    ("gammaincc", &[0]),
    ("betainc", &[0, 1]),
    ("gammaincinv", &[0]),
    ("gammainccinv", &[0]),
    ("betaincinv", &[0, 1]),
    ("iv", &[0]),
    ("ive", &[0]),
    ("kv", &[0]),
    ("kve", &[0]),
    ("jv", &[0]),
    ("hyp2f1", &[0, 1, 2]),
];

/// Returns arguments in the domain of a function.
fn arguments(function: &str, names: &'static [&'static str]) -> Vec<Input> {
    let inputs = names.iter().enumerate().map(|(position, name)| {
        let plain = numbers(&[5], position + 1);
        let value = match (function, position) {
            ("acosh", _) | ("zeta", 0) => plain + 1.5,
            ("log1mexp" | "ndtri_exp", _) => -plain,
            ("hyp2f1", 3) => plain * 0.5,
            ("lambertw_lower", _) => -0.3 * plain,
            ("polygamma", 0) => plain.mapv(|_| 2.0),
            ("scalb", 1) => plain.mapv(|_| 3.5),
            // Moved apart from integers and from ties.
            ("mod" | "fmod" | "floor_div", 0) => plain.mapv(|x| (4.0 * x).round()) + 5.1,
            ("clip", 1) => plain * 0.4,
            ("clip", 2) => plain * 0.4 + 0.5,
            ("log_ndtr" | "erfcx" | "i0e" | "i1e" | "i1" | "j0" | "j1" | "abs" | "copysign" | "fabs", _) => {
                plain - 0.55
            }
            _ => plain,
        };
        input(name, value)
    });
    inputs.collect()
}

#[test]
fn derivatives_match_differences() {
    let ops = Ops::standard();
    let mut checked = 0;
    for row in Ops::rows().filter(|row| precast_ops::scalar::find(row.name).is_some()) {
        let op = precast_ops::scalar::find(row.name).unwrap();
        let floats = vec![precast_graph::DType::F64; op.arity()];
        let is_float = op.output(&floats) == Some(precast_graph::DType::F64);
        if !is_float
            || WITHOUT.contains(&row.name)
            || matches!(row.name, "switch" | "stop_gradient")
            || row.name.starts_with("round_")
        {
            continue;
        }
        let inputs = arguments(row.name, row.arguments);
        let open = OPEN.iter().find(|(name, _)| *name == row.name).map_or(&[][..], |(_, open)| open);
        let by: Vec<usize> = (0..inputs.len()).filter(|position| !open.contains(position)).collect();
        check_by(&format!("{}({})", row.name, row.arguments.join(", ")), &inputs, &by);
        checked += 1;
    }
    assert!(checked > 80, "{checked}");
    drop(ops);
}

#[test]
fn second_derivatives_match_differences() {
    for text in [
        "x**3",
        "x**2.5",
        "exp(x) * sin(x)",
        "log(x) / x",
        "sqrt(x) + tanh(x)",
        "erf(x) + ndtr(x) + log_ndtr(x)",
        "gammaln(x) + digamma(x)",
        "1 / (1 + exp(-x))",
        "x * softplus(x)",
        "atan2(x, 1 + x) + hypot(x, 2.0)",
    ] {
        let inputs = [input("x", numbers(&[4], 3))];
        check_by(&format!("grad(sum({text}), x)"), &inputs, &[0]);
        let cost = cost(text);
        let (statements, last) = cost.rsplit_once("; ").unwrap();
        let twice = |text: &str| format!("{statements}; cost = {last}; {text}");
        let direction = "v = 0.5 * x * x";
        let first = twice(&format!("{direction}; hvp(cost, x, v)"));
        let second = twice(&format!("{direction}; grad(sum(grad(cost, x) * stop_gradient(v)), x)"));
        let (first, second) =
            (values(&graph(&first, &inputs), &inputs), values(&graph(&second, &inputs), &inputs));
        super::assert_near(&first[0], &second[0], text);
    }
}

#[test]
fn selections_and_ties_follow_the_conventions() {
    let inputs = [
        input("x", ndarray::arr1(&[-1.0, 0.0, 2.0]).into_dyn()),
        input("y", ndarray::arr1(&[1.0, 0.0, 2.0]).into_dyn()),
    ];
    for (text, expected) in [
        ("grad(sum(maximum(x, y)), x)", [0.0, 0.5, 0.5]),
        ("grad(sum(minimum(x, y)), y)", [0.0, 0.5, 0.5]),
        ("grad(sum(abs(x)), x)", [-1.0, 1.0, 1.0]),
        ("grad(sum(where(x > 0, x * y, y)), x)", [0.0, 0.0, 2.0]),
        ("grad(sum(where(x > 0, x * y, y)), y)", [1.0, 1.0, 2.0]),
        ("grad(sum(relu(x)), x)", [0.0, 0.0, 1.0]),
        ("grad(sum(clip(x, 0, 1)), x)", [0.0, 0.5, 0.0]),
        ("grad(sum(clip(x, y, y)), y)", [1.0, 0.75, 0.75]),
        ("grad(sum(clip(x, y, y)), x)", [0.0, 0.25, 0.25]),
        ("grad(sum(clip(x, 1, -1)), x)", [0.0, 0.0, 0.0]),
        ("grad(sum(floor(x) + x), x)", [1.0, 1.0, 1.0]),
        ("grad(sum(sinc(x * 0)), x)", [0.0, 0.0, 0.0]),
        ("grad(sum(hypot(x - y, y - x) * (x == y)), x)", [0.0, 0.0, 0.0]),
        ("grad(max(concatenate([x, y])), x)", [0.0, 0.0, 0.5]),
        ("grad(sum(x**0 + x**2), x)", [-2.0, 0.0, 4.0]),
        ("grad(sum(stop_gradient(x) * x), x)", [-1.0, 0.0, 2.0]),
    ] {
        let found = values(&graph(text, &inputs), &inputs).remove(0);
        assert_eq!(found.as_slice().unwrap(), expected, "{text}");
    }
}
