//! The elementwise functions of the text form: name, scalar op, number of arguments, and what becomes of their dtypes.

/// What a function does to the dtypes of its arguments before its scalar op is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promotion {
    /// All to their common dtype.
    Common,
    /// As [`super::compare`] says: integers exactly.
    Order,
    /// As [`Promotion::Common`]; literal bounds may lie beyond the dtype.
    Bounds,
    /// All to their common dtype, or i8 if that is bool.
    Number,
    /// All to their common dtype, or f64 if that is bool or an integer.
    Quotient,
    /// Each to the float that holds it, then all to their common dtype.
    Inexact,
    /// As [`Promotion::Common`]; bool and integers are given back as they are.
    Rounding,
    /// As [`Promotion::Rounding`], but bool becomes f16.
    Nearest,
    /// As [`Promotion::Common`]; what is real is given back as it is.
    Complex,
    /// As [`Promotion::Complex`], but bool becomes i8.
    Conjugate,
    /// All to bool.
    Bool,
    /// The first to bool, the others to their common dtype.
    Condition,
    /// As NumPy's operator `**`, which knows literal exponents.
    Power,
    /// As [`Promotion::Inexact`], but bool becomes f64.
    Angle,
}

/// A function of the text form.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) scalar: &'static str,
    pub(super) arity: usize,
    pub(super) promotion: Promotion,
}

const fn function(name: &'static str, arity: usize, promotion: Promotion) -> Function {
    Function { name, scalar: name, arity, promotion }
}

/// Every elementwise function, by its name in text; operators have the names of the right column of the grammar.
pub(super) const FUNCTIONS: &[Function] = &[
    function("add", 2, Promotion::Common),
    function("sub", 2, Promotion::Common),
    function("mul", 2, Promotion::Common),
    function("div", 2, Promotion::Quotient),
    function("floor_div", 2, Promotion::Number),
    function("mod", 2, Promotion::Number),
    function("pow", 2, Promotion::Power),
    function("neg", 1, Promotion::Common),
    function("abs", 1, Promotion::Common),
    function("sign", 1, Promotion::Common),
    function("square", 1, Promotion::Number),
    function("reciprocal", 1, Promotion::Number),
    function("eq", 2, Promotion::Order),
    function("ne", 2, Promotion::Order),
    function("lt", 2, Promotion::Order),
    function("le", 2, Promotion::Order),
    function("gt", 2, Promotion::Order),
    function("ge", 2, Promotion::Order),
    function("maximum", 2, Promotion::Common),
    function("minimum", 2, Promotion::Common),
    function("clip", 3, Promotion::Bounds),
    function("switch", 3, Promotion::Condition),
    function("isnan", 1, Promotion::Common),
    function("isinf", 1, Promotion::Common),
    function("isfinite", 1, Promotion::Common),
    function("logical_and", 2, Promotion::Bool),
    function("logical_or", 2, Promotion::Bool),
    function("logical_xor", 2, Promotion::Bool),
    function("logical_not", 1, Promotion::Bool),
    function("bitwise_and", 2, Promotion::Common),
    function("bitwise_or", 2, Promotion::Common),
    function("bitwise_xor", 2, Promotion::Common),
    function("invert", 1, Promotion::Common),
    function("left_shift", 2, Promotion::Number),
    function("right_shift", 2, Promotion::Number),
    function("floor", 1, Promotion::Rounding),
    function("ceil", 1, Promotion::Rounding),
    function("trunc", 1, Promotion::Rounding),
    function("round", 1, Promotion::Nearest),
    function("round_half_away", 1, Promotion::Rounding),
    function("sqrt", 1, Promotion::Inexact),
    function("cbrt", 1, Promotion::Inexact),
    function("hypot", 2, Promotion::Inexact),
    function("exp", 1, Promotion::Inexact),
    function("exp2", 1, Promotion::Inexact),
    function("expm1", 1, Promotion::Inexact),
    function("log", 1, Promotion::Inexact),
    function("log2", 1, Promotion::Inexact),
    function("log10", 1, Promotion::Inexact),
    function("log1p", 1, Promotion::Inexact),
    function("log1mexp", 1, Promotion::Inexact),
    function("sigmoid", 1, Promotion::Inexact),
    function("softplus", 1, Promotion::Inexact),
    function("erf", 1, Promotion::Inexact),
    function("erfc", 1, Promotion::Inexact),
    function("gammaln", 1, Promotion::Inexact),
    function("digamma", 1, Promotion::Inexact),
    function("sin", 1, Promotion::Inexact),
    function("cos", 1, Promotion::Inexact),
    function("tan", 1, Promotion::Inexact),
    function("asin", 1, Promotion::Inexact),
    function("acos", 1, Promotion::Inexact),
    function("atan", 1, Promotion::Inexact),
    function("atan2", 2, Promotion::Inexact),
    function("sinh", 1, Promotion::Inexact),
    function("cosh", 1, Promotion::Inexact),
    function("tanh", 1, Promotion::Inexact),
    function("asinh", 1, Promotion::Inexact),
    function("acosh", 1, Promotion::Inexact),
    function("atanh", 1, Promotion::Inexact),
    function("deg2rad", 1, Promotion::Inexact),
    function("rad2deg", 1, Promotion::Inexact),
    function("complex", 2, Promotion::Inexact),
    function("real", 1, Promotion::Complex),
    function("conj", 1, Promotion::Conjugate),
    function("imag", 1, Promotion::Common),
    function("angle", 1, Promotion::Angle),
    function("identity", 1, Promotion::Common),
];

/// Other names, most of them NumPy's, sorted.
const ALIASES: &[(&str, &str)] = &[
    ("absolute", "abs"),
    ("arccos", "acos"),
    ("arccosh", "acosh"),
    ("arcsin", "asin"),
    ("arcsinh", "asinh"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("arctanh", "atanh"),
    ("bitwise_invert", "invert"),
    ("bitwise_left_shift", "left_shift"),
    ("bitwise_not", "invert"),
    ("bitwise_right_shift", "right_shift"),
    ("conjugate", "conj"),
    ("degrees", "rad2deg"),
    ("divide", "div"),
    ("equal", "eq"),
    ("expit", "sigmoid"),
    ("floor_divide", "floor_div"),
    ("greater", "gt"),
    ("greater_equal", "ge"),
    ("less", "lt"),
    ("less_equal", "le"),
    ("lgamma", "gammaln"),
    ("multiply", "mul"),
    ("negative", "neg"),
    ("not_equal", "ne"),
    ("power", "pow"),
    ("psi", "digamma"),
    ("radians", "deg2rad"),
    ("remainder", "mod"),
    ("subtract", "sub"),
    ("true_divide", "div"),
    ("where", "switch"),
];

/// The function of a name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, function)| function);
    FUNCTIONS.iter().find(|f| f.name == name)
}

/// The names of all functions, other names among them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|f| f.name).chain(ALIASES.iter().map(|(alias, _)| *alias))
}
