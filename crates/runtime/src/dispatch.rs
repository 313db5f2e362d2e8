//! Dispatch by signature: one callable over many compiled functions, through a CEP 1000 table.
//!
//! ```text
//! call(&[f32[3], f32[3]]) ─▶ "#1f#1f)" ─▶ scan the table, 64 bits at a time ─▶ Function
//!                                          │ no such signature
//!                                          ▼
//!                     build the op's graph for these dtypes and ranks ─▶ Runtime::function ─▶ publish a longer table
//! ```
//! The signature of a call holds dtypes and ranks: `#1f#1f)` is two vectors of f32. Readers take no lock; a new function
//! is added under one.

use crate::error::FunctionError;
use crate::runtime::Runtime;
use precast_abi::nativecall::{Compact, Key, ParseSignatureError, TableCell};
use precast_core::native::ArrayRef;
use precast_core::{CallError, Function};
use precast_graph::{Array, BuildError, FunctionGraph, OpLibrary as _, Operand, Props, Type, keywords};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A callable that picks, or resolves, the function of an op for the dtypes and ranks of its arguments.
///
/// # Examples
/// ```no_run
/// use precast_runtime::{Dispatcher, Runtime};
/// let runtime = Runtime::builder().store("artifacts").build()?;
/// let add = Dispatcher::new(runtime.into(), "add");
/// let (x, y) = (ndarray::array![1.0_f32], ndarray::array![2.0_f32]);
/// let sum = add.call(&[x.view().into(), y.view().into()])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Dispatcher {
    runtime: Arc<Runtime>,
    name: String,
    props: Props,
    table: TableCell<Compact>,
    /// Payloads of the table are positions here; slots are filled once and never move.
    functions: [OnceLock<Function>; CAPACITY],
    /// Number of functions; the lock of writers.
    known: Mutex<usize>,
}

/// Most signatures of one dispatcher: dtypes × ranks in use, a handful as a rule.
const CAPACITY: usize = 256;

/// Why a dispatched call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DispatchError {
    /// The op does not exist.
    #[error("unknown op `{name}`")]
    UnknownOp {
        /// The name.
        name: String,
    },
    /// The op cannot be applied to such arguments.
    #[error("cannot apply `{name}`")]
    Build {
        /// The op.
        name: String,
        /// Why not.
        source: BuildError,
    },
    /// Nothing serves the op for such arguments.
    #[error("cannot resolve `{name}`")]
    Function {
        /// The op.
        name: String,
        /// Why not.
        source: Box<FunctionError>,
    },
    /// The arguments have no CEP 1000 signature.
    #[error("cannot dispatch `{name}`")]
    Signature {
        /// The op.
        name: String,
        /// Why not.
        source: ParseSignatureError,
    },
    /// The dispatcher has as many signatures as it can hold.
    #[error("`{name}` is in use with {CAPACITY} signatures, which is the limit of one dispatcher")]
    Full {
        /// The op.
        name: String,
    },
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl Dispatcher {
    /// A callable for the function `name` of the text form (`add`, `exp`, `sum`, …). Resolves nothing yet.
    #[must_use]
    pub fn new(runtime: Arc<Runtime>, name: &str) -> Self {
        Self::with_props(runtime, name, Props::new())
    }

    /// As [`Dispatcher::new`], with keyword arguments such as `axis`.
    #[must_use]
    pub fn with_props(runtime: Arc<Runtime>, name: &str, props: Props) -> Self {
        Self {
            runtime,
            name: name.to_owned(),
            props,
            table: TableCell::default(),
            functions: [const { OnceLock::new() }; CAPACITY],
            known: Mutex::new(0),
        }
    }

    /// Calls the function for the dtypes and ranks of `inputs`, resolving it on first use.
    ///
    /// # Errors
    /// Arguments that the op refuses; a miss under the runtime's policy; what the call itself reports.
    pub fn call(&self, inputs: &[ArrayRef<'_>]) -> Result<Vec<Array>, DispatchError> {
        Ok(self.function(inputs)?.call(inputs)?)
    }

    /// The function for the dtypes and ranks of `inputs`, resolved on first use.
    ///
    /// # Errors
    /// As [`Dispatcher::call`], but for the call itself.
    pub fn function(&self, inputs: &[ArrayRef<'_>]) -> Result<&Function, DispatchError> {
        let signature = signature(inputs)
            .map_err(|source| DispatchError::Signature { name: self.name.clone(), source })?;
        if let Some(function) = self.find(&signature) {
            return Ok(function);
        }
        self.add(inputs, signature)
    }

    fn find(&self, signature: &Key<Compact>) -> Option<&Function> {
        let position = self.table.table().find(signature)?;
        self.functions.get(usize::try_from(position).ok()?)?.get()
    }

    /// Resolves a function and adds it to the table; one thread at a time.
    fn add(&self, inputs: &[ArrayRef<'_>], signature: Key<Compact>) -> Result<&Function, DispatchError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = self.find(&signature) {
            return Ok(function);
        }
        let full = || DispatchError::Full { name: self.name.clone() };
        let slot = self.functions.get(*known).ok_or_else(full)?;
        let function = self.runtime.function(&self.graph(inputs)?);
        let function = function.map_err(|source| DispatchError::Function {
            name: self.name.clone(),
            source: Box::new(source),
        })?;
        let function = slot.get_or_init(|| function);
        self.table.add(signature, *known as u64);
        *known += 1;
        Ok(function)
    }

    /// The graph of the op for these dtypes and ranks.
    fn graph(&self, inputs: &[ArrayRef<'_>]) -> Result<FunctionGraph, DispatchError> {
        let failed = |source| DispatchError::Build { name: self.name.clone(), source };
        let mut graph = FunctionGraph::new();
        let mut operands = Vec::new();
        for (position, input) in inputs.iter().enumerate() {
            let ty = Type::tensor(input.dtype(), input.shape().len());
            operands.push(Operand::Var(graph.input(&format!("x{position}"), ty).map_err(failed)?));
        }
        let applied = self.runtime.ops().call(&mut graph, &self.name, &operands, &keywords(&self.props));
        let unknown = || DispatchError::UnknownOp { name: self.name.clone() };
        let output = applied.ok_or_else(unknown)?.map_err(failed)?;
        let output = output.variable(&mut graph).map_err(|source| failed(source.into()))?;
        graph.output(output, None).map_err(failed)?;
        Ok(graph)
    }
}

/// The signature of a call: a tensor of the dtype and rank of each argument.
fn signature(inputs: &[ArrayRef<'_>]) -> Result<Key<Compact>, ParseSignatureError> {
    // On the stack and without formatting, as it is made for each call; what does not fit is no signature that is used twice.
    let (mut text, mut len) = ([0_u8; 64], 0);
    let mut write = |bytes: &[u8]| {
        let place = text.get_mut(len..len + bytes.len())?;
        place.copy_from_slice(bytes);
        len += bytes.len();
        Some(())
    };
    let mut field = |input: &ArrayRef<'_>| {
        let digit = |n: usize| u8::try_from(n).map(|n| b'0' + n).ok();
        match input.shape().len() {
            ndim @ 0..10 => write(&[b'#', digit(ndim)?])?,
            ndim @ 10..100 => write(&[b'#', digit(ndim / 10)?, digit(ndim % 10)?])?,
            _ => return None,
        }
        write(input.dtype().pep3118().as_bytes())
    };
    if inputs.iter().try_for_each(&mut field).and_then(|()| write(b")")).is_none() {
        let fields =
            inputs.iter().map(|input| format!("#{}{}", input.shape().len(), input.dtype().pep3118()));
        return Key::<Compact>::parse(&(fields.collect::<String>() + ")"));
    }
    Key::<Compact>::parse(std::str::from_utf8(&text[..len]).unwrap_or_default())
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatcher").field("name", &self.name).finish_non_exhaustive()
    }
}
