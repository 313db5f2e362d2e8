//! Tests of calls with C scalars, `n: i64` and `s: f64`: they are accepted wherever tensors without dimensions are,
//! with the same results.

use precast_graph::text::parse;
use precast_graph::{Array, DType, Type, interpret};
use precast_ops::{Ops, Row};

/// The argument texts. Numbers are `i64[]` and `f64[]` in one variant, `i64` and `f64` in the other.
const ARGUMENTS: [&str; 4] = ["n", "s", "x", "[s, s]"];

fn value(text: &str, scalars: bool) -> Result<Vec<Array>, String> {
    let number = |dtype| if scalars { Type::Scalar(dtype) } else { Type::tensor(dtype, 0) };
    let x = Array::from(ndarray::Array1::from(vec![0.5, 2.0, 1.0]));
    let all = [
        ("n", number(DType::I64), Array::from(2_i64)),
        ("s", number(DType::F64), Array::from(0.75)),
        ("x", Type::tensor(DType::F64, 1), x),
    ];
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let used = all.into_iter().filter(|(name, ..)| words.contains(name));
    let (inputs, values): (Vec<_>, Vec<_>) =
        used.map(|(name, ty, value)| ((name.to_owned(), ty), value)).unzip();
    let graph = parse(&[text], &inputs, &Ops::standard()).map_err(|error| error.to_string())?;
    interpret(&graph, &values).map_err(|error| error.to_string())
}

/// Returns the calls of a function with up to three arguments.
fn calls(row: &Row) -> Vec<String> {
    let (mut lists, mut all) = (vec![Vec::new()], Vec::new());
    for _ in 0..row.arguments.len().clamp(1, 3) {
        let longer =
            |list: &Vec<&'static str>| ARGUMENTS.map(|argument| [list.as_slice(), &[argument]].concat());
        lists = lists.iter().flat_map(longer).collect();
        all.extend(lists.iter().map(|list| format!("{}({})", row.name, list.join(", "))));
    }
    all
}

#[test]
fn c_scalars_work_like_zero_dimensional_tensors() {
    let (mut count, mut wrong) = (0, Vec::new());
    for text in Ops::rows().flat_map(calls) {
        let Ok(expected) = value(&text, false) else { continue };
        count += 1;
        match value(&text, true) {
            Ok(found) if format!("{found:?}") == format!("{expected:?}") => {}
            found => wrong.push(format!("{text}: {found:?}, of tensors {expected:?}")),
        }
    }
    assert!(count > 500, "{count} calls have a value");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn named_arguments_and_slices_accept_c_scalars() {
    for text in [
        "linspace(0, 1, n)",
        "linspace(s, 3, num=n)",
        "repeat(x, n)",
        "quantile(x, s)",
        "stack([s, s])",
        "set_subtensor(x[n], s)",
        "set_subtensor(x[1:n], s)",
        "inc_subtensor(x[[0, 0]], s)",
        "x[:n] * s",
        "sum(s, keepdims=True)",
        "zeros((n, n)) + s",
        "roll(x, n, axis=0)",
        "reshape(s, (1, 1))",
        "s[None]",
        "maximum(x, s).shape[0] * n",
    ] {
        let (found, expected) = (value(text, true), value(text, false));
        assert_eq!(format!("{:?}", found.unwrap()), format!("{:?}", expected.unwrap()), "{text}");
    }
}
