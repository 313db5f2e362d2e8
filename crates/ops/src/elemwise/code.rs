//! Generates the C code of Elemwise.

use super::Elemwise;
use super::kernel::{flags, kernel};
use crate::composite::Composite;
use crate::scalar::ScalarOp;
use crate::sources::closure;
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_graph::{DType, Type};

impl CLinkerObject for Elemwise {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/driver.h".to_owned()]
    }

    fn c_support_code(&self) -> Vec<String> {
        self.scalar.c_support_code()
    }

    fn c_compile_args(&self) -> Vec<String> {
        self.scalar.c_compile_args()
    }

    fn c_sources(&self) -> SourceSet {
        let mut set = closure(&["precast/driver.h"]);
        set.extend(self.scalar.c_sources());
        set
    }
}

impl COp for Elemwise {
    fn c_headers_apply(&self, node: &Node) -> Vec<String> {
        self.scalar.c_headers(&dtypes(&node.inputs))
    }

    fn c_sources_apply(&self, node: &Node) -> SourceSet {
        closure(&self.c_headers_apply(node))
    }

    fn c_support_code_apply(&self, node: &Node, name: &str) -> Result<String, LinkError> {
        if on_numbers(node) {
            return Ok(String::new());
        }
        let outputs: Vec<DType> = node.outputs.iter().map(Type::dtype).collect();
        let kernel = kernel(&*self.scalar, name, "kernel", &node.inputs, &outputs)?;
        let dtypes: Vec<String> = outputs.iter().map(|d| d.typenum().to_string()).collect();
        Ok(render(
            include_str!("../../c/elemwise.c.in"),
            &[
                ("NAME", name),
                ("KERNEL", &kernel),
                ("SCALAR", &flags(&node.inputs)),
                ("DTYPES", &dtypes.join(", ")),
                ("N_IN", &node.inputs.len().to_string()),
                ("FLAGS", shared(self.content_id())),
                ("N_OUT", &outputs.len().to_string()),
            ],
        ))
    }

    fn c_code(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        if on_numbers(node) {
            let dtypes: Vec<DType> = node.inputs.iter().map(Type::dtype).collect();
            return self.scalar.c_code(&dtypes, name, inputs, outputs, sub);
        }
        let (numbers, operands) = operands(&node.inputs, inputs);
        let assign = assigned(outputs);
        Ok(render(
            include_str!("../../c/driver_run.c.in"),
            &[
                ("DRIVER", "elemwise"),
                ("NAME", name),
                ("NUMBERS", &numbers),
                ("INPUTS", &operands),
                ("OUTPUTS", &outputs.join(", ")),
                ("ASSIGN", &assign),
                ("FAIL", &sub.fail),
            ],
        ))
    }

    fn broadcasts(&self) -> bool {
        true
    }

    fn debug_names(&self) -> Vec<String> {
        scalar_names(&*self.scalar)
    }

    fn content_id(&self) -> Option<String> {
        self.scalar.content_id()
    }
}

/// Returns the names of the ops that make up a scalar op.
pub(crate) fn scalar_names(scalar: &dyn ScalarOp) -> Vec<String> {
    let any: &dyn std::any::Any = scalar;
    match any.downcast_ref::<Composite>() {
        Some(composite) => composite.steps().iter().map(|(op, _)| op.name().to_owned()).collect(),
        None => vec![scalar.name().to_owned()],
    }
}

/// Returns the flags for a driver. Library code keeps no state between elements, so several threads may run it.
/// Nothing is known about the code of custom ops.
pub(crate) fn shared(content_id: Option<String>) -> &'static str {
    if content_id.is_some() { "PC_SHARED" } else { "0" }
}

fn dtypes(types: &[Type]) -> Vec<DType> {
    types.iter().map(Type::dtype).collect()
}

/// Returns whether all outputs are C scalars; then no loop is needed.
fn on_numbers(node: &Node) -> bool {
    node.outputs.iter().all(|ty| matches!(ty, Type::Scalar(_)))
}

/// Assigns the results of a call to the output variables.
pub(crate) fn assigned(outputs: &[String]) -> String {
    outputs.iter().enumerate().map(|(j, output)| format!("  {output} = results[{j}];\n")).collect()
}

/// Converts the operands to tensors: C scalars are wrapped in tensors without dimensions.
pub(crate) fn operands(types: &[Type], inputs: &[String]) -> (String, String) {
    let (mut numbers, mut names) = (String::new(), Vec::new());
    for (k, (ty, input)) in types.iter().zip(inputs).enumerate() {
        if let Type::Scalar(dtype) = ty {
            let (position, typenum) = (k.to_string(), dtype.typenum().to_string());
            let values = [("K", position.as_str()), ("INPUT", input), ("TYPENUM", &typenum)];
            numbers.push_str(&render(include_str!("../../c/number.c.in"), &values));
            names.push(format!("&number{k}"));
        } else {
            names.push(input.clone());
        }
    }
    (numbers, names.join(", "))
}
