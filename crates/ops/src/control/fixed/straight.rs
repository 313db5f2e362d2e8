//! The C function of a graph whose values are arrays of known extents.

use super::Fixed;
use super::text::{Room, Text, ready, texts};
use precast_codegen::LinkError;
use precast_codegen::template::render;

/// The maximum number of elements of an input that is always copied.
const FEW: usize = 8;

/// The maximum number of bytes of an array on the stack.
const LARGEST: usize = 128;

/// Generates the function of a graph.
pub(in crate::control) fn function(fixed: &Fixed, name: &str) -> Result<String, LinkError> {
    let mut text = Text::at(1, "return -1;");
    text.room = Some(Room::beyond(LARGEST));
    for (k, input) in fixed.graph.inputs().iter().enumerate() {
        let (value, item) = (fixed.value(*input), fixed.value(*input).dtype.itemsize_bytes());
        let (size, dtype) = (value.size(), value.dtype);
        // Known integers may be empty.
        if size == 0 {
            continue;
        }
        let array = if size > FEW { format!("a{k}_room") } else { format!("a{k}") };
        text.array_of(dtype, &array, &format!("a{k}"), size);
        let bytes = size * item;
        text.line(&match size > FEW {
            true => {
                format!("pc_{dtype} *const a{k} = (pc_{dtype} *)pc_fixed_view(in[{k}], {array}, {item});")
            }
            false => format!("pc_fixed_read(in[{k}], {array}, {bytes}, {item});"),
        });
    }
    fixed.write_known(&mut text);
    fixed.write(name, &mut text)?;
    for (j, output) in fixed.graph.outputs().iter().enumerate() {
        let (value, array) = (fixed.value(*output), fixed.name(*output));
        let item = value.dtype.itemsize_bytes();
        ready(j, value.dtype, &texts(&value.shape), &mut text);
        text.line(&format!("pc_fixed_write({array}, out[{j}], {}, {item});", value.size() * item));
    }
    let bytes = text.room.map_or(0, |room| room.bytes).to_string();
    let values = [("NAME", name), ("BODY", text.text.as_str()), ("BYTES", &bytes)];
    Ok(fixed.call_functions(name)? + &render(include_str!("../../../c/small_graph.c.in"), &values))
}
