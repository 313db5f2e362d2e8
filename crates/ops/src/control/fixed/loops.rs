//! The C function of a loop whose values are arrays of known extents.

use super::text::{Room, Text, copy, elements, ready, steps_of, texts};
use super::{Fixed, Value};
use crate::control::Scan;
use precast_codegen::LinkError;
use precast_codegen::template::render;

const FAIL: &str = "return pc_scan_failed(ctx, step);";

/// Generates the function of a loop.
pub(in crate::control) fn function(scan: &Scan, fixed: &Fixed, name: &str) -> Result<String, LinkError> {
    let loops = Loop { scan, fixed };
    let (mut before, mut body, mut after) = (Text::at(1, FAIL), Text::at(3, FAIL), Text::at(1, FAIL));
    before.room = Some(Room::beyond(usize::MAX));
    loops.read(&mut before);
    body.room = before.room.take().map(|mut room| {
        room.keep();
        room
    });
    loops.read_rows(&mut before, &mut body);
    fixed.write_known(&mut before);
    fixed.write(name, &mut body)?;
    loops.store(&mut before, &mut body, &mut after);
    let bytes = body.room.map_or(0, |room| room.bytes).to_string();
    let values = [
        ("NAME", name),
        ("BYTES", &bytes),
        ("CARRIES", &scan.carries.to_string()),
        ("SEQUENCES", &scan.sequences.to_string()),
        ("WHERE", if scan.reverse { "steps - 1 - step" } else { "step" }),
        ("READS", &before.text),
        ("BODY", &body.text),
        ("DONE", if scan.until { "done:;\n" } else { "" }),
        ("WRITES", &after.text),
    ];
    Ok(fixed.call_functions(name)? + &render(include_str!("../../../c/scan_fixed.c.in"), &values))
}

/// The parts of a loop around the steps.
struct Loop<'a> {
    scan: &'a Scan,
    fixed: &'a Fixed,
}

impl Loop<'_> {
    /// Returns the inputs with elements, those that are read by rows or the others.
    fn inputs(&self, by_rows: bool) -> impl Iterator<Item = (usize, &Value)> {
        let inputs = self.fixed.graph.inputs().iter().enumerate();
        let inputs = inputs.map(|(k, input)| (k, self.fixed.value(*input)));
        inputs.filter(move |(k, value)| value.size() > 0 && self.scan.is_sequence(*k) == by_rows)
    }

    /// Writes the reads before the loop.
    fn read(&self, before: &mut Text) {
        for (k, value) in self.inputs(false) {
            let (array, own, from) = (format!("a{k}"), format!("p{k}"), format!("in[{}]", 1 + k));
            before.array(value.dtype, &array, value.size());
            steps_of(&own, &from, value.shape.len(), before);
            copy(value.dtype, &value.shape, (&format!("{from}->data"), &own, 0), &array, true, before);
        }
    }

    /// Writes the reads of rows in each iteration.
    fn read_rows(&self, before: &mut Text, body: &mut Text) {
        for (k, value) in self.inputs(true) {
            let (array, own, from) = (format!("a{k}"), format!("p{k}"), format!("in[{}]", 1 + k));
            before.line(&format!("const char *const {own} = {from}->data;"));
            steps_of(&own, &from, 1 + value.shape.len(), before);
            body.array(value.dtype, &array, value.size());
            copy(value.dtype, &value.shape, (&format!("{own} + at * {own}_0"), &own, 1), &array, true, body);
        }
    }

    /// Writes the results: rows and the next carries in each iteration, the last carries after the loop.
    fn store(&self, before: &mut Text, body: &mut Text, after: &mut Text) {
        let (fixed, carries) = (self.fixed, self.scan.carries);
        let outputs = fixed.graph.outputs();
        for (j, output) in outputs.iter().enumerate().skip(carries).take(self.scan.rows()) {
            let value = fixed.value(*output);
            ready(j, value.dtype, &[&["steps".to_owned()], texts(&value.shape).as_slice()].concat(), before);
            before.line(&format!("char *const r{j} = out[{j}]->data;"));
            steps_of(&format!("r{j}"), &format!("out[{j}]"), 1 + value.shape.len(), before);
            copy(
                value.dtype,
                &value.shape,
                (&format!("r{j} + at * r{j}_0"), &format!("r{j}"), 1),
                &fixed.name(*output),
                false,
                body,
            );
        }
        let (mut copies, mut moves) = (Text::at(3, FAIL), Text::at(3, FAIL));
        copies.room = body.room.take();
        for (j, output) in outputs[..carries].iter().enumerate() {
            let (value, mut from) = (fixed.value(*output), fixed.name(*output));
            let own = format!("a{j}");
            // A carry is assigned once all of them are computed.
            if from != own && (0..carries).any(|other| from == format!("a{other}")) {
                copies.array(value.dtype, &format!("n{j}"), value.size());
                elements(value.size(), &format!("n{j}"), &from, &mut copies);
                from = format!("n{j}");
            }
            if from != own {
                elements(value.size(), &own, &from, &mut moves);
            }
            ready(j, value.dtype, &texts(&value.shape), after);
            steps_of(&format!("r{j}"), &format!("out[{j}]"), value.shape.len(), after);
            copy(
                value.dtype,
                &value.shape,
                (&format!("out[{j}]->data"), &format!("r{j}"), 0),
                &own,
                false,
                after,
            );
        }
        // The flag may be a carry, so it is read before the carries change.
        let stop = outputs.last().filter(|_| self.scan.until);
        if let Some(stop) = stop {
            body.line(&format!("const pc_bool stop = {}[0];", fixed.name(*stop)));
        }
        body.room = copies.room.take();
        body.text += &copies.text;
        body.text += &moves.text;
        if stop.is_some() {
            body.line("if (stop) goto done;");
        }
    }
}
