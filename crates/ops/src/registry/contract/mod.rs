//! Products of tensors over any of their axes: `einsum`, `tensordot`, `inner`, `outer`, `vdot`.
//!
//! ```text
//! einsum("bij,bjk->ik", x, y)
//!   one tensor   "ii" is a diagonal; a label that neither other operands nor the result have is summed over
//!   two          shared labels that are still needed come first, the rest are summed over:
//!                (needed, own, summed) @ (needed, summed, own), which is `matmul`; without summed labels it is `mul`
//!   more         the first with the second, their result with the third, …
//! ```
//! Sums are dot products, so they have the bits of `dot`. f16 and bf16 are computed in f32 and rounded once.
//! `reshape` merges several axes into one; a run-time check ensures that their extents agree. In `einsum` an extent
//! of 1 fits every other extent: summed axes are expanded before the product, all other axes are broadcast.

mod einsum;
mod sums;

use self::sums::{Extents, Term, sum_of_products};
use super::operand::Operands;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, Prop, Props, VarId};

pub(super) use self::einsum::einsum;

/// Builds `outer(x, y)`: the product of each pair of elements.
pub(super) fn outer(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let inputs = operands.cast_all(operands.common_array())?;
    let (x, y) =
        (operands.call("flatten", [inputs[0].into()])?, operands.call("flatten", [inputs[1].into()])?);
    let (column, row) = (operands.shuffled(x, [Some(0), None])?, operands.shuffled(y, [None, Some(0)])?);
    operands.call("mul", [column.into(), row.into()])
}

/// Builds `vdot(x, y)`: the dot product of all elements, with `x` conjugated.
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

/// Builds `inner(x, y)`: sums of products over the last axes of both. If one operand is a number, it is the product.
pub(super) fn inner(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let inputs = operands.cast_all(operands.common_array())?;
    let last = [0, 1].map(|i| operands.ndim(inputs[i]).checked_sub(1));
    let [Some(a), Some(b)] = last else { return operands.call("mul", [inputs[0].into(), inputs[1].into()]) };
    over(operands, [inputs[0], inputs[1]], [&[a], &[b]])
}

/// Builds `tensordot(x, y, axes=2)` and `tensordot(x, y, axes=((1, 0), (0, 1)))`: sums of products over the last axes
/// of `x` and the first axes of `y`, or over pairs of axes.
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

/// Builds the product of two tensors over pairs of axes; the remaining axes of the first tensor come first.
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
