//! The C function of a loop whose values are arrays of known extents.

use super::stages::{Stage, Stages};
use super::text::{Room, Text, copy, elements, ready, steps_of, texts};
use super::{Fixed, Value};
use crate::control::Scan;
use precast_codegen::LinkError;
use precast_codegen::template::render;
use precast_graph::{Origin, VarId};

const FAIL: &str = "return pc_scan_failed(ctx, step);";

/// The number of steps of a block.
const BLOCK: usize = 64;

/// Generates the function of a loop.
pub(in crate::control) fn function(scan: &Scan, fixed: &Fixed, name: &str) -> Result<String, LinkError> {
    let loops = Loop { scan, fixed };
    let (mut before, mut after) = (Text::at(1, FAIL), Text::at(1, FAIL));
    before.room = Some(Room::beyond(usize::MAX));
    loops.read(&mut before);
    loops.results(&mut before, &mut after);
    fixed.write_known(&mut before);
    let staged =
        Stages::of(scan, fixed).map(|stages| loops.stages(&stages, name, &mut before)).transpose()?;
    let steps = match staged.flatten() {
        Some(staged) => staged,
        None => loops.steps(name, &mut before)?,
    };
    let bytes = before.room.map_or(0, |room| room.bytes).to_string();
    let values = [
        ("NAME", name),
        ("BYTES", &bytes),
        ("CARRIES", &scan.carries.to_string()),
        ("SEQUENCES", &scan.sequences.to_string()),
        ("READS", &before.text),
        ("STEPS", &steps),
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

    /// Returns the position of the rows of a step.
    fn at(&self) -> &'static str {
        if self.scan.reverse { "steps - 1 - step" } else { "step" }
    }

    /// Writes the reads before the loop.
    fn read(&self, before: &mut Text) {
        for (k, value) in self.inputs(false) {
            let (array, own, from) = (format!("a{k}"), format!("p{k}"), format!("in[{}]", 1 + k));
            before.array(value.dtype, &array, value.size());
            steps_of(&own, &from, value.shape.len(), before);
            copy(value.dtype, &value.shape, (&format!("{from}->data"), &own, 0), &array, true, before);
        }
        for (k, value) in self.inputs(true) {
            let (own, from) = (format!("p{k}"), format!("in[{}]", 1 + k));
            before.line(&format!("const char *const {own} = {from}->data;"));
            steps_of(&own, &from, 1 + value.shape.len(), before);
        }
    }

    /// Writes the allocation of results, and the last carries after the loop.
    fn results(&self, before: &mut Text, after: &mut Text) {
        let (fixed, carries) = (self.fixed, self.scan.carries);
        for (j, output) in fixed.graph.outputs().iter().enumerate().take(carries + self.scan.rows()) {
            let value = fixed.value(*output);
            let own = format!("r{j}");
            if j < carries {
                ready(j, value.dtype, &texts(&value.shape), after);
                steps_of(&own, &format!("out[{j}]"), value.shape.len(), after);
                let to = (format!("out[{j}]->data"), format!("a{j}"));
                copy(value.dtype, &value.shape, (&to.0, &own, 0), &to.1, false, after);
                continue;
            }
            ready(j, value.dtype, &[&["steps".to_owned()], texts(&value.shape).as_slice()].concat(), before);
            before.line(&format!("char *const {own} = out[{j}]->data;"));
            steps_of(&own, &format!("out[{j}]"), 1 + value.shape.len(), before);
        }
    }

    /// Returns the loop.
    fn steps(&self, name: &str, before: &mut Text) -> Result<String, LinkError> {
        let mut body = Text::at(3, FAIL);
        body.room = before.room.take().map(|mut room| {
            room.keep();
            room
        });
        self.read_rows(&mut body);
        self.fixed.write(name, &mut body)?;
        self.write_rows(|_| true, &mut body);
        self.write_carries(|_| true, &mut body);
        before.room = body.room.take();
        Ok(render(include_str!("../../../c/scan_steps.c.in"), &[("WHERE", self.at()), ("BODY", &body.text)]))
    }

    /// Returns the loops over the stages of each block. `None` if a step can fail: stages would report another error than
    /// the first one.
    fn stages(&self, stages: &Stages, name: &str, before: &mut Text) -> Result<Option<String>, LinkError> {
        let fixed = self.fixed;
        let is_input = |variable| matches!(fixed.graph.variable(variable).origin, Origin::Input(_));
        let mut loops = String::new();
        for stage in Stage::ALL {
            let mut body = Text::at(4, FAIL);
            if stage == Stage::First {
                self.read_rows(&mut body);
            }
            for (array, variable, from) in stages.kept() {
                if from < stage {
                    body.array(fixed.value(variable).dtype, array, 1);
                    body.line(&format!("{array}[0] = b_{array}[k];"));
                } else if from == stage && is_input(variable) {
                    body.line(&format!("b_{array}[k] = {array}[0];"));
                }
            }
            fixed.write_stage(stages, stage, name, &mut body)?;
            for (array, _, _) in stages.kept().filter(|(_, v, from)| *from == stage && !is_input(*v)) {
                body.line(&format!("b_{array}[k] = {array}[0];"));
            }
            let is_own = |row| stages.value(fixed, row).unwrap_or(Stage::First) == stage;
            self.write_rows(is_own, &mut body);
            self.write_carries(|j| stages.carry(j) == stage, &mut body);
            let hint = if stage == Stage::Map { "#pragma GCC ivdep\n" } else { "" };
            let values = [("HINT", hint), ("WHERE", self.at()), ("BODY", &body.text)];
            loops += &render(include_str!("../../../c/scan_stage.c.in"), &values);
        }
        if loops.contains(FAIL) {
            return Ok(None);
        }
        for (array, variable, _) in stages.kept() {
            before.array(fixed.value(variable).dtype, &format!("b_{array}"), BLOCK);
        }
        let block = BLOCK.to_string();
        let values = [("BLOCK", block.as_str()), ("STAGES", &loops)];
        Ok(Some(render(include_str!("../../../c/scan_stages.c.in"), &values)))
    }

    /// Writes the reads of rows in each iteration.
    fn read_rows(&self, body: &mut Text) {
        for (k, value) in self.inputs(true) {
            let (array, own) = (format!("a{k}"), format!("p{k}"));
            body.array(value.dtype, &array, value.size());
            copy(value.dtype, &value.shape, (&format!("{own} + at * {own}_0"), &own, 1), &array, true, body);
        }
    }

    /// Writes rows of results.
    fn write_rows(&self, is_own: impl Fn(VarId) -> bool, body: &mut Text) {
        let rows =
            self.fixed.graph.outputs().iter().enumerate().skip(self.scan.carries).take(self.scan.rows());
        for (j, output) in rows.filter(|(_, output)| is_own(**output)) {
            let (value, own) = (self.fixed.value(*output), format!("r{j}"));
            let to = format!("{own} + at * {own}_0");
            copy(value.dtype, &value.shape, (&to, &own, 1), &self.fixed.name(*output), false, body);
        }
    }

    /// Writes the next values of carries, and the end of a loop that ends early.
    fn write_carries(&self, is_own: impl Fn(usize) -> bool, body: &mut Text) {
        let (fixed, carries) = (self.fixed, self.scan.carries);
        let outputs = fixed.graph.outputs();
        let (mut copies, mut moves) = (Text::at(body.depth(), FAIL), Text::at(body.depth(), FAIL));
        copies.room = body.room.take();
        for (j, output) in outputs[..carries].iter().enumerate().filter(|(j, _)| is_own(*j)) {
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
