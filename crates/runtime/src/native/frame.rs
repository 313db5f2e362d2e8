//! A frame: everything one call of a program needs, kept from call to call so that steady calls allocate nothing.
//!
//! ```text
//! registers   inputs (borrowed from the caller) │ constants │ temporaries │ outputs (cells)
//! steps       instance + which registers are its arguments, inputs first
//! ```
//! Temporaries keep their storage. Views do not outlive the call: what they look at belongs to the caller.

use super::instance::{Instance, RunError};
use super::object::{Borrowed, Owned};
use super::{ArrayMut, ArrayRef, LoadedEntry, host};
use precast_abi::context::Context;
use precast_abi::tensor::Object;
use precast_graph::Array;
use std::ptr;

/// Where an argument of a step lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
    /// An input of the program.
    Input(usize),
    /// A constant of the program.
    Constant(usize),
    /// An intermediate value.
    Temp(usize),
    /// An output of the program.
    Output(usize),
}

/// One call of an entry.
#[derive(Debug)]
pub(crate) struct Step {
    /// What is called.
    pub(crate) entry: LoadedEntry,
    /// The constants of its module, in order of the slots.
    pub(crate) slots: Vec<Array>,
    /// Its inputs, then its outputs.
    pub(crate) args: Vec<Register>,
    /// Printable signatures of its Applies, for messages.
    pub(crate) signatures: Vec<String>,
}

/// A graph as a flat list of calls.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) n_inputs: usize,
    pub(crate) constants: Vec<Array>,
    /// For each temporary, whether it is a view and so dies with the call.
    pub(crate) temps: Vec<bool>,
    pub(crate) n_outputs: usize,
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepError {
    /// Position of the step.
    pub(crate) step: usize,
    /// What it reported.
    pub(crate) error: RunError,
}

/// Where an output goes.
#[derive(Debug)]
pub(crate) enum Target<'a, 'b> {
    /// Into an array made for it.
    New(&'a mut Option<Array>),
    /// Into this array's memory if it fits, else the array is replaced.
    Reuse(&'a mut Array),
    /// Into this memory, which must fit.
    Into(&'a mut ArrayMut<'b>),
}

/// State of one call at a time.
pub(crate) struct Frame {
    instances: Vec<Instance>,
    inputs: Vec<Borrowed>,
    outputs: Vec<Borrowed>,
    constants: Vec<Owned>,
    temps: Vec<Owned>,
    cells: Vec<*mut Object>,
    args: Vec<*mut Object>,
    /// Kept, because its message buffer is long to clear.
    ctx: Context,
    /// The output whose memory did not fit, and the shape of the result.
    misfit: Option<(usize, Vec<usize>)>,
}

// SAFETY: a frame is used by one call at a time; between calls `cells` and `args` are not read.
unsafe impl Send for Frame {}

impl Frame {
    /// Makes instances of all steps.
    pub(crate) fn new(program: &Program) -> Result<Self, StepError> {
        let mut instances = Vec::with_capacity(program.steps.len());
        for (position, step) in program.steps.iter().enumerate() {
            let slots = step.slots.iter().cloned().map(Owned::from_array).collect();
            let instance = Instance::new(step.entry.clone(), slots);
            let instance = instance.map_err(|error| StepError { step: position, error })?;
            let (inputs, outputs) = instance.arity();
            if inputs + outputs != step.args.len() {
                let message = format!(
                    "the module takes {inputs} input(s) and gives {outputs} output(s), not {}",
                    step.args.len()
                );
                let kind = precast_abi::context::ErrorKind::Runtime;
                let error = RunError { kind, message, task: None, apply: None, variable: None };
                return Err(StepError { step: position, error });
            }
            instances.push(instance);
        }
        let widest = program.steps.iter().map(|step| step.args.len()).max().unwrap_or(0);
        Ok(Self {
            instances,
            inputs: (0..program.n_inputs).map(|_| Borrowed::new()).collect(),
            outputs: (0..program.n_outputs).map(|_| Borrowed::new()).collect(),
            constants: program.constants.iter().cloned().map(Owned::from_array).collect(),
            temps: program.temps.iter().map(|_| Owned::none()).collect(),
            cells: vec![ptr::null_mut(); program.n_outputs],
            args: Vec::with_capacity(widest),
            ctx: host::context(),
            misfit: None,
        })
    }

    /// Runs the program. The caller has checked arrays against the declared types; there is a target for each output.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        inputs: &[ArrayRef<'_>],
        targets: &mut [Target<'_, '_>],
    ) -> Result<(), StepError> {
        for (header, array) in self.inputs.iter_mut().zip(inputs) {
            header.set(&array.place, false);
        }
        for ((cell, header), target) in self.cells.iter_mut().zip(&mut self.outputs).zip(targets.iter_mut()) {
            *cell = match target {
                Target::New(_) => ptr::null_mut(),
                Target::Reuse(array) => {
                    header.set(&ArrayMut::from(&mut **array).place, true);
                    header.as_raw()
                }
                Target::Into(array) => {
                    header.set(&array.place, true);
                    header.as_raw()
                }
            };
        }
        let result = self.run_steps(program);
        for (position, target) in targets.iter_mut().enumerate() {
            self.take_output(position, target, result.is_ok());
        }
        for (temp, is_view) in self.temps.iter_mut().zip(&program.temps) {
            if *is_view {
                *temp = Owned::none();
            }
        }
        for header in &mut self.inputs {
            header.reset();
        }
        result
    }

    /// The output of the last run whose memory did not fit its result, and the shape of the result.
    pub(crate) fn take_misfit(&mut self) -> Option<(usize, Vec<usize>)> {
        self.misfit.take()
    }

    fn run_steps(&mut self, program: &Program) -> Result<(), StepError> {
        for (position, step) in program.steps.iter().enumerate() {
            self.args.clear();
            for register in &step.args {
                let object = match register {
                    Register::Input(i) => self.inputs[*i].as_raw(),
                    Register::Constant(i) => self.constants[*i].as_raw(),
                    Register::Temp(i) => self.temps[*i].as_raw(),
                    Register::Output(i) => self.cells[*i],
                };
                self.args.push(object);
            }
            let instance = &mut self.instances[position];
            // SAFETY: `Frame::new` compared the number of arguments; inputs were set by an earlier step or the caller, and
            // each output register is the only owner of its reference.
            let result = unsafe { instance.run_raw(&mut self.ctx, &mut self.args) };
            let (n_inputs, _) = instance.arity();
            for (register, object) in step.args.iter().zip(&self.args).skip(n_inputs) {
                match register {
                    Register::Temp(i) => {
                        // The module gave back the cell's reference, old or new: it replaces the one that was lent.
                        let lent = std::mem::replace(&mut self.temps[*i], Owned::none());
                        let _ = lent.into_raw();
                        // SAFETY: the cell owns one reference to what the module left in it.
                        self.temps[*i] = unsafe { Owned::from_raw(*object) };
                    }
                    Register::Output(i) => self.cells[*i] = *object,
                    Register::Input(_) | Register::Constant(_) => {}
                }
            }
            result.map_err(|error| StepError { step: position, error })?;
        }
        Ok(())
    }

    /// Moves what a step left in an output cell to where the caller wants it.
    fn take_output(&mut self, position: usize, target: &mut Target<'_, '_>, succeeded: bool) {
        let header = &mut self.outputs[position];
        let object = std::mem::replace(&mut self.cells[position], ptr::null_mut());
        let in_place = ptr::eq(object, header.as_raw());
        header.reset();
        if in_place {
            return;
        }
        // SAFETY: the cell owns one reference to what the module left in it.
        let result = unsafe { Owned::from_raw(object) };
        if !succeeded {
            return;
        }
        match target {
            Target::New(slot) => **slot = result.into_array(),
            Target::Reuse(array) => {
                if let Some(fresh) = result.into_array() {
                    **array = fresh;
                }
            }
            // The module found that the memory does not fit the result.
            Target::Into(_) => self.misfit = result.shape().map(|shape| (position, shape)),
        }
    }
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame").field("steps", &self.instances.len()).finish_non_exhaustive()
    }
}
