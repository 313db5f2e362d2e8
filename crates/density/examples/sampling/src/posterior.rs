//! A [`Density`] as the sampler's model: its gradient, its dimensions, its draws by name.

use anyhow::Result;
use nuts_rs::rand::{Rng, RngExt};
use nuts_rs::{CpuLogpFunc, CpuMath, CpuMathError, HasDims, ItemType, LogpError, Model, Storable, Value};
use precast::density::{Density, DensityError, Variable};
use precast::{Array, DType};
use std::collections::HashMap;

/// The reason why the density has no value at a point.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Rejected {
    #[error(transparent)]
    Density(#[from] DensityError),
    #[error("the log density or its gradient is not finite")]
    NotFinite,
}

impl LogpError for Rejected {
    fn is_recoverable(&self) -> bool {
        match self {
            Self::NotFinite => true,
            Self::Density(error) => error.is_of_values(),
        }
    }
}

/// The model of a package.
#[derive(Debug, Clone)]
pub(crate) struct Posterior {
    density: Density,
    /// The stored variables and the names of their dimensions.
    variables: Vec<(Variable, Vec<String>)>,
}

impl Posterior {
    pub(crate) fn new(density: Density) -> Self {
        let variables = density.description().constrained().map(|each| (each.clone(), dims(each))).collect();
        Self { density, variables }
    }

    fn variable(&self, name: &str) -> Option<&(Variable, Vec<String>)> {
        self.variables.iter().find(|(variable, _)| variable.name == name)
    }
}

/// Returns the names of a variable's dimensions: those of the model, or ArviZ's default.
fn dims(variable: &Variable) -> Vec<String> {
    (0..variable.shape.len())
        .map(|axis| match variable.dims.get(axis) {
            Some(dim) if !dim.is_empty() => dim.clone(),
            _ => format!("{}_dim_{axis}", variable.name),
        })
        .collect()
}

impl HasDims for Posterior {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        let own = ["unconstrained_parameter", "dim"].map(|name| (name.to_owned(), self.density.dim() as u64));
        let sizes = self.variables.iter().flat_map(|(variable, dims)| {
            dims.iter().cloned().zip(variable.shape.iter().map(|extent| *extent as u64))
        });
        own.into_iter().chain(sizes).collect()
    }

    fn coords(&self) -> HashMap<String, Value> {
        let is_used = |name: &&String| self.variables.iter().any(|(_, dims)| dims.contains(name));
        let coords = self.density.description().coords.iter().filter(|(name, _)| is_used(name));
        coords.map(|(name, values)| (name.clone(), coordinates(values))).collect()
    }
}

/// Converts coordinates to integers, numbers or texts.
fn coordinates(values: &[serde_json::Value]) -> Value {
    if let Some(integers) = values.iter().map(serde_json::Value::as_i64).collect() {
        return Value::I64(integers);
    }
    if let Some(numbers) = values.iter().map(serde_json::Value::as_f64).collect() {
        return Value::F64(numbers);
    }
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Value::Strings(values.iter().map(text).collect())
}

/// The parameters and deterministics of a draw.
pub(crate) struct Draw(Vec<Array>);

impl Storable<Posterior> for Draw {
    fn names(parent: &Posterior) -> Vec<&str> {
        parent.variables.iter().map(|(variable, _)| variable.name.as_str()).collect()
    }

    fn item_type(parent: &Posterior, item: &str) -> ItemType {
        match parent.variable(item).map(|(variable, _)| variable.dtype.as_str()) {
            Some("float64") | None => ItemType::F64,
            Some("float32") => ItemType::F32,
            Some("bool") => ItemType::Bool,
            Some(_) => ItemType::I64,
        }
    }

    fn dims<'a>(parent: &'a Posterior, item: &str) -> Vec<&'a str> {
        parent.variable(item).map(|(_, dims)| dims.iter().map(String::as_str).collect()).unwrap_or_default()
    }

    fn get_all<'a>(&'a mut self, parent: &'a Posterior) -> Vec<(&'a str, Option<Value>)> {
        Self::names(parent).into_iter().zip(self.0.iter().map(|array| Some(value(array)))).collect()
    }
}

/// Converts an array to a value of the trace, in C order.
fn value(array: &Array) -> Value {
    let is_number = array.shape().is_empty();
    match array {
        Array::F64(a) if is_number => Value::ScalarF64(a.sum()),
        Array::F64(a) => Value::F64(a.iter().copied().collect()),
        Array::F32(a) if is_number => Value::ScalarF32(a.sum()),
        Array::F32(a) => Value::F32(a.iter().copied().collect()),
        Array::Bool(a) if is_number => Value::ScalarBool(a.iter().any(|x| *x)),
        Array::Bool(a) => Value::Bool(a.iter().copied().collect()),
        Array::I64(a) if is_number => Value::ScalarI64(a.sum()),
        Array::I64(a) => Value::I64(a.iter().copied().collect()),
        other => value(&other.cast(DType::I64)),
    }
}

impl CpuLogpFunc for Posterior {
    type LogpError = Rejected;
    type FlowParameters = ();
    type ExpandedVector = Draw;

    fn dim(&self) -> usize {
        self.density.dim()
    }

    fn logp(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, Rejected> {
        let value = self.density.logp_and_grad(q, gradient)?;
        let is_finite = value.is_finite() && gradient.iter().all(|x| x.is_finite());
        if is_finite { Ok(value) } else { Err(Rejected::NotFinite) }
    }

    fn expand_vector<R: Rng + ?Sized>(&mut self, _: &mut R, q: &[f64]) -> Result<Draw, CpuMathError> {
        let made = self.density.constrain(q);
        made.map(Draw).map_err(|error| CpuMathError::ExpandError(error.to_string()))
    }
}

impl Model for Posterior {
    type Math<'model> = CpuMath<Self>;

    fn math<R: Rng + ?Sized>(&self, _: &mut R) -> Result<Self::Math<'_>> {
        Ok(CpuMath::new(self.clone()))
    }

    /// The model's initial point, moved by up to 1 in each direction, as PyMC does.
    fn init_position<R: Rng + ?Sized>(&self, rng: &mut R, position: &mut [f64]) -> Result<()> {
        let initial = self.density.initial()?;
        let moved = self.density.uniform([rng.random(), rng.random()])?;
        let values = initial.iter().zip(moved).map(|(start, by)| start + by);
        position.iter_mut().zip(values).for_each(|(target, value)| *target = value);
        Ok(())
    }
}
