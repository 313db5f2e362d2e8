//! A kernel: operands loaded, the scalar op's statements, results stored, in a loop.

use crate::scalar::ScalarOp;
use precast_codegen::template::render;
use precast_codegen::{LinkError, Sub};
use precast_graph::{DType, Type};
use std::fmt::Write as _;

/// The header of a scalar op whose kernels compute whole vectors only; see there. It is among the headers of such an op.
pub(crate) const WHOLE: &str = "precast/ops/whole.h";

/// Whether an operand is one element by its type, so that the kernel loads it once.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    ty.ndim() == 0
}

/// `0, 1, 0`: the flags of the operands that are one element by their type.
pub(crate) fn flags(inputs: &[Type]) -> String {
    let flags: Vec<&str> = inputs.iter().map(|ty| if is_scalar(ty) { "1" } else { "0" }).collect();
    flags.join(", ")
}

/// The C function `<name>_<suffix>`, a kernel of `scalar` over operands of these types; `data` holds inputs, then outputs.
pub(crate) fn kernel(
    scalar: &dyn ScalarOp,
    name: &str,
    suffix: &str,
    inputs: &[Type],
    outputs: &[DType],
) -> Result<String, LinkError> {
    let (mut operands, mut body) = (String::new(), String::new());
    let mut arguments = Vec::new();
    // Writing to a string cannot fail.
    for (k, ty) in inputs.iter().enumerate() {
        let dtype = ty.dtype();
        let _ = if is_scalar(ty) {
            writeln!(operands, "  const pc_{dtype} a{k} = *(const pc_{dtype} *)data[{k}];")
        } else {
            let _ = writeln!(operands, "  const pc_{dtype} *const x{k} = (const pc_{dtype} *)data[{k}];");
            writeln!(body, "    const pc_{dtype} a{k} = x{k}[i];")
        };
        arguments.push(format!("a{k}"));
    }
    let mut results = Vec::new();
    for (j, dtype) in outputs.iter().enumerate() {
        let k = inputs.len() + j;
        let _ = writeln!(operands, "  pc_{dtype} *const y{j} = (pc_{dtype} *)data[{k}];");
        let _ = writeln!(body, "    pc_{dtype} r{j};");
        results.push(format!("r{j}"));
    }
    let dtypes: Vec<DType> = inputs.iter().map(Type::dtype).collect();
    let sub = Sub { fail: "return -1;".to_owned(), ..Sub::default() };
    let code = scalar.c_code(&dtypes, name, &arguments, &results, &sub)?;
    for line in code.lines() {
        let _ = writeln!(body, "    {line}");
    }
    for j in 0..outputs.len() {
        let _ = writeln!(body, "    y{j}[i] = r{j};");
    }
    let function = format!("{name}_{suffix}");
    let parts =
        [("FUNCTION", function.as_str()), ("OPERANDS", operands.trim_end()), ("BODY", body.trim_end())];
    if !scalar.c_headers(&dtypes).iter().any(|header| header == WHOLE) {
        return Ok(render(include_str!("../../c/kernel.c.in"), &parts));
    }
    let items = inputs.iter().map(|ty| if is_scalar(ty) { 0 } else { ty.dtype().itemsize_bytes() });
    let items: Vec<usize> = items.chain(outputs.iter().map(|dtype| dtype.itemsize_bytes())).collect();
    let widest = items.iter().max().copied().unwrap_or(1).to_string();
    let listed: Vec<String> = items.iter().map(usize::to_string).collect();
    let (listed, n_in, n_all) = (listed.join(", "), inputs.len().to_string(), items.len().to_string());
    let more = [("WIDEST", widest.as_str()), ("ITEMS", &listed), ("N_IN", &n_in), ("N_ALL", &n_all)];
    Ok(render(include_str!("../../c/kernel_whole.c.in"), &[parts.as_slice(), &more].concat()))
}
