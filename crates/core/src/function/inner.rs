//! The state shared by the clones of a function: the interface, and the modules or the body that run its calls.

use super::{Body, CallError};
use crate::blame;
use crate::native::{
    Direct, Executable, Frame, LoadedModule, NativeFunction, NoNative, Pool, RunError, StepError,
};
use crate::program::{Program, Step, bind, captured};
use crate::provenance::{CodeOrigin, Provenance};
use std::sync::{Arc, OnceLock};

/// Creates the state of a function.
pub(super) type Make = Box<dyn FnOnce() -> Inner + Send>;

#[derive(Debug)]
pub(super) struct Inner {
    /// The program. If a body runs the calls, it holds only the interface.
    pub(super) program: Program,
    /// The provenance of each step, in order; computed on first use.
    pub(super) provenance: OnceLock<Vec<Provenance>>,
    pub(super) body: Serves,
}

#[derive(Debug)]
pub(super) enum Serves {
    Modules(Modules),
    /// Another implementation than modules.
    Body(Box<dyn Body>),
    /// Every call fails with this error. The interface is unknown.
    Refused(CallError),
}

/// The modules of a program.
#[derive(Debug)]
pub(super) struct Modules {
    pub(super) loaded: Vec<LoadedModule>,
    pub(super) served: Vec<Arc<CodeOrigin>>,
    pub(super) native: OnceLock<Result<NativeFunction, NoNative>>,
    /// The call path without a frame, if possible.
    pub(super) direct: Option<Arc<Direct>>,
    /// The steps that frames run. If calls usually need no frame, it is created by the first call that does.
    pub(super) executable: OnceLock<Box<Executable>>,
    pub(super) idle: Pool,
}

impl Inner {
    pub(super) fn of_program(
        program: Program,
        modules: Vec<LoadedModule>,
        served: Vec<Arc<CodeOrigin>>,
    ) -> Result<Self, CallError> {
        let captured = captured(&program, &modules);
        let direct = Direct::new(&program, &modules, &captured);
        let executable = direct.is_none().then(|| bind(&program, &modules, &captured));
        Self::of_modules(program, (modules, served), (direct, executable))
    }

    /// Creates a program that is called without a frame if `direct` is set, and in a frame otherwise.
    pub(super) fn of_modules(
        program: Program,
        (loaded, served): (Vec<LoadedModule>, Vec<Arc<CodeOrigin>>),
        (direct, executable): (Option<Direct>, Option<Executable>),
    ) -> Result<Self, CallError> {
        let idle = Pool::new();
        if let Some(executable) = &executable {
            let frame = Frame::new(executable).map_err(|error| op_error(executable, error, String::new()))?;
            idle.give(Box::new(frame));
        }
        let modules = Modules {
            loaded,
            served,
            native: OnceLock::new(),
            direct: direct.map(Arc::new),
            executable: executable.map_or_else(OnceLock::new, |executable| Box::new(executable).into()),
            idle,
        };
        Ok(Self::new(program, Serves::Modules(modules)))
    }

    pub(super) fn new(program: Program, body: Serves) -> Self {
        Self { program, provenance: OnceLock::new(), body }
    }

    /// Returns the artifact that serves each step.
    pub(super) fn origins(&self) -> Vec<Provenance> {
        let Serves::Modules(modules) = &self.body else { return Vec::new() };
        let provenance = |(step, served): (&Step, &Arc<CodeOrigin>)| Provenance {
            ops: step.signatures.clone(),
            served: CodeOrigin::clone(served),
        };
        self.program.steps.iter().zip(&modules.served).map(provenance).collect()
    }
}

impl Modules {
    pub(super) fn executable(&self, program: &Program) -> &Executable {
        let bind = || Box::new(bind(program, &self.loaded, &captured(program, &self.loaded)));
        self.executable.get_or_init(bind)
    }
}

#[cold]
pub(super) fn op_error(
    executable: &Executable,
    StepError { step, error }: StepError,
    inputs: String,
) -> CallError {
    let RunError { kind, message, apply, .. } = error;
    let step = &executable.steps[step];
    let signature = apply.and_then(|n| step.signatures.get(n)).map(|signature| blame::brief(signature));
    let signature = signature.unwrap_or_else(|| blame::all(&step.signatures));
    CallError::Op { signature, kind, message, inputs }
}
