//! Tests a chain of Applies in one module under AddressSanitizer and UndefinedBehaviorSanitizer, with every request to
//! the host refused in turn. No memory leaks, every failure maps to its Apply, and the instance remains usable.

use crate::run::whole;
use crate::toy;
use precast_graph::{Array, DType};

fn twos(n: usize) -> Array {
    Array::from_bits(DType::F64, &[n], &vec![2.0_f64.to_bits(); n]).unwrap()
}

/// Checks the requests of a chain: each Apply requests its struct member once, and its output in the first call.
fn survives(n: usize, cxx: bool) {
    let outcome = whole(&toy::chain(n, cxx), &toy::library(), &[twos(3)]);
    let sum = (0..n).fold(1.0, |sum, at| sum * (at % 2 + 1) as f64 + 2.0);
    assert_eq!(outcome.f64s(), [sum; 3]);
    assert_eq!(outcome.failures[0], format!("refused extract 0 code {n} sync 0 struct {n}"));
    let applies: Vec<i64> = outcome.refused.iter().map(|(apply, _)| *apply).collect();
    let each: Vec<i64> = (0..n as i64).collect();
    assert_eq!(applies, [each.clone(), each].concat(), "in C++: {cxx}");
    assert_eq!(outcome.steady, 0, "a call that can use the storage of the one before asks for nothing");
}

#[test]
fn nothing_leaks_on_any_failure_path_in_c() {
    for n in [1, 3, 20] {
        survives(n, false);
    }
}

#[test]
fn nothing_leaks_on_any_failure_path_in_cxx() {
    survives(3, true);
}

#[test]
fn wrong_shape_fails_with_the_op_message() {
    let outcome = whole(&toy::chain(3, false), &toy::library(), &[twos(4)]);
    assert!(outcome.outputs.as_ref().unwrap_err().contains("shape mismatch"), "{outcome:?}");
}
