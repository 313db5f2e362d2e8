//! A function: a callable interface, backed by the loaded modules of a program or by another body.

mod body;
mod check;
mod error;
mod extents;
mod inner;
mod unread;

pub use body::{Body, Delegate};
pub use check::{check_inputs, misfit_error};
pub use error::{CallError, ExtentError};

use crate::blame;
use crate::bundle::Piece;
use crate::native::{
    ArrayMut, ArrayRef, Bound, DefaultFloats, Direct, Executable, Frame, LoadedModule, NativeFunction,
    NoNative, StepError, Strided, Targets,
};
use crate::program::{Computes, Port, Program, Register};
use crate::provenance::{CodeOrigin, Provenance};
use crate::value::Array;
use crate::with_array;
use check::{check_outputs, check_results};
use inner::{Inner, Make, Serves, op_error};
use std::any::Any;
use std::sync::{Arc, LazyLock};

/// A callable graph, from a bundle or resolved at run time. It can be called from any number of threads at once. Clones
/// share all state.
///
/// Repeated calls allocate no memory: frames are reused, and [`Function::call_into`] reuses the given arrays. (Matrix
/// products, and large reductions and row programs, need additional working memory.)
///
/// # Floats
/// Calls compute in the default floating-point environment: rounding to nearest, with subnormal numbers. The caller's
/// settings are restored when the call returns.
///
/// # Stack
/// A call uses at most 96 KiB of its thread's stack, so musl's 128 KiB are enough. C code of op authors needs additional
/// stack.
#[derive(Debug, Clone)]
pub struct Function(Arc<LazyLock<Inner, Make>>);

impl Function {
    /// Creates a function from a program. `modules` are the modules of its steps, in order, and `served` is the origin of
    /// each.
    ///
    /// # Errors
    /// The instance of an op cannot be created, or a module has another number of arguments than its step passes.
    pub fn new(
        program: Program,
        modules: Vec<LoadedModule>,
        served: Vec<Arc<CodeOrigin>>,
    ) -> Result<Self, CallError> {
        Inner::of_program(program, modules, served).map(Self::from)
    }

    /// Creates a function whose program is parsed from the bytes of its entry on first use. Its steps must call only
    /// drivers.
    pub(crate) fn unread(entry: Piece, modules: Vec<(LoadedModule, Arc<CodeOrigin>)>) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(move || unread::read(&entry, modules)))))
    }

    /// Creates a function with a custom body.
    #[must_use]
    pub fn from_body(
        inputs: Vec<Port>,
        outputs: Vec<Port>,
        provenance: Vec<Provenance>,
        body: Box<dyn Body>,
    ) -> Self {
        let program = Program { inputs, outputs, ..Program::default() };
        Inner { provenance: provenance.into(), ..Inner::new(program, Serves::Body(body)) }.into()
    }

    /// Returns the plain C function that computes it, if it is a graph of C scalars; see [`Function::native`].
    ///
    /// # Errors
    /// The reason why it does not exist.
    pub fn native_function(&self) -> Result<&NativeFunction, &NoNative> {
        match &self.0.body {
            Serves::Modules(modules) => {
                let native = || NativeFunction::of(&self.0.program, &modules.loaded);
                modules.native.get_or_init(native).as_ref()
            }
            Serves::Body(body) => match body.delegate() {
                Delegate::Forwards(function) | Delegate::Checks { function, admits_numbers: true } => {
                    function.native_function()
                }
                Delegate::Checks { .. } | Delegate::Itself => Err(&NoNative::Body),
            },
            Serves::Refused(_) => Err(&NoNative::Unreadable),
        }
    }

    /// Returns the custom body, if there is one of type `T`.
    #[must_use]
    pub fn body<T: Body>(&self) -> Option<&T> {
        let Serves::Body(body) = &self.0.body else { return None };
        let body: &dyn Any = &**body;
        body.downcast_ref()
    }

    /// Returns the artifact that currently serves each Apply, in the order of execution.
    #[must_use]
    pub fn provenance(&self) -> &[Provenance] {
        match self.delegate() {
            Delegate::Itself => self.0.provenance.get_or_init(|| self.0.origins()),
            Delegate::Forwards(function) | Delegate::Checks { function, .. } => function.provenance(),
        }
    }

    /// Returns the function that answers for this one.
    pub(crate) fn delegate(&self) -> Delegate<'_> {
        match &self.0.body {
            Serves::Body(body) => body.delegate(),
            Serves::Modules(_) | Serves::Refused(_) => Delegate::Itself,
        }
    }

    /// Returns the error of every call, if all calls fail.
    #[must_use]
    pub fn refusal(&self) -> Option<&CallError> {
        let Serves::Refused(error) = &self.0.body else { return None };
        Some(error)
    }

    /// Returns whether all steps are element-wise modules.
    #[must_use]
    pub fn is_elementwise(&self) -> bool {
        let is_modules = matches!(self.0.body, Serves::Modules(_));
        is_modules && self.0.program.steps.iter().all(|step| step.computes == Computes::Elementwise)
    }

    /// Returns the inputs of the function.
    #[must_use]
    pub fn inputs(&self) -> &[Port] {
        &self.0.program.inputs
    }

    /// Returns the outputs of the function.
    #[must_use]
    pub fn outputs(&self) -> &[Port] {
        &self.0.program.outputs
    }

    /// Calls the function. The results are new arrays.
    ///
    /// # Shapes
    /// Inputs have their declared types (`?` and names admit any extent). Extents of one name are equal; others broadcast by
    /// NumPy's rules.
    /// # Errors
    /// The declared types do not admit the inputs or the results, or an op rejects the values.
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

    /// Calls the function. The results replace `outputs`, whose memory is reused if the shapes match.
    ///
    /// # Errors
    /// As [`Function::call`], or the number or a dtype of the outputs is wrong. After an error, the contents of the outputs
    /// are unspecified.
    pub fn call_into(&self, inputs: &[ArrayRef<'_>], outputs: &mut [Array]) -> Result<(), CallError> {
        let targets = &mut Targets::Reuse(outputs);
        if self.run_direct(inputs, targets) { Ok(()) } else { self.admitted(inputs, targets) }
    }

    /// Calls the function. The results are written to memory of the caller with arbitrary strides. Memory described by a
    /// [`RawArray`](crate::native::RawArray) may overlap inputs and other outputs. The results are then computed separately
    /// and copied at the end.
    ///
    /// # Errors
    /// As [`Function::call_into`], or an output has another shape than its result. The memory may be partly written then.
    pub fn call_views(&self, inputs: &[ArrayRef<'_>], outputs: &mut [ArrayMut<'_>]) -> Result<(), CallError> {
        if !ArrayMut::overlap(outputs, inputs) {
            let targets = &mut Targets::Into(outputs);
            return if self.run_direct(inputs, targets) { Ok(()) } else { self.admitted(inputs, targets) };
        }
        self.assign(&self.call(inputs)?, outputs)
    }

    /// Copies the results of a call to memory of the caller with arbitrary strides.
    ///
    /// # Errors
    /// The number of outputs is wrong, or an output has another dtype or shape than its result.
    pub fn assign(&self, results: &[Array], outputs: &mut [ArrayMut<'_>]) -> Result<(), CallError> {
        check_outputs(self.outputs(), &Targets::Into(outputs))?;
        let misfit = outputs.iter_mut().zip(results).position(|(output, result)| !output.assign(result));
        misfit.map_or(Ok(()), |position| {
            let shape = results[position].shape();
            Err(misfit_error(self.outputs(), position, shape, &Targets::Into(outputs)))
        })
    }

    /// Returns the call path without a frame, if possible.
    #[must_use]
    #[inline(always)]
    pub fn direct(&self) -> Option<&Arc<Direct>> {
        match &self.0.body {
            Serves::Modules(modules) => modules.direct.as_ref(),
            Serves::Body(body) => direct_of(&**body),
            Serves::Refused(_) => None,
        }
    }

    /// Runs a call that is valid and needs no frame. Returns `false` for any other call.
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

    /// Creates a function from a bound program without modules.
    #[cfg(test)]
    pub(crate) fn bound(program: Program, bound: (Option<Direct>, Option<Executable>)) -> Self {
        Inner::of_modules(program, (Vec::new(), Vec::new()), bound).map(Self::from).unwrap()
    }

    /// Returns whether a call for new results needs no frame.
    #[cfg(test)]
    pub(crate) fn is_direct(&self, inputs: &[ArrayRef<'_>]) -> bool {
        self.run_direct(inputs, &mut Targets::New(&mut Vec::new()))
    }

    /// Runs a call, or returns why it is invalid. Inputs are checked first, because a function that cannot be called at all
    /// reports that here.
    fn admitted(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError> {
        if let Delegate::Forwards(other) = self.delegate() {
            return other.admitted(inputs, targets);
        }
        let _floats = DefaultFloats::set();
        let made = match &self.0.body {
            Serves::Modules(_) => check_inputs(self.inputs(), inputs).map(|()| Vec::new())?,
            Serves::Body(body) => body.admit(self.inputs(), inputs)?,
            Serves::Refused(error) => return Err(error.clone()),
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

    /// Runs a call whose inputs and targets have been checked.
    ///
    /// # Errors
    /// As [`Function::call`].
    pub fn run(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError> {
        let _floats = DefaultFloats::set();
        let modules = match &self.0.body {
            Serves::Modules(modules) => modules,
            Serves::Body(body) => {
                body.run(inputs, targets)?;
                return self.check_results(inputs, targets);
            }
            Serves::Refused(error) => return Err(error.clone()),
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
            None => self.check_results(inputs, targets),
            Some((position, shape)) => Err(misfit_error(self.outputs(), position, &shape, targets)),
        }
    }

    #[cold]
    fn failed(&self, executable: &Executable, error: StepError, inputs: &[ArrayRef<'_>]) -> CallError {
        let inputs = blame::inputs(&executable.steps, &error, self.inputs(), inputs);
        op_error(executable, error, inputs)
    }

    fn check_results(&self, inputs: &[ArrayRef<'_>], targets: &Targets<'_, '_>) -> Result<(), CallError> {
        check_results(self.outputs(), targets, |position| self.maker(position))?;
        extents::check_results((self.inputs(), self.outputs()), inputs, targets)
    }

    /// Returns the short signatures of the Applies that compute an output.
    #[cold]
    fn maker(&self, position: usize) -> String {
        let Serves::Modules(modules) = &self.0.body else { return "the function".to_owned() };
        let makes = |step: &&Bound| step.args[step.n_inputs..].contains(&Register::Output(position));
        let steps = &modules.executable(&self.0.program).steps;
        steps.iter().find(makes).map(|step| blame::all(&step.signatures)).unwrap_or_default()
    }
}

/// Returns the call path of the function that a body forwards to. Not inlined, because it is recursive.
#[inline(never)]
fn direct_of(body: &dyn Body) -> Option<&Arc<Direct>> {
    let Delegate::Forwards(function) = body.delegate() else { return None };
    function.direct()
}

impl From<Inner> for Function {
    fn from(inner: Inner) -> Self {
        let made = LazyLock::new(Box::new(|| inner) as Make);
        LazyLock::force(&made);
        Self(Arc::new(made))
    }
}
