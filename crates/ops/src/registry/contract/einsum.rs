//! `einsum`: reads the labels of its operands' axes from the subscripts.

use super::super::operand::Operands;
use super::sums::{Extents, Term, sum_of_products};
use crate::rows::Row;
use precast_graph::{BuildError, Prop, Props, VarId};

/// Builds `einsum("ij,jk->ik", x, y)`; `...` stands for axes without labels. Without `->`, the result has the labels
/// that occur once, in alphabetical order.
pub(in crate::registry) fn einsum(
    operands: &mut Operands<'_>,
    _: &Row,
    _: &Props,
) -> Result<VarId, BuildError> {
    operands.expect_between(2, usize::MAX)?;
    let text = match (operands.args[0].prop(), &operands.args[0]) {
        (Some(Prop::Str(text)), _) => text.replace(' ', ""),
        (_, other) => {
            return Err(operands.error(format!(
                "starts with {}, expected a string such as \"ij,jk->ik\"",
                other.describe()
            )));
        }
    };
    let args = &operands.args[1..];
    let mut inner = operands.with(args);
    let inputs = inner.cast_all(inner.common_array())?;
    let (left, right) =
        text.split_once("->").map_or((text.as_str(), None), |(left, right)| (left, Some(right)));
    let parts: Vec<&str> = left.split(',').collect();
    if parts.len() != inputs.len() {
        return Err(inner.error(format!("\"{text}\" names {} tensors, found {}", parts.len(), inputs.len())));
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
        return Err(inner.error(format!("the result has unknown label `{label}`")));
    }
    if let Some(label) = result.iter().find(|label| result.iter().filter(|other| other == label).count() > 1)
    {
        return Err(inner.error(format!("the result has label `{label}` twice")));
    }
    let extents = Extents::Broadcast(terms.iter().map(|term| term.labels.clone()).collect());
    sum_of_products(&mut inner, terms, &result, &extents)
}

/// Returns the labels of a tensor. The axes of `...` are labelled with digits, counted from the last axis.
fn labels(text: &str, ndim: Option<usize>) -> Result<Vec<char>, String> {
    let named = text.replace("...", "");
    if let Some(wrong) = named.chars().find(|c| !c.is_ascii_alphabetic()) {
        return Err(format!("has invalid label `{wrong}`, expected a letter"));
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

/// Returns the implied labels of the result: the unnamed axes, then the labels that occur once.
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
