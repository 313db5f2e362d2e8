//! A custom scalar op in a test, as short as a closure and a line of C.

use precast_codegen::{LinkError, Sub, template};
use precast_graph::{DType, PerformError};
use precast_ops::scalar::{ScalarOp, Value};
use std::fmt;
use std::sync::Arc;

struct Closure<F> {
    name: &'static str,
    perform: F,
    c: &'static str,
}

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Creates an op from f64 to f64. An error of `perform` becomes the op's error message.
///
/// In `c`, `@X@` is the operand, `@Y@` the result and `@FAIL@` the failure exit. Like every op that does not name its
/// C, it has no fingerprint.
#[must_use]
pub fn scalar_op(
    name: &'static str,
    perform: impl Fn(f64) -> Result<f64, &'static str> + Send + Sync + 'static,
    c: &'static str,
) -> Arc<dyn ScalarOp> {
    Arc::new(Closure { name, perform, c })
}

impl<F: Fn(f64) -> Result<f64, &'static str> + Send + Sync + 'static> ScalarOp for Closure<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn arity(&self) -> usize {
        1
    }

    fn output(&self, inputs: &[DType]) -> Option<DType> {
        (inputs[0] == DType::F64).then_some(DType::F64)
    }

    fn perform(&self, inputs: &[Value]) -> Result<Vec<Value>, PerformError> {
        let refused = |words| PerformError::value(self.name, words);
        let Value::F64(x) = inputs[0] else { return Err(refused("no f64")) };
        (self.perform)(x).map(|y| vec![Value::F64(y)]).map_err(refused)
    }

    fn c_code(
        &self,
        _dtypes: &[DType],
        _name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        Ok(template::render(self.c, &[("X", &inputs[0]), ("Y", &outputs[0]), ("FAIL", &sub.fail)]))
    }
}
