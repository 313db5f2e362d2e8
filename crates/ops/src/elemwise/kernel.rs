//! Generates kernels: a loop that loads operands, runs the statements of the scalar op, and stores results.

use crate::composite::{Composite, Stage};
use crate::scalar::ScalarOp;
use precast_codegen::template::render;
use precast_codegen::{LinkError, Sub};
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

/// The number of elements per block for values kept between stages.
const BLOCK: usize = 256;

/// Generates the C function `<name>_<suffix>`, a kernel of `scalar` over operands of these types. `data` holds the
/// inputs, then the outputs.
pub(crate) fn kernel(
    scalar: &dyn ScalarOp,
    name: &str,
    suffix: &str,
    inputs: &[Type],
    outputs: &[DType],
) -> Result<String, LinkError> {
    let dtypes: Vec<DType> = inputs.iter().map(Type::dtype).collect();
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
    let items = inputs.iter().map(|ty| if is_scalar(ty) { 0 } else { ty.dtype().itemsize_bytes() });
    let items: Vec<usize> = items.chain(outputs.iter().map(|dtype| dtype.itemsize_bytes())).collect();
    let widest = items.iter().max().copied().unwrap_or(1).to_string();
    let is_whole = scalar.c_headers(&dtypes).iter().any(|header| header == WHOLE);
    let arrays = inputs.iter().filter(|ty| !is_scalar(ty)).count();
    let any: &dyn Any = scalar;
    let stages = any.downcast_ref::<Composite>().and_then(|composite| composite.stages(&dtypes));
    let count = if stages.is_some() { "m" } else { "n" };
    let count = if is_whole {
        format!("({count} & -(int64_t)(PC_WHOLE_BYTES / {widest}))")
    } else {
        count.to_owned()
    };
    let loops = match stages {
        Some(stages) => {
            let whole = any.downcast_ref::<Composite>().and_then(|composite| composite.dtypes(&dtypes));
            staged(&stages, name, inputs, &whole.unwrap_or_default(), &count)?
        }
        None => {
            let reads: Vec<usize> = (0..inputs.len()).collect();
            let values = Values { inputs, dtypes: &dtypes, at: "i", is_last: true };
            values.loop_of(scalar, name, &reads, &[], outputs, &count)?
        }
    };
    let function = format!("{name}_{suffix}");
    let parts =
        [("FUNCTION", function.as_str()), ("OPERANDS", operands.trim_end()), ("LOOPS", loops.trim_end())];
    if !is_whole {
        let light = [("LIGHT", if is_light(scalar, arrays) { "PC_LIGHT " } else { "" })];
        return Ok(render(include_str!("../../c/kernel.c.in"), &[parts.as_slice(), &light].concat()));
    }
    let listed: Vec<String> = items.iter().map(usize::to_string).collect();
    let (listed, n_in, n_all) = (listed.join(", "), inputs.len().to_string(), items.len().to_string());
    let more = [("WIDEST", widest.as_str()), ("ITEMS", &listed), ("N_IN", &n_in), ("N_ALL", &n_all)];
    Ok(render(include_str!("../../c/kernel_whole.c.in"), &[parts.as_slice(), &more].concat()))
}

/// Generates one loop per stage, processing block after block. Values that a later stage reads are kept in block
/// buffers. `dtypes` has the dtypes of all values.
fn staged(
    stages: &[Stage],
    name: &str,
    inputs: &[Type],
    dtypes: &[DType],
    count: &str,
) -> Result<String, LinkError> {
    let (mut blocks, mut loops) = (String::new(), String::new());
    for (position, stage) in stages.iter().enumerate() {
        let is_last = position + 1 == stages.len();
        for value in stage.makes.iter().filter(|_| !is_last) {
            // Writing to a string cannot fail.
            let _ =
                writeln!(blocks, "  pc_{} b{value}[{BLOCK}] __attribute__((aligned(64)));", dtypes[*value]);
        }
        let made: Vec<DType> = stage.makes.iter().map(|value| dtypes[*value]).collect();
        let values = Values { inputs, dtypes, at: "at + i", is_last };
        let own = format!("{name}_{position}");
        loops.push_str(&values.loop_of(&stage.composite, &own, &stage.reads, &stage.makes, &made, count)?);
    }
    let block = BLOCK.to_string();
    let parts = [("BLOCKS", blocks.trim_end()), ("BLOCK", &block), ("LOOPS", loops.trim_end())];
    Ok(render(include_str!("../../c/kernel_staged.c.in"), &parts))
}

/// The location of a loop's values, inputs first: elements `at` of operands, or block buffers.
struct Values<'a> {
    inputs: &'a [Type],
    dtypes: &'a [DType],
    at: &'a str,
    /// Whether the loop produces the results.
    is_last: bool,
}

impl Values<'_> {
    /// Generates the loop of a scalar op that reads and produces these values.
    fn loop_of(
        &self,
        scalar: &dyn ScalarOp,
        name: &str,
        reads: &[usize],
        makes: &[usize],
        made: &[DType],
        count: &str,
    ) -> Result<String, LinkError> {
        let (mut body, at) = (String::new(), self.at);
        // Writing to a string cannot fail.
        for value in reads {
            let dtype = self.dtypes[*value];
            let _ = match self.inputs.get(*value) {
                Some(ty) if is_scalar(ty) => Ok(()),
                Some(_) => writeln!(body, "    const pc_{dtype} a{value} = x{value}[{at}];"),
                None => writeln!(body, "    const pc_{dtype} a{value} = b{value}[i];"),
            };
        }
        for (j, dtype) in made.iter().enumerate() {
            let _ = writeln!(body, "    pc_{dtype} r{j};");
        }
        let arguments: Vec<String> = reads.iter().map(|value| format!("a{value}")).collect();
        let results: Vec<String> = (0..made.len()).map(|j| format!("r{j}")).collect();
        let taken: Vec<DType> = reads.iter().map(|value| self.dtypes[*value]).collect();
        let sub = Sub { fail: "return -1;".to_owned(), ..Sub::default() };
        let code = scalar.c_code(&taken, name, &arguments, &results, &sub)?;
        for line in code.lines() {
            let _ = writeln!(body, "    {line}");
        }
        let place = |j: usize| if self.is_last { format!("y{j}[{at}]") } else { format!("b{}[i]", makes[j]) };
        for (j, result) in results.iter().enumerate() {
            let _ = writeln!(body, "    {} = {result};", place(j));
        }
        let parts = [("COUNT", count), ("BODY", body.trim_end())];
        Ok(render(include_str!("../../c/kernel_loop.c.in"), &parts))
    }
}
