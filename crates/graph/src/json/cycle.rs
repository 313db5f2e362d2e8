//! Distinguishes a cycle from a wrong order when an Apply uses a later one.

use super::document::ApplyDocument;
use std::collections::BTreeMap;

/// Returns the chain of applies `from → … → to`, each using an output of the next, or `None` if `from` does not need
/// `to`.
///
/// `makers` maps each id to the position of the Apply that produces it.
pub(super) fn chain(
    applies: &[ApplyDocument],
    makers: &BTreeMap<&str, usize>,
    from: usize,
    to: usize,
) -> Option<Vec<usize>> {
    let mut user: Vec<Option<usize>> = vec![None; applies.len()];
    let mut seen = vec![false; applies.len()];
    let mut open = vec![from];
    while let Some(position) = open.pop() {
        if position == to {
            return Some(path(&user, from, to));
        }
        let inputs = applies.get(position).map_or(&[][..], |apply| &apply.inputs);
        for needed in inputs.iter().filter_map(|id| makers.get(id.as_str()).copied()) {
            if needed != from && !std::mem::replace(&mut seen[needed], true) {
                user[needed] = Some(position);
                open.push(needed);
            }
        }
    }
    None
}

fn path(user: &[Option<usize>], from: usize, to: usize) -> Vec<usize> {
    let mut path = vec![to];
    let mut position = to;
    while position != from {
        let Some(next) = user[position] else { break };
        path.push(next);
        position = next;
    }
    path.reverse();
    path
}

/// Describes the chain: `` `applies[0]` (exp) needs `applies[2]` (add) needs … ``, shortened in the middle.
pub(super) fn describe(applies: &[ApplyDocument], place: &str, chain: &[usize]) -> String {
    let name = |position: &usize| {
        let op = applies.get(*position).map_or("", |apply| apply.op.as_str());
        format!("`{place}applies[{position}]` ({op})")
    };
    let (head, tail) =
        if chain.len() > 8 { (&chain[..4], &chain[chain.len() - 3..]) } else { (chain, &[][..]) };
    let mut words: Vec<String> = head.iter().map(name).collect();
    if !tail.is_empty() {
        words.push(format!("{} more", chain.len() - head.len() - tail.len()));
        words.extend(tail.iter().map(name));
    }
    words.join(" needs ")
}
