//! Random expressions in the text form, which are also valid Python, and their inputs.

use super::functions::{FUNCTIONS, Form};
use precast_graph::{Array, DType, Number};
use precast_testkit::Choices;

/// An expression and its inputs.
pub(super) struct Case {
    pub(super) text: String,
    pub(super) inputs: Vec<(String, Array)>,
    /// Whether the expression is a single operation, so that its accuracy is known.
    pub(super) single: bool,
}

/// Returns the dtypes that NumPy supports.
pub(super) fn dtypes() -> Vec<DType> {
    DType::ALL.into_iter().filter(|dtype| *dtype != DType::Bf16).collect()
}

const LITERALS: [&str; 34] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "-2",
    "-128",
    "127",
    "128",
    "255",
    "300",
    "-300",
    "70000",
    "2**31",
    "2**32",
    "2**53 + 1",
    "2**63 - 1",
    "2**63",
    "-2**63",
    "2**64 - 1",
    "2**64",
    "10**20",
    "-10**20",
    "0.0",
    "-0.0",
    "0.5",
    "-1.5",
    "2.5",
    "1e10",
    "1e-20",
    "True",
    "False",
    "2j",
];
const OPERATORS: [&str; 18] =
    ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "<<", ">>"];
const EXPONENTS: [&str; 12] = ["0", "1", "2", "3", "4", "5", "-1", "-2", "0.5", "2.0", "-0.5", "True"];

pub(super) fn draw(choices: &mut Choices) -> Case {
    let mut inputs = Vec::new();
    let shape = shape(choices);
    let all = dtypes();
    for name in ["x", "y", "z"] {
        let dtype = *choices.pick(&all).unwrap();
        let own = part(choices, &shape);
        inputs.push((name.to_owned(), array(choices, dtype, &own)));
    }
    let single = choices.one_in(2);
    let depth = if single { 1 } else { 2 + choices.below(2) };
    let mut text = expression(choices, depth);
    let uses =
        |text: &str, name: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name);
    if !["x", "y", "z"].iter().any(|name| uses(&text, name)) && !choices.one_in(8) {
        text = format!("x + ({text})");
    }
    inputs.retain(|(name, _)| uses(&text, name));
    let single = single && !text.contains("x + (");
    Case { text, inputs, single }
}

fn shape(choices: &mut Choices) -> Vec<usize> {
    let rank = *choices.pick(&[0, 0, 1, 1, 1, 2, 2, 3]).unwrap();
    (0..rank).map(|_| *choices.pick(&[0, 1, 2, 3, 3, 5]).unwrap()).collect()
}

/// Returns a shape that almost always broadcasts to the given shape.
fn part(choices: &mut Choices, shape: &[usize]) -> Vec<usize> {
    if choices.one_in(12) {
        return self::shape(choices);
    }
    let skipped = if choices.one_in(3) { choices.below(shape.len() + 1) } else { 0 };
    shape[skipped..].iter().map(|n| if choices.one_in(5) { 1 } else { *n }).collect()
}

fn array(choices: &mut Choices, dtype: DType, shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    let bits: Vec<u64> = (0..count).flat_map(|_| number(choices, dtype).bits()).collect();
    Array::from_bits(dtype, shape, &bits).unwrap()
}

/// Returns a number, which is special one time in three.
fn number(choices: &mut Choices, dtype: DType) -> Array {
    let special = choices.one_in(3);
    let small = choices.below(9) as i128 - 4;
    let real = |choices: &mut Choices| match choices.below(3) {
        0 if special => {
            *choices.pick(&[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e30, 6e4, 1e-30]).unwrap()
        }
        0 => small as f64,
        _ => 8.0 * choices.unit() - 4.0,
    };
    if dtype == DType::Bool || dtype.is_integer() {
        let extreme = [i128::from(i64::MIN), i128::from(i64::MAX), i128::from(u64::MAX), 127, -128, 1 << 53];
        let n = if special { *choices.pick(&extreme).unwrap() } else { small };
        return Array::of(Number::Int(n), dtype);
    }
    if dtype.is_complex() {
        let (re, im) = (real(choices), real(choices));
        return Array::of(Number::Complex(re, im), dtype);
    }
    Array::of(Number::Float(real(choices)), dtype)
}

fn leaf(choices: &mut Choices) -> String {
    match choices.below(5) {
        0 | 1 => "x".to_owned(),
        2 => (*choices.pick(&["y", "z"]).unwrap()).to_owned(),
        3 => format!("({})", choices.pick(&LITERALS).unwrap()),
        _ => match choices.below(8) {
            0 => "shape(x)[0]".to_owned(),
            1 | 2 => format!("({})", constant(choices, 2)),
            _ => format!("({})", choices.pick(&LITERALS).unwrap()),
        },
    }
}

/// Returns an expression of literals alone.
fn constant(choices: &mut Choices, depth: usize) -> String {
    if depth == 0 {
        return format!("({})", choices.pick(&LITERALS).unwrap());
    }
    let a = constant(choices, depth - 1);
    match choices.below(6) {
        0 => format!("-{a}"),
        1 => {
            let unary = ["sqrt", "abs", "exp", "floor", "sign", "sin", "square", "isnan", "round"];
            format!("{}({a})", choices.pick(&unary).unwrap())
        }
        2 => format!(
            "{}({a}, {})",
            choices.pick(&["maximum", "minimum", "hypot"]).unwrap(),
            constant(choices, 0)
        ),
        _ => {
            let operator = *choices.pick(&OPERATORS).unwrap();
            let b = match operator {
                "**" => format!("({})", choices.pick(&EXPONENTS).unwrap()),
                "<<" | ">>" => format!("{}", choices.below(70)),
                _ => constant(choices, depth - 1),
            };
            format!("({a} {operator} {b})")
        }
    }
}

fn expression(choices: &mut Choices, depth: usize) -> String {
    if depth == 0 {
        return leaf(choices);
    }
    let below = |choices: &mut Choices| {
        let depth = if choices.one_in(2) { depth - 1 } else { 0 };
        expression(choices, depth)
    };
    match choices.below(8) {
        0 => format!("{}{}", choices.pick(&["-", "~"]).unwrap(), grouped(&below(choices))),
        1..=3 => {
            let operator = *choices.pick(&OPERATORS).unwrap();
            let a = below(choices);
            let b = match operator {
                "**" if choices.one_in(2) => format!("({})", choices.pick(&EXPONENTS).unwrap()),
                // Python would not terminate.
                "**" => "y".to_owned(),
                "<<" | ">>" if !a.contains(['x', 'y', 'z']) => "3".to_owned(),
                _ => below(choices),
            };
            format!("({} {operator} {})", grouped(&a), grouped(&b))
        }
        _ => {
            let (name, form) = choices.pick(&FUNCTIONS).copied().unwrap();
            call(choices, name, form, &below)
        }
    }
}

fn grouped(text: &str) -> String {
    format!("({text})")
}

fn call(choices: &mut Choices, name: &str, form: Form, below: &dyn Fn(&mut Choices) -> String) -> String {
    match form {
        Form::Elementwise(arity) => {
            let mut arguments: Vec<String> = (0..arity).map(|_| below(choices)).collect();
            if name == "pow" || name == "power" {
                // Python would not terminate.
                arguments[1] =
                    if choices.one_in(2) { "y" } else { choices.pick(&EXPONENTS).unwrap() }.to_owned();
            } else if name == "clip" {
                // NumPy converts a number in this position to an array of its own dtype.
                arguments[0] = "x".to_owned();
            } else if name.ends_with("_shift") && !arguments[0].contains(['x', 'y', 'z']) {
                arguments[1] = "y".to_owned();
            }
            format!("{name}({})", arguments.join(", "))
        }
        Form::Reduction => {
            let axis = *choices
                .pick(&["", "", ", axis=0", ", axis=-1", ", axis=1", ", axis=0, keepdims=True"])
                .unwrap();
            format!("{name}({}{axis})", below(choices))
        }
        Form::Running => {
            let axis = *choices.pick(&["", ", axis=0", ", axis=-1"]).unwrap();
            format!("{name}({}{axis})", below(choices))
        }
        Form::Cast => {
            let to = *choices.pick(&["f16", "f32", "f64", "c64", "c128"]).unwrap();
            format!("{to}({})", below(choices))
        }
        Form::Take => {
            let indices = *choices.pick(&["0", "shape(x)", "i64([])", "y"]).unwrap();
            let indices = if indices == "i64([])" { "argmax(y, axis=0)" } else { indices };
            let axis = *choices.pick(&["", ", axis=0", ", axis=-1"]).unwrap();
            format!("take({}, {indices}{axis})", below(choices))
        }
        Form::Plain(arity) => {
            let arguments: Vec<String> = (0..arity).map(|_| below(choices)).collect();
            format!("{name}({})", arguments.join(", "))
        }
    }
}
