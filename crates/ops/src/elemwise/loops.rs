//! Generates the loops and calls of a kernel.

use super::kernel::is_scalar;
use super::plan::{Call, Part, Plan, Stage};
use crate::composite::c_type;
use crate::scalar::ScalarOp;
use precast_codegen::template::render;
use precast_codegen::{LinkError, Sub};
use precast_graph::{DType, Type};
use std::fmt::Write as _;

impl Plan {
    /// Returns the definitions of the block functions.
    pub(super) fn functions(&self) -> String {
        let calls = self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call.function.c_text()),
            Part::Loop(_) => None,
        });
        calls.collect()
    }
}

/// A kernel of several parts.
pub(super) struct Kernel<'a> {
    pub(super) plan: &'a Plan,
    pub(super) inputs: &'a [Type],
    /// What is added to the count of a loop that only computes whole vectors.
    pub(super) lanes: &'a str,
}

impl Kernel<'_> {
    /// Generates the parts, which run block after block. Values that a later part reads are kept in buffers.
    pub(super) fn parts(&self, name: &str) -> Result<String, LinkError> {
        if let [Part::Call(call)] = self.plan.parts.as_slice()
            && call.reads.iter().all(|value| !is_scalar(&self.inputs[*value]))
        {
            return Ok(self.call(call, true, "", "n"));
        }
        let (mut blocks, mut text) = (self.rooms(), String::new());
        let count = if self.lanes.is_empty() { "m".to_owned() } else { format!("(m{})", self.lanes) };
        for (position, part) in self.plan.parts.iter().enumerate() {
            let is_last = position + 1 == self.plan.parts.len();
            match part {
                Part::Loop(stage) => {
                    let made: Vec<DType> = stage.makes.iter().map(|value| self.plan.dtypes[*value]).collect();
                    let (dtypes, buffers) = (&self.plan.dtypes, &self.plan.buffers);
                    let values = Values { inputs: self.inputs, dtypes, buffers, at: "at + i", is_last };
                    let (scalar, own) = (&stage.composite, format!("{name}_{position}"));
                    let (reads, makes) = (&stage.reads, &stage.makes);
                    text.push_str(&if stage.is_wide {
                        values.wide_loop(stage, &own, &count, self.plan.block)?
                    } else {
                        values.loop_of(scalar, &own, reads, makes, &made, &count)?
                    });
                }
                Part::Call(call) => text.push_str(&self.call(call, is_last, " + at", "m")),
            }
        }
        blocks.push_str(&self.spread());
        let block = self.plan.block.to_string();
        let parts = [("BLOCKS", blocks.trim_end()), ("BLOCK", &block), ("LOOPS", text.trim_end())];
        Ok(render(include_str!("../../c/kernel_staged.c.in"), &parts))
    }

    /// Declares the buffers.
    fn rooms(&self) -> String {
        let rooms = self.plan.rooms.iter().enumerate();
        let room = |(room, dtype): (usize, &DType)| {
            format!("  pc_{dtype} b{room}[{}] __attribute__((aligned(64)));\n", self.plan.block)
        };
        rooms.map(room).collect()
    }

    /// Spreads the scalars that block functions read over blocks.
    fn spread(&self) -> String {
        let calls = self.plan.parts.iter().filter(|part| matches!(part, Part::Call(_)));
        let mut read: Vec<usize> = calls.flat_map(|part| part.reads().to_vec()).collect();
        read.retain(|value| self.inputs.get(*value).is_some_and(is_scalar));
        read.sort_unstable();
        read.dedup();
        let block = self.plan.block;
        let spread = |value: &usize| {
            let (dtype, k) = (self.plan.dtypes[*value], value.to_string());
            let marks = [("DTYPE", dtype.name()), ("K", &k), ("BLOCK", &block.to_string())];
            render(include_str!("../../c/kernel_spread.c.in"), &marks)
        };
        read.iter().map(spread).collect()
    }

    /// Generates a call for `count` elements, those `at` of the operands.
    fn call(&self, call: &Call, is_last: bool, at: &str, count: &str) -> String {
        let place = |value: usize| match self.inputs.get(value) {
            Some(ty) if is_scalar(ty) => format!("s{value}"),
            Some(_) => format!("x{value}{at}"),
            None => format!("b{}", self.plan.buffers[value].unwrap_or_default()),
        };
        let operands: Vec<String> = call.reads.iter().map(|value| place(*value)).collect();
        let result = if is_last { format!("y0{at}") } else { place(call.makes) };
        format!("  {}({count}, {}, {result});\n", call.function.c_name(), operands.join(", "))
    }
}

/// The location of a loop's values, inputs first: elements `at` of operands, or block buffers.
pub(super) struct Values<'a> {
    pub(super) inputs: &'a [Type],
    pub(super) dtypes: &'a [DType],
    pub(super) buffers: &'a [Option<usize>],
    pub(super) at: &'a str,
    /// Whether the loop produces the results.
    pub(super) is_last: bool,
}

impl Values<'_> {
    /// Generates the loop of a scalar op that reads and produces these values.
    pub(super) fn loop_of(
        &self,
        scalar: &dyn ScalarOp,
        name: &str,
        reads: &[usize],
        makes: &[usize],
        made: &[DType],
        count: &str,
    ) -> Result<String, LinkError> {
        let (mut body, at) = (String::new(), self.at);
        // Writing to a string cannot fail.
        for value in reads.iter().filter(|value| !self.is_scalar(**value)) {
            let _ = writeln!(body, "    const pc_{} a{value} = {};", self.dtypes[*value], self.read(*value));
        }
        for (j, dtype) in made.iter().enumerate() {
            let _ = writeln!(body, "    pc_{dtype} r{j};");
        }
        let arguments: Vec<String> = reads.iter().map(|value| format!("a{value}")).collect();
        let results: Vec<String> = (0..made.len()).map(|j| format!("r{j}")).collect();
        let taken: Vec<DType> = reads.iter().map(|value| self.dtypes[*value]).collect();
        let code = scalar.c_code(&taken, name, &arguments, &results, &failing())?;
        for line in code.lines() {
            let _ = writeln!(body, "    {line}");
        }
        for (j, result) in results.iter().enumerate() {
            let place = if self.is_last { format!("y{j}[{at}]") } else { self.kept(makes[j]) };
            let _ = writeln!(body, "    {place} = {result};");
        }
        let parts = [("COUNT", count), ("BODY", body.trim_end())];
        Ok(render(include_str!("../../c/kernel_loop.c.in"), &parts))
    }

    /// Generates the loop of a stage whose truth values are widened to 64 bits: in a block before it those that it
    /// reads, and narrowed after it those that it makes. `block` is the number of elements of a block.
    fn wide_loop(&self, stage: &Stage, name: &str, count: &str, block: usize) -> Result<String, LinkError> {
        let (mut body, mut before, mut after) = (String::new(), String::new(), String::new());
        let (mut arguments, block) = (Vec::new(), block.to_string());
        let is_truth = |value: usize| self.dtypes[value] == DType::Bool;
        // Writing to a string cannot fail.
        for value in &stage.reads {
            let place = if self.is_scalar(*value) { format!("a{value}") } else { self.read(*value) };
            let _ = match (self.is_scalar(*value), is_truth(*value)) {
                (true, true) => writeln!(before, "  const int64_t w{value} = {place} != 0;"),
                (true, false) => Ok(()),
                (false, true) => {
                    let marks: [(&str, &str); 4] = [
                        ("VALUE", &value.to_string()),
                        ("BLOCK", &block),
                        ("PLACE", &place),
                        ("COUNT", count),
                    ];
                    before.push_str(&render(include_str!("../../c/kernel_widen.c.in"), &marks));
                    writeln!(body, "    const int64_t a{value} = w{value}[i];")
                }
                (false, false) => writeln!(body, "    const pc_{} a{value} = {place};", self.dtypes[*value]),
            };
            let is_widened_scalar = self.is_scalar(*value) && is_truth(*value);
            arguments.push(if is_widened_scalar { format!("w{value}") } else { format!("a{value}") });
        }
        let results: Vec<String> = (0..stage.makes.len()).map(|j| format!("r{j}")).collect();
        for (result, value) in results.iter().zip(&stage.makes) {
            let _ = writeln!(body, "    {} {result};", c_type(self.dtypes[*value], true));
        }
        let taken: Vec<DType> = stage.reads.iter().map(|value| self.dtypes[*value]).collect();
        let code = stage.composite.code(&taken, name, &arguments, &results, &failing(), true)?;
        for line in code.lines() {
            let _ = writeln!(body, "    {line}");
        }
        for (j, value) in stage.makes.iter().enumerate() {
            let place = if self.is_last { format!("y{j}[{}]", self.at) } else { self.kept(*value) };
            if is_truth(*value) {
                let _ = writeln!(before, "  int64_t t{j}[{block}] __attribute__((aligned(64)));");
                let _ = writeln!(body, "    t{j}[i] = r{j};");
                let marks: [(&str, &str); 3] =
                    [("PLACE", &place), ("RESULT", &j.to_string()), ("COUNT", count)];
                after.push_str(&render(include_str!("../../c/kernel_narrow.c.in"), &marks));
            } else {
                let _ = writeln!(body, "    {place} = r{j};");
            }
        }
        let parts = [("COUNT", count), ("BODY", body.trim_end())];
        let main = render(include_str!("../../c/kernel_loop.c.in"), &parts);
        Ok(format!("  {{\n{before}{main}{after}  }}\n"))
    }

    /// Returns whether a value is the only element of an operand.
    fn is_scalar(&self, value: usize) -> bool {
        self.inputs.get(value).is_some_and(is_scalar)
    }

    /// Returns the element of a value that the loop reads.
    fn read(&self, value: usize) -> String {
        if value < self.inputs.len() { format!("x{value}[{}]", self.at) } else { self.kept(value) }
    }

    /// Returns the element of a value in its buffer.
    fn kept(&self, value: usize) -> String {
        format!("b{}[i]", self.buffers.get(value).copied().flatten().unwrap_or_default())
    }
}

/// Returns the substitutions of statements in a kernel.
fn failing() -> Sub {
    Sub { fail: "return -1;".to_owned(), ..Sub::default() }
}
