//! Generates the C code of Scan.

use super::scan::Scan;
use super::scan_scalar;
use crate::elemwise::code::assigned;
use crate::sources::closure;
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_graph::FunctionGraph;

const HEADER: &str = "precast/ops/scan.h";

impl CLinkerObject for Scan {
    fn c_headers(&self) -> Vec<String> {
        let mut headers = vec![HEADER.to_owned()];
        headers.extend(scan_scalar::headers(self));
        headers
    }

    fn c_sources(&self) -> SourceSet {
        let mut sources = closure(&self.c_headers());
        sources.extend(scan_scalar::sources(self));
        sources
    }

    fn c_support_code(&self) -> Vec<String> {
        scan_scalar::support(self)
    }

    fn c_compile_args(&self) -> Vec<String> {
        scan_scalar::compile_args(self)
    }
}

impl COp for Scan {
    fn bodies(&self) -> Vec<&FunctionGraph> {
        if scan_scalar::applies(self) { Vec::new() } else { vec![self.body.lowered()] }
    }

    fn c_support_code_apply(&self, _: &Node, name: &str) -> Result<String, LinkError> {
        if scan_scalar::applies(self) { scan_scalar::function(self, name) } else { Ok(String::new()) }
    }

    fn c_support_code_struct(&self, _: &Node, name: &str) -> String {
        if scan_scalar::applies(self) {
            return String::new();
        }
        format!("pc_object *{name}_cells[{}];", self.cells())
    }

    fn c_cleanup_code_struct(&self, _: &Node, name: &str) -> String {
        if scan_scalar::applies(self) {
            return String::new();
        }
        let cells = self.cells().to_string();
        render(include_str!("../../c/scan_cleanup.c.in"), &[("NAME", name), ("CELLS", &cells)])
    }

    fn c_code(
        &self,
        _: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let assign = assigned(outputs);
        let (inputs, outputs) = (inputs.join(", "), outputs.join(", "));
        let mut values = vec![
            ("NAME", name),
            ("INPUTS", &inputs),
            ("OUTPUTS", &outputs),
            ("ASSIGN", &assign),
            ("FAIL", &sub.fail),
        ];
        if scan_scalar::applies(self) {
            return Ok(render(include_str!("../../c/scan_scalar_run.c.in"), &values));
        }
        let extents = self.body.extents(|input| self.is_sequence(input));
        let check = check(extents.as_deref(), super::scan::NAME, 1, &sub.fail);
        values.push(("CHECK", &check));
        let others = self.arguments() - self.carries - self.sequences;
        let numbers = [
            ("CARRIES", self.carries),
            ("SEQUENCES", self.sequences),
            ("OTHERS", others),
            ("ROWS", self.rows()),
            ("REVERSE", usize::from(self.reverse)),
            ("UNTIL", usize::from(self.until)),
            ("ARGS", self.arguments() + self.body.graph().outputs().len()),
        ];
        let numbers = numbers.map(|(mark, number)| (mark, number.to_string()));
        values.extend(numbers.iter().map(|(mark, number)| (*mark, number.as_str())));
        Ok(render(include_str!("../../c/scan.c.in"), &values))
    }

    fn debug_names(&self) -> Vec<String> {
        vec![super::scan::NAME.to_owned()]
    }

    fn content_id(&self) -> Option<String> {
        self.body.content_id().map(|id| format!("scan({id})"))
    }
}

/// Generates the check of the extents that a graph relies on.
pub(super) fn check(extents: Option<&str>, op: &str, first: usize, fail: &str) -> String {
    let Some(extents) = extents else { return String::new() };
    let first = first.to_string();
    let values = [("EXTENTS", extents), ("OP", op), ("FIRST", &first), ("FAIL", fail)];
    render(include_str!("../../c/body_check.c.in"), &values)
}

impl Scan {
    /// Returns the number of cells of the instance: a spare tensor for each carry, a row and a store for each result, the
    /// flag of `until`, and one so that there is at least one.
    fn cells(&self) -> usize {
        self.carries + 2 * self.rows() + 2
    }
}
