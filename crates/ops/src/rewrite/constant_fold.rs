//! `constant_fold`: what is computed from constants only becomes a constant.
//!
//! The value is what the reference `perform` gives, which is what the kernels give, bit for bit. An Apply stays if
//! `perform` refuses it (the error belongs to the call), if its op is not pure, if it is an external op (whose reference may
//! round otherwise than its C), or if it is large: operands and results of at
//! most [`MOST_BYTES`], known before anything is computed. Sizes decide, values never do, so graphs that differ only in
//! values fold alike and share a module.

use super::rebuild::Rebuild;
use precast_codegen::external::ExternalCOp;
use precast_graph::{Apply, Array, BuildError, Extent, FunctionGraph, Origin, TensorType, Type, VarId};
use std::any::Any;

/// Most bytes of the operands, and of the results, of what is folded. `perform` is slow, and a larger constant would weigh
/// more in an entry than the time it saves.
pub(super) const MOST_BYTES: usize = 64 * 1024;

/// Computes what constants alone decide.
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

/// The values of an Apply's outputs, if it is to be folded.
fn fold(graph: &FunctionGraph, rebuild: &Rebuild<'_>, apply: &Apply, inputs: &[VarId]) -> Option<Vec<Array>> {
    let value = |v: &VarId| match &rebuild.new.variable(*v).origin {
        Origin::Constant(value) => Some(value),
        _ => None,
    };
    let values = inputs.iter().map(value).collect::<Option<Vec<&Array>>>()?;
    let op: &dyn Any = &*apply.op;
    if values.is_empty() || !apply.op.is_pure() || op.is::<ExternalCOp>() {
        return None;
    }
    // The op's own type rule tells the sizes of results; where it does not, they may be anything.
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

/// The type of one value, with every extent; `None` for types of users, whose values are theirs to make.
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

/// The bytes of all values of these types; `None` if an extent is not known.
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
