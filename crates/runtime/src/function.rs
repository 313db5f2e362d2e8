//! A function: a resolved graph, ready to be called.

use crate::debug::{self, CheckError, Checks, Options, Report, Violation};
use crate::native::{ArrayMut, ArrayRef, Frame, Pool, Program, RunError, StepError, Targets};
use crate::resolve::Provenance;
use precast_abi::context::ErrorKind;
use precast_graph::{Array, FunctionGraph, InterpretError, Origin, Type};

/// A graph that can be called, from any number of threads at once.
///
/// Steady calls allocate nothing: frames are kept between calls, and [`Function::call_into`] reuses the arrays it is given.
/// (A product of matrices packs its operands in memory of its own.)
#[derive(Debug)]
pub struct Function {
    graph: FunctionGraph,
    body: Body,
    provenance: Vec<Provenance>,
    /// What is checked in each call, in debug mode.
    checks: Option<Box<Checks>>,
}

#[derive(Debug)]
enum Body {
    Native { program: Program, idle: Pool },
    Interpret,
}

/// Why a call failed. The function can be called again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// Wrong number of inputs.
    #[error("the function takes {expected} input(s), found {found}")]
    Inputs {
        /// Inputs of the graph.
        expected: usize,
        /// Arrays given.
        found: usize,
    },
    /// Wrong number of outputs.
    #[error("the function gives {expected} output(s), found room for {found}")]
    Outputs {
        /// Outputs of the graph.
        expected: usize,
        /// Arrays given.
        found: usize,
    },
    /// An input that its declared type does not admit.
    #[error("input `{name}` is `{found}`, expected `{expected}`")]
    Input {
        /// Name of the input.
        name: String,
        /// Its exact type.
        found: String,
        /// The declared type.
        expected: String,
    },
    /// An output array of another dtype, or of another shape where it cannot be replaced.
    #[error("output `{name}` has room for `{found}`, expected `{expected}`")]
    Output {
        /// Name of the output.
        name: String,
        /// The exact type of the room.
        found: String,
        /// The type of the result.
        expected: String,
    },
    /// An op refused its values.
    #[error("`{signature}`: {message}")]
    Op {
        /// The Apply, or the module it is part of.
        signature: String,
        /// What kind of error the op reported.
        kind: ErrorKind,
        /// The op's words.
        message: String,
    },
    /// The reference implementation refused.
    #[error("cannot interpret the graph")]
    Interpret(#[from] InterpretError),
    /// Debug mode: an Apply breaks its contract.
    #[error("debug mode")]
    Debug(#[source] Box<Violation>),
    /// Debug mode: the check itself failed.
    #[error("debug mode")]
    Check(#[from] Box<CheckError>),
    /// An op gave another dtype, rank or extent than it declares.
    #[error(
        "`{signature}` gave `{found}` for output `{name}`, declared as `{expected}`\nhint: the op's C and its declared \
         outputs disagree; debug mode shows the first Apply that does so"
    )]
    Undeclared {
        /// The Apply that the output is of.
        signature: String,
        /// Name of the output.
        name: String,
        /// What it is.
        found: String,
        /// The declared type.
        expected: String,
    },
    /// A module left an output without a value, against its contract.
    #[error("output `{name}` was left without a value")]
    NoValue {
        /// Name of the output.
        name: String,
    },
}

impl Function {
    pub(crate) fn native(
        graph: FunctionGraph,
        program: Program,
        provenance: Vec<Provenance>,
    ) -> Result<Self, CallError> {
        let idle = Pool::new();
        let first = Frame::new(&program).map_err(|error| op_error(&program, error))?;
        idle.give(Box::new(first));
        Ok(Self { graph, body: Body::Native { program, idle }, provenance, checks: None })
    }

    pub(crate) fn interpreted(graph: FunctionGraph) -> Self {
        let ops = graph.applies().iter().map(|apply| graph.signature(apply)).collect();
        let provenance = vec![Provenance { ops, served: crate::Served::Interpreted }];
        Self { graph, body: Body::Interpret, provenance, checks: None }
    }

    /// The graph as it was declared.
    #[must_use]
    pub fn graph(&self) -> &FunctionGraph {
        &self.graph
    }

    /// Which artifact serves which Applies, in the order of execution.
    #[must_use]
    pub fn provenance(&self) -> &[Provenance] {
        &self.provenance
    }

    /// Calls the function; the results are new arrays.
    ///
    /// # Shapes
    /// Inputs are as declared (`?` admits any extent); extents broadcast by NumPy's rules.
    /// # Errors
    /// Inputs that the declared types do not admit; values that an op refuses.
    pub fn call(&self, inputs: &[ArrayRef<'_>]) -> Result<Vec<Array>, CallError> {
        let mut results: Vec<Option<Array>> = self.graph.outputs().iter().map(|_| None).collect();
        self.run(inputs, Targets::New(&mut results))?;
        let missing = |(position, result): (usize, Option<Array>)| {
            result.ok_or_else(|| CallError::NoValue { name: self.graph.output_name(position) })
        };
        results.into_iter().enumerate().map(missing).collect()
    }

    /// Calls the function; the results replace `outputs`, in whose memory they are written where shapes agree.
    ///
    /// # Errors
    /// As [`Function::call`]; the wrong number of outputs, or one of another dtype. After an error the outputs hold
    /// arrays, but not results.
    pub fn call_into(&self, inputs: &[ArrayRef<'_>], outputs: &mut [Array]) -> Result<(), CallError> {
        self.check_outputs(outputs.len(), outputs.iter().map(Array::dtype))?;
        self.run(inputs, Targets::Reuse(outputs))
    }

    /// Calls the function; the results are written to memory of the caller, of whatever strides.
    ///
    /// # Errors
    /// As [`Function::call_into`]; memory of another shape than the result's. The memory may be partly written then.
    pub fn call_views(&self, inputs: &[ArrayRef<'_>], outputs: &mut [ArrayMut<'_>]) -> Result<(), CallError> {
        self.check_outputs(outputs.len(), outputs.iter().map(ArrayMut::dtype))?;
        self.run(inputs, Targets::Into(outputs))
    }

    /// The same function, checking its Applies in each call.
    pub(crate) fn checked(self, checks: Checks) -> Self {
        Self { checks: Some(Box::new(checks)), ..self }
    }

    /// What debug mode found in the last call that was checked; `None` out of debug mode.
    #[must_use]
    pub fn debug_report(&self) -> Option<Report> {
        self.checks.as_ref()?.last()
    }

    fn run(&self, inputs: &[ArrayRef<'_>], targets: Targets<'_, '_>) -> Result<(), CallError> {
        self.check_inputs(inputs)?;
        if let Some(checks) = &self.checks {
            self.debug(checks, inputs)?;
        }
        self.serve(inputs, targets)
    }

    /// Debug mode: every Apply by itself, then all of them as they are served, into arrays that nobody sees.
    #[cold]
    fn debug(&self, checks: &Checks, inputs: &[ArrayRef<'_>]) -> Result<(), CallError> {
        let given: Vec<Array> = inputs.iter().map(|input| input.to_array()).collect();
        let (report, expected) = checks.run(&given, &Options::default()).map_err(Box::new)?;
        report.into_result().map_err(CallError::Debug)?;
        let Some(expected) = expected else { return Ok(()) };
        let mut results: Vec<Option<Array>> = self.graph.outputs().iter().map(|_| None).collect();
        self.serve(inputs, Targets::New(&mut results))?;
        let served: Vec<Array> = results.into_iter().flatten().collect();
        let violation = debug::against_served(&self.graph, &given, &served, &expected);
        violation.map_or(Ok(()), |violation| Err(CallError::Debug(Box::new(violation))))
    }

    fn serve(&self, inputs: &[ArrayRef<'_>], mut targets: Targets<'_, '_>) -> Result<(), CallError> {
        match &self.body {
            Body::Interpret => self.interpret(inputs, &mut targets)?,
            Body::Native { program, idle } => {
                let mut frame = match idle.take() {
                    Some(frame) => frame,
                    None => Box::new(Frame::new(program).map_err(|error| op_error(program, error))?),
                };
                let result = frame.run(program, inputs, &mut targets);
                let misfit = frame.take_misfit();
                idle.give(frame);
                result.map_err(|error| op_error(program, error))?;
                if let Some((position, shape)) = misfit {
                    return Err(self.misfit(position, &shape, &targets));
                }
            }
        }
        self.check_results(&targets)
    }

    /// Whether every result is what its op declares; the caller's own memory was compared with it before.
    fn check_results(&self, targets: &Targets<'_, '_>) -> Result<(), CallError> {
        for (position, variable) in self.graph.outputs().iter().enumerate() {
            let result = match targets {
                Targets::New(slots) => slots.get(position).and_then(Option::as_ref),
                Targets::Reuse(arrays) => arrays.get(position),
                Targets::Into(_) => None,
            };
            let ty = self.graph.ty(*variable);
            let Some(result) = result.filter(|result| !ty.admits(result.dtype(), result.shape())) else {
                continue;
            };
            let signature = match self.graph.variable(*variable).origin {
                Origin::Output { apply, .. } => self.graph.signature(&self.graph.applies()[apply.index()]),
                Origin::Input(_) | Origin::Constant(_) => self.graph.to_string(),
            };
            return Err(CallError::Undeclared {
                signature,
                name: self.graph.output_name(position),
                found: exact(result.dtype(), result.shape()),
                expected: ty.to_string(),
            });
        }
        Ok(())
    }

    fn interpret(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError> {
        let inputs: Vec<Array> = inputs.iter().map(|input| input.to_array()).collect();
        let results = precast_graph::interpret(&self.graph, &inputs)?;
        match targets {
            Targets::New(slots) => {
                slots.iter_mut().zip(results).for_each(|(slot, result)| *slot = Some(result));
            }
            Targets::Reuse(arrays) => {
                arrays.iter_mut().zip(results).for_each(|(array, result)| *array = result);
            }
            Targets::Into(arrays) => {
                let misfit =
                    arrays.iter_mut().zip(&results).position(|(array, result)| !array.assign(result));
                if let Some(position) = misfit {
                    return Err(self.misfit(position, results[position].shape(), targets));
                }
            }
        }
        Ok(())
    }

    fn check_inputs(&self, inputs: &[ArrayRef<'_>]) -> Result<(), CallError> {
        let expected = self.graph.inputs().len();
        if inputs.len() != expected {
            return Err(CallError::Inputs { expected, found: inputs.len() });
        }
        for (position, (variable, input)) in self.graph.inputs().iter().zip(inputs).enumerate() {
            let ty = self.graph.ty(*variable);
            if !ty.admits(input.dtype(), input.shape()) {
                return Err(CallError::Input {
                    name: self.graph.input_name(position).to_owned(),
                    found: exact(input.dtype(), input.shape()),
                    expected: ty.to_string(),
                });
            }
        }
        Ok(())
    }

    fn check_outputs(
        &self,
        found: usize,
        dtypes: impl Iterator<Item = precast_graph::DType>,
    ) -> Result<(), CallError> {
        let expected = self.graph.outputs().len();
        if found != expected {
            return Err(CallError::Outputs { expected, found });
        }
        for (position, (variable, dtype)) in self.graph.outputs().iter().zip(dtypes).enumerate() {
            let ty = self.graph.ty(*variable);
            if ty.dtype() != dtype {
                let name = self.graph.output_name(position);
                return Err(CallError::Output { name, found: dtype.to_string(), expected: ty.to_string() });
            }
        }
        Ok(())
    }

    fn misfit(&self, position: usize, shape: &[usize], targets: &Targets<'_, '_>) -> CallError {
        let dtype = self.graph.ty(self.graph.outputs()[position]).dtype();
        let found = match targets {
            Targets::Into(arrays) => exact(arrays[position].dtype(), arrays[position].shape()),
            Targets::New(_) | Targets::Reuse(_) => String::new(),
        };
        CallError::Output { name: self.graph.output_name(position), found, expected: exact(dtype, shape) }
    }
}

/// The exact type of an array, for messages.
fn exact(dtype: precast_graph::DType, shape: &[usize]) -> String {
    let extents = shape.iter().map(|n| precast_graph::Extent::Fixed(*n as u64)).collect();
    Type::Tensor(precast_graph::TensorType { dtype, shape: extents }).to_string()
}

fn op_error(program: &Program, StepError { step, error }: StepError) -> CallError {
    let RunError { kind, message, apply, .. } = error;
    let step = &program.steps[step];
    let signature = apply.and_then(|n| step.signatures.get(n)).cloned();
    let signature = signature.unwrap_or_else(|| step.signatures.join("; "));
    CallError::Op { signature, kind, message }
}
