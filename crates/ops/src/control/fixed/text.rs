//! The statements that the C of loops consists of.

use crate::elements::steps;
use precast_codegen::template::render;
use precast_graph::{Array, DType};
use std::fmt::Write as _;

const FOR: &str = include_str!("../../../c/fixed_for.c.in");
const KNOWN: &str = include_str!("../../../c/fixed_known.c.in");

/// C code under construction.
pub(super) struct Text {
    pub(super) text: String,
    depth: usize,
}

impl Text {
    /// Creates code inside a number of blocks.
    pub(super) fn at(depth: usize) -> Self {
        Self { text: String::new(), depth }
    }

    /// Adds a line, indented by the open blocks.
    pub(super) fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.depth);
    }

    /// Declares an array that the code need not read.
    pub(super) fn array(&mut self, dtype: DType, name: &str, size: usize) {
        self.line(&format!("pc_{dtype} {name}[{size}];"));
        self.line(&format!("(void){name};"));
    }

    /// Declares an array of known integers or bools.
    pub(super) fn known(&mut self, name: &str, value: &Array) {
        let elements: Vec<String> = value.bits().iter().map(|bits| literal(value, *bits)).collect();
        let values = [("DTYPE", value.dtype().name()), ("NAME", name), ("ELEMENTS", &elements.join(", "))];
        self.line(render(KNOWN, &values).trim_end());
        self.line(&format!("(void){name};"));
    }

    pub(super) fn begin(&mut self) {
        self.line("{");
        self.depth += 1;
    }

    pub(super) fn end(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// Opens a loop for each dimension with more than one position.
    pub(super) fn open(&mut self, shape: &[usize]) {
        for (d, n) in shape.iter().enumerate().filter(|(_, n)| **n != 1) {
            self.line(render(FOR, &[("D", &d.to_string()), ("N", &n.to_string())]).trim_end());
            self.depth += 1;
        }
        if shape.iter().all(|n| *n == 1) {
            self.begin();
        }
    }

    pub(super) fn close(&mut self, shape: &[usize]) {
        for _ in 0..shape.iter().filter(|n| **n != 1).count().max(1) {
            self.end();
        }
    }
}

pub(super) fn texts(shape: &[usize]) -> Vec<String> {
    shape.iter().map(ToString::to_string).collect()
}

/// Writes the allocation of an output.
pub(super) fn ready(j: usize, dtype: DType, shape: &[String], text: &mut Text) {
    let (count, extents) = (shape.len(), if shape.is_empty() { "0".to_owned() } else { shape.join(", ") });
    text.line(&format!("const int64_t shape{j}[] = {{{extents}}};"));
    text.line(&format!(
        "if (pc_output_ready(ctx, &out[{j}], {}, {count}, shape{j}) == NULL) return -1;",
        dtype.typenum()
    ));
}

/// Writes variables with the strides of a tensor.
pub(super) fn steps_of(prefix: &str, tensor: &str, ndim: usize, text: &mut Text) {
    for d in 0..ndim {
        text.line(&format!("const int64_t {prefix}_{d} = {tensor}->strides[{d}];"));
        text.line(&format!("(void){prefix}_{d};"));
    }
}

/// Writes the copy of all elements between a tensor, at `data` with the strides of `prefix` from a dimension on, and an array.
pub(super) fn copy(
    dtype: DType,
    shape: &[usize],
    (data, prefix, first): (&str, &str, usize),
    array: &str,
    reads: bool,
    text: &mut Text,
) {
    text.open(shape);
    let strides: String = (0..shape.len())
        .filter(|d| shape[*d] != 1)
        .map(|d| format!(" + i{d} * {prefix}_{}", first + d))
        .collect();
    let at = super::maps::position(shape, &steps(shape));
    text.line(&match reads {
        true => format!("{array}[{at}] = *(const pc_{dtype} *)({data}{strides});"),
        false => format!("*(pc_{dtype} *)({data}{strides}) = {array}[{at}];"),
    });
    text.close(shape);
}

/// Writes the copy of an array.
pub(super) fn elements(size: usize, to: &str, from: &str, text: &mut Text) {
    text.open(&[size]);
    let at = if size == 1 { "0" } else { "i0" };
    text.line(&format!("{to}[{at}] = {from}[{at}];"));
    text.close(&[size]);
}

/// Returns an integer or bool as C.
fn literal(array: &Array, bits: u64) -> String {
    format!("(pc_{})0x{bits:x}ULL", array.dtype())
}
