//! Compares the outcomes of compiled graphs with those of the interpreter.

use crate::compiler::{self, Level, Share, highest};
use crate::machine::{Call, Outcome, run_share, stretch};
use precast_graph::{Array, InterpretError, interpret};
use precast_ops::Ops;
use precast_testkit::layout::Layout;
use precast_testkit::ulp;
use std::sync::Arc;

/// Runs the calls at the highest level and compares every outcome with the interpreter's.
pub(crate) fn check(language: &str, calls: &[Call]) {
    check_at(&[highest()], language, calls);
}

/// Runs [`check`] at several levels; the expected outcome is the same at all levels. See [`Share`].
pub(crate) fn check_at(levels: &[Level], language: &str, calls: &[Call]) {
    let expected = expected(calls);
    let share = if levels.len() == compiler::levels().len() { Share::Some } else { Share::All };
    for level in levels {
        let outcomes = run_share(&Ops::standard(), *level, language, calls, share);
        for ((call, outcome), expected) in calls.iter().zip(outcomes).zip(&expected) {
            let Some(outcome) = outcome else { continue };
            let types: Vec<String> = interpreted(call).iter().map(|input| input.ty().to_string()).collect();
            let layouts: Vec<Layout> = call.inputs.iter().map(|(_, layout)| *layout).collect();
            let (types, graph) = (types.join(", "), &call.graph);
            agree(
                expected,
                outcome,
                &format!("{} {graph} of {types}, {layouts:?} {}", level.0, call.stretched),
            );
        }
    }
}

/// Returns the interpreter's outcome for each call. A call that differs from the previous one only in its layouts is
/// not interpreted again.
fn expected(calls: &[Call]) -> Vec<Arc<Expected>> {
    let mut all: Vec<Arc<Expected>> = Vec::with_capacity(calls.len());
    for (position, call) in calls.iter().enumerate() {
        let same = |before: &&Call| {
            let alike = Arc::ptr_eq(&before.graph, &call.graph) && before.stretched == call.stretched;
            let pairs = || before.inputs.iter().zip(&call.inputs);
            alike && pairs().all(|((a, _), (b, _))| a.ty() == b.ty() && a.bits() == b.bits())
        };
        let before = position.checked_sub(1).map(|before| &calls[before]).filter(same);
        let known = before.and_then(|_| all.last().cloned());
        all.push(known.unwrap_or_else(|| Arc::new(interpret(&call.graph, &interpreted(call)))));
    }
    all
}

type Expected = Result<Vec<Array>, InterpretError>;

/// Returns the inputs for the interpreter.
fn interpreted(call: &Call) -> Vec<Array> {
    let array = |(array, _): &(Array, Layout)| if call.stretched { stretch(array) } else { array.clone() };
    call.inputs.iter().map(array).collect()
}

/// Compares values by their bits, and failures of ops by their messages.
fn agree(expected: &Expected, outcome: Outcome, context: &str) {
    match (expected, outcome) {
        (Ok(expected), Ok((found, kept))) => {
            assert_eq!(found.len(), expected.len(), "{context}");
            for (found, expected) in found.iter().zip(expected) {
                ulp::assert_ulp(found, expected, 0, &context);
            }
            // A view has the memory of an input, and a growing carry has new memory in each step.
            let may_move = context.contains("dimshuffle") || context.contains("join{axis=0}(carry0");
            assert!(kept || may_move, "{context}: the second call did not reuse its outputs");
        }
        (Err(InterpretError::Perform { source, .. }), Err(message)) => {
            let source = source.to_string();
            let (_, words) = source.split_once(": ").unwrap();
            assert_eq!(message, words, "{context}");
        }
        (expected, found) => panic!("{context}: expected {expected:?}, found {found:?}"),
    }
}
