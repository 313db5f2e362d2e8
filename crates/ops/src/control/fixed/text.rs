//! The statements that the C of loops consists of.

use crate::elements::steps;
use precast_codegen::template::render;
use precast_graph::{Array, DType};
use std::fmt::Write as _;

const FOR: &str = include_str!("../../../c/fixed_for.c.in");
const KNOWN: &str = include_str!("../../../c/fixed_known.c.in");

/// The maximum number of bytes of all arrays that are variables of a function. The other arrays are in a [`Room`].
const MAX_ON_STACK: usize = 16 << 10;

/// The alignment of arrays in a room, in bytes.
const ALIGNMENT: usize = 64;

/// Memory for arrays that are not on the stack. Places of arrays that are no longer read are used again.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) bytes: usize,
    /// The maximum number of bytes of an array on the stack.
    largest: usize,
    /// The number of bytes that the stack may still have.
    stack: usize,
    places: Vec<Place>,
    /// The number of places that are never used again.
    kept: usize,
}

#[derive(Debug)]
struct Place {
    start: usize,
    bytes: usize,
    /// The array, if the place is taken.
    array: Option<String>,
}

impl Room {
    /// Creates a room for the arrays that have more than `largest` bytes or would make the stack too large.
    pub(super) fn beyond(largest: usize) -> Self {
        Self { bytes: 0, largest, stack: MAX_ON_STACK, places: Vec::new(), kept: 0 }
    }

    /// Returns the place of a new array; `None` if it is on the stack.
    fn place(&mut self, array: &str, bytes: usize) -> Option<usize> {
        if bytes <= self.largest.min(self.stack) {
            self.stack -= bytes;
            return None;
        }
        let bytes = bytes.next_multiple_of(ALIGNMENT);
        let free = self.places.iter_mut().filter(|place| place.array.is_none() && place.bytes >= bytes);
        if let Some(place) = free.min_by_key(|place| place.bytes) {
            place.array = Some(array.to_owned());
            return Some(place.start);
        }
        let start = self.bytes;
        self.places.push(Place { start, bytes, array: Some(array.to_owned()) });
        self.bytes += bytes;
        Some(start)
    }

    /// Keeps the places of all arrays that there are.
    pub(super) fn keep(&mut self) {
        self.kept = self.places.len();
    }

    /// Frees the places of the arrays that are no longer read.
    pub(super) fn free(&mut self, is_read: impl Fn(&str) -> bool) {
        for place in &mut self.places[self.kept..] {
            place.array.take_if(|array| !is_read(array));
        }
    }
}

/// C code under construction.
pub(super) struct Text {
    pub(super) text: String,
    depth: usize,
    /// The statement that ends the function after an error.
    pub(super) fail: &'static str,
    /// The memory of the arrays that are not on the stack.
    pub(super) room: Option<Room>,
}

impl Text {
    /// Creates code inside a number of blocks. `fail` is the statement that ends the function after an error.
    pub(super) fn at(depth: usize, fail: &'static str) -> Self {
        Self { text: String::new(), depth, fail, room: None }
    }

    /// Returns the number of blocks that the code is inside.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Adds a line, indented by the open blocks.
    pub(super) fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.depth);
    }

    /// Adds lines, indented by the open blocks.
    pub(super) fn lines(&mut self, lines: &str) {
        lines.lines().for_each(|line| self.line(line));
    }

    /// Declares an array that the code need not read.
    pub(super) fn array(&mut self, dtype: DType, name: &str, size: usize) {
        self.array_of(dtype, name, name, size);
    }

    /// Declares an array that is in use as long as `owner` is read.
    pub(super) fn array_of(&mut self, dtype: DType, name: &str, owner: &str, size: usize) {
        let bytes = size * dtype.itemsize_bytes();
        let place = self.room.as_mut().and_then(|room| room.place(owner, bytes));
        self.line(&match place {
            Some(place) => format!("pc_{dtype} *const {name} = (pc_{dtype} *)(room + {place});"),
            None => format!("pc_{dtype} {name}[{size}];"),
        });
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
            self.lines(&render(FOR, &[("D", &d.to_string()), ("N", &n.to_string())]));
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
