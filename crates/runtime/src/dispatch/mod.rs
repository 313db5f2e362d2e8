//! Dispatch by signature: one callable over many compiled functions, through a CEP 1000 table.
//!
//! ```text
//! call(&[f32[3], f32[3]]) ─▶ a byte for each argument ─▶ cache of recent look-ups ─▶ Function
//!                                          │ nothing
//!                                          ▼
//!                            "#1f#1f)" as a word ─▶ scan the table, 64 bits at a time ─▶ Function
//!                                          │ no such signature
//!                                          ▼
//!                     build the op's graph for these dtypes and ranks ─▶ Runtime::function ─▶ publish a longer table
//! ```
//! The signature of a call consists of dtypes and ranks: `#1f#1f)` is two vectors of f32. In CEP 1000's compact
//! encoding that is one word, which is computed from the arrays without building text; longer signatures are rendered
//! as text. Results are also cached by dtypes and ranks, so that a hot call reads one word. Readers take no lock;
//! adding a function takes one.
//!
//! [`Dispatcher::preload`] adds functions from the layers before their first call. A call site whose types do not
//! change resolves a [`Typed`] function once.

#[cfg(test)]
mod tests;

use crate::error::FunctionError;
use crate::runtime::Runtime;
use precast_abi::nativecall::{Compact, Key, ParseSignatureError, TableCell};
use precast_core::native::ArrayRef;
use precast_core::program::Port;
use precast_core::{Arguments, CallError, Function, OtherTypesError, Outcomes, Typed};
use precast_graph::{
    Array, BuildError, DType, FunctionGraph, OpLibrary as _, Operand, Props, Type, keywords,
};
use precast_ops::{Combination, combinations};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// A callable that finds or resolves the function of an op for the dtypes and ranks of its arguments.
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
    fields: &'static Fields,
    /// The most recent look-ups: the arguments, and in the last byte the position of their function.
    recent: [AtomicU64; 1 << RECENT_BITS],
    /// The functions; the table's payloads are indices. Slots are filled once and never move.
    functions: [OnceLock<Function>; CAPACITY],
    /// The number of functions; the lock of writers.
    known: Mutex<usize>,
}

/// The most signatures of one dispatcher: dtypes × ranks in use, usually a handful. The limit is the range of a byte.
const CAPACITY: usize = 256;

/// The binary logarithm of the number of cached look-ups.
const RECENT_BITS: u32 = 4;

/// The reason why a dispatched call failed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum DispatchError {
    /// The op does not exist.
    #[error("unknown op `{name}`")]
    UnknownOp {
        /// The name.
        name: String,
    },
    /// The op does not accept such arguments.
    #[error("cannot apply `{name}`")]
    Build {
        /// The op.
        name: String,
        /// The reason.
        source: BuildError,
    },
    /// No layer or policy provides the op for such arguments.
    #[error("cannot resolve `{name}`")]
    Function {
        /// The op.
        name: String,
        /// The reason.
        source: Box<FunctionError>,
    },
    /// The arguments have no CEP 1000 signature.
    #[error("cannot dispatch `{name}`")]
    Signature {
        /// The op.
        name: String,
        /// The reason.
        source: ParseSignatureError,
    },
    /// The dispatcher has reached its limit of signatures.
    #[error("`{name}` already has {CAPACITY} signatures, the limit of a dispatcher")]
    Full {
        /// The op.
        name: String,
    },
    /// The op returns other types for such arguments, or a requested type has no fixed rank.
    #[error("cannot dispatch `{name}` with these types")]
    Types {
        /// The op.
        name: String,
        /// The types of the op.
        source: OtherTypesError,
    },
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

precast_core::debug_as_chain!(DispatchError);

/// The nibbles of an argument's dtype and rank in a compact signature, and their number.
type Field = (u32, u32);

/// The number of ranks with a single digit.
const RANKS: usize = 10;

/// The fields of all ranks and dtypes, the latter in the order of [`DType::ALL`].
type Fields = [[Field; RANKS]; DType::ALL.len()];

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    DType::ALL.map(|dtype| {
        std::array::from_fn(|ndim| {
            let key = Key::<Compact>::parse(&format!("#{ndim}{})", dtype.pep3118()));
            let word = key.map_or(0, |key| key.words()[0]);
            // All nibbles except that of `)`, which is a 1.
            let nibbles = (63 - word.trailing_zeros().min(63)) / 4;
            // A field has some of the 16 nibbles.
            (word.unbounded_shr(64 - 4 * nibbles) as u32, nibbles)
        })
    })
});

/// The most nibbles of a signature of one word; the last nibble is 0.
const NIBBLES: u32 = 15;

impl Dispatcher {
    /// Creates a callable for the function `name` of the text form (`add`, `exp`, `sum`, …). Resolves nothing yet.
    #[must_use]
    pub fn new(runtime: Arc<Runtime>, name: &str) -> Self {
        Self::with_props(runtime, name, Props::new())
    }

    /// Creates a callable like [`Dispatcher::new`], with keyword arguments such as `axis`.
    #[must_use]
    pub fn with_props(runtime: Arc<Runtime>, name: &str, props: Props) -> Self {
        Self {
            runtime,
            name: name.to_owned(),
            props,
            table: TableCell::default(),
            fields: &FIELDS,
            recent: [const { AtomicU64::new(0) }; 1 << RECENT_BITS],
            functions: [const { OnceLock::new() }; CAPACITY],
            known: Mutex::new(0),
        }
    }

    /// Calls the function for the dtypes and ranks of `inputs`, and resolves it on first use.
    ///
    /// # Errors
    /// Fails if the op does not accept the arguments, on a miss under the runtime's policy, and if the call fails.
    pub fn call(&self, inputs: &[ArrayRef<'_>]) -> Result<Vec<Array>, DispatchError> {
        Ok(self.function(inputs)?.call(inputs)?)
    }

    /// Returns the function for the dtypes and ranks of `inputs`, and resolves it on first use.
    ///
    /// # Errors
    /// As [`Dispatcher::call`], except for errors of the call itself.
    #[inline]
    pub fn function(&self, inputs: &[ArrayRef<'_>]) -> Result<&Function, DispatchError> {
        let kinds = kinds(inputs);
        let recent = kinds.and_then(|kinds| {
            let found = self.recent(kinds).load(Ordering::Relaxed);
            if found >> 8 == kinds { self.at(found & 0xFF) } else { None }
        });
        recent.map_or_else(|| self.found(inputs, kinds), Ok)
    }

    /// Returns the cache slot of arguments. The multiplication spreads the low bits of each byte.
    #[inline]
    const fn recent(&self, kinds: u64) -> &AtomicU64 {
        &self.recent[(kinds.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - RECENT_BITS)) as usize]
    }

    /// Returns the function for `inputs`, and caches it if the arguments fit in a word.
    #[inline(never)]
    fn found(&self, inputs: &[ArrayRef<'_>], kinds: Option<u64>) -> Result<&Function, DispatchError> {
        let position = word(self.fields, inputs).and_then(|word| self.table.table().find_word(word));
        if let Some((position, function)) = position.and_then(|at| self.at(at).map(|function| (at, function)))
        {
            if let Some(kinds) = kinds {
                self.recent(kinds).store(kinds << 8 | position, Ordering::Relaxed);
            }
            return Ok(function);
        }
        let types = inputs.iter().map(|input| Type::tensor(input.dtype(), input.shape().len()));
        self.resolve(&types.collect::<Vec<_>>())
    }

    /// Returns the function for arguments and results of these types, which calls then do not check. It is resolved
    /// as by [`Dispatcher::call`].
    ///
    /// # Errors
    /// As [`Dispatcher::function`]; also fails if the results have other types, or if a type has no fixed rank.
    pub fn typed<I: Arguments, O: Outcomes>(&self) -> Result<Typed<I, O>, DispatchError> {
        let types = I::kinds().into_iter().map(|(dtype, ndim)| Type::tensor(dtype, ndim.unwrap_or(0)));
        let function = self.resolve(&types.collect::<Vec<_>>())?;
        function.typed().map_err(|source| DispatchError::Types { name: self.name.clone(), source })
    }

    /// Resolves functions before their first call: each combination of an `[[op]]` with this name, all dtypes and
    /// these ranks that a layer has a module for. Nothing is compiled; missing functions are resolved on their first
    /// call. Returns the number of known signatures.
    ///
    /// # Errors
    /// Fails if there are more signatures than a dispatcher can hold, or if a module cannot be loaded.
    pub fn preload(&self, ndim: &[usize]) -> Result<usize, DispatchError> {
        let of = |dtype: &DType, rank: &usize| {
            combinations(&self.name, &[*dtype], &[*rank], self.runtime.ops()).unwrap_or_default()
        };
        let all = DType::ALL.iter().flat_map(|dtype| ndim.iter().flat_map(move |rank| of(dtype, rank)));
        for Combination { graph, .. } in all {
            let types: Vec<Type> = graph.inputs().iter().map(|input| graph.ty(*input).clone()).collect();
            if self.graph(&types).is_ok_and(|graph| self.runtime.holds(&graph)) {
                self.resolve(&types)?;
            }
        }
        Ok(*self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the signatures of resolved functions, with results: `#1f#1f)#1f`.
    #[must_use]
    pub fn signatures(&self) -> Vec<String> {
        let text = |ports: &[Port]| ports.iter().map(|port| field(&port.ty)).collect::<String>();
        self.functions()
            .map(|function| format!("{}){}", text(function.inputs()), text(function.outputs())))
            .collect()
    }

    /// Returns the functions of [`Dispatcher::signatures`], in the same order.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().map_while(OnceLock::get)
    }

    /// Returns the function of a signature of any length, and resolves it on first use.
    #[cold]
    fn resolve(&self, types: &[Type]) -> Result<&Function, DispatchError> {
        let text = types.iter().map(field).collect::<String>() + ")";
        let signature = Key::<Compact>::parse(&text)
            .map_err(|source| DispatchError::Signature { name: self.name.clone(), source })?;
        if let Some(function) = self.find(&signature) {
            return Ok(function);
        }
        self.add(types, signature)
    }

    fn find(&self, signature: &Key<Compact>) -> Option<&Function> {
        self.at(self.table.table().find(signature)?)
    }

    #[inline]
    fn at(&self, position: u64) -> Option<&Function> {
        self.functions.get(usize::try_from(position).ok()?)?.get()
    }

    /// Resolves a function and adds it to the table; the lock admits one thread at a time.
    fn add(&self, types: &[Type], signature: Key<Compact>) -> Result<&Function, DispatchError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = self.find(&signature) {
            return Ok(function);
        }
        let full = || DispatchError::Full { name: self.name.clone() };
        let slot = self.functions.get(*known).ok_or_else(full)?;
        let function = self.runtime.function(&self.graph(types)?);
        let function = function.map_err(|source| DispatchError::Function {
            name: self.name.clone(),
            source: Box::new(source),
        })?;
        let function = slot.get_or_init(|| function);
        self.table.add(signature, *known as u64);
        *known += 1;
        Ok(function)
    }

    /// Builds the op's graph for these dtypes and ranks: with tensors, or, if the op rejects these, with C scalars
    /// for arguments of rank 0.
    fn graph(&self, types: &[Type]) -> Result<FunctionGraph, DispatchError> {
        let scalar = |ty: &Type| if ty.ndim() == 0 { Type::Scalar(ty.dtype()) } else { ty.clone() };
        let scalars: Vec<Type> = types.iter().map(scalar).collect();
        self.applied(types).or_else(|refused| self.applied(&scalars).map_err(|_| refused))
    }

    /// Builds a graph of the op, applied to inputs of these types.
    fn applied(&self, types: &[Type]) -> Result<FunctionGraph, DispatchError> {
        let failed = |source| DispatchError::Build { name: self.name.clone(), source };
        let mut graph = FunctionGraph::new();
        let mut operands = Vec::new();
        for (position, ty) in types.iter().enumerate() {
            operands.push(Operand::Var(graph.input(&format!("x{position}"), ty.clone()).map_err(failed)?));
        }
        let applied = self.runtime.ops().call(&mut graph, &self.name, &operands, &keywords(&self.props));
        let unknown = || DispatchError::UnknownOp { name: self.name.clone() };
        let results = match applied.ok_or_else(unknown)?.map_err(failed)? {
            Operand::List(several) => several,
            one => vec![one],
        };
        for result in results {
            let output = result.variable(&mut graph).map_err(|source| failed(source.into()))?;
            graph.output(output, None).map_err(failed)?;
        }
        Ok(graph)
    }
}

/// Packs the arguments of a call into a word, one byte of dtype and rank for each; `None` if they do not leave a byte for
/// the position.
#[inline]
fn kinds(inputs: &[ArrayRef<'_>]) -> Option<u64> {
    if inputs.len() > 6 {
        return None;
    }
    // Starts with a 1, so that the word encodes its length and is never 0.
    let (mut word, mut ranks) = (1, 0);
    for input in inputs {
        ranks |= input.ndim();
        word = word << 8 | (input.dtype() as u64) << 4 | input.ndim() as u64;
    }
    (ranks <= 0xF).then_some(word)
}

/// Returns the signature of a call as the single word of its compact encoding: a tensor of the dtype and rank of each
/// argument. `None` if it needs more words.
#[inline]
fn word(fields: &Fields, inputs: &[ArrayRef<'_>]) -> Option<u64> {
    let (mut word, mut nibbles) = (0, 1);
    for input in inputs {
        let (field, len) = *fields[input.dtype() as usize].get(input.ndim())?;
        nibbles += len;
        word = word << (4 * len) | u64::from(field);
    }
    // `)` is encoded as 1.
    (nibbles <= NIBBLES).then(|| (word << 4 | 1) << (64 - 4 * nibbles))
}

/// Renders a tensor of a dtype and rank in a signature.
fn field(ty: &Type) -> String {
    format!("#{}{}", ty.ndim(), ty.dtype().pep3118())
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatcher").field("name", &self.name).finish_non_exhaustive()
    }
}
