//! `f64` alone: one number in a C variable; its object is a tensor without dimensions.

use super::CType;
use crate::module::SourceSet;
use crate::object::CLinkerObject;
use crate::sub::Sub;
use crate::template::render;
use precast_graph::DType;

/// The C side of a C scalar.
pub(super) struct CScalar(pub(super) DType);

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

impl CLinkerObject for CScalar {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/link.h".to_owned()]
    }

    fn c_sources(&self) -> SourceSet {
        super::link_sources()
    }
}

impl CType for CScalar {
    fn c_declare(&self, name: &str, sub: &Sub, _check_input: bool) -> String {
        self.render("@CTYPE@ @NAME@;\n", name, sub)
    }

    fn c_init(&self, name: &str, sub: &Sub) -> String {
        self.render("@NAME@ = 0;\n", name, sub)
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

    fn c_cleanup(&self, _name: &str, _sub: &Sub) -> String {
        String::new()
    }

    fn c_is_simple(&self) -> bool {
        true
    }

    fn c_element_type(&self) -> Option<String> {
        Some(format!("pc_{}", self.0))
    }
}
