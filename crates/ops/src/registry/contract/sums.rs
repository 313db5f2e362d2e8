//! Sums of products of labelled tensors: labels that the result lacks are summed over.

use super::super::operand::Operands;
use crate::shape::{EinsumOperand, Pair};
use precast_graph::{BuildError, DType, Extent, Operand, VarId};

/// A tensor with a label for each of its axes.
#[derive(Debug, Clone)]
pub(super) struct Term {
    pub(super) tensor: VarId,
    pub(super) labels: Vec<char>,
}

/// The rule for extents with the same label.
#[derive(Debug)]
pub(super) enum Extents {
    /// The extents must be equal.
    Equal,
    /// The extents must be equal or 1, as in `einsum`. Has the labels of all operands, for messages.
    Broadcast(Vec<Vec<char>>),
}

/// Builds the sum of products of the terms, over all labels that the result lacks.
pub(super) fn sum_of_products(
    operands: &mut Operands<'_>,
    terms: Vec<Term>,
    result: &[char],
    extents: &Extents,
) -> Result<VarId, BuildError> {
    let dtype = operands.graph.ty(terms[0].tensor).dtype();
    let computed = if matches!(dtype, DType::F16 | DType::Bf16) { DType::F32 } else { dtype };
    let mut done: Option<Term> = None;
    let mut open = terms.into_iter();
    let mut number = 0;
    while let Some(mut term) = open.next() {
        term.tensor = operands.cast(term.tensor, computed)?;
        let term = without_repeats(operands, term)?;
        let needed =
            |label: &char| result.contains(label) || open.clone().any(|term| term.labels.contains(label));
        let other: Vec<char> = done.iter().flat_map(|done| done.labels.clone()).collect();
        let term = summed(operands, term, &|label| needed(label) || other.contains(label))?;
        done = Some(match done {
            None => term,
            Some(known) => {
                let known = summed(operands, known, &|label| needed(label) || term.labels.contains(label))?;
                let pair = fitted(operands, [known, term], number, &needed, extents)?;
                product(operands, pair, &needed)?
            }
        });
        number += 1;
    }
    let Some(done) = done else { return Err(operands.error("has no tensors")) };
    let order = result.iter().map(|label| done.labels.iter().position(|other| other == label));
    let tensor = operands.shuffled(done.tensor, order.collect::<Vec<_>>())?;
    operands.cast(tensor, dtype)
}

/// Removes repeated labels of a tensor: takes the diagonal along axes with equal labels.
fn without_repeats(operands: &mut Operands<'_>, mut term: Term) -> Result<Term, BuildError> {
    while let Some((a, b)) = repeated(&term.labels) {
        let extents = operands.extents_of(term.tensor)?;
        let same = operands.call("eq", [extents[a].clone(), extents[b].clone()])?;
        let message = format!("einsum: extents of `{}` differ", term.labels[a]);
        let tensor = operands.demand(term.tensor, same, &message)?;
        let axes = [("axis1", Operand::from(a as i64)), ("axis2", Operand::from(b as i64))];
        let label = term.labels.remove(b);
        term.labels.remove(a);
        term.labels.push(label);
        term.tensor = operands.call_with("diagonal", &[tensor.into()], &axes)?;
    }
    Ok(term)
}

fn repeated(labels: &[char]) -> Option<(usize, usize)> {
    let second =
        |(a, label)| labels.iter().skip(a + 1).position(|other| other == label).map(|i| (a, a + 1 + i));
    labels.iter().enumerate().find_map(second)
}

/// Sums a tensor over the axes that are not needed.
fn summed(
    operands: &mut Operands<'_>,
    term: Term,
    needed: &dyn Fn(&char) -> bool,
) -> Result<Term, BuildError> {
    let gone: Vec<Operand> = (0..term.labels.len())
        .filter(|d| !needed(&term.labels[*d]))
        .map(|d| Operand::from(d as i64))
        .collect();
    if gone.is_empty() {
        return Ok(term);
    }
    // Sums of booleans stay booleans, as in products.
    let dtype = operands.graph.ty(term.tensor).dtype();
    let sum = if dtype == DType::Bool { "any" } else { "sum" };
    let tensor = operands.call_with(sum, &[term.tensor.into()], &[("axis", Operand::List(gone))])?;
    Ok(Term {
        tensor: operands.cast(tensor, dtype)?,
        labels: term.labels.into_iter().filter(needed).collect(),
    })
}

/// Checks the extents of common labels of two tensors. The second tensor is operand `number`. Extents of summed
/// labels are equal afterwards.
fn fitted(
    operands: &mut Operands<'_>,
    [mut a, mut b]: [Term; 2],
    number: usize,
    needed: &dyn Fn(&char) -> bool,
    extents: &Extents,
) -> Result<[Term; 2], BuildError> {
    let common: Vec<char> = a.labels.iter().copied().filter(|label| b.labels.contains(label)).collect();
    let Extents::Broadcast(labels) = extents else {
        let gone: Vec<char> = common.into_iter().filter(|label| !needed(label)).collect();
        b.tensor = agreeing(operands, &a, &b, &gone)?;
        return Ok([a, b]);
    };
    let extent = |operands: &Operands<'_>, term: &Term, label: char| {
        let axis = term.labels.iter().position(|own| *own == label).unwrap_or(0);
        (axis, operands.graph.ty(term.tensor).shape()[axis])
    };
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for label in common {
        let ((x, own), (y, other)) = (extent(operands, &a, label), extent(operands, &b, label));
        let is_known = matches!((own, other), (Extent::Fixed(own), Extent::Fixed(other)) if own == other);
        if is_known {
            continue;
        }
        let first = labels[..number].iter().position(|of_one| of_one.contains(&label)).unwrap_or(0);
        let stretch = !needed(&label);
        let pair = Pair { axes: [x, y], label, operands: [first, number], stretch };
        if stretch && !matches!(own, Extent::Fixed(n) if n != 1) {
            of_a.push(pair);
        }
        of_b.push(Pair { axes: [y, x], operands: [number, first], ..pair });
    }
    let (x, y) = (a.tensor, b.tensor);
    if !of_a.is_empty() {
        a.tensor = operands.apply(EinsumOperand { pairs: of_a }, &[x, y])?;
    }
    if !of_b.is_empty() {
        b.tensor = operands.apply(EinsumOperand { pairs: of_b }, &[y, x])?;
    }
    Ok([a, b])
}

/// Builds the product of two tensors, summed over the common labels that are not needed.
fn product(
    operands: &mut Operands<'_>,
    [a, b]: [Term; 2],
    needed: &dyn Fn(&char) -> bool,
) -> Result<Term, BuildError> {
    let of = |term: &Term, which: &dyn Fn(&char) -> bool| {
        term.labels.iter().copied().filter(|l| which(l)).collect::<Vec<char>>()
    };
    let (a, b) = (&a, &b);
    let both = |label: &char| b.labels.contains(label);
    let (shared, gone) = (of(a, &|l| both(l) && needed(l)), of(a, &|l| both(l) && !needed(l)));
    let (left, right) = (of(a, &|l| !both(l)), of(b, &|l| !a.labels.contains(l)));
    if gone.is_empty() {
        let labels = [shared, left, right].concat();
        let place = |term: &Term| {
            labels.iter().map(|label| term.labels.iter().position(|l| l == label)).collect::<Vec<_>>()
        };
        let (x, y) = (operands.shuffled(a.tensor, place(a))?, operands.shuffled(b.tensor, place(b))?);
        return Ok(Term { tensor: operands.call("mul", [x.into(), y.into()])?, labels });
    }
    let x = grouped(operands, a, &shared, [&left, &gone])?;
    let y = grouped(operands, b, &shared, [&gone, &right])?;
    let mut tensor = operands.call("matmul", [x.into(), y.into()])?;
    let labels = [shared.as_slice(), &left, &right].concat();
    if left.len() != 1 || right.len() != 1 {
        let mut shape = vec![Operand::Var(tensor)];
        for (position, _) in shared.iter().enumerate() {
            shape.push(operands.extent(tensor, position)?);
        }
        for label in left.iter().chain(&right) {
            shape.push(extent(operands, &[a, b], *label)?);
        }
        tensor = operands.call_with("reshape", &shape, &[])?;
    }
    Ok(Term { tensor, labels })
}

/// Returns the extent of a label, from the first tensor that has it.
fn extent(operands: &mut Operands<'_>, terms: &[&Term], label: char) -> Result<Operand, BuildError> {
    let place = |term: &&Term| term.labels.iter().position(|l| *l == label).map(|axis| (term.tensor, axis));
    let found = terms.iter().find_map(place);
    let (tensor, axis) = found.ok_or_else(|| operands.error(format!("unknown label `{label}`")))?;
    operands.extent(tensor, axis)
}

/// Returns the second tensor, with a run-time check that its summed extents equal those of the first. For a single
/// summed extent, the product itself performs the check.
fn agreeing(operands: &mut Operands<'_>, a: &Term, b: &Term, gone: &[char]) -> Result<VarId, BuildError> {
    let mut tensor = b.tensor;
    for label in gone.iter().filter(|_| gone.len() > 1) {
        let (own, its) = (extent(operands, &[a], *label)?, extent(operands, &[b], *label)?);
        let same = operands.call("eq", [own, its])?;
        tensor =
            operands.demand(tensor, same, "shape-mismatch for sum: extents that are summed over differ")?;
    }
    Ok(tensor)
}

/// Arranges the axes of a tensor as (shared, …, first group, second group), where each group becomes one axis.
fn grouped(
    operands: &mut Operands<'_>,
    term: &Term,
    shared: &[char],
    groups: [&[char]; 2],
) -> Result<VarId, BuildError> {
    let place = |label: &char| term.labels.iter().position(|l| l == label);
    let mut order: Vec<Option<usize>> = shared.iter().map(place).collect();
    for group in groups {
        if group.is_empty() { order.push(None) } else { order.extend(group.iter().map(place)) }
    }
    let turned = operands.shuffled(term.tensor, order)?;
    if groups.iter().all(|group| group.len() <= 1) {
        return Ok(turned);
    }
    let mut shape = vec![Operand::Var(turned)];
    for label in shared {
        shape.push(extent(operands, &[term], *label)?);
    }
    for group in groups {
        let mut all = Operand::from(1_i64);
        for label in group {
            let extent = extent(operands, &[term], *label)?;
            all = operands.call("mul", [all, extent])?.into();
        }
        shape.push(all);
    }
    operands.call_with("reshape", &shape, &[])
}
