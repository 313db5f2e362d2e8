//! Extracts one Apply of a graph into a graph and a module of its own.

use super::contract::Contract;
use crate::error::FunctionError;
use crate::reference::Reference;
use crate::runtime::Runtime;
use precast_abi::compat;
use precast_codegen::{params::apply_slots, single};
use precast_core::native::LoadedModule;
use precast_graph::{Array, FunctionGraph, Origin, Type, VarId};

/// An extracted Apply that can be run by itself.
#[derive(Debug, Clone)]
pub(crate) struct Alone {
    /// The position in the original graph.
    pub(super) apply: usize,
    pub(super) op: String,
    pub(super) signature: String,
    /// The graph of this Apply: its inputs and outputs are those of the Apply.
    pub(super) graph: FunctionGraph,
    /// The reference for its results.
    pub(super) reference: Reference,
    /// The values of inputs that are constants in the original graph.
    pub(super) fixed: Vec<Option<Array>>,
    pub(super) module: LoadedModule,
    pub(super) slots: Vec<Array>,
    pub(super) contract: Contract,
}

/// An Apply that cannot be run by itself.
#[derive(Debug, Clone)]
pub(crate) struct Skipped {
    pub(super) apply: usize,
    pub(super) signature: String,
    pub(super) reason: String,
}

/// Extracts an Apply, and loads or compiles its module.
pub(crate) fn take(
    runtime: &Runtime,
    graph: &FunctionGraph,
    position: usize,
) -> Result<Result<Alone, Skipped>, FunctionError> {
    let apply = &graph.applies()[position];
    let library = runtime.ops().c();
    let signature = graph.signature(apply);
    let skipped = |reason: &str| {
        Ok(Err(Skipped { apply: position, signature: signature.clone(), reason: reason.to_owned() }))
    };
    let types: Vec<Type> = graph.input_types(apply).into_iter().chain(graph.output_types(apply)).collect();
    if types.iter().any(|ty| ty.as_user().is_some_and(precast_graph::UserType::is_opaque)) {
        return skipped("an opaque value cannot cross a graph boundary");
    }
    if !apply.op.is_pure() {
        return skipped("the op is not deterministic");
    }
    let alone = single(graph, position, library)?;
    let Some(module) = runtime.module_of(&alone)? else {
        return skipped("no layer has a separate module for it, and this policy does not compile");
    };
    let headers = library.c_op(&*apply.op).map(precast_codegen::CLinkerObject::c_headers).unwrap_or_default();
    let constant = |(variable, input): (&VarId, &VarId)| match &graph.variable(*variable).origin {
        Origin::Constant(value) => Some(widened(value.clone(), alone.ty(*input))),
        _ => None,
    };
    let outputs = alone.outputs().iter().map(|output| alone.ty(*output).clone()).collect();
    Ok(Ok(Alone {
        apply: position,
        op: signature.split(['(', '{']).next().unwrap_or_default().to_owned(),
        fixed: apply.inputs.iter().zip(alone.inputs()).map(constant).collect(),
        slots: apply_slots(graph, position, library)?,
        contract: Contract {
            outputs,
            types: library.types().clone(),
            view_map: apply.op.view_map(),
            destroy_map: apply.op.destroy_map(),
            approximate: false,
            knows_readonly: !headers.iter().any(|header| compat::is_header(header)),
        },
        signature,
        reference: Reference::new(runtime, &alone)?,
        graph: alone,
        module,
    }))
}

/// Adds a dimension to an array without dimensions if the extracted Apply has one.
pub(super) fn widened(array: Array, ty: &Type) -> Array {
    if array.shape().is_empty() && ty.ndim() == 1 {
        return Array::from_bits(array.dtype(), &[1], &array.bits()).unwrap_or(array);
    }
    array
}
