//! Cast and identity: scalar ops that exist for every dtype.

use super::table::BASIC;
use super::{ScalarOp, Value};
use precast_codegen::{LinkError, Sub};
use precast_graph::{DType, MakeNodeError, PerformError, Prop, Props};
use std::sync::Arc;

/// Converts to another dtype. To bool is `!= 0`; float to integer truncates, saturates, and makes NaN 0; integers and f64
/// round to nearest where they do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cast {
    /// The dtype of the result.
    pub to: DType,
}

impl Cast {
    /// Rebuilds a cast from its props.
    ///
    /// # Errors
    /// `to` is missing or no dtype.
    pub fn from_props(props: &Props) -> Result<Arc<dyn ScalarOp>, MakeNodeError> {
        match props.get("to") {
            Some(Prop::DType(to)) => Ok(Arc::new(Self { to: *to })),
            Some(other) => Err(MakeNodeError::prop("cast", "to", format!("is `{other}`, expected a dtype"))),
            None => Err(MakeNodeError::prop("cast", "to", "is missing")),
        }
    }
}

impl ScalarOp for Cast {
    fn name(&self) -> &str {
        "cast"
    }

    fn props(&self) -> Props {
        Props::from([("to".to_owned(), Prop::DType(self.to))])
    }

    fn arity(&self) -> usize {
        1
    }

    fn output(&self, inputs: &[DType]) -> Option<DType> {
        (BASIC.contains(&inputs[0]) && BASIC.contains(&self.to)).then_some(self.to)
    }

    fn perform(&self, inputs: &[Value]) -> Result<Vec<Value>, PerformError> {
        Ok(vec![inputs[0].cast(self.to)])
    }

    fn c_code(
        &self,
        dtypes: &[DType],
        _name: &str,
        inputs: &[String],
        outputs: &[String],
        _sub: &Sub,
    ) -> Result<String, LinkError> {
        Ok(format!("{} = pc_cast_{}_{}({});", outputs[0], dtypes[0], self.to, inputs[0]))
    }

    fn content_id(&self) -> Option<String> {
        Some("cast".to_owned())
    }
}

/// Gives its input: a copy, where an output must not share storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity;

impl ScalarOp for Identity {
    fn name(&self) -> &str {
        "identity"
    }

    fn arity(&self) -> usize {
        1
    }

    fn output(&self, inputs: &[DType]) -> Option<DType> {
        Some(inputs[0])
    }

    fn perform(&self, inputs: &[Value]) -> Result<Vec<Value>, PerformError> {
        Ok(inputs.to_vec())
    }

    fn c_code(
        &self,
        dtypes: &[DType],
        _name: &str,
        inputs: &[String],
        outputs: &[String],
        _sub: &Sub,
    ) -> Result<String, LinkError> {
        Ok(format!("{} = pc_identity_{}({});", outputs[0], dtypes[0], inputs[0]))
    }

    fn content_id(&self) -> Option<String> {
        Some("identity".to_owned())
    }
}
