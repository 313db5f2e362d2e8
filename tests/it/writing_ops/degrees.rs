//! A type of one's own and an op on it: the example of `crates/codegen/WRITING_OPS.md`.

use precast::{Array, DType, Type};
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, CType, LinkError, Node, Sub};
use precast_graph::{FilterError, MakeNodeError, Op, PerformError, TypeRules};

/// An angle: one f64 of at least 0 and less than 360, which C holds in a `double`.
pub(super) struct Degrees;

impl TypeRules for Degrees {
    fn filter(&self, ty: &Type, x: Array, strict: bool, _: Option<bool>) -> Result<Array, FilterError> {
        if strict && x.dtype() != DType::F64 {
            return Err(FilterError::Value { ty: ty.to_string(), problem: "expected an f64".to_owned() });
        }
        Ok(x.cast(DType::F64))
    }
}

impl CLinkerObject for Degrees {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/link.h".to_owned()]
    }
}

impl CType for Degrees {
    fn c_declare(&self, name: &str, _: &Sub, _: bool) -> String {
        format!("double {name};\n")
    }

    fn c_init(&self, name: &str, _: &Sub) -> String {
        format!("{name} = 0;\n")
    }

    fn c_extract(&self, name: &str, sub: &Sub, _: bool) -> String {
        let values = [("NAME", name), ("PY", &*sub.py_ptr), ("FAIL", &*sub.fail)];
        render(include_str!("c/degrees_extract.c.in"), &values)
    }

    fn c_sync(&self, name: &str, sub: &Sub) -> String {
        let values = [("NAME", name), ("PY", &*sub.py_ptr), ("FAIL", &*sub.fail)];
        render(include_str!("c/degrees_sync.c.in"), &values)
    }

    /// A temporary needs no object: the C variable is all of it.
    fn c_is_simple(&self) -> bool {
        true
    }
}

/// Turns an angle by another.
#[derive(Debug)]
pub(super) struct Turn;

impl Op for Turn {
    fn name(&self) -> &str {
        "turn"
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 2, inputs)?;
        Ok(vec![inputs[0].clone()])
    }

    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::NoReference { op: self.name().to_owned() })
    }
}

impl CLinkerObject for Turn {}

impl COp for Turn {
    fn c_code(&self, _: &Node, _: &str, i: &[String], o: &[String], _: &Sub) -> Result<String, LinkError> {
        let (a, b, z) = (&i[0], &i[1], &o[0]);
        Ok(format!("{z} = {a} + {b} < 360 ? {a} + {b} : {a} + {b} - 360;\n"))
    }
}
