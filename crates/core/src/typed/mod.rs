//! Typed calls: functions with the dtypes and ranks of arguments and results in their Rust types.
//!
//! ```text
//! Function ── typed::<(Array1<f64>, f64), Array1<f64>>(), checked once ──▶ Typed ── call((view, number)) ──▶ Array1<f64>
//! ```
//! Properties that the types guarantee are not checked again at each call, and results have their declared array types.
//! Extents are checked as in [`Function::call`]. It is the same call, with arguments whose types the compiler knows.

mod types;

use crate::event::chain;
use crate::function::{CallError, Delegate, Function};
use crate::native::{AllMade, ArrayMut, ArrayRef, Direct, Made, Map, Strided};
use crate::program::Port;
use crate::value::{Array, DType};
use std::marker::PhantomData;
use std::sync::Arc;

/// A function with typed arguments and results: `Typed<(Array1<f64>, Array1<f64>), Array1<f64>>`. Clones share all state.
///
/// Arrays are passed as views; the type names the array type behind each view. An element type is an argument or result
/// without dimensions.
///
/// # Examples
/// ```no_run
/// # fn loader() -> precast_core::Loader { todo!() }
/// use ndarray::{Array1, array};
/// let add = loader().entry("add")?.typed::<(Array1<f64>, Array1<f64>), Array1<f64>>()?;
/// let (x, mut sum) = (array![1.0, 2.0], array![0.0, 0.0]);
/// assert_eq!(add.call((x.view(), x.view()))?, array![2.0, 4.0]);
/// add.call_into((x.view(), x.view()), &mut sum)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Typed<I, O> {
    function: Function,
    /// The call path without a frame, if possible.
    direct: Option<Arc<Direct>>,
    types: PhantomData<fn(I) -> O>,
}

/// The error for a function that does not have the requested types.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the function is {}, expected `{expected}`", self.known())]
#[non_exhaustive]
pub struct OtherTypesError {
    /// The types of its inputs and outputs.
    pub found: String,
    /// The requested types.
    pub expected: String,
    /// The reason why its types are unknown, if they are.
    pub unknown: Option<String>,
}

crate::debug_as_chain!(OtherTypesError);

impl OtherTypesError {
    fn known(&self) -> String {
        match &self.unknown {
            None => format!("`{}`", self.found),
            Some(why) => format!("unknown ({why})"),
        }
    }
}

/// The dtype and rank of a Rust type. `None` stands for any rank.
pub type Kind = (DType, Option<usize>);

/// The type of one argument: an array of a dtype and rank, or an element.
pub trait Argument {
    /// The type of the value passed to a call.
    type Given<'a>;
    /// The dtype and rank.
    const KIND: Kind;

    /// Returns the argument as an [`ArrayRef`].
    fn lend<'a>(given: &'a Self::Given<'_>) -> ArrayRef<'a>;

    /// Returns the argument in the form of direct calls.
    #[doc(hidden)]
    fn strided<'a>(given: &'a Self::Given<'_>) -> Strided<'a>;
}

/// The types of all arguments: a tuple of [`Argument`]s.
pub trait Arguments {
    /// The type of the values passed to a call.
    type Given<'a>;

    /// Returns the dtypes and ranks.
    fn kinds() -> Vec<Kind>;

    /// The arguments in the form of direct calls.
    #[doc(hidden)]
    type Lying<'a>: AsRef<[Strided<'a>]>;

    #[doc(hidden)]
    fn strided<'a>(given: &'a Self::Given<'_>) -> Self::Lying<'a>;

    /// Passes the arguments to `call` as [`ArrayRef`]s and returns its result.
    #[doc(hidden)]
    fn lend<R>(given: &Self::Given<'_>, call: impl FnOnce(&[ArrayRef<'_>]) -> R) -> R;
}

/// The type of one result: an array of a dtype and rank, or an element.
pub trait Outcome: Made {
    /// The dtype and rank.
    const KIND: Kind;

    /// Converts an array, if it has this type.
    fn of(array: Array) -> Option<Self>;

    /// Memory of the caller for the result: a mutable view of an array, or a reference to an element.
    type View<'a>;

    /// Returns the memory that a result is written to.
    fn lend(&mut self) -> ArrayMut<'_>;

    /// Returns memory of the caller as an [`ArrayMut`].
    fn lend_view<'a>(view: &'a mut Self::View<'_>) -> ArrayMut<'a>;

    /// Returns the memory in the form of direct calls.
    #[doc(hidden)]
    fn strided(&mut self) -> Strided<'_>;
}

/// The types of all results: an [`Outcome`], or a tuple of several.
pub trait Outcomes: AllMade {
    /// Existing results to be overwritten: `&mut Array1<f64>`, or a tuple of such references.
    type Reused<'a>;

    /// Memory of the caller: an [`Outcome::View`], or a tuple of them.
    type Views<'a>;

    /// Returns the dtypes and ranks.
    fn kinds() -> Vec<Kind>;

    /// Calls a function and converts its results.
    ///
    /// # Errors
    /// As [`Function::call`].
    fn call(function: &Function, inputs: &[ArrayRef<'_>]) -> Result<Self, CallError>;

    /// Runs the call as a single map. Returns `false` if that is not possible.
    #[doc(hidden)]
    fn map(outputs: &mut Self::Reused<'_>, map: &Map, inputs: &[Strided<'_>]) -> bool;

    /// Runs the call directly. Returns `false` if that is not possible.
    #[doc(hidden)]
    fn write(outputs: &mut Self::Reused<'_>, direct: &Direct, inputs: &[Strided<'_>]) -> bool;

    /// Passes the memory of existing results to `call` and returns its result.
    #[doc(hidden)]
    fn lend<R>(outputs: &mut Self::Reused<'_>, call: impl FnOnce(&mut [ArrayMut<'_>]) -> R) -> R;

    /// Passes memory of the caller to `call` and returns its result.
    #[doc(hidden)]
    fn lend_views<R>(views: &mut Self::Views<'_>, call: impl FnOnce(&mut [ArrayMut<'_>]) -> R) -> R;

    /// Replaces existing results.
    #[doc(hidden)]
    fn replace(self, outputs: &mut Self::Reused<'_>);
}

impl Function {
    /// Converts the function to a typed one.
    ///
    /// # Errors
    /// The function has other types.
    pub fn typed<I: Arguments, O: Outcomes>(&self) -> Result<Typed<I, O>, OtherTypesError> {
        let fit = |ports: &[Port], kinds: &[Kind]| {
            let fits = |(port, (dtype, ndim)): (&Port, &Kind)| {
                port.ty.dtype() == *dtype && ndim.is_none_or(|ndim| port.ty.ndim() == ndim)
            };
            ports.len() == kinds.len() && ports.iter().zip(kinds).all(fits)
        };
        let (inputs, outputs) = (I::kinds(), O::kinds());
        let fits = fit(self.inputs(), &inputs) && fit(self.outputs(), &outputs);
        if fits && self.refusal().is_none() {
            // A body can forward to another function later, while this handle still exists.
            let direct = self.direct().filter(|_| !matches!(self.delegate(), Delegate::Forwards(_))).cloned();
            return Ok(Typed { function: self.clone(), direct, types: PhantomData });
        }
        let ports = |ports: &[Port]| ports.iter().map(|port| port.ty.to_string()).collect::<Vec<_>>();
        let kinds = |kinds: &[Kind]| kinds.iter().copied().map(shown).collect::<Vec<_>>();
        let shown = |takes: Vec<String>, gives: Vec<String>| {
            format!("({}) -> {}", takes.join(", "), gives.join(", "))
        };
        Err(OtherTypesError {
            found: shown(ports(self.inputs()), ports(self.outputs())),
            expected: shown(kinds(&inputs), kinds(&outputs)),
            unknown: self.refusal().map(|error| chain(error)),
        })
    }
}

/// Renders a dtype and rank, such as `f64[?]`.
fn shown((dtype, ndim): Kind) -> String {
    format!("{dtype}[{}]", ndim.map_or_else(|| "..".to_owned(), |ndim| vec!["?"; ndim].join(",")))
}

impl<I: Arguments, O: Outcomes> Typed<I, O> {
    /// Calls the function. The results are new arrays.
    ///
    /// # Errors
    /// As [`Function::call`].
    #[inline]
    pub fn call(&self, arguments: I::Given<'_>) -> Result<O, CallError> {
        // Each of the two branches has its own array of operands, so that the compiler can keep the operands of a map in
        // registers.
        let results = self.direct.as_deref().and_then(|direct| match direct.map() {
            Some(map) => O::mapped(map, I::strided(&arguments).as_ref()),
            None => O::all_made(direct, I::strided(&arguments).as_ref()),
        });
        if let Some(results) = results {
            return Ok(results);
        }
        I::lend(&arguments, |inputs| O::call(&self.function, inputs))
    }

    /// Calls the function. The results replace `outputs`, a mutable borrow of each, whose memory is reused if the shapes
    /// match.
    ///
    /// # Errors
    /// As [`Function::call`]. After an error, the contents of the outputs are unspecified.
    #[inline]
    pub fn call_into(&self, arguments: I::Given<'_>, mut outputs: O::Reused<'_>) -> Result<(), CallError> {
        let is_served = self.direct.as_deref().is_some_and(|direct| match direct.map() {
            Some(map) => O::map(&mut outputs, map, I::strided(&arguments).as_ref()),
            None => O::write(&mut outputs, direct, I::strided(&arguments).as_ref()),
        });
        if is_served {
            return Ok(());
        }
        I::lend(&arguments, |inputs| rewrite::<O>(&self.function, inputs, &mut outputs))
    }

    /// Calls the function. The results are written to memory of the caller: views with any strides, such as those of slices,
    /// and references to elements.
    ///
    /// # Examples
    /// ```no_run
    /// # fn loader() -> precast_core::Loader { todo!() }
    /// use ndarray::{Array1, ArrayViewMut1, array};
    /// let add = loader().entry("add")?.typed::<(Array1<f64>, Array1<f64>), Array1<f64>>()?;
    /// let (x, mut sums) = (array![1.0, 2.0], [0.0; 4]);
    /// add.call_views((x.view(), x.view()), ArrayViewMut1::from(&mut sums[2..]))?;
    /// assert_eq!(sums, [0.0, 0.0, 2.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Function::call_views`].
    pub fn call_views(&self, arguments: I::Given<'_>, mut outputs: O::Views<'_>) -> Result<(), CallError> {
        I::lend(&arguments, |inputs| {
            O::lend_views(&mut outputs, |outputs| self.function.call_views(inputs, outputs))
        })
    }

    /// Returns the untyped function.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }
}

/// Calls a function whose results are written to `outputs` if the shapes match, or replace them otherwise.
#[cold]
fn rewrite<O: Outcomes>(
    function: &Function,
    inputs: &[ArrayRef<'_>],
    outputs: &mut O::Reused<'_>,
) -> Result<(), CallError> {
    match O::lend(outputs, |outputs| function.call_views(inputs, outputs)) {
        Err(CallError::Output { .. }) => {
            O::call(function, inputs)?.replace(outputs);
            Ok(())
        }
        other => other,
    }
}

impl<I, O> Clone for Typed<I, O> {
    fn clone(&self) -> Self {
        Self { function: self.function.clone(), direct: self.direct.clone(), types: PhantomData }
    }
}

impl<I, O> std::fmt::Debug for Typed<I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Typed").field("function", &self.function).finish_non_exhaustive()
    }
}
