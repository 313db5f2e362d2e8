//! Reduces inputs that violate a rule to smaller ones.
//!
//! All equal extents are halved together, so that the inputs stay compatible. A step is undone if the op rejects the
//! inputs or if the violation disappears.

use super::alone::Alone;
use super::cases::Case;
use super::series::Limits;
use super::series::{Found, series};
use super::trial::Trial;
use super::violation::ViolationKind;
use precast_graph::{Array, with_array};
use std::collections::BTreeSet;
use std::io;

/// The most attempts for one violation.
const ATTEMPTS: usize = 24;

/// Returns the smallest failing inputs, and the finding on them.
pub(super) fn shrink(
    alone: &Alone,
    found: Found,
    cases: &[Case],
    limits: Limits,
) -> io::Result<(Found, Vec<Array>)> {
    let Some(case) = cases.get(found.case) else { return Ok((found, Vec::new())) };
    if found.finding.0 == ViolationKind::Hangs {
        // Each attempt would run into the time limit.
        return Ok((found, case.inputs.clone()));
    }
    let (mut best, mut inputs) = (found, case.inputs.clone());
    let mut trials = vec![Trial::FIRST];
    if best.trial != Trial::FIRST {
        trials.push(best.trial);
    }
    let mut attempts = 0;
    'smaller: loop {
        let extents: BTreeSet<usize> = inputs.iter().flat_map(|input| input.shape().to_vec()).collect();
        for extent in extents.into_iter().rev().filter(|extent| *extent > 1) {
            if attempts == ATTEMPTS {
                break 'smaller;
            }
            attempts += 1;
            let smaller: Vec<Array> = inputs.iter().map(|input| truncate(input, extent)).collect();
            let fits = |(input, array): (&precast_graph::VarId, &Array)| {
                alone.graph.ty(*input).admits(array.dtype(), array.shape())
            };
            if !alone.graph.inputs().iter().zip(&smaller).all(fits) {
                continue;
            }
            let case = Case::new(&alone.graph, &alone.reference, smaller.clone());
            let told = series(alone, &[case], &trials, limits)?;
            if let Some(again) = told.found.into_iter().find(|again| again.finding.0 == best.finding.0) {
                (best, inputs) = (again, smaller);
                continue 'smaller;
            }
        }
        break;
    }
    Ok((best, inputs))
}

/// Keeps the first half of every dimension with this extent.
fn truncate(array: &Array, extent: usize) -> Array {
    with_array!(array, a => {
        let mut part = a.view();
        for axis in 0..a.ndim() {
            if a.shape()[axis] == extent {
                part.slice_axis_inplace(ndarray::Axis(axis), ndarray::Slice::from(..extent / 2));
            }
        }
        Array::from(part.to_owned())
    })
}
