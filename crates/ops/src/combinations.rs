//! The graphs that a declared `[[op]]` stands for: every combination of the listed dtypes and ranks.
//!
//! | op | inputs | besides |
//! |---|---|---|
//! | elementwise | all of one dtype and rank; `switch` has a condition of bool | `cast` goes to every other listed dtype |
//! | reductions, `argmax`, `cumsum` and their kin | one dtype and rank | over all axes, and over each single axis |
//! | `transpose`, `flatten`, `shape`, `view`, `deep_copy` | one dtype and rank | |
//! | `dot`, `batched_dot` | every pair of the listed ranks | |
//!
//! What is built is what a graph served op by op asks for, so a declared combination is a hit for every use of it.

use crate::registry::Ops;
use crate::rewrite;
use precast_codegen::{LinkError, single};
use precast_graph::{BuildError, DType, FunctionGraph, OpLibrary as _, Operand, Prop, Props, Type};

/// One combination.
#[derive(Debug, Clone)]
pub struct Combination {
    /// What it is, for people: `add(f32[?], f32[?]) -> f32[?]`.
    pub signature: String,
    /// The graph of one Apply.
    pub graph: FunctionGraph,
}

/// Why the combinations of an op cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CombinationsError {
    /// No such op.
    #[error("unknown op `{op}`; known: {known}")]
    UnknownOp {
        /// The name.
        op: String,
        /// The names there are.
        known: String,
    },
    /// Combinations that the op does not support: all of them, one a line.
    #[error("`{op}` does not support {} combination(s):\n  {}", problems.len(), problems.join("\n  "))]
    Unsupported {
        /// The op.
        op: String,
        /// Dtype and rank of each, with the reason.
        problems: Vec<String>,
    },
    /// An Apply that cannot be taken on its own.
    #[error("`{op}`")]
    Link {
        /// The op.
        op: String,
        /// Why not.
        source: LinkError,
    },
}

/// How an op's inputs follow from one dtype and rank.
enum Shape {
    Elementwise(usize),
    Reduction,
    Dot,
}

/// The combinations of `op` over all listed dtypes and ranks, in their order.
///
/// # Errors
/// An unknown op; combinations that it does not support, all of them listed.
pub fn combinations(
    op: &str,
    dtypes: &[DType],
    ndim: &[usize],
    ops: &Ops,
) -> Result<Vec<Combination>, CombinationsError> {
    let unknown = || CombinationsError::UnknownOp { op: op.to_owned(), known: ops.names().join(", ") };
    let shape = match op {
        "sum" | "prod" | "mean" | "var" | "std" | "max" | "min" | "any" | "all" | "argmax" | "argmin"
        | "cumsum" | "cumprod" => Shape::Reduction,
        "dot" | "batched_dot" => Shape::Dot,
        "transpose" | "cast" | "flatten" | "shape" | "view" | "deep_copy" => Shape::Elementwise(1),
        _ => Shape::Elementwise(crate::registry::arity(op).ok_or_else(unknown)?),
    };
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for dtype in dtypes {
        for rank in ndim {
            for (inputs, props) in cases(op, &shape, *dtype, *rank, dtypes, ndim) {
                match build(op, &inputs, &props, ops) {
                    Ok(graph) => push(op, &graph, ops, &mut found)?,
                    Err(error) => problems.push(format!("{dtype}, rank {rank}: {error}")),
                }
            }
        }
    }
    if problems.is_empty() {
        return Ok(found);
    }
    problems.dedup();
    Err(CombinationsError::Unsupported { op: op.to_owned(), problems })
}

/// The inputs and keyword arguments of one dtype and rank.
fn cases(
    op: &str,
    shape: &Shape,
    dtype: DType,
    rank: usize,
    dtypes: &[DType],
    ranks: &[usize],
) -> Vec<(Vec<Type>, Props)> {
    let ty = Type::tensor(dtype, rank);
    match shape {
        Shape::Reduction => {
            let single = |axis| Props::from([("axis".to_owned(), Prop::Int(axis))]);
            let axes = if rank > 1 { 0..i64::try_from(rank).unwrap_or(0) } else { 0..0 };
            let all = std::iter::once((vec![ty.clone()], Props::new()));
            all.chain(axes.map(|axis| (vec![ty.clone()], single(axis)))).collect()
        }
        Shape::Dot => {
            let pairs =
                ranks.iter().map(|other| (vec![ty.clone(), Type::tensor(dtype, *other)], Props::new()));
            pairs.collect()
        }
        Shape::Elementwise(_) if op == "cast" => {
            let others = dtypes.iter().filter(|other| **other != dtype);
            others
                .map(|to| (vec![ty.clone()], Props::from([("dtype".to_owned(), Prop::DType(*to))])))
                .collect()
        }
        Shape::Elementwise(_) if op == "switch" || op == "where" => {
            vec![(vec![Type::tensor(DType::Bool, rank), ty.clone(), ty], Props::new())]
        }
        Shape::Elementwise(arity) => vec![(vec![ty; *arity], Props::new())],
    }
}

/// The graph of the function on inputs of these types.
fn build(op: &str, inputs: &[Type], props: &Props, ops: &Ops) -> Result<FunctionGraph, BuildError> {
    let mut graph = FunctionGraph::new();
    let operands = inputs.iter().enumerate().map(|(i, ty)| graph.input(&format!("x{i}"), ty.clone()));
    let operands: Vec<Operand> =
        operands.collect::<Result<Vec<_>, _>>()?.into_iter().map(Operand::Var).collect();
    if let Some(output) = ops.call(&mut graph, op, &operands, props) {
        graph.output(output?, None)?;
    }
    rewrite::plain(&graph)
}

/// Adds each Apply of the graph on its own: the op, and the casts and copies that its use brings along.
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
