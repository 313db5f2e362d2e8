//! Compares the outcomes of compiled graphs with those of the interpreter.

use crate::compiler;
use crate::machine::{Call, Outcome, run, stretch};
use precast_graph::{Array, interpret};
use precast_testkit::layout::Layout;
use precast_testkit::ulp;
use std::sync::Arc;

/// Runs the calls and compares every outcome with the interpreter's.
pub(crate) fn check(level: compiler::Level, language: &str, calls: Vec<Call>) {
    check_at(&[level], language, &calls);
}

/// Runs [`check`] at several levels; the expected outcome is the same at all levels.
pub(crate) fn check_at(levels: &[compiler::Level], language: &str, calls: &[Call]) {
    let expected = expected(calls);
    for level in levels {
        let outcomes = run(*level, language, calls);
        for ((call, outcome), expected) in calls.iter().zip(outcomes).zip(&expected) {
            let inputs = interpreted(call);
            let shapes: Vec<&[usize]> = inputs.iter().map(Array::shape).collect();
            let layouts: Vec<Layout> = call.inputs.iter().map(|(_, layout)| *layout).collect();
            let context = format!("{} {} {shapes:?} {layouts:?} {}", level.0, call.graph, call.stretched);
            agree(expected, outcome, &context);
        }
    }
}

/// Returns the interpreter's outcome for each call. A call that differs from the previous one only in its layouts is
/// not interpreted again.
fn expected(calls: &[Call]) -> Vec<Arc<Expected>> {
    let mut all: Vec<Arc<Expected>> = Vec::with_capacity(calls.len());
    for (position, call) in calls.iter().enumerate() {
        let arrays = |call: &Call| call.inputs.iter().map(|(array, _)| array.clone()).collect::<Vec<_>>();
        let same = |before: &&Call| {
            let alike = Arc::ptr_eq(&before.graph, &call.graph) && before.stretched == call.stretched;
            alike && arrays(before) == arrays(call)
        };
        let before = position.checked_sub(1).map(|before| &calls[before]).filter(same);
        let known = before.and_then(|_| all.last().cloned());
        all.push(known.unwrap_or_else(|| {
            Arc::new(interpret(&call.graph, &interpreted(call)).map_err(|e| e.to_string()))
        }));
    }
    all
}

/// The results, or the message of a failure.
type Expected = Result<Vec<Array>, String>;

/// Returns the inputs for the interpreter.
fn interpreted(call: &Call) -> Vec<Array> {
    let array = |(array, _): &(Array, Layout)| if call.stretched { stretch(array) } else { array.clone() };
    call.inputs.iter().map(array).collect()
}

fn agree(expected: &Expected, outcome: Outcome, context: &str) {
    match (expected, outcome) {
        (Ok(expected), Ok((found, kept))) => {
            for (found, expected) in found.iter().zip(expected) {
                ulp::assert_ulp(found, expected, 0, &context);
            }
            // A view has the memory of an input, and a growing carry has new memory in each step.
            let may_move = context.contains("dimshuffle") || context.contains("join{axis=0}(carry0");
            assert!(kept || may_move, "{context}: the second call did not reuse its outputs");
        }
        (Err(_), Err(_)) => {}
        (expected, found) => panic!("{context}: expected {expected:?}, found {found:?}"),
    }
}
