//! `constant_fold`: replaces values computed only from constants by constants.
//!
//! The value comes from the reference `perform`, which equals the kernels bit for bit. An Apply stays in the graph in
//! five cases:
//! * `perform` returns an error, because the error belongs to the call.
//! * The op is not pure.
//! * The op is external, because its reference may round differently from its C code.
//! * The op is a loop or a branch, whose time depends on values and may have no bound.
//! * Its operands or results exceed [`MOST_BYTES`], or their sizes are unknown before the computation.
//!
//! Only sizes decide, never values, so graphs that differ only in values fold alike and share a module.

use super::rebuild::Rebuild;
use crate::{Branch, Scan};
use precast_codegen::external::ExternalCOp;
use precast_graph::{Apply, Array, BuildError, Extent, FunctionGraph, Origin, TensorType, Type, VarId};
use std::any::Any;

/// The maximum number of bytes of the operands, and of the results, of a folded Apply. `perform` is slow, and a
/// larger constant would enlarge an entry more than the saved time is worth.
pub(super) const MOST_BYTES: usize = 64 * 1024;

/// Computes the Applies that only depend on constants.
pub(super) fn constant_fold(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let mut rebuild = Rebuild::new(graph)?;
    for apply in graph.applies() {
        let inputs = rebuild.get_all(&apply.inputs)?;
        match fold(graph, &rebuild, apply, &inputs) {
            None => rebuild.apply_new(apply.op.clone(), &inputs, &apply.outputs)?,
            Some(results) => {
                for (old, value) in apply.outputs.iter().zip(results) {
                    let fresh = rebuild.new.constant_of(value, graph.ty(*old).clone());
                    rebuild.stands_for(fresh, *old);
                }
            }
        }
    }
    rebuild.finish()
}

/// Returns the values of an Apply's outputs if it can be folded.
fn fold(graph: &FunctionGraph, rebuild: &Rebuild<'_>, apply: &Apply, inputs: &[VarId]) -> Option<Vec<Array>> {
    let value = |v: &VarId| match &rebuild.new.variable(*v).origin {
        Origin::Constant(value) => Some(value),
        _ => None,
    };
    let values = inputs.iter().map(value).collect::<Option<Vec<&Array>>>()?;
    let op: &dyn Any = &*apply.op;
    let has_body = op.is::<Scan>() || op.is::<Branch>();
    if values.is_empty() || !apply.op.is_pure() || op.is::<ExternalCOp>() || has_body {
        return None;
    }
    // The op's own type rule gives the sizes of the results. If it does not, the results may have any size.
    let exact = values.iter().zip(inputs).map(|(value, v)| known(rebuild.new.ty(*v), value));
    let exact = exact.collect::<Option<Vec<Type>>>()?;
    let results = apply.op.make_node(&exact).ok()?;
    if bytes(&exact)? > MOST_BYTES || bytes(&results)? > MOST_BYTES {
        return None;
    }
    let results = apply.op.perform(&values).ok()?;
    let fits = |(old, value): (&VarId, &Array)| graph.ty(*old).admits(value.dtype(), value.shape());
    (results.len() == apply.outputs.len() && apply.outputs.iter().zip(&results).all(fits)).then_some(results)
}

/// Returns the type of a value with every extent known; `None` for user types, whose values only their author can
/// create.
fn known(ty: &Type, value: &Array) -> Option<Type> {
    match ty {
        Type::Scalar(_) => Some(ty.clone()),
        Type::Tensor(_) => {
            let shape = value.shape().iter().map(|n| Extent::Fixed(*n as u64)).collect();
            Some(Type::Tensor(TensorType { dtype: value.dtype(), shape }))
        }
        _ => None,
    }
}

/// Returns the number of bytes of all values of these types; `None` if an extent is unknown.
fn bytes(types: &[Type]) -> Option<usize> {
    let of = |ty: &Type| {
        let plain = matches!(ty, Type::Scalar(_) | Type::Tensor(_));
        let extents = ty.shape().iter().try_fold(1_usize, |size, extent| match extent {
            Extent::Fixed(n) => size.checked_mul(usize::try_from(*n).ok()?),
            Extent::Unknown => None,
        });
        extents.filter(|_| plain)?.checked_mul(ty.dtype().itemsize_bytes())
    };
    types.iter().map(of).try_fold(0_usize, |sum, bytes| sum.checked_add(bytes?))
}
