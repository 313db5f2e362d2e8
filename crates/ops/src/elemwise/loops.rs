//! Generates the loops and calls of a kernel.

use super::kernel::is_scalar;
use super::plan::{Call, Part, Plan};
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
                    text.push_str(&values.loop_of(
                        scalar,
                        &own,
                        &stage.reads,
                        &stage.makes,
                        &made,
                        &count,
                    )?);
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
        for value in reads {
            let dtype = self.dtypes[*value];
            let _ = match self.inputs.get(*value) {
                Some(ty) if is_scalar(ty) => Ok(()),
                Some(_) => writeln!(body, "    const pc_{dtype} a{value} = x{value}[{at}];"),
                None => writeln!(body, "    const pc_{dtype} a{value} = b{}[i];", self.buffer(*value)),
            };
        }
        for (j, dtype) in made.iter().enumerate() {
            let _ = writeln!(body, "    pc_{dtype} r{j};");
        }
        let arguments: Vec<String> = reads.iter().map(|value| format!("a{value}")).collect();
        let results: Vec<String> = (0..made.len()).map(|j| format!("r{j}")).collect();
        let taken: Vec<DType> = reads.iter().map(|value| self.dtypes[*value]).collect();
        let sub = Sub { fail: "return -1;".to_owned(), ..Sub::default() };
        let code = scalar.c_code(&taken, name, &arguments, &results, &sub)?;
        for line in code.lines() {
            let _ = writeln!(body, "    {line}");
        }
        let place = |j: usize| {
            if self.is_last { format!("y{j}[{at}]") } else { format!("b{}[i]", self.buffer(makes[j])) }
        };
        for (j, result) in results.iter().enumerate() {
            let _ = writeln!(body, "    {} = {result};", place(j));
        }
        let parts = [("COUNT", count), ("BODY", body.trim_end())];
        Ok(render(include_str!("../../c/kernel_loop.c.in"), &parts))
    }

    /// Returns the buffer of a value.
    fn buffer(&self, value: usize) -> usize {
        self.buffers.get(value).copied().flatten().unwrap_or_default()
    }
}
