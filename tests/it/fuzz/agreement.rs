//! Whether the artifacts of graphs give the bits of `perform`: new results and reused ones, inputs in any layout.
//!
//! # Tolerances
//! | what | ulp | reason |
//! |---|---|---|
//! | every op, alone and together | 0 | `perform` and C run the same operations in the same order; nothing is contracted |
//! | `dot`, `batched_dot` | 0 | at these sizes both add products in the order of their index |
//! | which NaN a NaN is | any | its bits differ between CPUs |
//!
//! So the sum of the bounds of any graph is 0, and all forms of a graph agree with each other because each agrees with
//! `perform`.

use crate::compiled::{Granularity, try_bundle};
use ndarray::{Axis, IxDyn};
use precast::{Array, ArrayRef, FunctionGraph, Policy, Runtime, Served};
use precast_compile::Isa;
use precast_graph::{interpret, with_array};
use precast_ops::Ops;
use precast_store::key::Profile;
use precast_testkit::Choices;
use precast_testkit::layout::{Layout, lay_out_any};
use precast_testkit::ulp::same_bits;

/// What artifacts are made for, and of which parts of the graphs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) granularity: Granularity,
    pub(crate) isa: Isa,
    pub(crate) profile: Profile,
}

impl Form {
    /// What is deployed on this host.
    pub(crate) fn release(granularity: Granularity) -> Self {
        Self { granularity, isa: Isa::native().unwrap(), profile: Profile::Release }
    }
}

/// Inputs in memory, and what `perform` makes of their values.
pub(crate) struct Call {
    /// Each with the shape that it is broadcast to.
    inputs: Vec<(Array, Vec<usize>)>,
    expected: Vec<Array>,
}

impl Call {
    /// `None` if `perform` refuses the values.
    pub(crate) fn new(graph: &FunctionGraph, inputs: Vec<(Array, Vec<usize>)>) -> Option<Self> {
        let wide = |(array, shape): &(Array, Vec<usize>)| with_array!(array, a => Array::from(a.broadcast(IxDyn(shape)).unwrap().to_owned()));
        let values: Vec<Array> = inputs.iter().map(wide).collect();
        Some(Self { expected: interpret(graph, &values).ok()?, inputs })
    }
}

/// A graph with the calls that are held against `perform`.
pub(crate) struct Subject {
    pub(crate) graph: FunctionGraph,
    pub(crate) calls: Vec<Call>,
}

/// The inputs as they are, in some layout, and with an axis of stride 0 where `perform` accepts that.
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

/// An array in the shape that it has.
pub(crate) fn full(array: Array) -> (Array, Vec<usize>) {
    let shape = array.shape().to_vec();
    (array, shape)
}

/// The first row along an axis, in the place of every row: the axis has stride 0.
fn stretched(array: &Array, axis: usize) -> (Array, Vec<usize>) {
    let first = with_array!(array, a => Array::from(a.slice_axis(Axis(axis), (0..1).into()).to_owned()));
    (first, array.shape().to_vec())
}

/// The positions of the subjects whose artifacts are wrong, and what is wrong first.
pub(crate) fn wrong(subjects: &[Subject], form: Form) -> Vec<(usize, String)> {
    let graphs: Vec<FunctionGraph> = subjects.iter().map(|subject| subject.graph.clone()).collect();
    let bytes = match try_bundle(&graphs, form.granularity, form.isa, form.profile) {
        Ok(bytes) => bytes,
        Err(error) if subjects.len() == 1 => return vec![(0, error)],
        // Some graph of several cannot be compiled: halves are looked at, down to the one.
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

/// Panics with what is wrong of any subject.
pub(crate) fn assert_agree(subjects: &[Subject], form: Form) {
    let told = |(at, what): (usize, String)| format!("{}\n  {what}\n", subjects[at].graph);
    let wrong: Vec<String> = wrong(subjects, form).into_iter().map(told).collect();
    assert!(wrong.is_empty(), "{form:?}, {} of {}:\n{}", wrong.len(), subjects.len(), wrong.concat());
}

/// What a runtime over the artifacts of one form gets wrong of a subject.
fn disagreement(runtime: &Runtime, subject: &Subject) -> Option<String> {
    let function = match runtime.function(&subject.graph) {
        Ok(function) => function,
        Err(error) => return Some(error.to_string()),
    };
    assert!(function.provenance().iter().all(|p| matches!(p.served, Served::Artifact { .. })));
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
        // The arrays of the call before are reused, whatever their shapes.
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
