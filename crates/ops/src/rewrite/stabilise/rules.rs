//! Rules for functions of one element.

use super::pattern::{apply, argument, arguments, beside, is_number};
use precast_graph::{BuildError, FunctionGraph, VarId};

/// A function of functions: `["neg", "softplus", "neg"]` of x is `-softplus(-x)`.
type Stable = (&'static [&'static str], VarId);

/// Returns the stable replacement of a function of these variables, if a rule matches.
pub(super) fn stable(
    graph: &mut FunctionGraph,
    name: &str,
    inputs: &[VarId],
) -> Result<Option<VarId>, BuildError> {
    let found = match (name, inputs) {
        ("log", [x]) => log(graph, *x),
        ("log1p", [x]) => log1p(graph, *x),
        ("sub", [x, y]) => sub(graph, *x, *y),
        ("add", _) => beside(graph, inputs, -1.0).and_then(|x| Some((EXPM1, argument(graph, x, "exp")?))),
        ("div", [x, y]) => div(graph, *x, *y),
        ("reciprocal", [x]) => one_over(graph, *x),
        _ => None,
    };
    let Some((functions, x)) = found else { return Ok(None) };
    functions.iter().rev().try_fold(x, |x, function| apply(graph, function, &[x])).map(Some)
}

const EXPM1: &[&str] = &["expm1"];

/// Matches `log(x)`, where x is a sum with 1, a difference from 1, or a sigmoid.
fn log(graph: &FunctionGraph, x: VarId) -> Option<Stable> {
    if let Some(sum) = arguments(graph, x, "add") {
        let other = beside(graph, sum, 1.0)?;
        return Some(log1p(graph, other).unwrap_or((&["log1p"], other)));
    }
    if let Some([one, other]) = arguments(graph, x, "sub") {
        if is_number(graph, *one, 1.0) {
            let log1mexp = argument(graph, *other, "exp").map(|x| (&["log1mexp"][..], x));
            return Some(log1mexp.unwrap_or((&["log1p", "neg"], *other)));
        }
        return None;
    }
    // An earlier rule has replaced `1 - exp(x)`.
    if let Some(x) = argument(graph, x, "neg").and_then(|x| argument(graph, x, "expm1")) {
        return Some((&["log1mexp"], x));
    }
    Some((&["neg", "softplus", "neg"], argument(graph, x, "sigmoid")?))
}

/// Matches `log1p(x)`, where x is an exponential or a negated exponential.
fn log1p(graph: &FunctionGraph, x: VarId) -> Option<Stable> {
    if let Some(x) = argument(graph, x, "exp") {
        return Some((&["softplus"], x));
    }
    Some((&["log1mexp"], argument(graph, argument(graph, x, "neg")?, "exp")?))
}

/// Matches `exp(x) - 1`, `1 - exp(x)` and `1 - sigmoid(x)`.
fn sub(graph: &FunctionGraph, x: VarId, y: VarId) -> Option<Stable> {
    if is_number(graph, y, 1.0) {
        return Some((EXPM1, argument(graph, x, "exp")?));
    }
    if !is_number(graph, x, 1.0) {
        return None;
    }
    if let Some(y) = argument(graph, y, "exp") {
        return Some((&["neg", "expm1"], y));
    }
    Some((&["sigmoid", "neg"], argument(graph, y, "sigmoid")?))
}

/// Matches `1/(1 + exp(-x))` and `exp(x)/(1 + exp(x))`.
fn div(graph: &FunctionGraph, x: VarId, y: VarId) -> Option<Stable> {
    if is_number(graph, x, 1.0) {
        return one_over(graph, y);
    }
    let power = beside(graph, arguments(graph, y, "add")?, 1.0)?;
    let of = argument(graph, power, "exp")?;
    (power == x).then_some((&["sigmoid"], of))
}

/// Matches the reciprocal of `1 + exp(x)`.
fn one_over(graph: &FunctionGraph, x: VarId) -> Option<Stable> {
    let power = beside(graph, arguments(graph, x, "add")?, 1.0)?;
    let of = argument(graph, power, "exp")?;
    Some(match argument(graph, of, "neg") {
        Some(x) => (&["sigmoid"], x),
        None => (&["sigmoid", "neg"], of),
    })
}
