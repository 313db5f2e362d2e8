//! Tests literals in every position: each number and each array of each example is replaced in turn by another
//! literal.
//!
//! Both sides reject most of these calls. It is a difference if only one side rejects a call, or if dtypes, shapes or
//! numbers differ.

use super::draw::{Case, dtypes};
use super::page::distance;
use super::{difference, library, number, ours, python};
use crate::language::PAGE;
use precast_graph::DType;
use precast_testkit::{Choices, page};
use std::collections::BTreeSet;

/// The inserted literals. As an extent each is either small or larger than all memory, so no large array is
/// allocated.
const LITERALS: [&str; 22] = [
    "0", "1", "-1", "2", "-7", "300", "-300", "2**63", "-2**63", "2**64", "-10**20", "0.0", "-0.0", "0.5",
    "-1.5", "1e300", "True", "False", "2j", "nan", "-inf", "0x10",
];

/// Messages for invalid literals. NumPy accepts booleans, and sometimes floats, as integers, and any negative extent
/// as -1.
const REFUSED: [&str; 8] = [
    "expected",
    "does not fit",
    "does not support",
    "negative",
    "set `axis`",
    "constant",
    "unsupported order",
    "out of range",
];

/// The number of literals per position.
const DRAWS: usize = 2;

/// Returns the positions in a text where a literal may stand: its numbers, and the names of arrays without attributes
/// or indices.
fn places(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let is_word = |c: u8| c == b'_' || c.is_ascii_alphanumeric();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            quote @ (b'\'' | b'"') => at += 2 + bytes[at + 1..].iter().position(|c| *c == quote).unwrap_or(0),
            b'#' => at += bytes[at..].iter().position(|c| *c == b'\n').unwrap_or(bytes.len() - at),
            c if is_word(c) => {
                while at < bytes.len() && (is_word(bytes[at]) || bytes[at] == b'.' && c.is_ascii_digit()) {
                    at += 1;
                }
                let is_array = ["x", "y", "u", "t", "m", "s", "v", "r", "n"].contains(&&text[start..at])
                    && !matches!(bytes.get(at), Some(b'.' | b'[' | b'('))
                    && (start == 0 || bytes[start - 1] != b'.')
                    && !text[at..].trim_start().starts_with("= ");
                if is_array || c.is_ascii_digit() {
                    found.push((start, at));
                }
            }
            _ => at += 1,
        }
    }
    found
}

/// Returns the texts with one position changed, and sometimes a second one.
fn changed(text: &str, choices: &mut Choices) -> Vec<String> {
    let places = places(text);
    let mut all = Vec::new();
    for (start, end) in &places {
        for _ in 0..DRAWS {
            let literal = choices.pick(&LITERALS).unwrap();
            all.push(format!("{}({literal}){}", &text[..*start], &text[*end..]));
        }
    }
    all
}

/// Returns whether a case has another value on purpose. Floats beyond an integer's range saturate, norms of f16 are
/// computed in f32, and NumPy's `select` makes an integer that only u64 can hold negative.
fn is_other_on_purpose(case: &Case) -> bool {
    let is_beyond =
        ["2**63", "2**64", "10**20", "1e300", "nan", "inf"].iter().any(|beyond| case.text.contains(beyond));
    let is_f16 = case.inputs.iter().any(|(_, array)| array.dtype() == DType::F16);
    let of_beyond = ["dtype=i32", "select(", "polyval(", "ldexp(", "8(real(", "16(real(", "64(real("]
        .iter()
        .any(|call| case.text.contains(call));
    // The rounded integer does not fit its dtype, while NumPy casts a float.
    let is_rounded = case.text.starts_with("round(") && case.text.contains("2**63")
        || case.text.starts_with("full_like(") && case.text.contains("(-1.5)");
    // NumPy has no rows to combine, and therefore no array.
    let has_no_rows = case.text.starts_with("concatenate(x")
        && case.inputs.iter().any(|(_, array)| array.shape().first() == Some(&0));
    // NumPy's `select` converts a Python number to i64 before it casts it. Booleans count as f16 numbers and as
    // numbers of pieces.
    let is_number = ["select(", "modf((", "array_split(x, (True", "take_along_axis((True"]
        .iter()
        .any(|call| case.text.starts_with(call));
    let is_without = is_number || has_no_rows || library::is_without_fractions(case);
    // Small singular values and residuals have large relative errors, and NumPy's results of NaN may be numbers.
    let of_factors = super::FACTORS.iter().any(|name| case.text.contains(&format!("{name}(")))
        || case.text.starts_with("norm(99.0");
    // A literal may make a matrix ill-conditioned.
    let of_systems =
        ["cholesky(", "det(", "solve_triangular(", "cho_solve("].iter().any(|call| case.text.contains(call));
    // NumPy divides by the number of samples.
    let has_no_samples = case.text.contains("fftfreq((0");
    of_factors
        || of_systems
        || has_no_samples
        || is_without
        || is_rounded
        || is_beyond && of_beyond
        || is_f16 && case.text.contains("norm(")
}

#[test]
fn literals_in_every_place_match_numpy() {
    let Some(python) = python::find() else {
        println!("skipped: no python3 with NumPy 2; PRECAST_TEST_PYTHON names one");
        return;
    };
    let mut choices = Choices::seeded(number("PRECAST_NUMPY_SEED", 0));
    let examples = page::examples(PAGE, "python").into_iter().chain(library::calls());
    let mut cases = Vec::new();
    for text in examples.flat_map(|text| changed(&text, &mut choices)).collect::<BTreeSet<_>>() {
        // Python would not terminate, or only after a long time.
        let is_endless = text.contains("diff(x, (2**6") || text.contains("diff(x, (10**20");
        if text.contains("**(") && !text.contains("x**(") || text.contains("((300),)") || is_endless {
            continue;
        }
        let inputs = page::inputs(&mut choices, &dtypes(), &text);
        cases.push(Case { text, inputs, single: false });
    }
    let requests: Vec<_> = cases.iter().map(|case| (case.text.clone(), case.inputs.clone())).collect();
    let answers = python::evaluate(&python, &requests);
    let (mut wrong, mut values) = (Vec::new(), 0);
    for (case, answer) in cases.iter().zip(answers) {
        let found = ours(case);
        if is_other_on_purpose(case) {
            continue;
        }
        values += usize::from(found.is_ok() && answer.is_ok());
        if answer.is_ok()
            && found.as_ref().is_err_and(|error| REFUSED.iter().any(|word| error.contains(word)))
        {
            continue;
        }
        let what = difference(case, &found, &answer).or_else(|| distance(&found.ok()?, &answer.ok()?));
        wrong.extend(what.map(|what| format!("{}\n{what}\ninputs {:?}\n", case.text, case.inputs)));
    }
    println!("{} texts, {values} with a value, {} differ from NumPy", cases.len(), wrong.len());
    let shown = wrong.iter().take(number("PRECAST_NUMPY_SHOWN", 5) as usize).cloned().collect::<String>();
    assert!(wrong.is_empty(), "{} differ from NumPy:\n{shown}", wrong.len());
    assert!(values > cases.len() / 5, "{values} of {} have a value", cases.len());
}
