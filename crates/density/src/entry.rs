//! An entry of a package, with the data that it takes.

use crate::error::DensityError;
use ndarray::{ArrayView1, ArrayViewMut1, Axis};
use precast_core::{Array, ArrayMut, ArrayRef, CallError, Function, Loader};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// Calls with so many operands allocate no memory for them.
const INLINE: usize = 6;

/// The values of the model's data, by the names of inputs.
pub(crate) type Data = Vec<(String, Array)>;

/// An entry that is loaded by its first use.
#[derive(Debug)]
pub(crate) struct Entry {
    name: &'static str,
    /// The inputs before the data, and the number of outputs; `None` if the model decides.
    takes: Option<&'static [&'static str]>,
    gives: Option<usize>,
    bound: OnceLock<Result<Bound, DensityError>>,
}

#[derive(Debug)]
struct Bound {
    function: Function,
    /// The positions in [`Data`] of the inputs after the own ones.
    data: Vec<usize>,
}

impl Entry {
    pub(crate) const fn new(
        name: &'static str,
        takes: Option<&'static [&'static str]>,
        gives: Option<usize>,
    ) -> Self {
        Self { name, takes, gives, bound: OnceLock::new() }
    }

    /// Calls the entry with its own inputs and the data. The results are new arrays.
    pub(crate) fn call(
        &self,
        loader: &Loader,
        data: &Data,
        own: &[ArrayRef<'_>],
    ) -> Result<Vec<Array>, DensityError> {
        let bound = self.bound(loader, data)?;
        Ok(bound.function.call(&operands(own.iter().cloned(), bound, data))?)
    }

    /// Calls the entry with its own inputs and the data. The results are written to a number and a slice.
    #[inline]
    pub(crate) fn write(
        &self,
        loader: &Loader,
        data: &Data,
        own: &[&[f64]],
        value: &mut f64,
        slice: Option<&mut [f64]>,
    ) -> Result<(), DensityError> {
        let bound = self.bound(loader, data)?;
        let value: ArrayMut<'_> =
            ArrayViewMut1::from(std::slice::from_mut(value)).index_axis_move(Axis(0), 0).into();
        let given = operands(own.iter().map(|given| ArrayView1::from(*given).into()), bound, data);
        match slice {
            None => bound.function.call_views(&given, &mut [value])?,
            Some(slice) => {
                bound.function.call_views(&given, &mut [value, ArrayViewMut1::from(slice).into()])?;
            }
        }
        Ok(())
    }

    /// Returns the names of the own inputs.
    pub(crate) fn own_inputs(&self, loader: &Loader, data: &Data) -> Result<Vec<String>, DensityError> {
        let bound = self.bound(loader, data)?;
        let inputs = bound.function.inputs();
        Ok(inputs.iter().take(inputs.len() - bound.data.len()).map(|port| port.name.clone()).collect())
    }

    /// Returns the names of the outputs.
    pub(crate) fn outputs(&self, loader: &Loader, data: &Data) -> Result<Vec<String>, DensityError> {
        let bound = self.bound(loader, data)?;
        Ok(bound.function.outputs().iter().map(|port| port.name.clone()).collect())
    }

    fn bound(&self, loader: &Loader, data: &Data) -> Result<&Bound, DensityError> {
        let bound = self.bound.get_or_init(|| self.bind(loader, data));
        bound.as_ref().map_err(Clone::clone)
    }

    #[cold]
    fn bind(&self, loader: &Loader, data: &Data) -> Result<Bound, DensityError> {
        let function = loader.entry(self.name).map_err(|source| DensityError::Entry {
            entry: self.name.to_owned(),
            source: Arc::new(source),
        })?;
        let names: Vec<&str> = function.inputs().iter().map(|port| port.name.as_str()).collect();
        let position = |name: &&str| data.iter().position(|(known, _)| known == name);
        let own = names.iter().take_while(|name| position(name).is_none()).count();
        let data: Option<Vec<usize>> = names[own..].iter().map(position).collect();
        let outputs = function.outputs().len();
        match data {
            Some(data)
                if self.takes.is_none_or(|takes| *takes == names[..own])
                    && self.gives.is_none_or(|gives| gives == outputs) =>
            {
                Ok(Bound { function, data })
            }
            _ => Err(self.other(&names, outputs)),
        }
    }

    fn other(&self, inputs: &[&str], outputs: usize) -> DensityError {
        let takes = self.takes.map_or_else(|| "its own inputs".to_owned(), |takes| takes.join(", "));
        let gives = self.gives.map_or_else(String::new, |gives| format!(" and {gives} output(s)"));
        DensityError::Interface {
            entry: self.name.to_owned(),
            found: format!("the inputs {} and {outputs} output(s)", inputs.join(", ")),
            expected: format!("the inputs {takes}, then data of the model{gives}"),
        }
    }
}

/// Returns the operands of a call: the own inputs, then the data.
fn operands<'a>(
    own: impl Iterator<Item = ArrayRef<'a>>,
    bound: &Bound,
    data: &'a Data,
) -> SmallVec<[ArrayRef<'a>; INLINE]> {
    own.chain(bound.data.iter().map(|position| ArrayRef::from(&data[*position].1))).collect()
}

/// Converts an array to the elements of `f64` in C order.
pub(crate) fn floats(array: Array) -> Result<Vec<f64>, CallError> {
    let cast = array.cast(precast_core::DType::F64);
    let array = ndarray::ArrayD::<f64>::try_from(cast)
        .map_err(|source| CallError::Other { what: "cannot convert a result", source: Arc::new(source) })?;
    Ok(array.into_iter().collect())
}
