//! `simplify`: drops Applies without effect, and replaces two Applies by one.
//!
//! Every rule is exact: the same bits for every value, including NaN, infinities, -0, subnormals and wrapping (except
//! for NaN payloads, as everywhere). No rule reorders operations that round, and none looks at the *value* of a
//! constant, so the module of a graph does not depend on values.
//!
//! | rule | because |
//! |---|---|
//! | `dimshuffle(dimshuffle(x))` is one dimshuffle | both only move elements, and both forms reject the same shapes |
//! | `dimshuffle(x)` that keeps every dimension is `x` | the same elements in the same places |
//! | `custom_gradient(x, …)` is `x` | only derivatives use its rule |
//! | a number as a tensor and back is the number | the same bits |
//! | `identity(x)` and `stop_gradient(x)` are `x`; `cast(x)` to its own dtype is `x` | every element is kept |
//! | `x[:]` is `x` | every element, in its place |
//! | `deep_copy(x)`, `view(x)` are `x` | the elements are the same in any memory; `copy_outputs` handles outputs |
//! | `cast(cast(x, B), C)` is `cast(x, C)` | if B [`holds`] x's dtype exactly, and so does C or both are integers (wrap) |
//! | `neg(neg(x))` is `x` | flips a sign bit twice; on integers minus minus x is x, wrapped or not |
//! | `logical_not(logical_not(x))` is `x` | bools are 0 or 1 |
//! | `abs(abs(x))`, `abs(neg(x))` are `abs(x)` | floats: the sign bit is cleared anyway; integers: see below |
//!
//! For signed integers `abs(-x)` is `abs(x)`, also for the least integer, which stays unchanged. Unsigned integers wrap, so
//! for them only the rule for `abs(abs(x))` applies.

use super::rebuild::Rebuild;
use crate::control::CustomGradient;
use crate::index::Subtensor;
use crate::scalar::{Cast, ScalarOp};
use crate::shape::{Alloc, DeepCopy, ScalarFromTensor, View};
use crate::{DimShuffle, Elemwise};
use precast_graph::{BuildError, DType, FunctionGraph, Op, Type, VarId};
use std::any::Any;
use std::sync::Arc;

/// The replacement of an Apply.
enum Simpler {
    /// An existing variable.
    Value(VarId),
    /// Another op on another variable.
    Apply(Arc<dyn Op>, VarId),
}

/// Applies the rules of the module's table until none matches.
pub(super) fn simplify(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let mut rebuild = Rebuild::new(graph)?;
    for apply in graph.applies() {
        let (mut op, mut inputs) = (Arc::clone(&apply.op), rebuild.get_all(&apply.inputs)?);
        // Each step removes an Apply from consideration, so the loop ends.
        let value = loop {
            match simpler(&rebuild.new, &*op, &inputs) {
                Some(Simpler::Apply(other, input)) => (op, inputs) = (other, vec![input]),
                Some(Simpler::Value(value)) => break Some(value),
                None => break None,
            }
        };
        match value {
            Some(value) => rebuild.stands_for(value, apply.outputs[0]),
            None => rebuild.apply_new(op, &inputs, &apply.outputs)?,
        }
    }
    rebuild.finish()
}

fn simpler(graph: &FunctionGraph, op: &dyn Op, inputs: &[VarId]) -> Option<Simpler> {
    let any: &dyn Any = op;
    if any.is::<CustomGradient>() {
        return Some(Simpler::Value(inputs[0]));
    }
    let [input] = inputs else { return None };
    if let Some(outer) = any.downcast_ref::<DimShuffle>() {
        return dimshuffle(graph, outer, *input);
    }
    if any.is::<ScalarFromTensor>() {
        let producer = graph.producer(*input)?;
        let is_number = (&*producer.op as &dyn Any).is::<Alloc>() && producer.inputs.len() == 1;
        let number = producer.inputs[0];
        return (is_number && matches!(graph.ty(number), Type::Scalar(_))).then_some(Simpler::Value(number));
    }
    let is_all = any.downcast_ref::<Subtensor>().is_some_and(|part| part.index.is_empty());
    if is_all || any.is::<DeepCopy>() || any.is::<View>() {
        return Some(Simpler::Value(*input));
    }
    elementwise(graph, &*any.downcast_ref::<Elemwise>()?.scalar, *input)
}

fn dimshuffle(graph: &FunctionGraph, outer: &DimShuffle, input: VarId) -> Option<Simpler> {
    let keeps = outer.order.iter().enumerate().all(|(position, d)| *d == Some(position));
    if keeps && outer.order.len() == graph.ty(input).ndim() {
        return Some(Simpler::Value(input));
    }
    let producer = graph.producer(input)?;
    let op: &dyn Any = &*producer.op;
    let inner = op.downcast_ref::<DimShuffle>()?;
    let order = outer.order.iter().map(|d| d.and_then(|d| inner.order.get(d).copied().flatten()));
    Some(Simpler::Apply(Arc::new(DimShuffle::new(order.collect())), producer.inputs[0]))
}

fn elementwise(graph: &FunctionGraph, outer: &dyn ScalarOp, input: VarId) -> Option<Simpler> {
    let dtype = graph.ty(input).dtype();
    if matches!(outer.name(), "identity" | "stop_gradient") || to(outer) == Some(dtype) {
        return Some(Simpler::Value(input));
    }
    let producer = graph.producer(input)?;
    let (op, base) = ((&*producer.op) as &dyn Any, *producer.inputs.first()?);
    let inner = &*op.downcast_ref::<Elemwise>()?.scalar;
    if let (Some(last), Some(middle)) = (to(outer), to(inner)) {
        let first = graph.ty(base).dtype();
        let exact = outer.output(&[first]).is_some()
            && holds(middle, first)
            && (holds(last, first) || middle.is_integer() && last.is_integer());
        return exact.then(|| Simpler::Apply(cast(last), base));
    }
    match (outer.name(), inner.name()) {
        ("neg", "neg") | ("logical_not", "logical_not") => Some(Simpler::Value(base)),
        ("abs", "abs") => Some(Simpler::Value(input)),
        ("abs", "neg") if !dtype.is_unsigned() => {
            Some(Simpler::Apply(Arc::new(Elemwise::new(crate::scalar::find("abs")?)), base))
        }
        _ => None,
    }
}

fn cast(to: DType) -> Arc<dyn Op> {
    Arc::new(Elemwise::new(Arc::new(Cast { to })))
}

/// Returns the target dtype of a cast.
fn to(scalar: &dyn ScalarOp) -> Option<DType> {
    let any: &dyn Any = scalar;
    any.downcast_ref::<Cast>().map(|cast| cast.to)
}

/// Returns whether `wide` can hold every value of dtype `from`, so that nothing is lost and every further cast sees
/// the same number. A complex dtype only holds itself here, because a cast from it drops a part.
fn holds(wide: DType, from: DType) -> bool {
    if wide == from {
        return true;
    }
    if wide.is_complex() || from.is_complex() {
        return false;
    }
    match (digits(wide), digits(from)) {
        _ if from == DType::Bool => true,
        _ if wide == DType::Bool => false,
        // Signed integers have one bit less for the magnitude, and do not fit into unsigned ones at all.
        (wide_digits, from_digits) if from.is_integer() => {
            (wide.is_float() || from.is_unsigned() || !wide.is_unsigned()) && wide_digits >= from_digits
        }
        // The two 16-bit formats do not contain each other: bf16 has the exponents of f32, f16 has more digits.
        _ if wide.is_float() && from.is_float() => wide.itemsize_bytes() > from.itemsize_bytes(),
        _ => false,
    }
}

/// Returns the number of binary digits of an integer, without the sign, that a dtype can hold exactly.
fn digits(dtype: DType) -> usize {
    match dtype {
        DType::Bool => 1,
        DType::F16 => 11,
        DType::Bf16 => 8,
        DType::F32 | DType::C64 => 24,
        DType::F64 | DType::C128 => 53,
        integer => 8 * integer.itemsize_bytes() - usize::from(!integer.is_unsigned()),
    }
}
