//! What the expressions call, and what NumPy has no equal of.

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
    let compared =
        Ops::rows().filter(|row| !is_elsewhere(row) && (is_scalar(row) || AT_RANDOM.contains(&row.name)));
    compared.flat_map(|row| names(row).map(|name| (name, form(row)))).collect()
});

/// Functions that are not elementwise and stand in random expressions, as any value will do for their arguments; the others have
/// calls of their own in `library`.
const AT_RANDOM: &[&str] = &[
    "all",
    "angle",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "cast",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "dot",
    "flatten",
    "flip",
    "inner",
    "join",
    "matmul",
    "max",
    "mean",
    "min",
    "nonzero",
    "outer",
    "prod",
    "shape",
    "sort",
    "stack",
    "std",
    "sum",
    "take",
    "transpose",
    "unique",
    "var",
];

/// All names of a function.
pub(super) fn names(row: &Row) -> impl Iterator<Item = &'static str> + use<> {
    std::iter::once(row.name).chain(row.aliases.iter().copied())
}

/// Whether a function is compared neither at random nor in `library`.
pub(super) fn is_elsewhere(row: &Row) -> bool {
    ELSEWHERE.contains(&row.name)
}

/// Whether a function is of single elements.
pub(super) fn is_scalar(row: &Row) -> bool {
    precast_ops::scalar::find(row.name).is_some()
}

fn form(row: &Row) -> Form {
    match (row.name, row.keywords) {
        ("cast", _) => Cast,
        ("take", _) => Take,
        ("stack" | "join", _) => Plain(2),
        _ if row.keyword("keepdims").is_some() => Reduction,
        _ if row.keyword("axis").is_some() => Running,
        (_, []) if is_scalar(row) || row.name == "angle" => Elementwise(row.arguments.len()),
        _ => Plain(row.fixed().len()),
    }
}

/// Functions that are compared elsewhere: NumPy writes them in another way, or has something else of that name.
const ELSEWHERE: &[&str] = &[
    "advanced_inc_subtensor1",
    "advanced_subtensor1",
    "alloc",
    "arange",
    "assert",
    "batched_dot",
    "deep_copy",
    "dimshuffle",
    "eye",
    "identity",
    "inc_subtensor",
    "make_vector",
    "ones",
    "reshape",
    "set_subtensor",
    "shape_i",
    "split",
    "subtensor",
    "view",
    "zeros",
    // The sign of a NaN that was computed is the CPU's; `scalar_golden` has those that were given.
    "copysign",
    "signbit",
    // NumPy has none of these, and expressions are better used for others.
    "betainc",
    "scalb",
    "complex",
    "digamma",
    "erf",
    "erfc",
    "gammainc",
    "gammaincc",
    "gammaln",
    "log1mexp",
    "round_decimals",
    "round_half_away",
    "round_multiples",
    "sigmoid",
    "softplus",
    "trigamma",
];

#[test]
fn what_is_left_out_exists() {
    let stale = ELSEWHERE.iter().filter(|name| Ops::rows().all(|row| row.name != **name));
    assert_eq!(stale.collect::<Vec<_>>(), Vec::<&&str>::new());
}
