//! The body of a kernel: operands loaded, the scalar op's statements, results stored.

use crate::scalar::ScalarOp;
use precast_codegen::{LinkError, Sub};
use precast_graph::{DType, Type};
use std::fmt::Write as _;

/// The parts of a kernel that a template puts together.
pub(crate) struct Kernel {
    /// Declarations before the loop.
    pub(crate) operands: String,
    /// What the loop does for element `i`.
    pub(crate) body: String,
}

/// Whether an operand is one element by its type, so that the kernel loads it once.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    ty.ndim() == 0
}

/// `0, 1, 0`: the flags of the operands that are one element by their type.
pub(crate) fn flags(inputs: &[Type]) -> String {
    let flags: Vec<&str> = inputs.iter().map(|ty| if is_scalar(ty) { "1" } else { "0" }).collect();
    flags.join(", ")
}

/// The kernel of `scalar` over operands of these types; `data` holds inputs, then outputs.
pub(crate) fn kernel(
    scalar: &dyn ScalarOp,
    name: &str,
    inputs: &[Type],
    outputs: &[DType],
) -> Result<Kernel, LinkError> {
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
    Ok(Kernel { operands: trimmed(operands), body: trimmed(body) })
}

fn trimmed(mut text: String) -> String {
    text.truncate(text.trim_end().len());
    text
}
