//! Tests of calls that are cancelled.

use crate::call::graph;
use ndarray::{arr0, array};
use precast_core::Cancel;
use precast_core::native::ErrorKind;
use precast_runtime::{ArrayRef, CallError, Policy, Runtime};
use std::thread;
use std::time::Duration;

#[test]
fn cancelled_loops_end_with_an_error() {
    let (number, vector) = (arr0(1.0), array![1.0, 2.0]);
    let inputs: [(&str, ArrayRef<'_>); 2] =
        [("x=f64[]", number.view().into()), ("x=f64[?]", vector.view().into())];
    for policy in [Policy::Jit, Policy::Interpret] {
        for (declared, input) in &inputs {
            let runtime = Runtime::builder().policy(policy).build().unwrap();
            let endless = graph("while_loop(lambda c: c.sum() > 0, lambda c: c * 1.0, x)", &[declared]);
            let function = runtime.function(&endless).unwrap();
            let cancel = Cancel::new();
            let other = cancel.clone();
            let timer = thread::spawn(move || {
                thread::sleep(Duration::from_millis(50));
                other.cancel();
            });
            let error = cancel.scope(|| function.call(std::slice::from_ref(input))).unwrap_err();
            timer.join().unwrap();
            match &error {
                CallError::Op { kind, .. } => {
                    assert_eq!(*kind, ErrorKind::Cancelled, "{declared}: {error:?}");
                }
                // The error of the interpreter.
                other => {
                    assert!(format!("{other:?}").contains("the call was cancelled"), "{declared}: {other:?}");
                }
            }
        }
    }
}

#[test]
fn scopes_of_cancelled_flags_end() {
    let function = Runtime::builder().build().unwrap();
    let function =
        function.function(&graph("fori_loop(0, 10000, lambda i, c: c + 1, x)", &["x=f64[]"])).unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    let zero = arr0(0.0);
    let call = || function.call(&[zero.view().into()]);
    assert!(cancel.scope(call).is_err() && call().is_ok());
    assert!(Cancel::new().scope(|| cancel.scope(call).is_err() && call().is_ok()));
}
