//! Compares the examples of the language's reference page with NumPy; each example is also valid Python.
//!
//! # Tolerances
//! Every number must be within 64 units of the dtype's precision, relative to the largest number of its array,
//! because sums have another order. Dtypes and shapes must be equal, and so must numbers without rounding.

use super::draw::Case;
use super::{difference, dtypes, number, ours, python};
use crate::language::PAGE;
use precast_graph::{Array, DType};
use precast_testkit::{Choices, page};

/// The number of draws of extents and dtypes per example.
const DRAWS: u64 = 16;

#[test]
fn page_examples_match_numpy() {
    let Some(python) = python::find() else {
        println!("skipped: no python3 with NumPy 2; PRECAST_TEST_PYTHON names one");
        return;
    };
    let first = number("PRECAST_NUMPY_SEED", 0);
    let mut cases = Vec::new();
    for (position, text) in page::examples(PAGE, "python").into_iter().enumerate() {
        for draw in 0..DRAWS {
            let seed = first + draw + DRAWS * position as u64;
            let inputs = page::inputs(&mut Choices::seeded(seed), &dtypes(), &text);
            cases.push(Case { text: text.clone(), inputs, single: false });
        }
    }
    let requests: Vec<_> = cases.iter().map(|case| (case.text.clone(), case.inputs.clone())).collect();
    let answers = python::evaluate(&python, &requests);
    let mut wrong = Vec::new();
    let mut with_value = std::collections::BTreeSet::new();
    for (case, answer) in cases.iter().zip(answers) {
        let found = ours(case);
        if found.is_ok() && answer.is_ok() {
            with_value.insert(case.text.as_str());
        }
        let what = difference(case, &found, &answer).or_else(|| distance(&found.ok()?, &answer.ok()?));
        wrong.extend(what.map(|what| format!("{}\n{what}\ninputs {:?}\n", case.text, case.inputs)));
    }
    assert!(
        wrong.is_empty(),
        "{} differ from NumPy:\n{}",
        wrong.len(),
        wrong.iter().take(number("PRECAST_NUMPY_SHOWN", 5) as usize).cloned().collect::<String>()
    );
    let never: Vec<&Case> = cases.iter().filter(|case| !with_value.contains(case.text.as_str())).collect();
    assert!(never.is_empty(), "no draw has a value: {}", never[0].text);
}

/// Describes the difference between the numbers of two arrays.
pub(super) fn distance(found: &Array, want: &Array) -> Option<String> {
    let precision = match want.dtype().real() {
        DType::F16 => 2_f64.powi(-10),
        DType::F32 => 2_f64.powi(-23),
        _ => f64::EPSILON,
    };
    let finite = |x: f64| if x.is_finite() { x.abs() } else { 0.0 };
    let parts = want.numbers().into_iter().flat_map(|n| [n.parts().0, n.parts().1]);
    let largest = parts.map(finite).fold(0.0, f64::max);
    let near =
        |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 64.0 * precision * largest;
    let pairs = found.numbers().into_iter().zip(want.numbers());
    let far = |(a, b): &(precast_graph::Number, precast_graph::Number)| {
        let ((ar, ai), (br, bi)) = (a.parts(), b.parts());
        // If a complex number is not finite, C99 leaves some parts open.
        let open = want.dtype().is_complex() && !(br.is_finite() && bi.is_finite());
        !(open || near(ar, br) && near(ai, bi))
    };
    let (a, b) = pairs.into_iter().find(far)?;
    Some(format!("gives {a:?}, NumPy {b:?}"))
}
