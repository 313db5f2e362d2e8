//! Multiplies matrices out. What several matrices share counts once.

use crate::declared::Declared;
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, chain};
use precast_graph::{DType, FunctionGraph};
use precast_ops::Ops;
use std::collections::BTreeMap;

/// One op with certain types.
pub(super) struct Combination {
    /// A graph of one Apply.
    pub(super) graph: FunctionGraph,
    /// The first matrix that asks for it.
    pub(super) place: Place,
}

/// Lists the combinations of all matrices, sorted by signature; what cannot be had goes to `problems`.
pub(super) fn combinations(declared: &Declared, ops: &Ops, problems: &mut Vec<Problem>) -> Vec<Combination> {
    let mut found: BTreeMap<String, Combination> = BTreeMap::new();
    for matrix in declared.matrices() {
        let dtypes: Vec<DType> = matrix.dtypes.iter().copied().collect();
        let ndim: Vec<usize> = matrix.ndim.iter().copied().collect();
        match precast_ops::combinations(&matrix.name, &dtypes, &ndim, ops) {
            Ok(list) => {
                for (graph, signature) in list {
                    let combination = || Combination { graph, place: matrix.place.clone() };
                    found.entry(signature).or_insert_with(combination);
                }
            }
            Err(error) => {
                let kind = ProblemKind::Unsupported { message: chain(&error) };
                problems.push(Problem::new(matrix.place.clone(), kind));
            }
        }
    }
    found.into_values().collect()
}
