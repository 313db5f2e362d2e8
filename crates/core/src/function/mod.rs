//! A function: a program whose modules are loaded, or something else with the same interface, ready to be called.

mod body;
mod check;
mod error;
mod inner;
mod unread;

pub use body::Body;
pub use check::{check_inputs, misfit_error};
pub use error::CallError;

use crate::blame;
use crate::bundle::Piece;
use crate::native::{
    ArrayMut, ArrayRef, Bound, DefaultFloats, Direct, Executable, Frame, LoadedModule, NativeFunction,
    NoNative, StepError, Strided, Targets,
};
use crate::program::{Computes, Port, Program, Register};
use crate::provenance::{Provenance, Served};
use crate::value::Array;
use crate::with_array;
use check::{check_outputs, check_results};
use inner::{Inner, Make, Serves, op_error};
use std::any::Any;
use std::sync::{Arc, LazyLock};

/// A named graph or one that was resolved, that can be called, from any number of threads at once. Clones are the same function.
///
/// Steady calls allocate nothing: frames are kept between calls, and [`Function::call_into`] reuses the arrays it is given.
/// (Products of matrices, and reductions and programs of rows that have much to do, take working memory for the call.)
///
/// # Floats
/// Calls compute in the default environment: rounded to the nearest, with subnormal numbers. What the calling thread has
/// set otherwise is restored when the call returns.
///
/// # Stack
/// A call takes at most 96 KiB of its thread's stack, so threads may have musl's 128 KiB; what authors' C takes is besides that.
#[derive(Debug, Clone)]
pub struct Function(Arc<LazyLock<Inner, Make>>);

impl Function {
    /// Makes a program callable; `modules` are the modules of its steps, in order, and `served` says where each is from.
    ///
    /// # Errors
    /// An op whose instance cannot be made, or a module that takes another number of arguments than its step gives.
    pub fn new(
        program: Program,
        modules: Vec<LoadedModule>,
        served: Vec<Arc<Served>>,
    ) -> Result<Self, CallError> {
        Inner::of_program(program, modules, served).map(Self::from)
    }

    /// A program in the bytes of its entry, whose steps call drivers alone; it is read when it is needed.
    pub(crate) fn unread(entry: Piece, modules: Vec<(LoadedModule, Arc<Served>)>) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(move || unread::read(&entry, modules)))))
    }

    /// A function that something else than modules serves.
    #[must_use]
    pub fn from_body(
        inputs: Vec<Port>,
        outputs: Vec<Port>,
        provenance: Vec<Provenance>,
        body: Box<dyn Body>,
    ) -> Self {
        let program = Program { inputs, outputs, ..Program::default() };
        Inner { provenance: provenance.into(), ..Inner::other(program, body) }.into()
    }

    /// The plain C function that computes it, if it is a graph of C scalars; see [`Function::native`].
    ///
    /// # Errors
    /// There is none, and why.
    pub fn native_function(&self) -> Result<&NativeFunction, &NoNative> {
        match &self.0.body {
            Serves::Modules(modules) => {
                let native = || NativeFunction::of(&self.0.program, &modules.loaded);
                modules.native.get_or_init(native).as_ref()
            }
            Serves::Other(body) => {
                let same = body.stands_for().or_else(|| body.admits_numbers());
                let none = body.refusal().map_or(&NoNative::Body, |_| &NoNative::Unreadable);
                same.map_or(Err(none), Self::native_function)
            }
        }
    }

    /// What serves it, if that is a `T` and not its modules alone.
    #[must_use]
    pub fn body<T: Body>(&self) -> Option<&T> {
        let Serves::Other(body) = &self.0.body else { return None };
        let body: &dyn Any = &**body;
        body.downcast_ref()
    }

    /// Which artifact serves which Applies now, in the order of execution.
    #[must_use]
    pub fn provenance(&self) -> &[Provenance] {
        let other = match &self.0.body {
            Serves::Other(body) => body.stands_for().or_else(|| body.around()),
            Serves::Modules(_) => None,
        };
        other.map_or_else(|| self.0.provenance.get_or_init(|| self.0.origins()), Self::provenance)
    }

    /// The function that serves every call of this one as it is, if that is another one.
    pub(crate) fn stands_for(&self) -> Option<&Self> {
        let Serves::Other(body) = &self.0.body else { return None };
        body.stands_for()
    }

    /// Why every call of it fails, where that is so.
    #[must_use]
    pub fn refusal(&self) -> Option<&CallError> {
        let Serves::Other(body) = &self.0.body else { return None };
        body.refusal()
    }

    /// Whether modules compute it element by element, and do nothing else.
    #[must_use]
    pub fn is_elementwise(&self) -> bool {
        let is_modules = matches!(self.0.body, Serves::Modules(_));
        is_modules && self.0.program.steps.iter().all(|step| step.computes == Computes::Elementwise)
    }

    /// What it takes.
    #[must_use]
    pub fn inputs(&self) -> &[Port] {
        &self.0.program.inputs
    }

    /// What it gives.
    #[must_use]
    pub fn outputs(&self) -> &[Port] {
        &self.0.program.outputs
    }

    /// Calls the function; the results are new arrays.
    ///
    /// # Shapes
    /// Inputs are as declared (`?` admits any extent); extents broadcast by NumPy's rules.
    /// # Errors
    /// Inputs that the declared types do not admit; values that an op refuses.
    pub fn call(&self, inputs: &[ArrayRef<'_>]) -> Result<Vec<Array>, CallError> {
        let mut results = Vec::with_capacity(self.outputs().len());
        let targets = &mut Targets::New(&mut results);
        if !self.run_direct(inputs, targets) {
            self.admitted(inputs, targets)?;
        }
        match self.outputs().get(results.len()) {
            None => Ok(results),
            Some(missing) => Err(CallError::NoValue { name: missing.name.clone() }),
        }
    }

    /// Calls the function; the results replace `outputs`, in whose memory they are written where shapes agree.
    ///
    /// # Errors
    /// As [`Function::call`]; the wrong number of outputs, or one of another dtype. After an error the outputs hold
    /// arrays, but not results.
    pub fn call_into(&self, inputs: &[ArrayRef<'_>], outputs: &mut [Array]) -> Result<(), CallError> {
        let targets = &mut Targets::Reuse(outputs);
        if self.run_direct(inputs, targets) { Ok(()) } else { self.admitted(inputs, targets) }
    }

    /// Calls the function; the results are written to memory of the caller, of whatever strides. Memory that others described
    /// ([`RawArray`](crate::native::RawArray)) may overlap inputs and other results: these are then copied there at the end.
    ///
    /// # Errors
    /// As [`Function::call_into`]; memory of another shape than the result's. The memory may be partly written then.
    pub fn call_views(&self, inputs: &[ArrayRef<'_>], outputs: &mut [ArrayMut<'_>]) -> Result<(), CallError> {
        if !ArrayMut::overlap(outputs, inputs) {
            let targets = &mut Targets::Into(outputs);
            return if self.run_direct(inputs, targets) { Ok(()) } else { self.admitted(inputs, targets) };
        }
        self.assign(&self.call(inputs)?, outputs)
    }

    /// Writes the results of a call to memory of the caller, of whatever strides.
    ///
    /// # Errors
    /// Memory of another dtype or shape than a result's, or the wrong number of them.
    pub fn assign(&self, results: &[Array], outputs: &mut [ArrayMut<'_>]) -> Result<(), CallError> {
        check_outputs(self.outputs(), &Targets::Into(outputs))?;
        let misfit = outputs.iter_mut().zip(results).position(|(output, result)| !output.assign(result));
        misfit.map_or(Ok(()), |position| {
            let shape = results[position].shape();
            Err(misfit_error(self.outputs(), position, shape, &Targets::Into(outputs)))
        })
    }

    /// How it is called without a frame, if it can be.
    #[must_use]
    #[inline(always)]
    pub fn direct(&self) -> Option<&Arc<Direct>> {
        match &self.0.body {
            Serves::Modules(modules) => modules.direct.as_ref(),
            Serves::Other(body) => direct_of(&**body),
        }
    }

    /// Serves a call that needs no frame and of which nothing is wrong; `false` if it is no such call.
    #[inline(always)]
    fn run_direct(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> bool {
        let Some(direct) = self.direct() else { return false };
        match targets {
            Targets::New(arrays) => direct.append(inputs, arrays),
            Targets::Reuse(arrays) => {
                let arrays = arrays.iter_mut();
                direct.write(inputs, arrays.map(|array| with_array!(array, a => Strided::write(a))))
            }
            Targets::Into(arrays) => direct.write(inputs, arrays.iter().map(ArrayMut::strided)),
        }
    }

    /// A program without modules, which is called as it is bound here.
    #[cfg(test)]
    pub(crate) fn bound(program: Program, bound: (Option<Direct>, Option<Executable>)) -> Self {
        Inner::of_modules(program, (Vec::new(), Vec::new()), bound).map(Self::from).unwrap()
    }

    /// Whether a call for new results needs no frame.
    #[cfg(test)]
    pub(crate) fn is_direct(&self, inputs: &[ArrayRef<'_>]) -> bool {
        self.run_direct(inputs, &mut Targets::New(&mut Vec::new()))
    }

    /// Serves a call, or says what is wrong with it: with the inputs first, since what cannot be called at all refuses these.
    fn admitted(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError> {
        if let Some(other) = self.stands_for() {
            return other.admitted(inputs, targets);
        }
        let _floats = DefaultFloats::set();
        let made = match &self.0.body {
            Serves::Modules(_) => check_inputs(self.inputs(), inputs).map(|()| Vec::new())?,
            Serves::Other(body) => body.admit(self.inputs(), inputs)?,
        };
        check_outputs(self.outputs(), targets)?;
        if made.iter().all(Option::is_none) {
            return self.run(inputs, targets);
        }
        let whole = made.iter().zip(inputs);
        let whole: Vec<ArrayRef<'_>> =
            whole.map(|(made, input)| made.as_ref().map_or_else(|| input.clone(), ArrayRef::from)).collect();
        self.run(&whole, targets)
    }

    /// Serves a call whose inputs and targets were checked.
    ///
    /// # Errors
    /// As [`Function::call`].
    pub fn run(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError> {
        let _floats = DefaultFloats::set();
        let modules = match &self.0.body {
            Serves::Modules(modules) => modules,
            Serves::Other(body) => {
                body.run(inputs, targets)?;
                return self.check_results(targets);
            }
        };
        let executable = modules.executable(&self.0.program);
        let mut frame = match modules.idle.take() {
            Some(frame) => frame,
            None => {
                Box::new(Frame::new(executable).map_err(|error| op_error(executable, error, String::new()))?)
            }
        };
        let result = frame.run(executable, inputs, targets);
        let misfit = frame.take_misfit();
        modules.idle.give(frame);
        result.map_err(|error| self.failed(executable, error, inputs))?;
        match misfit {
            None => self.check_results(targets),
            Some((position, shape)) => Err(misfit_error(self.outputs(), position, &shape, targets)),
        }
    }

    #[cold]
    fn failed(&self, executable: &Executable, error: StepError, inputs: &[ArrayRef<'_>]) -> CallError {
        let inputs = blame::inputs(&executable.steps, &error, self.inputs(), inputs);
        op_error(executable, error, inputs)
    }

    fn check_results(&self, targets: &Targets<'_, '_>) -> Result<(), CallError> {
        check_results(self.outputs(), targets, |position| self.maker(position))
    }

    /// Printable signatures of the Applies that make an output.
    #[cold]
    fn maker(&self, position: usize) -> String {
        let Serves::Modules(modules) = &self.0.body else { return "the function".to_owned() };
        let makes = |step: &&Bound| step.args[step.n_inputs..].contains(&Register::Output(position));
        let steps = &modules.executable(&self.0.program).steps;
        steps.iter().find(makes).map(|step| blame::all(&step.signatures)).unwrap_or_default()
    }
}

/// How what a body stands for is called without a frame. What calls itself is not inlined.
#[inline(never)]
fn direct_of(body: &dyn Body) -> Option<&Arc<Direct>> {
    body.stands_for()?.direct()
}

impl From<Inner> for Function {
    fn from(inner: Inner) -> Self {
        let made = LazyLock::new(Box::new(|| inner) as Make);
        LazyLock::force(&made);
        Self(Arc::new(made))
    }
}
