//! A user-defined type and an op on it: the example of `crates/codegen/WRITING_OPS.md`.

use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, CType, LinkError, Node, Sub};
use precast_graph::{Array, DType, FilterError, MakeNodeError, Op, PerformError, Type, TypeRules};

/// An angle: one f64 of at least 0 and less than 360, stored in a C `double`.
pub(super) struct Degrees;

impl TypeRules for Degrees {
    fn filter(&self, ty: &Type, x: Array, strict: bool, _: Option<bool>) -> Result<Array, FilterError> {
        if strict && x.dtype() != DType::F64 {
            return Err(FilterError::Value { ty: ty.to_string(), problem: "expected an f64".to_owned() });
        }
        Ok(x.cast(DType::F64))
    }

    /// Treats 359.999… and 0 as close to each other.
    fn values_eq_approx(&self, a: &Array, b: &Array) -> bool {
        let (Array::F64(a), Array::F64(b)) = (a, b) else { return false };
        let near = |(a, b): (&f64, &f64)| (a - b + 180.0).rem_euclid(360.0) - 180.0;
        a.shape() == b.shape() && a.iter().zip(b).all(|pair| near(pair).abs() < 1e-9)
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

    /// Overwrites the previous value of an output without reading it, since it may not be an angle.
    fn c_extract_out(&self, name: &str, sub: &Sub, _: bool) -> String {
        self.c_init(name, sub)
    }

    fn c_sync(&self, name: &str, sub: &Sub) -> String {
        let values = [("NAME", name), ("PY", &*sub.py_ptr), ("FAIL", &*sub.fail)];
        render(include_str!("c/degrees_sync.c.in"), &values)
    }

    /// Returns `true`, because a temporary needs only the C variable and no object.
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

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let [Array::F64(a), Array::F64(b)] = inputs else {
            return Err(PerformError::value(self.name(), "takes two angles"));
        };
        let angle = |x: &f64| if (0.0..360.0).contains(x) { Ok(*x) } else { Err(format!("{x} is no angle")) };
        let angles: Result<Vec<f64>, String> = a.iter().chain(b).map(angle).collect();
        let turns: f64 = angles.map_err(|problem| PerformError::value(self.name(), problem))?.iter().sum();
        Ok(vec![Array::from((turns + 1e-12).rem_euclid(360.0))])
    }
}

impl CLinkerObject for Turn {}

impl COp for Turn {
    fn c_code(&self, _: &Node, _: &str, i: &[String], o: &[String], _: &Sub) -> Result<String, LinkError> {
        let (a, b, z) = (&i[0], &i[1], &o[0]);
        Ok(format!("{z} = {a} + {b} < 360 ? {a} + {b} : {a} + {b} - 360;\n"))
    }
}
