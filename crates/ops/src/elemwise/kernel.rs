//! Generates kernels: a loop that loads operands, runs the statements of the scalar op, and stores results; or several
//! such loops and calls of block functions, as planned in `plan`.

use super::loops::{Kernel, Values};
use super::plan::Plan;
use crate::composite::Composite;
use crate::scalar::{self, ScalarOp};
use precast_codegen::LinkError;
use precast_codegen::template::render;
use precast_graph::{DType, Type};
use std::any::Any;
use std::fmt::Write as _;

/// The header for scalar ops whose kernels only compute whole vectors; documented in the header itself. Such an op
/// lists it in its headers.
pub(crate) const WHOLE: &str = "precast/ops/whole.h";

/// The maximum depth of dependent operations in a kernel that waits for its operands. In deeper kernels the
/// operations wait for each other, so more elements in flight are better.
const LIGHT_DEPTH: usize = 7;

/// The maximum number of operations per operand in such a kernel.
const LIGHT_EACH: usize = 6;

/// Returns whether a kernel with this many non-scalar operands waits for its operands rather than for its operations.
fn is_light(scalar: &dyn ScalarOp, arrays: usize) -> bool {
    let any: &dyn Any = scalar;
    let Some(composite) = any.downcast_ref::<Composite>() else { return scalar.is_cheap() };
    let mut depths = vec![0; composite.inputs()];
    for (op, arguments) in composite.steps() {
        if !op.is_cheap() {
            return false;
        }
        depths.push(1 + arguments.iter().map(|value| depths[*value]).max().unwrap_or(0));
    }
    depths.iter().all(|depth| *depth <= LIGHT_DEPTH) && composite.steps().len() <= LIGHT_EACH * arrays
}

/// Returns whether the type of an operand guarantees a single element, so that the kernel loads it once.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    ty.ndim() == 0
}

/// Returns the scalar flags of the operands, e.g. `0, 1, 0`.
pub(crate) fn flags(inputs: &[Type]) -> String {
    let flags: Vec<&str> = inputs.iter().map(|ty| if is_scalar(ty) { "1" } else { "0" }).collect();
    flags.join(", ")
}

/// Generates the C function `<name>_<suffix>`, a kernel of `scalar` over operands of these types. `data` holds the
/// inputs, then the outputs. The text starts with the block functions that the kernel calls.
pub(crate) fn kernel(
    scalar: &dyn ScalarOp,
    name: &str,
    suffix: &str,
    inputs: &[Type],
    outputs: &[DType],
) -> Result<String, LinkError> {
    let dtypes: Vec<DType> = inputs.iter().map(Type::dtype).collect();
    let items = inputs.iter().map(|ty| if is_scalar(ty) { 0 } else { ty.dtype().itemsize_bytes() });
    let items: Vec<usize> = items.chain(outputs.iter().map(|dtype| dtype.itemsize_bytes())).collect();
    let widest = items.iter().max().copied().unwrap_or(1).to_string();
    let is_whole = scalar.c_headers(&dtypes).iter().any(|header| header == WHOLE);
    let arrays = inputs.iter().filter(|ty| !is_scalar(ty)).count();
    let composite = planned(scalar, &dtypes);
    let plan = composite.as_ref().and_then(|composite| Plan::of(composite, &dtypes, is_known(composite)));
    let lanes = if is_whole { format!(" & -(int64_t)(PC_WHOLE_BYTES / {widest})") } else { String::new() };
    let mut text = String::new();
    let loops = match &plan {
        Some(plan) => {
            text = plan.functions();
            Kernel { plan, inputs, lanes: &lanes }.parts(name)?
        }
        None => {
            let reads: Vec<usize> = (0..inputs.len()).collect();
            let values = Values { inputs, dtypes: &dtypes, buffers: &[], at: "i", is_last: true };
            let count = if is_whole { format!("(n{lanes})") } else { "n".to_owned() };
            values.loop_of(scalar, name, &reads, &[], outputs, &count)?
        }
    };
    let (function, operands) = (format!("{name}_{suffix}"), operands(inputs, outputs));
    let parts =
        [("FUNCTION", function.as_str()), ("OPERANDS", operands.trim_end()), ("LOOPS", loops.trim_end())];
    if !is_whole {
        let light = [("LIGHT", if is_light(scalar, arrays) { "PC_LIGHT " } else { "" })];
        return Ok(text + &render(include_str!("../../c/kernel.c.in"), &[parts.as_slice(), &light].concat()));
    }
    let listed: Vec<String> = items.iter().map(usize::to_string).collect();
    let (listed, n_in, n_all) = (listed.join(", "), inputs.len().to_string(), items.len().to_string());
    let more = [("WIDEST", widest.as_str()), ("ITEMS", &listed), ("N_IN", &n_in), ("N_ALL", &n_all)];
    Ok(text + &render(include_str!("../../c/kernel_whole.c.in"), &[parts.as_slice(), &more].concat()))
}

/// Returns whether all C code of a composite is the library's, so that its steps may run in several loops.
fn is_known(composite: &Composite) -> bool {
    composite.content_id().is_some()
}

/// Returns the composite to plan: a scalar op that kernels call by block is one too.
fn planned(scalar: &dyn ScalarOp, dtypes: &[DType]) -> Option<Composite> {
    let any: &dyn Any = scalar;
    let composite = match any.downcast_ref::<Composite>() {
        Some(composite) => composite.clone(),
        None => {
            let is_block = scalar.block(dtypes).is_some() || scalar::is_block_of_halves(scalar, dtypes);
            let op = scalar::find(scalar.name()).filter(|op| is_block && **op == *scalar)?;
            let arity = op.arity();
            Composite::new(arity, vec![(op, (0..arity).collect())], vec![arity])
        }
    };
    let widened = composite.widened(dtypes).filter(|_| is_known(&composite));
    Some(widened.unwrap_or(composite))
}

/// Declares the operands of a kernel: `a0` for the only element of a scalar, `x1` for inputs, `y0` for outputs.
fn operands(inputs: &[Type], outputs: &[DType]) -> String {
    let mut operands = String::new();
    // Writing to a string cannot fail.
    for (k, ty) in inputs.iter().enumerate() {
        let dtype = ty.dtype();
        let _ = if is_scalar(ty) {
            writeln!(operands, "  const pc_{dtype} a{k} = *(const pc_{dtype} *)data[{k}];")
        } else {
            writeln!(operands, "  const pc_{dtype} *const x{k} = (const pc_{dtype} *)data[{k}];")
        };
    }
    for (j, dtype) in outputs.iter().enumerate() {
        let _ = writeln!(operands, "  pc_{dtype} *const y{j} = (pc_{dtype} *)data[{}];", inputs.len() + j);
    }
    operands
}
