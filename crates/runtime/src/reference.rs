//! The reference of a graph's ops: `perform`, and for external ops expressions that may call C.
//!
//! That C belongs to another op. It is found in the layers or compiled like any module, before the first value is
//! computed, so that a compile error is not mistaken for rejected values. If neither is possible, the op has no
//! reference.

use crate::error::FunctionError;
use crate::runtime::Runtime;
use precast_codegen::external::ExternalCOp;
use precast_core::native::ErrorKind;
use precast_core::{ArrayRef, CallError, CodeOrigin, Function};
use precast_graph::{Array, FunctionGraph, Op, PerformError, Type};
use std::any::Any;
use std::sync::Arc;

/// The evaluation of a graph's ops.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reference {
    /// The compiled modules that references call.
    compiled: Arc<Vec<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    op: Arc<dyn Op>,
    inputs: Vec<Type>,
    function: Function,
}

impl Reference {
    /// Finds or compiles the modules that the references of a graph's ops call.
    pub(crate) fn new(runtime: &Runtime, graph: &FunctionGraph) -> Result<Self, FunctionError> {
        let mut compiled: Vec<Compiled> = Vec::new();
        for apply in graph.applies() {
            let any: &dyn Any = &*apply.op;
            let Some(op) = any.downcast_ref::<ExternalCOp>() else { continue };
            // A reference that does not support these types is skipped.
            let calls = precast_ops::run_by_reference(op, &graph.input_types(apply).to_vec());
            for graph in calls.unwrap_or_default() {
                let (op, inputs) =
                    (Arc::clone(&graph.applies()[0].op), graph.input_types(&graph.applies()[0]));
                if compiled.iter().any(|known| *known.op == *op && known.inputs == inputs) {
                    continue;
                }
                let function = runtime.resolve("", &graph)?;
                let interpreted =
                    function.provenance().iter().any(|part| part.served == CodeOrigin::Interpreted);
                if !interpreted {
                    compiled.push(Compiled { op, inputs, function });
                }
            }
        }
        Ok(Self { compiled: Arc::new(compiled) })
    }

    /// Evaluates an op by its reference.
    pub(crate) fn perform(&self, op: &dyn Op, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        precast_ops::perform(op, inputs, &|called, inputs| self.run(called, inputs))
    }

    fn run(&self, op: &ExternalCOp, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let fits = |ty: &Type, array: &&Array| ty.admits(array.dtype(), array.shape());
        let takes = |known: &&Compiled| {
            let wanted: &dyn Op = op;
            let same = known.inputs.len() == inputs.len() && *known.op == *wanted;
            same && known.inputs.iter().zip(inputs).all(|(ty, array)| fits(ty, array))
        };
        let name = &op.declaration().name;
        let Some(known) = self.compiled.iter().find(takes) else {
            return Err(PerformError::NoReference { op: name.clone() });
        };
        let arguments: Vec<ArrayRef<'_>> = inputs.iter().map(|array| ArrayRef::from(*array)).collect();
        known.function.call(&arguments).map_err(|error| {
            let kind = if let CallError::Op { kind, .. } = &error { *kind } else { ErrorKind::Value };
            PerformError::of_kind(name, kind, precast_core::event::chain(&error))
        })
    }
}
