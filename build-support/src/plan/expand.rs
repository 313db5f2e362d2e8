//! Expands matrices to combinations. A combination that several matrices share counts once.

use crate::declared::{Declared, Matrix, check_combinations};
use crate::problem::{Problem, ProblemKind};
use precast_core::event::chain;
use precast_graph::{DType, Type, encode, text};
use precast_ops::{Combination, CombinationsError, Ops};
use std::collections::BTreeMap;

/// Lists the combinations of all matrices, sorted by signature, each with the first matrix that contains it.
/// Unsupported combinations are added to `problems`.
pub(super) fn combinations<'d>(
    declared: &'d Declared,
    ops: &Ops,
    problems: &mut Vec<Problem>,
) -> Vec<(Combination, &'d Matrix)> {
    if let Err(problem) = count(declared, ops) {
        problems.push(problem);
        return Vec::new();
    }
    let mut found = BTreeMap::new();
    for matrix in declared.matrices() {
        let dtypes: Vec<DType> = matrix.dtypes.iter().copied().collect();
        let ndim: Vec<usize> = matrix.ndim.iter().copied().collect();
        match precast_ops::combinations(&matrix.name, &dtypes, &ndim, &matrix.ops(ops)) {
            Ok(list) => {
                for combination in list {
                    // A signature is for people and need not be unique.
                    let identity = (combination.signature.clone(), encode::canonical(&combination.graph));
                    found.entry(identity).or_insert((combination, matrix));
                }
            }
            Err(error) => problems.push(Problem::new(matrix.place.clone(), refusal(error, ops))),
        }
    }
    found.into_values().collect()
}

/// Counts the combinations before the first one is created.
fn count(declared: &Declared, ops: &Ops) -> Result<(), Problem> {
    let mut all = declared.graphs().len();
    for matrix in declared.matrices() {
        let Matrix { name, dtypes, ndim, place, .. } = matrix;
        let (dtypes, ndim): (Vec<_>, Vec<_>) =
            (dtypes.iter().copied().collect(), ndim.iter().copied().collect());
        let sum = all.checked_add(precast_ops::count_combinations(name, &dtypes, &ndim, &matrix.ops(ops)));
        all = check_combinations(sum).map_err(|kind| Problem::new(place.clone(), kind))?;
    }
    Ok(())
}

fn refusal(error: CombinationsError, ops: &Ops) -> ProblemKind {
    match error {
        CombinationsError::UnknownOp { op, .. } => {
            ProblemKind::UnknownOp { nearest: nearest(&op, ops), found: op }
        }
        error => ProblemKind::Unsupported { message: chain(&error) },
    }
}

/// Returns the most similar op name: the suggestion that the text form of a call produces.
fn nearest(op: &str, ops: &Ops) -> Option<String> {
    match text::parse::<Type>(&[&format!("{op}()")], &[], ops) {
        Err(text::ParseTextError::UnknownFunction { nearest, .. }) => nearest,
        _ => None,
    }
}
