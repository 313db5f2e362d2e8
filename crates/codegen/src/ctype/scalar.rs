//! Scalar types such as `f64`: one number in a C variable, whose object is a tensor without dimensions.

use super::CType;
use crate::module::SourceSet;
use crate::object::CLinkerObject;
use crate::spelling::c_float;
use crate::sub::Sub;
use crate::template::render;
use precast_graph::{Array, DType, Number, TypeRules};

pub(crate) struct CScalar(pub(crate) DType);

impl CScalar {
    fn render(&self, template: &str, name: &str, sub: &Sub) -> String {
        let (ctype, typenum) = (format!("pc_{}", self.0), self.0.typenum().to_string());
        let values = [
            ("NAME", name),
            ("CTYPE", &ctype),
            ("TYPENUM", &typenum),
            ("PY", &sub.py_ptr),
            ("FAIL", &sub.fail),
        ];
        render(template, &values)
    }
}

/// Returns code that assigns a value to the C variable `name` of a C scalar.
pub(crate) fn assign(name: &str, value: &Array) -> String {
    let dtype = value.dtype();
    let number = value.numbers().first().copied().unwrap_or(Number::Int(0));
    match (dtype, number) {
        (DType::C64 | DType::C128, number) => {
            let (re, im) = number.parts();
            format!("{name}.re = {};\n{name}.im = {};\n", c_float(re), c_float(im))
        }
        (DType::F16 | DType::Bf16, _) => format!("{name}.bits = {:#x};\n", value.bits()[0]),
        _ => format!("{name} = {};\n", CScalar(dtype).c_literal(value).unwrap_or_default()),
    }
}

impl TypeRules for CScalar {}

impl CLinkerObject for CScalar {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/link.h".to_owned()]
    }

    fn c_sources(&self) -> SourceSet {
        crate::module::support_headers()
    }
}

impl CType for CScalar {
    fn c_declare(&self, name: &str, sub: &Sub, _check_input: bool) -> String {
        self.render("@CTYPE@ @NAME@;\n", name, sub)
    }

    fn c_init(&self, name: &str, sub: &Sub) -> String {
        // Complex numbers and 16-bit floats are structs. They are set member by member, since C and C++ share no
        // literal syntax.
        let zero = match self.0 {
            DType::C64 | DType::C128 => "@NAME@.re = 0;\n@NAME@.im = 0;\n",
            DType::F16 | DType::Bf16 => "@NAME@.bits = 0;\n",
            _ => "@NAME@ = 0;\n",
        };
        self.render(zero, name, sub)
    }

    fn c_extract(&self, name: &str, sub: &Sub, check_input: bool) -> String {
        let check = if check_input { include_str!("../../c/scalar_extract.c.in") } else { "" };
        let load = include_str!("../../c/scalar_load.c.in");
        self.render(&self.c_init(name, sub), name, sub)
            + &self.render(check, name, sub)
            + &self.render(load, name, sub)
    }

    fn c_sync(&self, name: &str, sub: &Sub) -> String {
        self.render(include_str!("../../c/scalar_sync.c.in"), name, sub)
    }

    fn c_is_simple(&self) -> bool {
        true
    }

    fn c_is_number(&self) -> bool {
        true
    }

    fn c_literal(&self, value: &Array) -> Option<String> {
        let number = value.cast(self.0).numbers().first().copied().filter(|_| value.shape().is_empty())?;
        let ctype = format!("pc_{}", self.0);
        match number {
            // The smallest i64 cannot be written as a literal.
            Number::Int(x) if x == i128::from(i64::MIN) => Some(format!("(({ctype})(-{}ll - 1))", i64::MAX)),
            Number::Int(x) if x > i128::from(i64::MAX) => Some(format!("(({ctype}){x}ull)")),
            Number::Int(x) => Some(format!("(({ctype})({x}ll))")),
            // Exact, since every f32 is an f64.
            Number::Float(x) if matches!(self.0, DType::F32 | DType::F64) => {
                Some(format!("(({ctype})({}))", c_float(x)))
            }
            Number::Float(_) | Number::Complex(..) => None,
        }
    }

    fn c_element_type(&self) -> Option<String> {
        Some(format!("pc_{}", self.0))
    }
}
