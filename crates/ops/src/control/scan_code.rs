//! Generates the C code of Scan.

use super::body::extents_table;
use super::fixed::{self, Facts};
use super::scan::Scan;
use crate::elemwise::code::assigned;
use crate::sources::closure;
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_graph::{DType, FunctionGraph};

const HEADER: &str = "precast/ops/scan.h";

impl CLinkerObject for Scan {
    fn c_headers(&self) -> Vec<String> {
        self.fixed().map_or_else(|| vec![HEADER.to_owned()], fixed::headers)
    }

    fn c_sources(&self) -> SourceSet {
        self.fixed().map_or_else(|| closure(&[HEADER]), fixed::sources)
    }

    fn c_support_code(&self) -> Vec<String> {
        self.fixed().map(fixed::support).unwrap_or_default()
    }

    fn c_compile_args(&self) -> Vec<String> {
        self.fixed().map(fixed::compile_args).unwrap_or_default()
    }
}

impl COp for Scan {
    fn bodies(&self) -> Vec<&FunctionGraph> {
        if self.fixed().is_some() { Vec::new() } else { vec![self.body.lowered()] }
    }

    fn c_shared_code_apply(&self, _: &Node) -> Vec<String> {
        self.fixed().map(fixed::shared).unwrap_or_default()
    }

    fn c_support_code_apply(&self, _: &Node, name: &str) -> Result<String, LinkError> {
        self.fixed().map_or_else(|| Ok(String::new()), |body| fixed::function(self, body, name))
    }

    fn c_support_code_struct(&self, _: &Node, name: &str) -> String {
        if self.fixed().is_some() {
            return String::new();
        }
        format!("pc_object *{name}_cells[{}];", self.cells())
    }

    fn c_cleanup_code_struct(&self, _: &Node, name: &str) -> String {
        if self.fixed().is_some() {
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
        let check = self.checks(&sub.fail);
        values.push(("CHECK", &check));
        if self.fixed().is_some() {
            return Ok(render(include_str!("../../c/scan_fixed_run.c.in"), &values));
        }
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
        let rows = self.known_rows().map_or_else(|| "-1".to_owned(), |rows| rows_table(&rows));
        values.push(("KNOWN", &rows));
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

/// Returns the dtypes, ranks and extents of rows as C.
fn rows_table(rows: &[(DType, Vec<usize>)]) -> String {
    let row = |(dtype, shape): &(DType, Vec<usize>)| {
        let numbers = [dtype.typenum() as usize, shape.len()].into_iter().chain(shape.iter().copied());
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
    };
    rows.iter().map(row).chain(["0".to_owned()]).collect::<Vec<_>>().join(", ")
}

/// Generates the check of the extents that a graph relies on.
pub(super) fn check(extents: Option<&str>, op: &str, first: usize, fail: &str) -> String {
    let Some(extents) = extents else { return String::new() };
    let first = first.to_string();
    let values = [("EXTENTS", extents), ("OP", op), ("FIRST", &first), ("FAIL", fail)];
    render(include_str!("../../c/body_check.c.in"), &values)
}

/// Generates the check of the integers that the code relies on.
pub(super) fn known_check(facts: &Facts, op: &str, first: usize, fail: &str) -> String {
    if facts.known.is_empty() {
        return String::new();
    }
    let (count, table, first) = (facts.known.len().to_string(), facts.known_table(), first.to_string());
    let values =
        [("COUNT", count.as_str()), ("KNOWN", &table), ("OP", op), ("FIRST", &first), ("FAIL", fail)];
    render(include_str!("../../c/scan_known.c.in"), &values)
}

impl Scan {
    /// Generates the checks of what the code relies on.
    fn checks(&self, fail: &str) -> String {
        let is_sequence = |input: usize| self.is_sequence(input);
        let mut text = check(
            self.extents().map(|extents| extents_table(&extents, is_sequence)).as_deref(),
            super::scan::NAME,
            1,
            fail,
        );
        text += &self.facts().map(|facts| known_check(facts, super::scan::NAME, 1, fail)).unwrap_or_default();
        text
    }

    /// Returns the number of cells of the instance: a spare tensor for each carry, a row and a store for each result, the
    /// flag of `until`, and one so that there is at least one.
    fn cells(&self) -> usize {
        self.carries + 2 * self.rows() + 2
    }
}
