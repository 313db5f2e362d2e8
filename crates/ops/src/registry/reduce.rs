//! `sum`, `mean` and `max` of the text form: `axis` and `keepdims` as in NumPy.

use super::operand::Operands;
use super::{axes, first};
use crate::{DimShuffle, Reduce, ReduceKind};
use precast_graph::{BuildError, DType, MakeNodeError, Prop, Props, VarId};
use std::sync::Arc;

/// Applies a reduction.
pub(super) fn reduce(operands: &mut Operands<'_>, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let name = operands.function;
    if let Some(prop) = props.keys().find(|p| *p != "axis" && *p != "keepdims") {
        return Err(MakeNodeError::prop(name, prop, "is not known; known: axis, keepdims").into());
    }
    let keepdims = match props.get("keepdims") {
        None => false,
        Some(Prop::Bool(keep)) => *keep,
        Some(other) => {
            return Err(
                MakeNodeError::prop(name, "keepdims", format!("is `{other}`, expected a bool")).into()
            );
        }
    };
    let kind = match name {
        "sum" => ReduceKind::Sum,
        "mean" => ReduceKind::Mean,
        _ => ReduceKind::Max,
    };
    let mut variable = operands.variable(0)?;
    let dtype = operands.graph.ty(variable).dtype();
    variable = match (kind, dtype) {
        (ReduceKind::Sum, DType::Bool) => operands.cast(variable, DType::I64)?,
        (ReduceKind::Mean, DType::Bool | DType::I64) => operands.cast(variable, DType::F64)?,
        _ => variable,
    };
    let ndim = operands.graph.ty(variable).ndim();
    let mut axes = axes(name, "axis", props, ndim)?;
    if let Some(axes) = &mut axes {
        axes.sort_unstable();
    }
    // All axes by name are the same as none named, so they share a module.
    let axes = axes.filter(|axes| axes.len() < ndim || ndim == 0);
    let reduced = operands.graph.apply(Arc::new(Reduce::new(kind, axes.clone())), &[variable])?;
    let reduced = first(reduced, name)?;
    if !keepdims {
        return Ok(reduced);
    }
    let mut kept = 0..;
    let is_reduced = |axis: &usize| axes.as_ref().is_none_or(|axes| axes.contains(axis));
    let order = (0..ndim).map(|axis| if is_reduced(&axis) { None } else { kept.next() }).collect();
    first(operands.graph.apply(Arc::new(DimShuffle::new(order)), &[reduced])?, name)
}

/// The functions by name.
pub(super) const FUNCTIONS: &[(&str, super::structural::Function)] = &[];

/// Adds the ops.
pub(super) fn library(c: precast_codegen::Library) -> precast_codegen::Library {
    c
}
