//! A frame: the state of one call of a program. It is reused, so that repeated calls allocate nothing.
//!
//! ```text
//! headers     of inputs and outputs, which point to the caller's memory during a call
//! constants   tensors owned by the frame, the same in every call
//! temps       intermediate results; dead ones are in `storage`
//! workers     an instance for each module, memory for the blocks of chains
//! ```
//! Views do not outlive the call, because their memory may belong to the caller. The tensor behind a view lives as long as
//! the view, because the program makes it die no earlier.

use super::executable::{Bound, Executable, Room, Work};
use super::storage::Storage;
use crate::native::arrays::{ArrayMut, ArrayRef};
use crate::native::host;
use crate::native::kernels::{Line, Running, lines};
use crate::native::load::{Instance, RunError};
use crate::native::memory::object::{Borrowed, Owned, extents};
use crate::program::Register;
use crate::{Array, DType, Type};
use precast_abi::context::ErrorKind;
use precast_abi::tensor::{MAX_NDIM, Object, Tensor};
use std::ptr;

/// The error of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepError {
    /// Position of the step.
    pub(crate) step: usize,
    /// The reported error.
    pub(crate) error: RunError,
}

/// The destinations of the outputs, one for each.
#[derive(Debug)]
pub enum Targets<'a, 'b> {
    /// New arrays, which are appended to the vector.
    New(&'a mut Vec<Array>),
    /// The memory of these arrays if it fits; otherwise the array is replaced.
    Reuse(&'a mut [Array]),
    /// This memory, which must fit.
    Into(&'a mut [ArrayMut<'b>]),
}

impl Targets<'_, '_> {
    /// Returns the number of arrays.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::New(arrays) => arrays.len(),
            Self::Reuse(arrays) => arrays.len(),
            Self::Into(arrays) => arrays.len(),
        }
    }

    /// Returns dtype and shape of the array at a position, if it exists.
    pub(crate) fn array(&self, position: usize) -> Option<(DType, &[usize])> {
        match self {
            Self::New(arrays) => arrays.get(position).map(|array| (array.dtype(), array.shape())),
            Self::Reuse(arrays) => arrays.get(position).map(|array| (array.dtype(), array.shape())),
            Self::Into(arrays) => arrays.get(position).map(|array| (array.dtype(), array.shape())),
        }
    }
}

/// The instance that runs a step, if it is a call.
enum Worker {
    Instance(Instance),
    Chain,
}

/// The state of one call at a time.
pub(crate) struct Frame {
    workers: Vec<Worker>,
    inputs: Vec<Borrowed>,
    outputs: Vec<Borrowed>,
    constants: Vec<Owned>,
    temps: Vec<Owned>,
    storage: Storage,
    cells: Vec<*mut Object>,
    args: Vec<*mut Object>,
    /// A stand-in header for a temporary that is read while it is overwritten.
    alias: Borrowed,
    /// The blocks of chains.
    lines: Vec<Line>,
    /// Reused, because clearing its message buffer takes long.
    running: Running,
    /// The output whose memory did not fit, and the shape of the result.
    misfit: Option<(usize, Vec<usize>)>,
}

// SAFETY: a frame is used by one call at a time; between calls `cells` and `args` are not read.
unsafe impl Send for Frame {}

impl Frame {
    /// Creates the instances of all steps.
    pub(crate) fn new(program: &Executable) -> Result<Self, StepError> {
        let workers = program
            .steps
            .iter()
            .enumerate()
            .map(|(position, step)| worker(step).map_err(|error| StepError { step: position, error }));
        let chains = program.steps.iter().map(|step| match &step.work {
            Work::Chain(chain) => chain.lines(),
            Work::Call { .. } => 0,
        });
        let widest = program.steps.iter().map(|step| step.args.len()).max().unwrap_or(0);
        Ok(Self {
            workers: workers.collect::<Result<_, _>>()?,
            lines: lines(chains),
            inputs: (0..program.n_inputs).map(|_| Borrowed::new()).collect(),
            outputs: (0..program.n_outputs).map(|_| Borrowed::new()).collect(),
            constants: program.constants.iter().cloned().map(Owned::constant).collect(),
            temps: program.temps.iter().map(|_| Owned::none()).collect(),
            storage: Storage::new(program.temps.len()),
            cells: vec![ptr::null_mut(); program.n_outputs],
            args: Vec::with_capacity(widest),
            alias: Borrowed::new(),
            running: Running::new(host::context()),
            misfit: None,
        })
    }

    /// Runs the program. The caller has checked arrays against the declared types; there is a target for each output.
    pub(crate) fn run(
        &mut self,
        program: &Executable,
        inputs: &[ArrayRef<'_>],
        targets: &mut Targets<'_, '_>,
    ) -> Result<(), StepError> {
        for (header, array) in self.inputs.iter_mut().zip(inputs) {
            header.set(&array.view, false);
        }
        let cells = self.cells.iter_mut().zip(&mut self.outputs);
        match targets {
            Targets::New(_) => cells.for_each(|(cell, _)| *cell = ptr::null_mut()),
            Targets::Reuse(arrays) => cells.zip(arrays.iter_mut()).for_each(|((cell, header), array)| {
                header.set(&ArrayMut::from(array).view, true);
                *cell = header.as_raw();
            }),
            Targets::Into(arrays) => cells.zip(arrays.iter()).for_each(|((cell, header), array)| {
                header.set(&array.view, true);
                *cell = header.as_raw();
            }),
        }
        let result = self.run_steps(program);
        if result.is_err() {
            // Free the temporaries of the steps that ran. Views come first, so that their bases are free again.
            let views = self.temps.iter_mut().zip(&program.temps).filter(|(_, known)| known.view);
            views.for_each(|(temp, _)| *temp = Owned::none());
            for temp in &mut self.temps {
                self.storage.give(std::mem::replace(temp, Owned::none()));
            }
        }
        if !self.temps.is_empty() {
            self.storage.settle();
        }
        for position in 0..self.cells.len() {
            self.take_output(position, targets, result.is_ok());
        }
        result
    }

    /// Returns the output of the last run whose memory did not fit its result, and the shape of the result.
    pub(crate) fn take_misfit(&mut self) -> Option<(usize, Vec<usize>)> {
        self.misfit.take()
    }

    fn run_steps(&mut self, program: &Executable) -> Result<(), StepError> {
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
            self.lend(program, step);
            let result = self.work(position, step);
            for (register, object) in step.args.iter().zip(&self.args).skip(step.n_inputs) {
                match register {
                    Register::Temp(i) => {
                        self.storage.remember(*i, *object);
                        // SAFETY: the cell owns the only reference to the object that the step left in it. Lent memory was
                        // taken out of the storage or the dying temporary.
                        self.temps[*i] = unsafe { Owned::from_raw(*object) };
                    }
                    Register::Output(i) => self.cells[*i] = *object,
                    Register::Input(_) | Register::Constant(_) => {}
                }
            }
            let result = result.and_then(|()| self.check_results(program, step));
            result.map_err(|error| StepError { step: position, error })?;
            for temp in &step.dies {
                self.storage.give(std::mem::replace(&mut self.temps[*temp], Owned::none()));
            }
        }
        Ok(())
    }

    /// Checks that the temporaries written by a step have the dtype and rank that its ops declare. Later steps rely on
    /// that.
    fn check_results(&self, program: &Executable, step: &Bound) -> Result<(), RunError> {
        for register in &step.args[step.n_inputs..] {
            let Register::Temp(i) = register else { continue };
            let Room { dtype, ndim, .. } = program.temps[*i];
            let Some(found) = self.temps[*i].tensor() else { continue };
            if found.dtype != dtype.typenum() || found.ndim as usize != ndim {
                return Err(undeclared(found, dtype, ndim));
            }
        }
        Ok(())
    }

    /// Sets memory for the temporaries that a step writes: that of a temporary that dies here, or freed memory from the
    /// storage.
    fn lend(&mut self, program: &Executable, step: &Bound) {
        for at in step.n_inputs..step.args.len() {
            let Register::Temp(to) = step.args[at] else { continue };
            let known = program.temps[to];
            if known.view {
                continue;
            }
            if step.lends.is_empty() {
                self.args[at] = self.storage.take(to, known, None);
                continue;
            }
            let mut shape = [0; MAX_NDIM];
            let shape = common_shape(&self.args[..step.n_inputs], &mut shape)
                .filter(|shape| shape.len() == known.ndim);
            let dying = shape.and_then(|shape| {
                let fits = |temp: &&usize| {
                    let owned = &self.temps[**temp];
                    owned.is_reusable() && owned.tensor().is_some_and(|tensor| extents(tensor) == shape)
                };
                step.lends.iter().find(fits).copied()
            });
            let Some(dying) = dying else {
                self.args[at] = self.storage.take(to, known, shape);
                continue;
            };
            let lent = std::mem::replace(&mut self.temps[dying], Owned::none());
            if let Some(tensor) = lent.tensor() {
                self.alias.set_alias(tensor);
            }
            for (object, register) in self.args[..step.n_inputs].iter_mut().zip(&step.args) {
                if *register == Register::Temp(dying) {
                    *object = self.alias.as_raw();
                }
            }
            self.args[at] = lent.into_raw();
        }
    }

    fn work(&mut self, position: usize, step: &Bound) -> Result<(), RunError> {
        match (&step.work, &mut self.workers[position]) {
            (Work::Call { .. }, Worker::Instance(instance)) => {
                // SAFETY: `worker` checked the number of arguments. Inputs were set by an earlier step or the caller, and
                // each cell is the only owner of its reference.
                unsafe { instance.run_raw(&raw mut self.running.ctx, self.args.as_mut_ptr()) }
            }
            (Work::Chain(chain), _) => {
                let (inputs, cell) = self.args.split_at_mut(step.n_inputs);
                // SAFETY: objects and tensors share their address: every object of this host is a tensor.
                let inputs: &[*mut Tensor] =
                    unsafe { std::slice::from_raw_parts(inputs.as_ptr().cast(), inputs.len()) };
                // SAFETY: as for an instance; the binding assigned registers of the chain's input dtypes.
                unsafe { chain.run(&mut self.running, &mut self.lines, inputs, cell.as_mut_ptr().cast()) }
            }
            (Work::Call { .. }, Worker::Chain) => Ok(()),
        }
    }

    /// Moves the object in an output cell to the caller's target.
    fn take_output(&mut self, position: usize, targets: &mut Targets<'_, '_>, succeeded: bool) {
        let header = &mut self.outputs[position];
        let object = std::mem::replace(&mut self.cells[position], ptr::null_mut());
        if ptr::eq(object, header.as_raw()) {
            return;
        }
        // SAFETY: the cell owns one reference to the object that the module left in it.
        let result = unsafe { Owned::from_raw(object) };
        if !succeeded {
            return;
        }
        match targets {
            // An output without a value ends the list: its position is then the length.
            Targets::New(arrays) if arrays.len() == position => arrays.extend(result.into_array()),
            Targets::New(_) => {}
            Targets::Reuse(arrays) => {
                if let Some((array, fresh)) = arrays.get_mut(position).zip(result.into_array()) {
                    *array = fresh;
                }
            }
            // The module did not use the memory: it does not fit, or the op stored its result at another address, for
            // example in place.
            Targets::Into(arrays) => {
                let Some((target, array)) = arrays.get_mut(position).zip(result.into_array()) else { return };
                if !target.assign(&array) {
                    self.misfit = Some((position, array.shape().to_vec()));
                }
            }
        }
    }
}

/// Returns the error for a result of another dtype or rank than its op declares.
#[cold]
fn undeclared(found: &Tensor, dtype: DType, ndim: usize) -> RunError {
    let typenum = found.dtype;
    let name =
        DType::from_typenum(typenum).map_or_else(|| format!("dtype {typenum}"), |dtype| dtype.to_string());
    let message = format!(
        "returned `{name}` with extents {:?}, declared as `{}`\nhint: fix the op, whose C and declared outputs \
         disagree",
        extents(found),
        Type::tensor(dtype, ndim)
    );
    RunError { kind: ErrorKind::Type, message, task: None, apply: Some(0), variable: None }
}

/// Creates the worker of a step.
fn worker(step: &Bound) -> Result<Worker, RunError> {
    let Work::Call { module, slots } = &step.work else { return Ok(Worker::Chain) };
    let slots = slots.iter().cloned().map(Owned::constant).collect();
    let instance = Instance::new(module.clone(), slots)?;
    let (inputs, outputs) = instance.arity();
    if inputs == step.n_inputs && inputs + outputs == step.args.len() {
        return Ok(Worker::Instance(instance));
    }
    let message = format!(
        "the module has {inputs} input(s) and {outputs} output(s), expected {} and {}",
        step.n_inputs,
        step.args.len() - step.n_inputs
    );
    Err(RunError { kind: ErrorKind::Runtime, message, task: None, apply: None, variable: None })
}

/// Returns the shape that tensors broadcast to, stored in `room`, or `None` if they are incompatible.
fn common_shape<'a>(tensors: &[*mut Object], room: &'a mut [i64; MAX_NDIM]) -> Option<&'a [i64]> {
    let mut ndim = 0;
    for object in tensors {
        // SAFETY: the inputs of a step are live tensors.
        let tensor = unsafe { object.cast::<Tensor>().as_ref() }?;
        let extents = extents(tensor);
        // Extents are kept right-aligned in `room`, so that a higher rank only adds to the left.
        for (axis, extent) in extents.iter().rev().enumerate() {
            let place = &mut room[MAX_NDIM - 1 - axis];
            match *place {
                _ if axis >= ndim => *place = *extent,
                1 => *place = *extent,
                known if *extent != 1 && *extent != known => return None,
                _ => {}
            }
        }
        ndim = ndim.max(extents.len());
    }
    Some(&room[MAX_NDIM - ndim..])
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame").field("steps", &self.workers.len()).finish_non_exhaustive()
    }
}
