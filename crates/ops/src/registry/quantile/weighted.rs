//! Quantiles of weighted elements, by the method `inverted_cdf`: the first element whose cumulative share of the
//! weights reaches the fraction.
//!
//! ```text
//! order = argsort(x); cdf = cumsum(w[order]) / sum(w) ──▶ x[order][number of elements of cdf less than q]
//! ```

use super::super::operand::Operands;
use super::method::Method;
use super::{along, lined, spoilt};
use crate::order::Sort;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, VarId};

/// Computes the quantiles of weighted lines, in the dtype of the elements. If NaN is skipped, its weights are 0.
pub(super) fn quantile(
    operands: &mut Operands<'_>,
    method: Method,
    axes: Option<&[usize]>,
    fraction: VarId,
    skips: bool,
) -> Result<VarId, BuildError> {
    if method != Method::InvertedCdf {
        return Err(operands.error("takes weights only with the method `inverted_cdf`"));
    }
    if operands.ndim(fraction) > 1 {
        return Err(operands.error("takes a number or a vector of fractions"));
    }
    let tensor = operands.variable(0)?;
    let weights = weights(operands, tensor, axes)?;
    let (lines, mut weights) = (lined(operands, tensor, axes)?, lined(operands, weights, axes)?);
    checked(operands, &mut weights)?;
    if skips {
        let number = operands.call("eq", [lines.into(), lines.into()])?;
        weights = operands.call("where", [number.into(), weights.into(), 0.0.into()])?;
    }
    let order = operands.apply(Sort { positions: true, axis: 0 }, &[lines])?;
    let [sorted, weights] = [lines, weights].map(|lines| along(operands, lines, order));
    let (sorted, cdf) = (sorted?, cumulated(operands, weights?, fraction)?);

    // Counts the shares of a line that are less than each fraction: (element, fraction, rest), reduced over the first
    // axis.
    let (of_fraction, ndim) = (operands.ndim(fraction), operands.ndim(cdf));
    let rest = 1..ndim;
    let order = [Some(0)].into_iter().chain((0..of_fraction).map(|_| None)).chain(rest.clone().map(Some));
    let shares = operands.shuffled(cdf, order.collect::<Vec<_>>())?;
    let all = (0..of_fraction).map(Some).chain(rest.map(|_| None)).collect::<Vec<_>>();
    let fraction = operands.shuffled(fraction, all)?;
    let less = operands.call("lt", [shares.into(), fraction.into()])?;
    let place = operands.call_with("count_nonzero", &[less.into()], &[("axis", 0_i64.into())])?;
    let extent = operands.extent(sorted, 0)?;
    let last = operands.call("sub", [extent, 1_i64.into()])?;
    let place = operands.call("minimum", [place.into(), last.into()])?;
    let found = along(operands, sorted, place)?;
    if skips { Ok(found) } else { spoilt(operands, sorted, found) }
}

/// Returns the weights in f64 and in the shape of the elements. They have that shape already, or run along the axes
/// of the call.
fn weights(operands: &mut Operands<'_>, tensor: VarId, axes: Option<&[usize]>) -> Result<VarId, BuildError> {
    let found = operands.dtype(2);
    if found.is_complex() {
        let (op, expected) = (operands.function.to_owned(), "real numbers".to_owned());
        return Err(MakeNodeError::DType { op, input: 2, found, expected }.into());
    }
    let mut weights = operands.cast_argument(2, DType::F64)?;
    let (ndim, own) = (operands.ndim(tensor), operands.ndim(weights));
    let along: Vec<usize> = match axes {
        _ if own == ndim => (0..ndim).collect(),
        Some(axes) if own == axes.len() => axes.to_vec(),
        _ => {
            let problem = format!(
                "cannot match weights of {own} dimension(s) to elements of {ndim} without an `axis` for each"
            );
            return Err(operands.error(problem));
        }
    };
    for (axis, of_tensor) in along.iter().enumerate() {
        let (own, all) = (operands.extent(weights, axis)?, operands.extent(tensor, *of_tensor)?);
        let same = operands.call("eq", [own, all])?;
        let message = format!("{}: the weights do not have the shape of the elements", operands.function);
        weights = operands.demand(weights, same, &message)?;
    }
    let least = operands.call("ge", [weights.into(), 0.0.into()])?;
    let least = operands.call("all", [least.into()])?;
    let message = format!("{}: weights are negative or NaN", operands.function);
    weights = operands.demand(weights, least, &message)?;
    let order = (0..ndim).map(|d| along.iter().position(|axis| *axis == d));
    let spread = operands.shuffled(weights, order.collect::<Vec<_>>())?;
    let extents = operands.extents_of(tensor)?;
    operands.call_with("broadcast_to", &[&[spread.into()], extents.as_slice()].concat(), &[])
}

/// Checks at run time that the weights of each line have a finite, positive sum.
fn checked(operands: &mut Operands<'_>, weights: &mut VarId) -> Result<(), BuildError> {
    let total = operands.call_with("sum", &[(*weights).into()], &[("axis", 0_i64.into())])?;
    let finite = operands.call("isfinite", [total.into()])?;
    let some = operands.call("gt", [total.into(), 0.0.into()])?;
    let good = operands.call("logical_and", [finite.into(), some.into()])?;
    let good = operands.call("all", [good.into()])?;
    let message = format!("{}: the weights of a line are infinite or all 0", operands.function);
    *weights = operands.demand(*weights, good, &message)?;
    Ok(())
}

/// Returns the cumulative shares of the weights, in the dtype of the fractions. A share of 0 is never selected.
fn cumulated(operands: &mut Operands<'_>, weights: VarId, fraction: VarId) -> Result<VarId, BuildError> {
    let sums = operands.call_with("cumsum", &[weights.into()], &[("axis", 0_i64.into())])?;
    let total = operands.slice(sums, 0, "b", &[(-1_i64).into()])?;
    let shares = operands.call("div", [sums.into(), total.into()])?;
    let shares = operands.cast(shares, operands.graph.ty(fraction).dtype())?;
    let none = operands.call("eq", [shares.into(), 0.0.into()])?;
    operands.call("where", [none.into(), Operand::from(-1.0), shares.into()])
}
