//! Tensor types such as `f64[?,?]`: a `pc_tensor *`, of which the variable owns one reference.
//!
//! The code does not depend on rank or extents, so that one module serves all ranks. The caller checks both.

use super::CType;
use crate::module::SourceSet;
use crate::object::CLinkerObject;
use crate::sub::Sub;
use crate::template::render;
use precast_graph::{DType, TypeRules};

pub(crate) struct CTensor(pub(crate) DType);

impl CTensor {
    fn render(&self, template: &str, name: &str, sub: &Sub) -> String {
        let typenum = self.0.typenum().to_string();
        render(template, &[("NAME", name), ("TYPENUM", &typenum), ("PY", &sub.py_ptr), ("FAIL", &sub.fail)])
    }
}

impl TypeRules for CTensor {}

impl CLinkerObject for CTensor {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/link.h".to_owned()]
    }

    fn c_sources(&self) -> SourceSet {
        crate::module::support_headers()
    }
}

impl CType for CTensor {
    fn c_declare(&self, name: &str, sub: &Sub, _check_input: bool) -> String {
        self.render("pc_tensor *@NAME@;\n@NAME@ = NULL;\n", name, sub)
    }

    fn c_init(&self, name: &str, sub: &Sub) -> String {
        self.render("@NAME@ = NULL;\n", name, sub)
    }

    fn c_extract(&self, name: &str, sub: &Sub, check_input: bool) -> String {
        let check = if check_input { include_str!("../../c/tensor_extract.c.in") } else { "" };
        let load = "@NAME@ = (pc_tensor *)@PY@;\npc_incref((pc_object *)@NAME@);\n";
        self.render(check, name, sub) + &self.render(load, name, sub)
    }

    /// Takes ownership of the object, so that an op sees one reference and may write to it. The op decides whether it
    /// is reusable.
    fn c_extract_out(&self, name: &str, sub: &Sub, _check_input: bool) -> String {
        self.render("@NAME@ = (pc_tensor *)@PY@;\n@PY@ = NULL;\n", name, sub)
    }

    fn c_sync(&self, name: &str, sub: &Sub) -> String {
        self.render(include_str!("../../c/tensor_sync.c.in"), name, sub)
    }

    fn c_cleanup(&self, name: &str, sub: &Sub) -> String {
        self.render("pc_xdecref((pc_object *)@NAME@);\n", name, sub)
    }

    fn c_element_type(&self) -> Option<String> {
        Some(format!("pc_{}", self.0))
    }
}
