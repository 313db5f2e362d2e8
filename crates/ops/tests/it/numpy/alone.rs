//! Tests of functions of literals combined with arrays of every dtype. Their results are Python numbers, even where
//! NumPy's function returns an array scalar.

use super::draw::{Case, dtypes};
use super::functions::{is_elsewhere, is_scalar, names};
use super::page::distance;
use super::{difference, number, ours, python};
use precast_ops::Ops;
use precast_testkit::{Choices, page};

/// The number of dtypes per function.
const DTYPES: usize = 3;

/// A literal of each kind.
const LITERALS: [&str; 4] = ["True", "1", "0.5", "2j"];

#[test]
fn literal_functions_are_weak_with_every_dtype() {
    let Some(python) = python::find() else {
        println!("skipped: no python3 with NumPy 2; PRECAST_TEST_PYTHON names one");
        return;
    };
    let mut choices = Choices::seeded(number("PRECAST_NUMPY_SEED", 0));
    let (all, mut cases) = (dtypes(), Vec::new());
    for row in Ops::rows().filter(|row| is_scalar(row) && row.keywords.is_empty() && !is_elsewhere(row)) {
        for literal in LITERALS {
            let literals = vec![literal; row.arguments.len()].join(", ");
            for name in names(row) {
                for at in 0..DTYPES {
                    let dtype = *choices.pick(&all).unwrap();
                    let prefix = ["", "np."][at % 2];
                    let text = format!("{prefix}{name}({literals}) * x");
                    let inputs = page::inputs(&mut choices, &[dtype], &text);
                    cases.push(Case { text, inputs, single: false });
                }
            }
        }
    }
    let requests: Vec<_> = cases.iter().map(|case| (case.text.clone(), case.inputs.clone())).collect();
    let (mut wrong, mut values) = (Vec::new(), 0);
    for (case, answer) in cases.iter().zip(python::evaluate(&python, &requests)) {
        let found = ours(case);
        values += usize::from(found.is_ok() && answer.is_ok());
        let what = difference(case, &found, &answer).or_else(|| distance(&found.ok()?, &answer.ok()?));
        wrong.extend(what.map(|what| format!("{}\n{what}\ninputs {:?}\n", case.text, case.inputs)));
    }
    println!("{} texts, {values} with a value, {} differ from NumPy", cases.len(), wrong.len());
    let shown = wrong.iter().take(number("PRECAST_NUMPY_SHOWN", 5) as usize).cloned().collect::<String>();
    assert!(wrong.is_empty(), "{} differ from NumPy:\n{shown}", wrong.len());
    assert!(values > cases.len() / 3, "{values} of {} have a value", cases.len());
}
