//! Cast and identity: scalar ops that support every dtype.

use super::table::{header, is_half, is_wide};
use super::{ScalarOp, Value};
use precast_codegen::{LinkError, Sub};
use precast_graph::{DType, MakeNodeError, PerformError, Prop, Props};
use std::sync::Arc;

/// An op that converts to another dtype. A cast to bool tests `!= 0`; integers keep their low bits. A cast from float
/// to integer truncates and saturates, and converts NaN to 0. A cast to a float rounds to nearest, and a cast from
/// complex to real drops the imaginary part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cast {
    /// The dtype of the result.
    pub to: DType,
}

impl Cast {
    /// Rebuilds a cast from its props.
    ///
    /// # Errors
    /// `to` is missing or is not a dtype.
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
        (inputs.len() == 1).then_some(self.to)
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
        Ok(format!("{} = {};", outputs[0], convert(dtypes[0], self.to, &inputs[0])))
    }

    fn c_code_wide(&self, dtypes: &[DType], inputs: &[String], outputs: &[String]) -> Option<String> {
        let fits = is_wide(dtypes[0]) && is_wide(self.to);
        let (from, to) = (dtypes[0], self.to);
        fits.then(|| format!("{} = pc_cast_{from}_{to}_wide({});", outputs[0], inputs[0]))
    }

    fn c_headers(&self, dtypes: &[DType]) -> Vec<String> {
        steps(dtypes[0], self.to).windows(2).map(|pair| header_of(pair[0], pair[1])).collect()
    }

    fn is_cheap(&self) -> bool {
        true
    }

    fn content_id(&self) -> Option<String> {
        Some("cast".to_owned())
    }
}

/// Returns the dtypes that a conversion passes through. A conversion from or to a 16-bit float goes through f32, with two
/// exceptions: f64 converts to a 16-bit float directly, and c128 through f64.
fn steps(from: DType, to: DType) -> Vec<DType> {
    let mut steps = vec![from];
    if from == to {
        return if from == DType::Bool { vec![from, to] } else { steps };
    }
    if is_half(from) && to != DType::F32 {
        steps.push(DType::F32);
    }
    if is_half(to) && !is_half(from) {
        match from {
            DType::F32 | DType::F64 => {}
            DType::C128 => steps.push(DType::F64),
            _ => steps.push(DType::F32),
        }
    }
    steps.push(to);
    steps
}

fn header_of(from: DType, to: DType) -> String {
    if is_half(to) { header(to) } else { header(from) }
}

/// Returns the C expression that converts `value`.
pub(super) fn convert(from: DType, to: DType, value: &str) -> String {
    let each = |value: String, pair: &[DType]| format!("pc_cast_{}_{}({value})", pair[0], pair[1]);
    steps(from, to).windows(2).fold(value.to_owned(), each)
}

/// An op that returns its input: a copy for outputs that must not share storage.
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
        Ok(format!("{} = {};", outputs[0], convert(dtypes[0], dtypes[0], &inputs[0])))
    }

    fn c_code_wide(&self, dtypes: &[DType], inputs: &[String], outputs: &[String]) -> Option<String> {
        (dtypes[0] == DType::Bool).then(|| format!("{} = {};", outputs[0], inputs[0]))
    }

    fn c_headers(&self, dtypes: &[DType]) -> Vec<String> {
        if dtypes[0] == DType::Bool { vec![header(DType::Bool)] } else { Vec::new() }
    }

    fn is_cheap(&self) -> bool {
        true
    }

    fn content_id(&self) -> Option<String> {
        Some("identity".to_owned())
    }
}
