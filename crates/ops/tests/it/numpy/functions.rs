//! The functions in the random expressions, and those without an equivalent in NumPy.

use precast_ops::{Ops, Row};
use std::sync::LazyLock;

/// The way a function is called.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// With this number of broadcast arguments.
    Elementwise(usize),
    /// With `axis` and `keepdims`.
    Reduction,
    /// With `axis`.
    Running,
    /// By the name of a dtype.
    Cast,
    /// With indices and an optional `axis`.
    Take,
    /// With this number of arguments and no settings.
    Plain(usize),
}

use Form::{Cast, Elementwise, Plain, Reduction, Running, Take};

/// The functions by every name, with the way expressions call them: all rows of the library except those compared in
/// other tests.
pub(super) static FUNCTIONS: LazyLock<Vec<(&str, Form)>> = LazyLock::new(|| {
    let compared =
        Ops::rows().filter(|row| !is_elsewhere(row) && (is_scalar(row) || AT_RANDOM.contains(&row.name)));
    compared.flat_map(|row| names(row).map(|name| (name, form(row)))).collect()
});

/// Non-elementwise functions in random expressions; they accept any values as arguments. `library` has explicit calls
/// of the remaining ones.
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

/// Returns all names of a function.
pub(super) fn names(row: &Row) -> impl Iterator<Item = &'static str> + use<> {
    std::iter::once(row.name).chain(row.aliases.iter().copied())
}

/// Returns whether a function is compared neither at random nor in `library`.
pub(super) fn is_elsewhere(row: &Row) -> bool {
    ELSEWHERE.contains(&row.name) || is_random(row)
}

/// Returns whether a function draws random numbers or makes keys, which the tests of `random` compare.
fn is_random(row: &Row) -> bool {
    row.name == "threefry" || row.name.starts_with("random_") || row.name.ends_with("_draw")
}

/// Returns whether a function is elementwise.
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

/// Functions compared in other tests: NumPy has another notation, or another function of that name.
const ELSEWHERE: &[&str] = &[
    "advanced_inc_subtensor1",
    "advanced_subtensor1",
    "alloc",
    "arange",
    "assert",
    "avg_pool",
    "batched_dot",
    "beta",
    "betainc",
    "betaincinv",
    "betaln",
    "branch",
    "complex",
    "cond",
    "conv1d",
    "conv2d",
    "copysign",
    "custom_gradient",
    "deep_copy",
    "digamma",
    "dimshuffle",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "eye",
    "fori_loop",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "grad",
    "hessian",
    "hvp",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "identity",
    "inc_subtensor",
    "iv",
    "ive",
    "j0",
    "j1",
    "jacobian",
    "jv",
    "jvp",
    "kl_div",
    "kv",
    "kve",
    "lambertw",
    "lambertw_lower",
    "log1mexp",
    "log_ndtr",
    "logit",
    "make_vector",
    "max_pool",
    "ndtr",
    "ndtri",
    "ndtri_exp",
    "ones",
    "owens_t",
    "pivot_to_permutation",
    "polygamma",
    "rel_entr",
    "reshape",
    "round_decimals",
    "round_half_away",
    "round_multiples",
    "scalb",
    "scan",
    "set_subtensor",
    "shape_i",
    "sigmoid",
    "signbit",
    "softplus",
    "softplus_inverse",
    "split",
    "stop_gradient",
    "subtensor",
    "sum_to",
    "trigamma",
    "view",
    "vjp",
    "while_loop",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "zeros",
    "zeta",
];

#[test]
fn omitted_functions_exist() {
    let stale = ELSEWHERE.iter().filter(|name| Ops::rows().all(|row| row.name != **name));
    assert_eq!(stale.collect::<Vec<_>>(), Vec::<&&str>::new());
}
