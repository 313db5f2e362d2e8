//! Typed calls: functions whose arguments and results have dtypes and ranks in their Rust types.
//!
//! ```text
//! Function ── typed::<(Array1<f64>, f64), Array1<f64>>(), checked once ──▶ Typed ── call((view, number)) ──▶ Array1<f64>
//! ```
//! What is known by the type is not looked at in each call, and a result is the array it is declared as. Extents are looked at
//! as in every call: it is the same call, [`Function::call`], of arguments that the compiler sees through.

mod types;

use crate::event::chain;
use crate::function::{CallError, Function};
use crate::native::{AllMade, ArrayMut, ArrayRef, Direct, Made, Map, Strided};
use crate::program::Port;
use crate::value::{Array, DType};
use std::marker::PhantomData;
use std::sync::Arc;

/// A function of these arguments and results: `Typed<(Array1<f64>, Array1<f64>), Array1<f64>>`. Clones are the same function.
///
/// Arrays are given as views, and stand in the type as what they are views of; an element type is an argument or result
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
    /// How it is called without a frame, if it can be.
    direct: Option<Arc<Direct>>,
    types: PhantomData<fn(I) -> O>,
}

/// A function that is not what it was asked for as.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the function is {}, expected `{expected}`", self.known())]
#[non_exhaustive]
pub struct OtherTypesError {
    /// What it takes and gives.
    pub found: String,
    /// What was asked for.
    pub expected: String,
    /// Why it is not known what it takes and gives, if it is not.
    pub unknown: Option<String>,
}

crate::debug_as_chain!(OtherTypesError);

impl OtherTypesError {
    fn known(&self) -> String {
        match &self.unknown {
            None => format!("`{}`", self.found),
            Some(why) => format!("not known ({why})"),
        }
    }
}

/// Dtype and rank that a Rust type stands for; no rank for all of them.
pub type Kind = (DType, Option<usize>);

/// A type of one argument: an array of a dtype and rank, or an element.
pub trait Argument {
    /// What is given in a call.
    type Given<'a>;
    /// Dtype and rank.
    const KIND: Kind;

    /// The argument as every call takes it.
    fn lend<'a>(given: &'a Self::Given<'_>) -> ArrayRef<'a>;

    /// The argument as direct calls take it.
    #[doc(hidden)]
    fn strided<'a>(given: &'a Self::Given<'_>) -> Strided<'a>;
}

/// The types of all arguments: a tuple of [`Argument`]s.
pub trait Arguments {
    /// What is given in a call.
    type Given<'a>;

    /// Dtypes and ranks.
    fn kinds() -> Vec<Kind>;

    /// The arguments as direct calls take them.
    #[doc(hidden)]
    type Lying<'a>: AsRef<[Strided<'a>]>;

    #[doc(hidden)]
    fn strided<'a>(given: &'a Self::Given<'_>) -> Self::Lying<'a>;

    /// What `call` gives with the arguments as every call takes them.
    #[doc(hidden)]
    fn lend<R>(given: &Self::Given<'_>, call: impl FnOnce(&[ArrayRef<'_>]) -> R) -> R;
}

/// A type of one result: an array of a dtype and rank, or an element.
pub trait Outcome: Made {
    /// Dtype and rank.
    const KIND: Kind;

    /// The value, if the array is one.
    fn of(array: Array) -> Option<Self>;

    /// Memory that a result is written to.
    fn lend(&mut self) -> ArrayMut<'_>;

    /// The same, as direct calls take it.
    #[doc(hidden)]
    fn strided(&mut self) -> Strided<'_>;
}

/// The types of all results: an [`Outcome`], or a tuple of several.
pub trait Outcomes: AllMade {
    /// Results that are there, to be written again: `&mut Array1<f64>`, or a tuple of such.
    type Reused<'a>;

    /// Dtypes and ranks.
    fn kinds() -> Vec<Kind>;

    /// The results of a call.
    ///
    /// # Errors
    /// As [`Function::call`].
    fn call(function: &Function, inputs: &[ArrayRef<'_>]) -> Result<Self, CallError>;

    /// Whether one map served it.
    #[doc(hidden)]
    fn map(outputs: &mut Self::Reused<'_>, map: &Map, inputs: &[Strided<'_>]) -> bool;

    /// Whether a direct call served it.
    #[doc(hidden)]
    fn write(outputs: &mut Self::Reused<'_>, direct: &Direct, inputs: &[Strided<'_>]) -> bool;

    /// What `call` gives with the memory of what is there.
    #[doc(hidden)]
    fn lend<R>(outputs: &mut Self::Reused<'_>, call: impl FnOnce(&mut [ArrayMut<'_>]) -> R) -> R;

    /// Puts results in place of what is there.
    #[doc(hidden)]
    fn replace(self, outputs: &mut Self::Reused<'_>);
}

impl Function {
    /// The function as one of these arguments and results.
    ///
    /// # Errors
    /// It has others.
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
            // What stands for this function now may be replaced while the handle is kept.
            let direct = self.direct().filter(|_| self.stands_for().is_none()).cloned();
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

/// `f64[?]`.
fn shown((dtype, ndim): Kind) -> String {
    format!("{dtype}[{}]", ndim.map_or_else(|| "..".to_owned(), |ndim| vec!["?"; ndim].join(",")))
}

impl<I: Arguments, O: Outcomes> Typed<I, O> {
    /// Calls the function; the results are new.
    ///
    /// # Errors
    /// As [`Function::call`].
    #[inline]
    pub fn call(&self, arguments: I::Given<'_>) -> Result<O, CallError> {
        // What one way of calling looks at stays in registers where the other does not have its address.
        let results = self.direct.as_deref().and_then(|direct| match direct.map() {
            Some(map) => O::mapped(map, I::strided(&arguments).as_ref()),
            None => O::all_made(direct, I::strided(&arguments).as_ref()),
        });
        if let Some(results) = results {
            return Ok(results);
        }
        I::lend(&arguments, |inputs| O::call(&self.function, inputs))
    }

    /// Calls the function; the results replace `outputs`, a mutable borrow of each, in whose memory they are written where the
    /// shapes agree.
    ///
    /// # Errors
    /// As [`Function::call`]. After an error the outputs hold values, but not results.
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

    /// The function, for calls with arrays of any type.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }
}

/// A call for results that are written where they fit, or replace what is there.
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
