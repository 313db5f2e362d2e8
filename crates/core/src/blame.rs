//! Describes a failed step in error messages: a short form of its Applies, and the caller's inputs that reach it.
//!
//! ```text
//! sum{of=composite{v2=neg(v0); v3=mul(v2,v0); …}}(f64[?], f64[?]) -> f64[]      the full signature, for tools
//! sum{of=25 fused steps: neg, mul, exp, …}(f64[?], f64[?]) -> f64[], where `s`: (5), `k`: (3)     for people
//! ```

use crate::native::{ArrayRef, Bound, StepError};
use crate::program::{Port, Register};
use std::collections::BTreeSet;

/// The prefix of a fused op in a signature.
const FUSED: &str = "composite{";

/// The number of steps of a fused op that are named.
const NAMED: usize = 3;

/// Shortens a signature: a fused op becomes the number of its steps and the names of the first ones. The message of an
/// assertion is left out, because the error itself contains it.
#[must_use]
pub fn brief(signature: &str) -> String {
    if let Some((_, types)) = signature.strip_prefix("assert{").and_then(|rest| rest.rsplit_once("}(")) {
        return format!("assert({types}");
    }
    let Some(start) = signature.find(FUSED) else { return signature.to_owned() };
    let body = start + FUSED.len();
    let mut depth = 1;
    let closes = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    };
    let Some(end) = signature[body..].find(closes).map(|end| body + end) else { return signature.to_owned() };
    let steps: Vec<&str> = signature[body..end].split("; ").filter_map(step).collect();
    let more = if steps.len() > NAMED { ", …" } else { "" };
    let named = steps[..steps.len().min(NAMED)].join(", ");
    let (before, after) = (&signature[..start], brief(&signature[end + 1..]));
    format!("{before}{} fused steps: {named}{more}{after}", steps.len())
}

/// Returns the op of `v2=neg(v0)`, or `None` if the text is not a step, such as the names of the results.
fn step(text: &str) -> Option<&str> {
    let call = text.split_once('=')?.1;
    Some(&call[..call.find(['(', '{'])?])
}

/// Returns the short signatures of the Applies of one step: all of them, or the first and the last if there are more than
/// two.
pub(crate) fn all(signatures: &[String]) -> String {
    match signatures {
        [first, _, .., last] => {
            format!("{}; … {} more …; {}", brief(first), signatures.len() - 2, brief(last))
        }
        few => few.iter().map(|signature| brief(signature)).collect::<Vec<_>>().join("; "),
    }
}

/// Returns the inputs that reach a failed step, directly or through other steps, with their shapes: ``, where `s`: (5),
/// `k`: (3)``. Returns an empty string for a step of one unfused op, unless its error names an operand by number.
pub(crate) fn inputs(steps: &[Bound], error: &StepError, ports: &[Port], arrays: &[ArrayRef<'_>]) -> String {
    let failed = error.step;
    let several = match steps[failed].signatures.as_slice() {
        [one] => one.contains(FUSED),
        _ => true,
    };
    // An operand number is meaningless to a caller.
    if !several && !error.error.message.starts_with("operand ") {
        return String::new();
    }
    let mut wanted: BTreeSet<usize> = BTreeSet::new();
    let mut temps: BTreeSet<usize> = BTreeSet::new();
    for (position, step) in steps[..=failed].iter().enumerate().rev() {
        let (read, made) = step.args.split_at(step.n_inputs);
        let feeds = made.iter().any(|made| matches!(made, Register::Temp(temp) if temps.contains(temp)));
        if position != failed && !feeds {
            continue;
        }
        for register in read {
            match register {
                Register::Input(input) => _ = wanted.insert(*input),
                Register::Temp(temp) => _ = temps.insert(*temp),
                Register::Constant(_) | Register::Output(_) => {}
            }
        }
    }
    let named = wanted.into_iter().filter_map(|input| {
        let (port, array) = (ports.get(input)?, arrays.get(input)?);
        Some(format!("`{}`: {}", port.name, shape(array.shape())))
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { String::new() } else { format!(", where {}", named.join(", ")) }
}

/// Renders a shape as Python does, except for the comma after a single extent.
#[must_use]
pub fn shape(extents: &[usize]) -> String {
    let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
    format!("({})", extents.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fused_ops_are_abbreviated() {
        let long = "sum{of=composite{v2=neg(v0); v3=mul(v2,v0); v4=cast{to=f32}(v3); v5=exp(v4); v5}}(f64[?]) -> f64[]";
        assert_eq!(brief(long), "sum{of=4 fused steps: neg, mul, cast, …}(f64[?]) -> f64[]");
        assert_eq!(
            brief("composite{v1=neg(v0); v1}(f64[?]) -> f64[?]"),
            "1 fused steps: neg(f64[?]) -> f64[?]"
        );
        assert_eq!(brief("add(f64[?], f64[?]) -> f64[?]"), "add(f64[?], f64[?]) -> f64[?]");
        assert_eq!(brief("composite{v1=neg("), "composite{v1=neg(");
        let assertion = "assert{message=\"k is 5, found {3}(4)\"}(f64[?], bool[]) -> f64[?]";
        assert_eq!(brief(assertion), "assert(f64[?], bool[]) -> f64[?]");
        let many: Vec<String> = ["a()", "b()", "c()", "d()"].map(str::to_owned).into();
        assert_eq!(all(&many), "a(); … 2 more …; d()");
        assert_eq!(all(&many[..2]), "a(); b()");
    }
}
