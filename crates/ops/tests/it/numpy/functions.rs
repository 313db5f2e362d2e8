//! What the expressions call, and what NumPy has no equal of.

use precast_graph::{DType, OpLibrary as _};
use precast_ops::Ops;

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

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[(&str, Form)] = &[
    ("add", Elementwise(2)), ("sub", Elementwise(2)), ("mul", Elementwise(2)), ("div", Elementwise(2)),
    ("floor_div", Elementwise(2)), ("mod", Elementwise(2)), ("pow", Elementwise(2)), ("neg", Elementwise(1)),
    ("abs", Elementwise(1)), ("sign", Elementwise(1)), ("square", Elementwise(1)), ("reciprocal", Elementwise(1)),
    ("eq", Elementwise(2)), ("ne", Elementwise(2)), ("lt", Elementwise(2)), ("le", Elementwise(2)), ("gt", Elementwise(2)),
    ("ge", Elementwise(2)), ("maximum", Elementwise(2)), ("minimum", Elementwise(2)), ("clip", Elementwise(3)),
    ("switch", Elementwise(3)), ("where", Elementwise(3)), ("isnan", Elementwise(1)), ("isinf", Elementwise(1)),
    ("isfinite", Elementwise(1)), ("logical_and", Elementwise(2)), ("logical_or", Elementwise(2)),
    ("logical_xor", Elementwise(2)), ("logical_not", Elementwise(1)), ("bitwise_and", Elementwise(2)),
    ("bitwise_or", Elementwise(2)), ("bitwise_xor", Elementwise(2)), ("invert", Elementwise(1)),
    ("left_shift", Elementwise(2)), ("right_shift", Elementwise(2)), ("floor", Elementwise(1)), ("ceil", Elementwise(1)),
    ("trunc", Elementwise(1)), ("round", Elementwise(1)), ("sqrt", Elementwise(1)), ("cbrt", Elementwise(1)),
    ("hypot", Elementwise(2)), ("exp", Elementwise(1)), ("exp2", Elementwise(1)), ("expm1", Elementwise(1)),
    ("log", Elementwise(1)), ("log2", Elementwise(1)), ("log10", Elementwise(1)), ("log1p", Elementwise(1)),
    ("sin", Elementwise(1)), ("cos", Elementwise(1)), ("tan", Elementwise(1)), ("asin", Elementwise(1)),
    ("acos", Elementwise(1)), ("atan", Elementwise(1)), ("atan2", Elementwise(2)), ("sinh", Elementwise(1)),
    ("cosh", Elementwise(1)), ("tanh", Elementwise(1)), ("asinh", Elementwise(1)), ("acosh", Elementwise(1)),
    ("atanh", Elementwise(1)), ("deg2rad", Elementwise(1)), ("rad2deg", Elementwise(1)),
    ("real", Elementwise(1)), ("conj", Elementwise(1)), ("imag", Elementwise(1)), ("angle", Elementwise(1)),
    ("absolute", Elementwise(1)), ("arccos", Elementwise(1)), ("arccosh", Elementwise(1)), ("arcsin", Elementwise(1)),
    ("arcsinh", Elementwise(1)), ("arctan", Elementwise(1)), ("arctan2", Elementwise(2)), ("arctanh", Elementwise(1)),
    ("bitwise_invert", Elementwise(1)), ("bitwise_left_shift", Elementwise(2)), ("bitwise_not", Elementwise(1)),
    ("bitwise_right_shift", Elementwise(2)), ("conjugate", Elementwise(1)), ("degrees", Elementwise(1)),
    ("divide", Elementwise(2)), ("equal", Elementwise(2)), ("floor_divide", Elementwise(2)), ("greater", Elementwise(2)),
    ("greater_equal", Elementwise(2)), ("less", Elementwise(2)), ("less_equal", Elementwise(2)),
    ("multiply", Elementwise(2)), ("negative", Elementwise(1)), ("not_equal", Elementwise(2)), ("power", Elementwise(2)),
    ("radians", Elementwise(1)), ("remainder", Elementwise(2)), ("subtract", Elementwise(2)),
    ("true_divide", Elementwise(2)),
    ("sum", Reduction), ("prod", Reduction), ("mean", Reduction), ("var", Reduction), ("std", Reduction), ("max", Reduction),
    ("min", Reduction), ("any", Reduction), ("all", Reduction), ("argmax", Reduction), ("argmin", Reduction),
    ("cumsum", Running), ("cumprod", Running), ("cast", Cast), ("take", Take), ("dot", Plain(2)), ("matmul", Plain(2)),
    ("transpose", Plain(1)), ("flatten", Plain(1)), ("shape", Plain(1)), ("stack", Plain(2)), ("concatenate", Plain(2)),
];

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
    "expit",
    "external",
    "eye",
    "gammaln",
    "identity",
    "inc_subtensor",
    "join",
    "lgamma",
    "log1mexp",
    "make_vector",
    "ones",
    "psi",
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
