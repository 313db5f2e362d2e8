//! The functions that random graphs call: every function of the text form, with all meaningful props.

use precast_graph::{DType, OpLibrary as _, Operand, Prop, Props};
use precast_ops::{Ops, Row};
use precast_testkit::graphs::{Config, Function};

/// Functions that random graphs do not call. The text form of the first two differs, and `einsum` starts with a text
/// (`boundaries` calls it). Random matrices are hardly ever square, so `boundaries` calls decompositions and systems. The
/// rest have equivalent functions, or need C from the user.
const LEFT_OUT: [&str; 19] = [
    "pow",
    "where",
    "advanced_inc_subtensor1",
    "advanced_subtensor1",
    "einsum",
    "cholesky",
    "lu_factor",
    "solve",
    "solve_triangular",
    "solve_banded",
    "external",
    // The sign of a computed NaN depends on the CPU.
    "copysign",
    "signbit",
    // Graphs with random numbers contain them.
    "threefry",
    "gamma_draw",
    "loggamma_draw",
    "poisson_draw",
    "binomial_draw",
    "von_mises_draw",
];

/// Returns the configuration of graphs with at most `applies` applies over all functions and dtypes.
pub(super) fn config(applies: usize) -> Config {
    let known = Ops::standard().names();
    let functions = known.iter().flat_map(|name| function(name)).collect();
    let dtypes = DType::ALL.to_vec();
    Config { applies: 1..=applies, dtypes, scalars: true, positions: true, ..Config::new(functions) }
}

fn list(items: &[i64]) -> Prop {
    Prop::List(items.iter().map(|n| Prop::Int(*n)).collect())
}

fn props<const N: usize>(given: [(&str, Prop); N]) -> Props {
    given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn ints(items: &[i64]) -> Vec<Operand> {
    items.iter().map(|n| Operand::from(*n)).collect()
}

fn int(n: i64) -> Prop {
    Prop::Int(n)
}

fn dtype(dtype: DType) -> Prop {
    Prop::Str(dtype.name().to_owned())
}

/// Returns a function as often as its weight says; empty for functions that are left out.
fn function(name: &str) -> Vec<Function> {
    if LEFT_OUT.contains(&name) || name.parse::<DType>().is_ok() {
        return Vec::new();
    }
    match name {
        "dimshuffle" => {
            let orders: [&[i64]; 8] =
                [&[-1, 0], &[0, -1], &[1, 0], &[1, -1, 0], &[2, 0, 1], &[0], &[], &[-1]];
            let function = |f: Function, order: &&[i64]| f.with(props([("order", list(order))]));
            vec![orders.iter().fold(Function::new(name, 1), function); 2]
        }
        "cast" => {
            let to = |f: Function, d| f.with(props([("dtype", dtype(d))]));
            vec![DType::ALL.into_iter().fold(Function::new(name, 1), to); 3]
        }
        "subtensor" => vec![subtensor(); 3],
        "set_subtensor" | "inc_subtensor" => vec![Function::new(name, 2); 4],
        "take" => vec![structural(name); 3],
        _ if row(name).arguments == ["x"] && row(name).keyword("axis").is_some() => vec![reduction(name)],
        _ => vec![structural(name)],
    }
}

/// Returns the library's row of a function.
fn row(name: &str) -> &'static Row {
    let called = |row: &&Row| row.name == name || row.aliases.contains(&name);
    Ops::rows().find(called).unwrap_or_else(|| panic!("`{name}` has no row"))
}

fn reduction(name: &str) -> Function {
    let axis = |n| ("axis", int(n));
    let keep = || ("keepdims", Prop::Bool(true));
    let mut function = Function::new(name, 1).with(Props::new());
    for axis in [axis(0), axis(-1), axis(1), ("axis", list(&[0, 2])), ("axis", list(&[0, 1]))] {
        function = function.with(props([axis]));
    }
    // Props that a function does not support are rejected, and the next draw replaces the call.
    function
        .with(props([axis(-1), keep()]))
        .with(props([axis(0), keep()]))
        .with(props([axis(0), ("dtype", dtype(DType::F32))]))
        .with(props([("dtype", dtype(DType::I16))]))
        .with(props([axis(-1), ("acc_dtype", dtype(DType::F64))]))
        .with(props([axis(-1), ("ddof", int(1))]))
}

fn structural(name: &str) -> Function {
    let call = Function::new;
    let axes = |f: Function| [0, -1, 1].into_iter().fold(f, |f, n| f.with(props([("axis", int(n))])));
    match name {
        "alloc" => call(name, 1).called(Props::new(), ints(&[2, 3])).called(Props::new(), ints(&[0])),
        "arange" => {
            let of = |d| props([("dtype", dtype(d))]);
            let ends: [&[i64]; 5] = [&[3], &[2], &[1, 4], &[5, 0, -2], &[0]];
            let vectors = ends.iter().fold(call(name, 0), |f, ends| f.called(Props::new(), ints(ends)));
            vectors.called(of(DType::F32), ints(&[4])).called(of(DType::U8), ints(&[5]))
        }
        "assert" => call(name, 2).called(props([("message", Prop::Str("no".to_owned()))]), Vec::new()),
        "eye" => call(name, 0)
            .called(Props::new(), ints(&[3]))
            .called(props([("k", int(-1)), ("dtype", dtype(DType::I32))]), ints(&[2, 5])),
        "ones" | "zeros" => call(name, 0)
            .called(props([("shape", list(&[3]))]), Vec::new())
            .called(props([("shape", list(&[2, 0])), ("dtype", dtype(DType::F16))]), Vec::new())
            .called(props([("shape", list(&[2, 3])), ("dtype", dtype(DType::C64))]), Vec::new()),
        "reshape" => {
            let shapes: [&[i64]; 6] = [&[-1], &[-1, 1], &[1, -1], &[2, -1], &[-1, 3], &[3, 5, -1]];
            shapes.iter().fold(call(name, 1), |f, shape| f.with(props([("shape", list(shape))])))
        }
        "shape_i" => call(name, 1).with(props([("i", int(0))])).with(props([("i", int(-1))])),
        "split" => {
            let sizes: [&[i64]; 5] = [&[1, 1], &[1, 2], &[2, 3], &[0, 5], &[1, 2, 1]];
            let of = |sizes: &[i64], piece, axis| {
                props([("sizes", list(sizes)), ("piece", int(piece)), ("axis", int(axis))])
            };
            sizes.iter().fold(call(name, 1), |f, sizes| f.with(of(sizes, 1, 0)).with(of(sizes, 0, -1)))
        }
        "join" | "concatenate" | "stack" => axes(call(name, 2)),
        "fft" | "ifft" | "rfft" | "irfft" | "hfft" | "ihfft" => axes(call(name, 1))
            .called(props([("norm", Prop::Str("ortho".to_owned()))]), ints(&[4]))
            .called(Props::new(), ints(&[5])),
        "make_vector" => call(name, 3),
        "topk" | "argtopk" => call(name, 1)
            .called(Props::new(), ints(&[1]))
            .called(props([("axis", int(0)), ("largest", Prop::Bool(false))]), ints(&[2])),
        "quantile" | "percentile" => call(name, 1).called(props([("axis", int(-1))]), vec![0.25.into()]),
        "searchsorted" => call(name, 2).with(props([("side", Prop::Str("right".to_owned()))])),
        "tensordot" => [0, 1, 2].into_iter().fold(call(name, 2), |f, n| f.with(props([("axes", int(n))]))),
        "repeat" | "roll" => {
            let along = |axis| props([("axis", int(axis))]);
            call(name, 1)
                .called(Props::new(), ints(&[2]))
                .called(along(0), ints(&[1]))
                .called(along(-1), ints(&[3]))
        }
        "tile" => call(name, 1).called(Props::new(), ints(&[2])).called(Props::new(), ints(&[2, 1])),
        "broadcast_to" => call(name, 1).called(Props::new(), ints(&[3])).called(Props::new(), ints(&[2, 3])),
        "tril" | "triu" | "diag" => call(name, 1).with(Props::new()).called(Props::new(), ints(&[-1])),
        "swapaxes" => call(name, 1).with(props([("axis1", int(0)), ("axis2", int(-1))])),
        "moveaxis" => call(name, 1).with(props([("source", int(0)), ("destination", int(-1))])),
        "full" => {
            let shape = |f: Function, n: i64| {
                f.called(Props::new(), vec![Operand::List(ints(&[n, 2])), 3_i64.into()])
            };
            [0, 3].into_iter().fold(call(name, 0), shape)
        }
        "linspace" => call(name, 0).called(Props::new(), ints(&[0, 1, 5])),
        "tri" => call(name, 0).called(Props::new(), ints(&[3])).called(Props::new(), ints(&[2, 3, -1])),
        "append" => axes(call(name, 2)),
        "vstack" | "hstack" => call(name, 2),
        "take" => axes(call(name, 2)),
        _ => call(name, row(name).arguments.len()),
    }
}

/// Returns `x[1]`, `x[-1:]`, `x[::-1]`, `x[:, 1:]` and similar expressions.
fn subtensor() -> Function {
    let index = |words: &[&str]| {
        props([("index", Prop::List(words.iter().map(|word| Prop::Str((*word).to_owned())).collect()))])
    };
    let calls: [(&[&str], &[i64]); 10] = [
        (&["i"], &[0]),
        (&["i"], &[-1]),
        (&["b"], &[1]),
        (&["e"], &[-1]),
        (&["s"], &[-1]),
        (&["bes"], &[1, 7, 2]),
        (&["", "s"], &[-2]),
        (&["...", "b"], &[-2]),
        (&["...", "i"], &[0]),
        (&["n", "bs"], &[-1, -1]),
    ];
    calls
        .iter()
        .fold(Function::new("subtensor", 1), |f, (words, numbers)| f.called(index(words), ints(numbers)))
}

#[test]
fn every_function_is_called_or_excluded() {
    let called: Vec<String> = config(1).functions.into_iter().map(|function| function.name).collect();
    let names = Ops::standard().names();
    let missing: Vec<&String> = names
        .iter()
        .filter(|name| {
            !called.contains(name) && !LEFT_OUT.contains(&name.as_str()) && name.parse::<DType>().is_err()
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?} are never called");
    assert!(LEFT_OUT.iter().all(|name| names.iter().any(|known| known == name)), "stale: {LEFT_OUT:?}");
}
