//! `scalar_from_tensor`: converts a tensor without dimensions to a C scalar, for custom ops that take C scalars.

use crate::declared::{refuse, tensor};
use crate::gradient::rules::Pulled;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, Sub};
use precast_graph::{Array, MakeNodeError, Op, PerformError, Pullback, Type};

/// An op that returns the element of a tensor without dimensions as a C scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScalarFromTensor;

impl ScalarFromTensor {
    /// The name in JSON.
    pub const NAME: &str = "scalar_from_tensor";
}

impl Op for ScalarFromTensor {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(Self::NAME, 1, inputs)?;
        match tensor(Self::NAME, 0, inputs)? {
            tensor if tensor.shape.is_empty() => Ok(vec![Type::Scalar(tensor.dtype)]),
            _ => Err(refuse(Self::NAME, 0, &inputs[0], "a tensor without dimensions")),
        }
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::shape::scalar_from_tensor(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Ok(vec![inputs[0].clone()])
    }
}

impl CLinkerObject for ScalarFromTensor {}

impl COp for ScalarFromTensor {
    fn c_code(
        &self,
        node: &Node,
        _: &str,
        inputs: &[String],
        outputs: &[String],
        _: &Sub,
    ) -> Result<String, LinkError> {
        let dtype = node.outputs[0].dtype();
        Ok(format!("{} = *(const pc_{dtype} *){}->data;\n", outputs[0], inputs[0]))
    }

    fn content_id(&self) -> Option<String> {
        Some(Self::NAME.to_owned())
    }
}
