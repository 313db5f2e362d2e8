//! The state of a function, which its clones share: the interface, and the modules or the body that serve its calls.

use super::{Body, CallError};
use crate::blame;
use crate::native::{
    Direct, Executable, Frame, LoadedModule, NativeFunction, NoNative, Pool, RunError, StepError,
};
use crate::program::{Program, Step, bind, captured};
use crate::provenance::{Provenance, Served};
use std::sync::{Arc, OnceLock};

/// Makes it ready to be called.
pub(super) type Make = Box<dyn FnOnce() -> Inner + Send>;

#[derive(Debug)]
pub(super) struct Inner {
    /// Of a function that something else than modules serves, its interface alone.
    pub(super) program: Program,
    /// Of each step, in order; made of what serves it when it is asked for.
    pub(super) provenance: OnceLock<Vec<Provenance>>,
    pub(super) body: Serves,
}

#[derive(Debug)]
pub(super) enum Serves {
    Modules(Modules),
    Other(Box<dyn Body>),
}

/// The modules of a program.
#[derive(Debug)]
pub(super) struct Modules {
    pub(super) loaded: Vec<LoadedModule>,
    pub(super) served: Vec<Arc<Served>>,
    pub(super) native: OnceLock<Result<NativeFunction, NoNative>>,
    /// How it is called without a frame, if it can be.
    pub(super) direct: Option<Arc<Direct>>,
    /// What frames run. Where calls need none as a rule, it is made by the first that does.
    pub(super) executable: OnceLock<Box<Executable>>,
    pub(super) idle: Pool,
}

impl Inner {
    pub(super) fn of_program(
        program: Program,
        modules: Vec<LoadedModule>,
        served: Vec<Arc<Served>>,
    ) -> Result<Self, CallError> {
        let captured = captured(&program, &modules);
        let direct = Direct::new(&program, &modules, &captured);
        let executable = direct.is_none().then(|| bind(&program, &modules, &captured));
        Self::of_modules(program, (modules, served), (direct, executable))
    }

    /// A program that is called without a frame where that is possible, else in one.
    pub(super) fn of_modules(
        program: Program,
        (loaded, served): (Vec<LoadedModule>, Vec<Arc<Served>>),
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
        Ok(Self { program, provenance: OnceLock::new(), body: Serves::Modules(modules) })
    }

    pub(super) fn other(program: Program, body: Box<dyn Body>) -> Self {
        Self { program, provenance: OnceLock::new(), body: Serves::Other(body) }
    }

    /// Which artifact serves each step.
    pub(super) fn origins(&self) -> Vec<Provenance> {
        let Serves::Modules(modules) = &self.body else { return Vec::new() };
        let provenance = |(step, served): (&Step, &Arc<Served>)| Provenance {
            ops: step.signatures.clone(),
            served: Served::clone(served),
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
