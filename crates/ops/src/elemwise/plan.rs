//! Plans a kernel as parts, which run block after block: loops over elements, and calls of block functions.
//!
//! ```text
//! x, y                          operands
//! loop   v2 = x * y             a block of v2 is kept
//! call   v3 = sin(v2)           pc_sin_f64_block, shared by all kernels of the module
//! loop   out = v3 + exp(y)      the last part writes results, because they may be operands in place
//! ```
//! In a single loop with several transcendental functions, so many dependent instructions would leave the CPU too few
//! independent iterations to stay busy. A loop therefore has at most one of those that are not called. Narrow values
//! beside such a function are widened first.

use crate::composite::{Composite, MATH, are_lanes};
use crate::scalar::{self, BlockFunction};
use precast_graph::DType;
use std::sync::Arc;

/// A part of a composite that runs as a loop. `reads` and `makes` are the values of the whole composite that it reads
/// and produces, in the order of its inputs and outputs.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) composite: Composite,
    pub(crate) reads: Vec<usize>,
    pub(crate) makes: Vec<usize>,
    /// Whether truth values are widened to 64 bits before the loop and narrowed after it.
    pub(crate) is_wide: bool,
}

/// A call of a block function, with the values it reads and the value it produces.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: BlockFunction,
    pub(crate) reads: Vec<usize>,
    pub(crate) makes: usize,
}

/// A part of a kernel.
#[derive(Debug)]
pub(crate) enum Part {
    Loop(Stage),
    Call(Call),
}

impl Part {
    pub(crate) fn reads(&self) -> &[usize] {
        match self {
            Self::Loop(stage) => &stage.reads,
            Self::Call(call) => &call.reads,
        }
    }

    pub(crate) fn makes(&self) -> &[usize] {
        match self {
            Self::Loop(stage) => &stage.makes,
            Self::Call(call) => std::slice::from_ref(&call.makes),
        }
    }

    /// Returns the bytes per element of widened truth values.
    fn widened_bytes(&self, types: &[DType]) -> usize {
        let is_wide = matches!(self, Self::Loop(stage) if stage.is_wide);
        let values = self.reads().iter().chain(self.makes());
        if is_wide { 8 * values.filter(|value| types[**value] == DType::Bool).count() } else { 0 }
    }
}

/// The parts of a kernel, the last of which writes the results.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) parts: Vec<Part>,
    /// The dtypes of all values.
    pub(crate) dtypes: Vec<DType>,
    /// The buffer of each value that a later part reads.
    pub(crate) buffers: Vec<Option<usize>>,
    /// The dtypes of the buffers.
    pub(crate) rooms: Vec<DType>,
    /// The number of elements per block.
    pub(crate) block: usize,
}

/// The maximum number of bytes per element for buffers that stay in the L1 cache and use 8 KiB of stack, in blocks of
/// [`BLOCK`] elements.
const WAITING_BYTES: usize = 32;

/// The maximum number of bytes per element for buffers of a plan that needs parts: 32 KiB of stack.
const MOST_BYTES: usize = 512;

/// The number of elements per block. It is halved for plans with more buffers, down to [`LEAST`].
const BLOCK: usize = 256;

/// The smallest number of elements per block.
const LEAST: usize = 64;

impl Plan {
    /// Plans a kernel of several parts for operands of these dtypes. Returns `None` if one loop is better.
    pub(crate) fn of(composite: &Composite, dtypes: &[DType], is_known: bool) -> Option<Self> {
        let types = composite.dtypes(dtypes).filter(|_| is_known)?;
        let parts = parts(composite, &types);
        let is_planned = |part: &Part| match part {
            Part::Call(_) => true,
            Part::Loop(stage) => stage.is_wide,
        };
        let needs_parts = parts.iter().any(is_planned);
        if parts.len() == 1 && !needs_parts {
            return None;
        }
        let (buffers, rooms) = buffers(&parts, &types);
        let kept: usize = rooms.iter().map(|dtype| dtype.itemsize_bytes()).sum();
        let bytes = kept + parts.iter().map(|part| part.widened_bytes(&types)).max().unwrap_or(0);
        let blocks = if needs_parts { &[BLOCK, BLOCK / 2][..] } else { &[BLOCK] };
        let block = blocks.iter().copied().find(|block| bytes * block <= WAITING_BYTES * BLOCK);
        let block = block.or((needs_parts && bytes <= MOST_BYTES).then_some(LEAST))?;
        Some(Self { parts, dtypes: types, buffers, rooms, block })
    }
}

/// Returns the parts of a composite, in the order in which they run.
fn parts(composite: &Composite, types: &[DType]) -> Vec<Part> {
    let (inputs, steps) = (composite.inputs(), composite.steps());
    let taken = |step: usize| steps[step].1.iter().map(|value| types[*value]).collect::<Vec<DType>>();
    let functions: Vec<Option<BlockFunction>> =
        (0..steps.len()).map(|step| steps[step].0.block(&taken(step))).collect();
    let headers = |step: &usize| steps[*step].0.c_headers(&taken(*step));
    let inline: Vec<usize> = (0..steps.len()).filter(|step| functions[*step].is_none()).collect();
    let splits = are_lanes(types, &inline.iter().flat_map(headers).collect::<Vec<_>>());
    let is_function = |step: &usize| splits && headers(step).iter().any(|header| header.starts_with(MATH));
    let mut rest = needed(composite);
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let is_made = |value: &usize| *value < inputs || !rest.contains(&(value - inputs));
        let is_ready = |step: &usize| steps[*step].1.iter().all(is_made);
        let called: Vec<usize> =
            rest.iter().copied().filter(|step| functions[*step].is_some() && is_ready(step)).collect();
        for step in &called {
            let reads = steps[*step].1.clone();
            parts.extend(
                functions[*step].map(|function| Part::Call(Call { function, reads, makes: inputs + step })),
            );
        }
        rest.retain(|step| !called.contains(step));
        let looped = next_loop(composite, &rest, &functions, &is_function);
        rest.retain(|step| !looped.contains(step));
        if !looped.is_empty() {
            parts.extend(loops(composite, types, &looped, &rest).into_iter().map(Part::Loop));
        }
    }
    // A call writes its result only.
    let is_complete =
        |part: &Part| matches!(part, Part::Loop(_)) || part.makes() == composite.output_values();
    if !parts.last().is_some_and(is_complete) {
        parts.push(Part::Loop(stage(composite, &[], &[])));
    }
    parts
}

/// Returns the steps that an output needs.
fn needed(composite: &Composite) -> Vec<usize> {
    let mut values = composite.output_values().to_vec();
    let mut steps = Vec::new();
    for (step, (_, arguments)) in composite.steps().iter().enumerate().rev() {
        if values.contains(&(composite.inputs() + step)) {
            values.extend(arguments);
            steps.push(step);
        }
    }
    steps.reverse();
    steps
}

/// Returns the steps of the next loop: those whose arguments are known or made by the loop, up to the second function.
fn next_loop(
    composite: &Composite,
    rest: &[usize],
    functions: &[Option<BlockFunction>],
    is_function: &dyn Fn(&usize) -> bool,
) -> Vec<usize> {
    let (inputs, mut looped, mut has_function) = (composite.inputs(), Vec::new(), false);
    for step in rest {
        let is_known = |value: &usize| {
            *value < inputs || !rest.contains(&(value - inputs)) || looped.contains(&(value - inputs))
        };
        if functions[*step].is_some() || !composite.steps()[*step].1.iter().all(is_known) {
            continue;
        }
        if is_function(step) {
            if has_function {
                break;
            }
            has_function = true;
        }
        looped.push(*step);
    }
    looped
}

/// Returns the loops for these steps, which the steps `rest` follow: one, or casts of bytes to 64 bits and then a loop
/// whose elements all have 64 bits. Compilers take the narrowest type in a loop for the length of its vectors, so a byte
/// beside f64 makes eight copies of a function. Without a function, a loop is up to three times as fast if it reads the
/// bytes itself. Wider elements, and bytes beside f32, cost less code than another loop.
fn loops(composite: &Composite, types: &[DType], steps: &[usize], rest: &[usize]) -> Vec<Stage> {
    let inputs = composite.inputs();
    let is_narrow_cast = |step: &usize| {
        let (op, arguments) = &composite.steps()[*step];
        let Some(value) = arguments.first() else { return false };
        let (from, to) = (types[*value], types[inputs + step]);
        let is_known = !steps.iter().any(|step| inputs + step == *value);
        let is_narrow = from != DType::Bool && from.itemsize_bytes() == 1;
        op.name() == "cast" && is_known && is_narrow && to != DType::Bool && scalar::is_wide(to)
    };
    let (casts, main): (Vec<usize>, Vec<usize>) = steps.iter().copied().partition(is_narrow_cast);
    if main.is_empty() {
        return vec![stage(composite, steps, rest)];
    }
    let mut wide = stage(composite, &main, rest);
    let dtypes: Vec<DType> = wide.reads.iter().map(|value| types[*value]).collect();
    let made = main.iter().map(|step| inputs + step);
    let has_truth = wide.reads.iter().copied().chain(made).any(|value| types[value] == DType::Bool);
    if casts.is_empty() && !has_truth || !wide.composite.widens(&dtypes) {
        return vec![stage(composite, steps, rest)];
    }
    wide.is_wide = true;
    let mut left: Vec<usize> = casts.iter().chain(&main).chain(rest).copied().collect();
    let mut all = Vec::new();
    for cast in casts {
        left.retain(|step| *step != cast);
        all.push(stage(composite, &[cast], &left));
    }
    all.push(wide);
    all
}

/// Returns these steps as a stage that is followed by the steps `rest`.
fn stage(composite: &Composite, steps: &[usize], rest: &[usize]) -> Stage {
    let (inputs, all, outputs) = (composite.inputs(), composite.steps(), composite.output_values());
    let is_last = rest.is_empty();
    let place = |value: &usize| steps.iter().position(|step| inputs + step == *value);
    let results = outputs.iter().filter(|_| is_last);
    let given = steps.iter().flat_map(|step| &all[*step].1).chain(results);
    let mut reads: Vec<usize> = given.copied().filter(|value| place(value).is_none()).collect();
    reads.sort_unstable();
    reads.dedup();
    let is_wanted =
        |value: &usize| outputs.contains(value) || rest.iter().any(|step| all[*step].1.contains(value));
    let makes = if is_last {
        outputs.to_vec()
    } else {
        steps.iter().map(|step| inputs + step).filter(is_wanted).collect()
    };
    let own = |value: &usize| match place(value) {
        Some(position) => reads.len() + position,
        None => reads.binary_search(value).unwrap_or_default(),
    };
    let inner = steps.iter().map(|step| {
        let (op, arguments) = &all[*step];
        (Arc::clone(op), arguments.iter().map(own).collect())
    });
    let composite = Composite::new(reads.len(), inner.collect(), makes.iter().map(own).collect());
    Stage { composite, reads, makes, is_wide: false }
}

/// Assigns buffers to the values that a later part reads. A buffer is used again once its value is not needed.
fn buffers(parts: &[Part], types: &[DType]) -> (Vec<Option<usize>>, Vec<DType>) {
    let mut buffers = vec![None; types.len()];
    let mut rooms: Vec<(DType, usize)> = Vec::new();
    for (position, part) in parts.iter().enumerate() {
        for value in part.makes() {
            let is_read = |part: &Part| part.reads().contains(value);
            let Some(last) = parts.iter().rposition(is_read).filter(|last| *last > position) else {
                continue;
            };
            let free = rooms.iter().position(|(dtype, until)| *dtype == types[*value] && *until < position);
            let room = free.unwrap_or(rooms.len());
            match free {
                Some(room) => rooms[room].1 = last,
                None => rooms.push((types[*value], last)),
            }
            buffers[*value] = Some(room);
        }
    }
    (buffers, rooms.into_iter().map(|(dtype, _)| dtype).collect())
}
