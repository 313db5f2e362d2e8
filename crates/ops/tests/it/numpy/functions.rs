//! What the expressions call, and what NumPy has no equal of.

use precast_graph::{DType, OpLibrary as _};
use precast_ops::{Ops, Row};
use std::sync::LazyLock;

/// How a function is called.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// With so many arguments that are broadcast.
    Elementwise(usize),
    /// With `axis` and `keepdims`.
    Reduction,
    /// With `axis`.
    Running,
    /// By the name of a dtype.
    Cast,
    /// With indices and perhaps `axis`.
    Take,
    /// With so many arguments and nothing else.
    Plain(usize),
}

use Form::{Cast, Elementwise, Plain, Reduction, Running, Take};

/// The functions by every name, and how expressions call them: all rows of the library but those that are compared elsewhere.
pub(super) static FUNCTIONS: LazyLock<Vec<(&str, Form)>> = LazyLock::new(|| {
    let compared = Ops::rows().filter(|row| !ELSEWHERE.contains(&row.name));
    compared.flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()).map(|name| (name, form(row)))).collect()
});

fn form(row: &Row) -> Form {
    match (row.name, row.keywords) {
        ("cast", _) => Cast,
        ("take", _) => Take,
        ("stack" | "join", _) => Plain(2),
        (_, keywords) if keywords.contains(&"keepdims") => Reduction,
        (_, keywords) if keywords.contains(&"axis") => Running,
        (_, []) if precast_ops::scalar::find(row.name).is_some() || row.name == "angle" => Elementwise(row.arguments.len()),
        _ => Plain(row.arguments.len()),
    }
}

/// Functions that are compared elsewhere: NumPy lacks them, or writes them in another way.
const ELSEWHERE: &[&str] = &[
    "advanced_inc_subtensor1",
    "advanced_subtensor1",
    "alloc",
    "arange",
    "assert",
    "batched_dot",
    "complex",
    "deep_copy",
    "digamma",
    "dimshuffle",
    "erf",
    "erfc",
    "external",
    "eye",
    "gammaln",
    "identity",
    "inc_subtensor",
    "join",
    "log1mexp",
    "make_vector",
    "ones",
    "reshape",
    "round_half_away",
    "set_subtensor",
    "shape_i",
    "sigmoid",
    "softplus",
    "split",
    "subtensor",
    "view",
    "zeros",
];

#[test]
fn every_function_is_compared_or_left_out_on_purpose() {
    let known = |name: &str| FUNCTIONS.iter().any(|(known, _)| *known == name) || ELSEWHERE.contains(&name);
    let names = Ops::standard().names();
    let missing = names.iter().filter(|name| !known(name) && name.parse::<DType>().is_err());
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new(), "never compared with NumPy");
}
