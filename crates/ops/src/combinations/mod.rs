//! Expands a declared `[[op]]` to graphs: every combination of the listed dtypes and ranks.
//!
//! `at` has the texts of each op; this module turns them into graphs with one Apply each. A runtime that serves a
//! graph op by op requests exactly these graphs, so a declared combination is a hit for every use of it.

mod at;
mod cases;
mod dtypes;

use crate::registry::Ops;
use crate::rewrite::{Form, Passes};
use at::Case;
pub(crate) use at::Combine;
use cases::cases;
use precast_codegen::{LinkError, single};
use precast_graph::{DType, FunctionGraph, OpLibrary as _, nearest, text};

/// One op with the types of its inputs, as a graph.
#[derive(Debug, Clone)]
pub struct Combination {
    /// The signature for readers: `add(f32[?], f32[?]) -> f32[?]`.
    pub signature: String,
    /// The graph, with one Apply.
    pub graph: FunctionGraph,
}

/// Why the combinations of an op cannot be generated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CombinationsError {
    /// Unknown op.
    #[error("unknown op `{op}`; {}", match nearest { Some(near) => format!("nearest `{near}`"), None => format!("known: {known}") })]
    UnknownOp {
        /// The name.
        op: String,
        /// The most similar known name.
        nearest: Option<String>,
        /// The known names.
        known: String,
    },
    /// Dtypes and ranks alone do not determine the op.
    #[error(
        "`{op}` is not determined by dtype and rank\nhint: declare a graph that uses it, with `serve = [\"ops\"]`"
    )]
    NotByType {
        /// The op.
        op: String,
    },
    /// The op does not support some combinations; each reason is listed once.
    #[error("`{op}` does not support {count} combination(s):\n  {}", problems.join("\n  "))]
    Unsupported {
        /// The op.
        op: String,
        /// The number of unsupported combinations.
        count: usize,
        /// The reasons, each with its dtypes and ranks.
        problems: Vec<String>,
    },
    /// An Apply that cannot be extracted into its own graph.
    #[error("`{op}`")]
    Link {
        /// The op.
        op: String,
        /// The reason.
        source: LinkError,
    },
}

/// Returns the combinations of `op` over all listed dtypes and ranks, in their order.
///
/// # Errors
/// An unknown op, or unsupported combinations, all of which are listed.
pub fn combinations(
    op: &str,
    dtypes: &[DType],
    ndim: &[usize],
    ops: &Ops,
) -> Result<Vec<Combination>, CombinationsError> {
    // Whether the op exists does not depend on the listed dtypes and ranks.
    cases(op, DType::F64, 1, dtypes, ndim, ops).ok_or_else(|| none(op, ops))?;
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for dtype in dtypes {
        for rank in ndim {
            for case in cases(op, *dtype, *rank, dtypes, ndim, ops).into_iter().flatten() {
                match build(&case, ops) {
                    Ok(graph) => push(op, &graph, ops, &mut found)?,
                    Err(error) => problems.push((*dtype, *rank, error)),
                }
            }
        }
    }
    if problems.is_empty() {
        return Ok(found);
    }
    problems.dedup();
    Err(CombinationsError::Unsupported {
        op: op.to_owned(),
        count: problems.len(),
        problems: reasons(&problems),
    })
}

/// Lists each reason once, after the dtypes and ranks that it applies to.
fn reasons(problems: &[(DType, usize, String)]) -> Vec<String> {
    fn once<T: PartialEq>(list: &mut Vec<T>, item: T) {
        if !list.contains(&item) {
            list.push(item);
        }
    }
    let mut found: Vec<(&str, Vec<DType>, Vec<usize>)> = Vec::new();
    for (dtype, rank, reason) in problems {
        match found.iter_mut().find(|(known, ..)| known == reason) {
            Some((_, dtypes, ranks)) => {
                once(dtypes, *dtype);
                once(ranks, *rank);
            }
            None => found.push((reason, vec![*dtype], vec![*rank])),
        }
    }
    let line = |(reason, dtypes, ranks): &(&str, Vec<DType>, Vec<usize>)| {
        let dtypes: Vec<String> = dtypes.iter().map(DType::to_string).collect();
        let ranks: Vec<String> = ranks.iter().map(usize::to_string).collect();
        format!("{}, rank {}: {reason}", dtypes.join(", "), ranks.join(", "))
    };
    found.iter().map(line).collect()
}

/// Returns the number of graphs from which the combinations of `op` are derived, without building them; 0 for an op
/// without combinations.
#[must_use]
pub fn count_combinations(op: &str, dtypes: &[DType], ndim: &[usize], ops: &Ops) -> usize {
    let at = |dtype| ndim.iter().filter_map(move |rank| cases(op, dtype, *rank, dtypes, ndim, ops));
    dtypes.iter().flat_map(|dtype| at(*dtype)).map(|cases| cases.len()).sum()
}

/// Returns the error for an op without any combinations.
fn none(op: &str, ops: &Ops) -> CombinationsError {
    let (op, names) = (op.to_owned(), ops.names());
    if names.contains(&op) {
        return CombinationsError::NotByType { op };
    }
    let known = names.into_iter().filter(|name| cases(name, DType::F64, 1, &[], &[], ops).is_some());
    let known: Vec<String> = known.collect();
    let nearest = nearest(&op, known.iter().map(String::as_str)).map(str::to_owned);
    CombinationsError::UnknownOp { op, nearest, known: known.join(", ") }
}

/// Builds the graph of a case, or describes the error.
fn build(case: &Case, ops: &Ops) -> Result<FunctionGraph, String> {
    let graph = text::parse(&[&case.text], &case.inputs, ops).map_err(|error| match error {
        text::ParseTextError::Call { source, .. } => source.to_string(),
        other => other.to_string(),
    })?;
    Form::Declared.of(&graph, &Passes::default()).map_err(|error| error.to_string())
}

/// Adds each Apply of the graph as a combination: the op, and the casts and copies that its use requires.
fn push(
    op: &str,
    graph: &FunctionGraph,
    ops: &Ops,
    found: &mut Vec<Combination>,
) -> Result<(), CombinationsError> {
    for (position, apply) in graph.applies().iter().enumerate() {
        let alone = single(graph, position, ops.c());
        let graph_alone = alone.map_err(|source| CombinationsError::Link { op: op.to_owned(), source })?;
        found.push(Combination { signature: graph.signature(apply), graph: graph_alone });
    }
    Ok(())
}
