//! Compares direct calls with calls in a frame: the same program with and without direct calls, on all kinds of arrays.
//!
//! Kernels are Rust functions with the C signature, so no compiler is needed. The arrays are in one piece of memory and may
//! overlap. After each call, the whole memory and the error must be the same.
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "kernels are C in Rust's clothes")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrays;
mod cases;
mod kernels;
mod typed;

use super::*;
use crate::function::{CallError, Function};
use arrays::{Choices, Lies, MEMORY, extents};
use cases::CASES;

#[derive(Debug, Clone, Copy)]
enum How {
    New,
    Reuse,
    Into,
}

/// The observable effects of a call: the error, the results, and the memory.
type Seen = (Option<String>, Vec<Array>, Vec<u64>);

fn call(function: &Function, how: How, inputs: &[Lies], output: &Lies) -> Seen {
    let mut memory: Vec<f64> = (0..MEMORY).map(|i| (i * i % 89) as f64).collect();
    if inputs[0].start.is_multiple_of(11) {
        memory[inputs[0].start] = 990.0;
    }
    let base = memory.as_mut_ptr();
    let refs: Vec<ArrayRef<'_>> = inputs.iter().map(|lies| lies.read(base)).collect();
    let mut results = Vec::new();
    let outcome: Result<(), CallError> = match how {
        How::New => function.call(&refs).map(|arrays| results = arrays),
        How::Reuse => {
            results.push(Array::zeros(DType::F64, &output.shape));
            function.call_into(&refs, &mut results)
        }
        How::Into => {
            // SAFETY: as above. If it overlaps other arrays, they are inputs of this call.
            unsafe { output.raw(base).write() }.map_or(Ok(()), |out| function.call_views(&refs, &mut [out]))
        }
    };
    let failed = outcome.as_ref().err().map(ToString::to_string);
    // After an error, the contents of the outputs are unspecified.
    if failed.is_some() {
        results.clear();
    }
    // SAFETY: the memory is alive; it is read in its current state, after writes through `base`.
    let bits = (0..MEMORY).map(|i| unsafe { base.add(i).read() }.to_bits()).collect();
    let wrote_on_error = failed.is_some() && matches!(how, How::Into);
    (failed, results, if wrote_on_error { Vec::new() } else { bits })
}

#[test]
fn direct_calls_match_frame_calls() {
    let mut choices = Choices(11);
    let (mut direct, mut failed) = (0, 0);
    for case in CASES {
        let (fast, slow) = (case.function(true), case.function(false));
        for _ in 0..3000 {
            let common = [choices.below(4), choices.below(4) + 1, choices.below(5) + 1];
            let common = if choices.below(12) == 0 { common } else { [2, 2, common[2]] };
            let (ports, outputs) = case.ports();
            let mut lie = |ty: &Type, may_stretch: bool| {
                let shape = extents(&mut choices, ty.ndim(), &common);
                Lies::somewhere(&mut choices, shape, may_stretch)
            };
            let mut inputs: Vec<Lies> = ports.iter().map(|port| lie(&port.ty, true)).collect();
            let mut output = lie(&outputs[0].ty, false);
            match choices.below(8) {
                0 => output.clone_from(&inputs[0]),
                1 => inputs[0].start = output.start.min(inputs[0].start),
                2 => _ = inputs.pop(),
                3 => output.shape.clone_from(&inputs[inputs.len() - 1].shape),
                _ => {}
            }
            if inputs.is_empty() || !inputs.iter().chain([&output]).all(Lies::is_inside) {
                continue;
            }
            let how = [How::New, How::Reuse, How::Into][choices.below(3)];
            let (got, want) = (call(&fast, how, &inputs, &output), call(&slow, how, &inputs, &output));
            assert_eq!(got, want, "{:?} -> {}: {how:?} {inputs:?} {output:?}", case.inputs, case.output);
            failed += usize::from(got.0.is_some());
            direct += usize::from(is_direct(&fast, &inputs));
        }
    }
    assert!(direct > 3000, "{direct} direct calls");
    assert!(failed > 1000, "{failed} calls that failed");
}

/// Returns whether a call with a new result is direct.
fn is_direct(function: &Function, inputs: &[Lies]) -> bool {
    let mut memory = vec![0.0; MEMORY];
    let base = memory.as_mut_ptr();
    let refs: Vec<ArrayRef<'_>> = inputs.iter().map(|lies| lies.read(base)).collect();
    function.is_direct(&refs)
}

#[test]
fn results_may_overwrite_inputs() {
    let function = CASES[0].function(true);
    let mut memory: Vec<f64> = (0..10).map(f64::from).collect();
    let base = memory.as_mut_ptr();
    let lies = |start| Lies { start, shape: vec![8], strides: vec![8] };
    let (x, out) = (lies(0), lies(1));
    // SAFETY: inside the memory, which nothing else uses.
    let (x, mut out) = unsafe { (x.raw(base).read().unwrap(), out.raw(base).write().unwrap()) };
    function.call_views(&[x.clone(), x], std::slice::from_mut(&mut out)).unwrap();
    assert_eq!(memory, [0.0, 0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 9.0]);
}
