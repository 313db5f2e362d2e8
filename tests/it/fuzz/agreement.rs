//! Compares the results of artifacts with the bits of `perform`: new and reused results, and inputs in any layout.
//!
//! # Tolerances
//! | comparison | ulp | reason |
//! |---|---|---|
//! | every op, alone and together | 0 | `perform` and C run the same operations in the same order; nothing is contracted |
//! | `dot`, `batched_dot` | 0 | at these sizes both add products in the order of their index |
//! | NaN payloads | any | they differ between CPUs |
//!
//! The tolerance of any graph is therefore 0, and all forms of a graph agree with each other because each agrees with
//! `perform`.

use crate::compiled::{Granularity, try_bundle};
use ndarray::{Axis, IxDyn};
use precast::{Array, ArrayRef, CodeOrigin, FunctionGraph, Policy, Runtime};
use precast_compile::Isa;
use precast_graph::{interpret, with_array};
use precast_ops::Ops;
use precast_store::key::Profile;
use precast_testkit::Choices;
use precast_testkit::layout::{Layout, lay_out_any};
use precast_testkit::ulp::same_bits;

/// The granularity, the level and the profile of artifacts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) granularity: Granularity,
    pub(crate) isa: Isa,
    pub(crate) profile: Profile,
}

impl Form {
    /// Returns the form that is deployed on this host.
    pub(crate) fn release(granularity: Granularity) -> Self {
        Self { granularity, isa: Isa::native().unwrap(), profile: Profile::Release }
    }
}

/// Inputs in memory, and the results of `perform` for their values.
#[derive(Clone)]
pub(crate) struct Call {
    /// Each input with the shape that it is broadcast to.
    inputs: Vec<(Array, Vec<usize>)>,
    expected: Vec<Array>,
}

impl Call {
    /// Creates a call; returns `None` if `perform` rejects the values.
    pub(crate) fn new(graph: &FunctionGraph, inputs: Vec<(Array, Vec<usize>)>) -> Option<Self> {
        let wide = |(array, shape): &(Array, Vec<usize>)| with_array!(array, a => Array::from(a.broadcast(IxDyn(shape)).unwrap().to_owned()));
        let values: Vec<Array> = inputs.iter().map(wide).collect();
        Some(Self { expected: interpret(graph, &values).ok()?, inputs })
    }
}

/// A graph with the calls to compare with `perform`.
#[derive(Clone)]
pub(crate) struct Subject {
    pub(crate) graph: FunctionGraph,
    pub(crate) calls: Vec<Call>,
}

/// Returns calls with the inputs unchanged, in some layout, and with an axis of stride 0 if `perform` accepts that.
pub(crate) fn calls(graph: &FunctionGraph, inputs: &[Array], choices: &mut Choices) -> Vec<Call> {
    let mut layout = || *choices.pick(&Layout::ALL).unwrap();
    let plain = inputs.iter().cloned().map(full).collect();
    let laid_out = inputs.iter().map(|array| full(lay_out_any(array, layout()))).collect();
    let thin = inputs.iter().map(|array| {
        let axes: Vec<usize> = (0..array.shape().len()).filter(|axis| array.shape()[*axis] > 1).collect();
        choices.pick(&axes).map_or_else(|| full(array.clone()), |axis| stretched(array, *axis))
    });
    [plain, laid_out, thin.collect()].into_iter().filter_map(|inputs| Call::new(graph, inputs)).collect()
}

/// Returns an array with its own shape.
pub(crate) fn full(array: Array) -> (Array, Vec<usize>) {
    let shape = array.shape().to_vec();
    (array, shape)
}

/// Repeats the first row along an axis, with a stride of 0.
fn stretched(array: &Array, axis: usize) -> (Array, Vec<usize>) {
    let first = with_array!(array, a => Array::from(a.slice_axis(Axis(axis), (0..1).into()).to_owned()));
    (first, array.shape().to_vec())
}

/// Returns the positions of the subjects with wrong artifacts, each with its first difference.
pub(crate) fn wrong(subjects: &[Subject], form: Form) -> Vec<(usize, String)> {
    let graphs: Vec<FunctionGraph> = subjects.iter().map(|subject| subject.graph.clone()).collect();
    let bytes = match try_bundle(&graphs, form.granularity, form.isa, form.profile) {
        Ok(bytes) => bytes,
        Err(error) if subjects.len() == 1 => return vec![(0, error)],
        // Some graph of several cannot be compiled, so both halves are tried, down to the one graph.
        Err(_) => {
            let (left, right) = subjects.split_at(subjects.len() / 2);
            let right = wrong(right, form).into_iter().map(|(at, what)| (left.len() + at, what));
            return wrong(left, form).into_iter().chain(right).collect();
        }
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fuzz.bundle");
    fs_err::write(&path, bytes).unwrap();
    let ops = Ops::standard().with_profile(form.profile);
    let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).ops(ops).build().unwrap();
    let disagree = |(at, subject)| disagreement(&runtime, subject).map(|what| (at, what));
    let wrong = subjects.iter().enumerate().filter_map(disagree).collect();
    assert_eq!(runtime.stats().damaged, 0);
    wrong
}

/// Panics with the differences of all subjects.
pub(crate) fn assert_agree(subjects: &[Subject], form: Form) {
    let told = |(at, what): (usize, String)| format!("{}\n  {what}\n", subjects[at].graph);
    let wrong: Vec<String> = wrong(subjects, form).into_iter().map(told).collect();
    assert!(wrong.is_empty(), "{form:?}, {} of {}:\n{}", wrong.len(), subjects.len(), wrong.concat());
}

/// Returns the first difference of a subject in a runtime over the artifacts of one form.
fn disagreement(runtime: &Runtime, subject: &Subject) -> Option<String> {
    let function = match runtime.function(&subject.graph) {
        Ok(function) => function,
        Err(error) => return Some(error.to_string()),
    };
    assert!(function.provenance().iter().all(|p| matches!(p.served, CodeOrigin::Artifact { .. })));
    let mut reused: Option<Vec<Array>> = None;
    for Call { inputs, expected } in &subject.calls {
        let refs: Vec<ArrayRef<'_>> = inputs
            .iter()
            .map(|(array, shape)| with_array!(array, a => a.broadcast(IxDyn(shape)).unwrap().into()))
            .collect();
        let refused = |error| Some(format!("{error}, but `perform` gives {expected:?}; inputs {inputs:?}"));
        let fresh = match function.call(&refs) {
            Ok(fresh) => fresh,
            Err(error) => return refused(error),
        };
        // The arrays of the previous call are reused, whatever their shapes.
        let outputs = reused.get_or_insert_with(|| fresh.clone());
        if let Err(error) = function.call_into(&refs, outputs) {
            return refused(error);
        }
        for (position, want) in expected.iter().enumerate() {
            for (how, found) in [("new", &fresh[position]), ("reused", &outputs[position])] {
                if !same_bits(found, want) {
                    return Some(format!(
                        "output {position} ({how}) is {found:?}, expected {want:?}; inputs {inputs:?}"
                    ));
                }
            }
        }
    }
    None
}
