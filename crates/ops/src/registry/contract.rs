//! Products of tensors over any of their axes: `einsum`, `tensordot`, `inner`, `outer`, `vdot`.
//!
//! ```text
//! einsum("bij,bjk->ik", x, y)
//!   one tensor   "ii" is a diagonal; a label that nobody else has and the result lacks is summed over
//!   two          labels of both that are still needed stand in front, those that are not are summed over:
//!                (needed, own, summed) @ (needed, summed, own), which is `matmul`; if nothing is summed over, `mul`
//!   more         the first with the second, what comes of it with the third, …
//! ```
//! What is summed over is a dot product, so it has the bits of `dot`. f16 and bf16 are computed in f32 and rounded once. Several axes
//! become one by `reshape`; that their extents agree is checked when it is run. In `einsum` an extent of 1 fits every other one: what is
//! summed over is stretched before, all else is broadcast.

use super::operand::Operands;
use crate::declared::Declared;
use crate::rows::Row;
use crate::shape::{EinsumOperand, Pair};
use precast_graph::{BuildError, DType, Extent, Operand, Prop, Props, VarId};

/// A tensor and a label for each of its axes.
#[derive(Debug, Clone)]
struct Term {
    tensor: VarId,
    labels: Vec<char>,
}

/// What extents of one label may be.
#[derive(Debug)]
enum Extents {
    /// The same.
    Equal,
    /// The same or 1, as in `einsum`; with the labels of its operands, for messages.
    Broadcast(Vec<Vec<char>>),
}

/// `outer(x, y)`: the product of each element with each.
pub(super) fn outer(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let inputs = operands.cast_all(operands.common_array())?;
    let (x, y) =
        (operands.call("flatten", [inputs[0].into()])?, operands.call("flatten", [inputs[1].into()])?);
    let (column, row) = (operands.shuffled(x, [Some(0), None])?, operands.shuffled(y, [None, Some(0)])?);
    operands.call("mul", [column.into(), row.into()])
}

/// `vdot(x, y)`: the dot product of all elements, those of `x` conjugated.
pub(super) fn vdot(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let inputs = operands.cast_all(operands.common_array())?;
    let (mut x, y) =
        (operands.call("flatten", [inputs[0].into()])?, operands.call("flatten", [inputs[1].into()])?);
    if operands.graph.ty(x).dtype().is_complex() {
        x = operands.call("conj", [x.into()])?;
    }
    operands.call("dot", [x.into(), y.into()])
}

/// `inner(x, y)`: sums of products over the last axes of both; of a number, the product.
pub(super) fn inner(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let inputs = operands.cast_all(operands.common_array())?;
    let last = [0, 1].map(|i| operands.ndim(inputs[i]).checked_sub(1));
    let [Some(a), Some(b)] = last else { return operands.call("mul", [inputs[0].into(), inputs[1].into()]) };
    over(operands, [inputs[0], inputs[1]], [&[a], &[b]])
}

/// `tensordot(x, y, axes=2)`, `tensordot(x, y, axes=((1, 0), (0, 1)))`: sums of products over the last axes of `x` and the first of
/// `y`, or over pairs of axes.
pub(super) fn tensordot(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    let inputs = operands.cast_all(operands.common_array())?;
    let ndim = [operands.ndim(inputs[0]), operands.ndim(inputs[1])];
    let wrong = || declared.wrong("axes", "a number of axes, or two lists of them");
    let axes = match props.get("axes") {
        Some(Prop::Int(n)) => {
            let n = usize::try_from(*n).ok().filter(|n| *n <= ndim[0].min(ndim[1])).ok_or_else(wrong)?;
            [(ndim[0] - n..ndim[0]).collect(), (0..n).collect()]
        }
        Some(Prop::List(lists)) if lists.len() == 2 => {
            let of = |i: usize| {
                let named = Props::from([("axes".to_owned(), lists[i].clone())]);
                super::settings::axes(operands.function, "axes", &named, ndim[i])
                    .map(Option::unwrap_or_default)
            };
            [of(0)?, of(1)?]
        }
        _ => return Err(wrong().into()),
    };
    if axes[0].len() != axes[1].len() {
        return Err(wrong().into());
    }
    over(operands, [inputs[0], inputs[1]], [&axes[0], &axes[1]])
}

/// The product of two tensors over pairs of axes; what is left of the first comes first.
fn over(operands: &mut Operands<'_>, inputs: [VarId; 2], axes: [&[usize]; 2]) -> Result<VarId, BuildError> {
    let mut names = 'a'..;
    let first: Vec<char> = names.by_ref().take(operands.ndim(inputs[0])).collect();
    let own: Vec<char> = names.take(operands.ndim(inputs[1])).collect();
    let label = |d: usize| axes[1].iter().position(|axis| *axis == d).map_or(own[d], |i| first[axes[0][i]]);
    let second: Vec<char> = (0..own.len()).map(label).collect();
    let left = first.iter().filter(|label| !second.contains(label));
    let result: Vec<char> =
        left.chain(second.iter().filter(|label| !first.contains(label))).copied().collect();
    let terms = vec![Term { tensor: inputs[0], labels: first }, Term { tensor: inputs[1], labels: second }];
    sum_of_products(operands, terms, &result, &Extents::Equal)
}

/// `einsum("ij,jk->ik", x, y)`, with `...` for axes without labels; without `->`, the labels that come once, in the alphabet's order.
pub(super) fn einsum(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(2, usize::MAX)?;
    let text = match (operands.args[0].prop(), &operands.args[0]) {
        (Some(Prop::Str(text)), _) => text.replace(' ', ""),
        (_, other) => {
            return Err(operands
                .error(format!("starts with {}, expected a text such as \"ij,jk->ik\"", other.describe())));
        }
    };
    let args = &operands.args[1..];
    let mut inner = Operands { graph: operands.graph, function: operands.function, args };
    let inputs = inner.cast_all(inner.common_array())?;
    let (left, right) =
        text.split_once("->").map_or((text.as_str(), None), |(left, right)| (left, Some(right)));
    let parts: Vec<&str> = left.split(',').collect();
    if parts.len() != inputs.len() {
        return Err(inner.error(format!("\"{text}\" is of {} tensors, found {}", parts.len(), inputs.len())));
    }
    let mut terms = Vec::new();
    for (part, tensor) in parts.iter().zip(inputs) {
        let ndim = inner.ndim(tensor);
        let labels =
            labels(part, Some(ndim)).map_err(|problem| inner.error(format!("\"{part}\" {problem}")))?;
        terms.push(Term { tensor, labels });
    }
    let result = match right {
        Some(right) => {
            let most = terms
                .iter()
                .map(|term| term.labels.iter().filter(|label| !label.is_alphabetic()).count())
                .max();
            let named = right.replace("...", "").len();
            let ndim = right.contains("...").then_some(named + most.unwrap_or(0));
            labels(right, ndim).map_err(|problem| inner.error(format!("\"{right}\" {problem}")))?
        }
        None => implied(&terms),
    };
    if let Some(label) = result.iter().find(|label| !terms.iter().any(|term| term.labels.contains(label))) {
        return Err(inner.error(format!("the result has `{label}`, which no tensor has")));
    }
    if let Some(label) = result.iter().find(|label| result.iter().filter(|other| other == label).count() > 1)
    {
        return Err(inner.error(format!("the result has `{label}` twice")));
    }
    let extents = Extents::Broadcast(terms.iter().map(|term| term.labels.clone()).collect());
    sum_of_products(&mut inner, terms, &result, &extents)
}

/// The labels of a tensor; the axes that `...` stands for have digits, counted from the last of them.
fn labels(text: &str, ndim: Option<usize>) -> Result<Vec<char>, String> {
    let named = text.replace("...", "");
    if let Some(wrong) = named.chars().find(|c| !c.is_ascii_alphabetic()) {
        return Err(format!("has `{wrong}`; labels are letters"));
    }
    let Some((before, after)) = text.split_once("...") else {
        return match ndim {
            Some(ndim) if ndim != named.len() => {
                Err(format!("has {} labels for {ndim} dimension(s)", named.len()))
            }
            _ => Ok(named.chars().collect()),
        };
    };
    let rest = ndim.and_then(|ndim| ndim.checked_sub(named.len())).filter(|rest| *rest <= 10);
    let rest = rest.ok_or_else(|| {
        format!("has {} labels, and `...`, for {} dimension(s)", named.len(), ndim.unwrap_or(0))
    })?;
    let unnamed = (0..rest).rev().filter_map(|i| char::from_digit(i as u32, 10));
    Ok(before.chars().chain(unnamed).chain(after.chars()).collect())
}

/// The labels of the result where none are given: the unnamed ones, then those that come once.
fn implied(terms: &[Term]) -> Vec<char> {
    let all: Vec<char> = terms.iter().flat_map(|term| term.labels.iter().copied()).collect();
    let mut unnamed: Vec<char> = all.iter().copied().filter(char::is_ascii_digit).collect();
    unnamed.sort_unstable_by(|a, b| b.cmp(a));
    unnamed.dedup();
    let mut once: Vec<char> = all.iter().copied().filter(|c| c.is_ascii_alphabetic()).collect();
    once.retain(|label| all.iter().filter(|other| *other == label).count() == 1);
    once.sort_unstable();
    unnamed.into_iter().chain(once).collect()
}

/// The sum over all labels that the result lacks of the products of the terms.
fn sum_of_products(
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

/// A tensor whose labels differ: its diagonal along those that are alike.
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

/// A tensor without the axes that nobody needs.
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
    // Sums of truth values are one, as in products.
    let dtype = operands.graph.ty(term.tensor).dtype();
    let sum = if dtype == DType::Bool { "any" } else { "sum" };
    let tensor = operands.call_with(sum, &[term.tensor.into()], &[("axis", Operand::List(gone))])?;
    Ok(Term {
        tensor: operands.cast(tensor, dtype)?,
        labels: term.labels.into_iter().filter(needed).collect(),
    })
}

/// Two tensors, the second of which is operand `number`, whose extents of common labels are checked; those that are summed over are the same afterwards.
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

/// The product of two tensors, summed over the labels of both that nobody needs.
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

/// The extent of the first tensor that has a label.
fn extent(operands: &mut Operands<'_>, terms: &[&Term], label: char) -> Result<Operand, BuildError> {
    let place = |term: &&Term| term.labels.iter().position(|l| *l == label).map(|axis| (term.tensor, axis));
    let found = terms.iter().find_map(place);
    let (tensor, axis) = found.ok_or_else(|| operands.error(format!("no tensor has `{label}`")))?;
    operands.extent(tensor, axis)
}

/// The second tensor; an error when it is run unless the extents that are summed over are those of the first. Where there is one,
/// the product says it.
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

/// The axes of a tensor as (shared, …, first group, second group), each group one axis.
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
