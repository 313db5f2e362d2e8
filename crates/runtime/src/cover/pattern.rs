//! Patterns: the parts of a group that could have been fused by themselves, larger ones first.
//!
//! A pattern ends in one member, the root; all other members are elementwise. A value used outside of the pattern
//! must be the root's output. In a group of a single loop it may also be another result of the group, which has the
//! same shape. Smaller patterns are derived from the largest one by removing members whose inputs come from no other
//! member. Only a few patterns of each size are tried.

use precast_graph::{FunctionGraph, Origin};
use precast_ops::{DimShuffle, Elemwise};
use std::any::Any;
use std::collections::BTreeSet;

/// The most patterns of one size.
const PER_SIZE: usize = 8;

/// Returns at most `most` patterns that end in `root` and have at least two members, all of them `free`.
pub(super) fn patterns(group: &FunctionGraph, root: usize, free: &[bool], most: usize) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut level = BTreeSet::from([largest(group, root, free)]);
    while let Some(size) = level.first().map(BTreeSet::len).filter(|size| *size >= 2 && found.len() < most) {
        found.extend(level.iter().map(|members| members.iter().copied().collect()));
        let mut next = BTreeSet::new();
        for members in &level {
            for member in members.iter().filter(|member| **member != root) {
                if next.len() < PER_SIZE && !producers(group, *member).any(|p| members.contains(&p)) {
                    let mut fewer = members.clone();
                    fewer.remove(member);
                    next.insert(fewer);
                }
            }
        }
        debug_assert!(next.iter().all(|members| members.len() + 1 == size), "one member fewer");
        level = next;
    }
    found.truncate(most);
    found
}

/// Returns the largest pattern that ends in `root`.
fn largest(group: &FunctionGraph, root: usize, free: &[bool]) -> BTreeSet<usize> {
    let is_result = |at: usize| group.applies()[at].outputs.iter().any(|v| group.outputs().contains(v));
    let op = |at: usize| -> &dyn Any { &*group.applies()[at].op };
    let is_loop = (0..group.applies().len()).all(|at| op(at).is::<Elemwise>());
    let mut members = BTreeSet::from([root]);
    if op(root).is::<DimShuffle>() {
        return members;
    }
    // Clients follow their producers, so one backward walk visits every member's clients before the member.
    for position in (0..root).rev().filter(|position| free[*position]) {
        let fits = op(position).is::<Elemwise>() && (!is_result(position) || (is_loop && is_result(root)));
        if fits && clients(group, position).all(|client| members.contains(&client)) {
            members.insert(position);
        }
    }
    members
}

/// Returns the Applies that produce the inputs of the Apply at `position`.
fn producers(group: &FunctionGraph, position: usize) -> impl Iterator<Item = usize> + '_ {
    group.applies()[position].inputs.iter().filter_map(|variable| match &group.variable(*variable).origin {
        Origin::Output { apply, .. } => Some(apply.index()),
        _ => None,
    })
}

/// Returns the Applies that read the outputs of the Apply at `position`.
fn clients(group: &FunctionGraph, position: usize) -> impl Iterator<Item = usize> + '_ {
    let outputs = &group.applies()[position].outputs;
    let applies = group.applies().iter().enumerate();
    applies
        .filter(move |(_, apply)| apply.inputs.iter().any(|input| outputs.contains(input)))
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::patterns;
    use precast_graph::text;
    use precast_ops::{Ops, rewrite};

    #[test]
    fn larger_patterns_come_first() {
        let inputs =
            ["x", "y"].map(|name| (name.to_owned(), "f64[?]".parse::<precast_graph::Type>().unwrap()));
        let graph = text::parse(&["exp(x * y) + tanh(x) * y"], &inputs, &Ops::standard()).unwrap();
        let lowered = rewrite::lower(&graph).unwrap();
        let group = rewrite::unfuse(&lowered, 0).unwrap().unwrap();
        let n = group.applies().len();
        let found = patterns(&group, n - 1, &vec![true; n], 64);
        assert_eq!(found[0].len(), n, "the largest is the group");
        assert!(found.windows(2).all(|pair| pair[0].len() >= pair[1].len()));
        // exp(·) + · ; · + tanh(·)·… : every combination of depths of the two branches, except the root alone.
        assert_eq!(found.len(), 3 * 3 - 1);
        for members in &found {
            assert!(rewrite::join(&group, members).is_some());
        }
    }

    #[test]
    fn row_program_patterns_are_loops_with_reductions() {
        let inputs = ["x"].map(|name| (name.to_owned(), "f64[?,?]".parse::<precast_graph::Type>().unwrap()));
        let texts = ["e = exp(x - 1)", "e / sum(e * e, axis=1, keepdims=True) + 2"];
        let graph = text::parse(&texts, &inputs, &Ops::standard()).unwrap();
        let lowered = rewrite::lower(&graph).unwrap();
        assert_eq!(lowered.applies().len(), 1, "{lowered}");
        let group = rewrite::unfuse(&lowered, 0).unwrap().unwrap();
        let n = group.applies().len();
        let found: Vec<_> = (0..n).flat_map(|root| patterns(&group, root, &vec![true; n], 64)).collect();
        assert!(found.len() > 2, "{found:?}");
        for members in &found {
            let joined = rewrite::join(&group, members).unwrap();
            assert_eq!(joined.writes.len(), 1, "{members:?}");
        }
    }

    #[test]
    fn results_of_one_loop_share_a_pattern() {
        let inputs = ["x"].map(|name| (name.to_owned(), "f64[?]".parse::<precast_graph::Type>().unwrap()));
        let graph = text::parse(&["exp(x)*2", "exp(x) - x"], &inputs, &Ops::standard()).unwrap();
        let lowered = rewrite::lower(&graph).unwrap();
        let group = rewrite::unfuse(&lowered, 0).unwrap().unwrap();
        let found = patterns(&group, 2, &[true; 3], 64);
        assert_eq!(found, [vec![0, 1, 2], vec![1, 2]], "exp is fused only with both that read it");
        assert_eq!(rewrite::join(&group, &[1, 2]).unwrap().writes.len(), 2);
    }
}
