//! Dispatch by signature: one callable over many compiled functions, through a CEP 1000 table.
//!
//! ```text
//! call(&[f32[3], f32[3]]) ─▶ a byte for each argument ─▶ what was found for these before ─▶ Function
//!                                          │ nothing
//!                                          ▼
//!                            "#1f#1f)" as a word ─▶ scan the table, 64 bits at a time ─▶ Function
//!                                          │ no such signature
//!                                          ▼
//!                     build the op's graph for these dtypes and ranks ─▶ Runtime::function ─▶ publish a longer table
//! ```
//! The signature of a call holds dtypes and ranks: `#1f#1f)` is two vectors of f32. In CEP 1000's compact encoding that is one
//! word, put together from the arrays without any text; signatures that are longer are written out. What was found is kept by
//! dtypes and ranks as they are, so that a hot call looks at one word. Readers take no lock; a new function is added under one. [`Dispatcher::preload`] adds what layers have before it is called for. A call site whose types do not change asks once for a [`Typed`] function.

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
    fields: &'static Fields,
    /// What was found last: the arguments, and in the last byte the position of their function.
    recent: [AtomicU64; 1 << RECENT_BITS],
    /// Payloads of the table are positions here; slots are filled once and never move.
    functions: [OnceLock<Function>; CAPACITY],
    /// Number of functions; the lock of writers.
    known: Mutex<usize>,
}

/// Most signatures of one dispatcher: dtypes × ranks in use, a handful as a rule. As many as a byte counts.
const CAPACITY: usize = 256;

/// The binary logarithm of how many are found at once.
const RECENT_BITS: u32 = 4;

/// Why a dispatched call failed.
#[derive(thiserror::Error)]
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
    /// The op gives something else for such arguments, or is asked for with a type of any rank.
    #[error("cannot dispatch `{name}` with these types")]
    Types {
        /// The op.
        name: String,
        /// What it takes and gives.
        source: OtherTypesError,
    },
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

precast_core::debug_as_chain!(DispatchError);

/// The nibbles that an argument of a dtype and rank has in a compact signature, and their number.
type Field = (u32, u32);

/// Ranks of one digit.
const RANKS: usize = 10;

/// The fields of all dtypes, in the order of [`DType::ALL`], and ranks.
type Fields = [[Field; RANKS]; DType::ALL.len()];

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    DType::ALL.map(|dtype| {
        std::array::from_fn(|ndim| {
            let key = Key::<Compact>::parse(&format!("#{ndim}{})", dtype.pep3118()));
            let word = key.map_or(0, |key| key.words()[0]);
            // All but the nibble of `)`, which is a 1.
            let nibbles = (63 - word.trailing_zeros().min(63)) / 4;
            // A field has some nibbles of the 16.
            (word.unbounded_shr(64 - 4 * nibbles) as u32, nibbles)
        })
    })
});

/// Nibbles of a signature of one word; the last is 0.
const NIBBLES: u32 = 15;

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
            fields: &FIELDS,
            recent: [const { AtomicU64::new(0) }; 1 << RECENT_BITS],
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
    #[inline]
    pub fn function(&self, inputs: &[ArrayRef<'_>]) -> Result<&Function, DispatchError> {
        let kinds = kinds(inputs);
        let recent = kinds.and_then(|kinds| {
            let found = self.recent(kinds).load(Ordering::Relaxed);
            if found >> 8 == kinds { self.at(found & 0xFF) } else { None }
        });
        recent.map_or_else(|| self.found(inputs, kinds), Ok)
    }

    /// Where arguments are kept. The product spreads what the low bits of each byte say.
    #[inline]
    const fn recent(&self, kinds: u64) -> &AtomicU64 {
        &self.recent[(kinds.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - RECENT_BITS)) as usize]
    }

    /// The function for `inputs`, which is found at once from now on if they have such a word.
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

    /// The function for arguments and results of these types, which are then not looked at in each call. Resolved as by
    /// [`Dispatcher::call`].
    ///
    /// # Errors
    /// As [`Dispatcher::function`]; other results than these; a type of any rank.
    pub fn typed<I: Arguments, O: Outcomes>(&self) -> Result<Typed<I, O>, DispatchError> {
        let types = I::kinds().into_iter().map(|(dtype, ndim)| Type::tensor(dtype, ndim.unwrap_or(0)));
        let function = self.resolve(&types.collect::<Vec<_>>())?;
        function.typed().map_err(|source| DispatchError::Types { name: self.name.clone(), source })
    }

    /// Resolves ahead of the first call what an `[[op]]` of this name, of all dtypes and these ranks, stands for and a layer has
    /// a module of: no call of it waits then. Nothing is compiled, and what no layer has is left to its first call. Gives the
    /// number of signatures that are known then.
    ///
    /// # Errors
    /// More signatures than a dispatcher can hold; a module that cannot be loaded.
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

    /// The signatures of what was resolved, with results: `#1f#1f)#1f`.
    #[must_use]
    pub fn signatures(&self) -> Vec<String> {
        let text = |ports: &[Port]| ports.iter().map(|port| field(&port.ty)).collect::<String>();
        self.functions()
            .map(|function| format!("{}){}", text(function.inputs()), text(function.outputs())))
            .collect()
    }

    /// The functions of [`Dispatcher::signatures`], in their order.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().map_while(OnceLock::get)
    }

    /// The function of a signature that may be of any length, resolved on first use.
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

    /// Resolves a function and adds it to the table; one thread at a time.
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

    /// The graph of the op for these dtypes and ranks: of tensors, or if it refuses these, of C scalars in place of those
    /// without dimensions.
    fn graph(&self, types: &[Type]) -> Result<FunctionGraph, DispatchError> {
        let scalar = |ty: &Type| if ty.ndim() == 0 { Type::Scalar(ty.dtype()) } else { ty.clone() };
        let scalars: Vec<Type> = types.iter().map(scalar).collect();
        self.applied(types).or_else(|refused| self.applied(&scalars).map_err(|_| refused))
    }

    /// The graph of the op, applied to inputs of these types.
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

/// The arguments of a call, a byte of dtype and rank for each; `None` if these have no place beside a position.
#[inline]
fn kinds(inputs: &[ArrayRef<'_>]) -> Option<u64> {
    if inputs.len() > 6 {
        return None;
    }
    // Begins with a 1, so that its length is in it, and none is 0.
    let (mut word, mut ranks) = (1, 0);
    for input in inputs {
        ranks |= input.ndim();
        word = word << 8 | (input.dtype() as u64) << 4 | input.ndim() as u64;
    }
    (ranks <= 0xF).then_some(word)
}

/// The signature of a call as the one word of its compact encoding: a tensor of the dtype and rank of each argument. `None`
/// if it has more words.
#[inline]
fn word(fields: &Fields, inputs: &[ArrayRef<'_>]) -> Option<u64> {
    let (mut word, mut nibbles) = (0, 1);
    for input in inputs {
        let (field, len) = *fields[input.dtype() as usize].get(input.ndim())?;
        nibbles += len;
        word = word << (4 * len) | u64::from(field);
    }
    // The number of `)` is 1.
    (nibbles <= NIBBLES).then(|| (word << 4 | 1) << (64 - 4 * nibbles))
}

/// A tensor of a dtype and rank in a signature.
fn field(ty: &Type) -> String {
    format!("#{}{}", ty.ndim(), ty.dtype().pep3118())
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatcher").field("name", &self.name).finish_non_exhaustive()
    }
}
