//! `small_graphs`: merges Applies on small arrays of known extents into one op.
//!
//! ```text
//! v = exp(x[f64[3]])   s = sum(v)   v / s    ──▶  small_graph(x)
//! ```
//! The arrays of such an op are C variables. A loop over a few elements takes a few nanoseconds, but its call and its
//! tensors take 50 to 200. An Apply is merged if all its values have known extents and few elements, and it has C for
//! them ([`Survey`]). A set that would be a single loop is left to `fuse`, because that loop serves all extents.
//!
//! Applies of one *level* are merged: no path between them has another Apply. Thus the level of a small Apply is that of
//! its small operands, and above that of its other operands.
//!
//! The pass is exact, because the op computes the same functions on the same elements in the same order
//! ([`SmallGraph`]).

use super::rebuild::Rebuild;
use super::row_programs::producer;
use super::unfuse::{Uses, is_fused};
use crate::control::SmallGraph;
use crate::control::fixed::{Limits, Survey};
use precast_graph::{BuildError, FunctionGraph, VarId, contracts};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of Applies of an op.
const MAX_APPLIES: usize = 256;

/// The minimum number of loops and calls of an op.
const MIN_KERNELS: usize = 2;

pub(super) fn small_graphs(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let survey = Survey::of(graph);
    let is_small = |apply: &usize| survey.work(*apply).is_some();
    let applies = 0..graph.applies().len();
    // Ordering constraints from memory are not supported here, so graphs with such constraints are left unchanged. So
    // are graphs that the passes fused before.
    let is_fused = graph.applies().iter().any(|apply| is_fused(&*apply.op));
    if is_fused || !applies.clone().any(|apply| is_small(&apply)) || !contracts::orders(graph).is_empty() {
        return Ok(graph.clone());
    }
    let levels = levels(graph, &survey);
    let (mut rebuild, uses) = (Rebuild::new(graph)?, Uses::of(graph));
    for level in 0..=levels.iter().max().copied().unwrap_or(0) {
        let of_level = || applies.clone().filter(|apply| levels[*apply] == level);
        for members in chunks(&survey, of_level().filter(is_small)) {
            put(&mut rebuild, graph, (&survey, &uses), members)?;
        }
        for apply in of_level().filter(|apply| !is_small(apply)) {
            let apply = &graph.applies()[apply];
            rebuild.apply(Arc::clone(&apply.op), &apply.inputs, &apply.outputs)?;
        }
    }
    rebuild.finish()
}

/// Returns the level of each Apply.
fn levels(graph: &FunctionGraph, survey: &Survey) -> Vec<usize> {
    let mut levels: Vec<usize> = Vec::new();
    for (position, apply) in graph.applies().iter().enumerate() {
        let is_small = survey.work(position).is_some();
        let above = |variable: &VarId| {
            let producer = producer(graph, *variable)?;
            Some(levels[producer] + usize::from(is_small && survey.work(producer).is_none()))
        };
        levels.push(apply.inputs.iter().filter_map(above).max().unwrap_or(0));
    }
    levels
}

/// Splits Applies into sets of bounded size, in order.
fn chunks(survey: &Survey, members: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let (mut chunks, mut work): (Vec<Vec<usize>>, usize) = (Vec::new(), 0);
    for member in members {
        let own = survey.work(member).unwrap_or(0);
        match chunks.last_mut() {
            Some(chunk) if work + own <= Limits::GRAPH.work && chunk.len() < MAX_APPLIES => {
                chunk.push(member);
                work += own;
            }
            _ => {
                chunks.push(vec![member]);
                work = own;
            }
        }
    }
    chunks
}

/// Adds Applies to a graph, as one op if that saves calls.
fn put(
    rebuild: &mut Rebuild<'_>,
    graph: &FunctionGraph,
    (survey, uses): (&Survey, &Uses),
    members: Vec<usize>,
) -> Result<(), BuildError> {
    let (views, inner) = outer_views(graph, &members);
    let mut alone = members;
    if let Some((op, reads, writes)) = merged(graph, survey, uses, &inner) {
        rebuild.apply(Arc::new(op), &reads, &writes)?;
        alone = views;
    }
    alone
        .into_iter()
        .map(|position| &graph.applies()[position])
        .try_for_each(|apply| rebuild.apply(Arc::clone(&apply.op), &apply.inputs, &apply.outputs))
}

/// Separates the views that no other member reads.
fn outer_views(graph: &FunctionGraph, members: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let (mut views, mut inner): (BTreeSet<usize>, Vec<usize>) = (BTreeSet::new(), members.to_vec());
    loop {
        let read: BTreeSet<VarId> =
            inner.iter().flat_map(|member| graph.applies()[*member].inputs.clone()).collect();
        let is_outer = |member: &usize| {
            let apply = &graph.applies()[*member];
            !apply.op.view_map().is_empty() && apply.outputs.iter().all(|output| !read.contains(output))
        };
        let (outer, rest): (Vec<usize>, Vec<usize>) = inner.iter().partition(|member| is_outer(member));
        if outer.is_empty() {
            return (views.into_iter().collect(), inner);
        }
        views.extend(outer);
        inner = rest;
    }
}

/// Returns the op of some Applies, with the variables that it reads and writes.
fn merged(
    graph: &FunctionGraph,
    survey: &Survey,
    uses: &Uses,
    members: &[usize],
) -> Option<(SmallGraph, Vec<VarId>, Vec<VarId>)> {
    let applies = || members.iter().map(|member| &graph.applies()[*member]);
    let made: Vec<VarId> = applies().flat_map(|apply| apply.outputs.clone()).collect();
    let inside: BTreeSet<VarId> = made.iter().copied().collect();
    let mut reads: Vec<VarId> = Vec::new();
    let mut body = FunctionGraph::new();
    let mut variables: BTreeMap<VarId, VarId> = BTreeMap::new();
    for variable in applies().flat_map(|apply| &apply.inputs).filter(|variable| !inside.contains(variable)) {
        if !variables.contains_key(variable) {
            let input =
                body.input(&format!("x{}", reads.len()), graph.ty(*variable).without_extents()).ok()?;
            variables.insert(*variable, input);
            reads.push(*variable);
        }
    }
    for apply in applies() {
        let inputs: Vec<VarId> = apply.inputs.iter().map(|input| variables[input]).collect();
        let outputs = body.apply(Arc::clone(&apply.op), &inputs).ok()?;
        variables.extend(apply.outputs.iter().copied().zip(outputs));
    }
    let writes = uses.outside(graph, members, &made);
    for variable in &writes {
        body.output(variables[variable], None).ok()?;
    }
    let op = SmallGraph::new(&body, survey.facts(&reads)?)?;
    (op.kernels() >= MIN_KERNELS).then_some((op, reads, writes))
}
