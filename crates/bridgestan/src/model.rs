//! An open package, its names and its values in column-major order.

use crate::error::Error;
use crate::order::{column_major, names, row_major_names};
use crate::package;
use crate::values::{array, object, typed};
use precast_core::{Array, ArrayRef, DType};
use precast_density::{Density, Key, Variable};
use serde_json::{Map, Value};
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};

/// The key of the data that names a package.
const PACKAGE: &str = "precast.package";

/// The groups of a selection: parameters (0), and where asked for deterministics (1) and observed variables (2).
const PARTS: [&[usize]; 4] = [&[0], &[0, 1], &[0, 2], &[0, 1, 2]];

/// Variables, with their shapes for the data of a model.
type Shaped = Vec<(Variable, Vec<usize>)>;

/// `bs_model`: a model with its data.
pub(crate) struct Model {
    density: Density,
    /// The densities without the Jacobian's terms.
    plain: Density,
    /// Parameters, deterministics and observed variables, with their shapes for this data.
    groups: [Shaped; 3],
    pub(crate) name: CString,
    pub(crate) info: CString,
    /// The names without and with deterministics and generated quantities, by [`Model::part`].
    pub(crate) names: [CString; 4],
    counts: [usize; 4],
    pub(crate) unconstrained_names: CString,
}

/// `bs_rng`: a stream of keys.
pub(crate) struct Generator {
    seed: u32,
    drawn: AtomicU32,
}

impl Generator {
    pub(crate) fn new(seed: u32) -> Self {
        Self { seed, drawn: AtomicU32::new(0) }
    }

    /// Returns a key that was not returned before.
    fn key(&self) -> Key {
        [self.seed, self.drawn.fetch_add(1, Ordering::Relaxed)]
    }
}

impl Model {
    /// Opens the package behind this library, or the one that the data names. Other data replaces that of the model.
    pub(crate) fn open(data: &str) -> Result<Self, Error> {
        let mut data = object(data)?;
        let mut density = match data.remove(PACKAGE) {
            Some(Value::String(path)) => Density::open(path)?,
            Some(other) => {
                return Err(Error::Value {
                    name: PACKAGE.to_owned(),
                    reason: format!("is {other}, expected a path"),
                });
            }
            None => package::behind()?,
        };
        let known = density.description().data.clone();
        for (name, value) in &data {
            let variable = known.iter().find(|each| each.name == *name);
            let variable = variable.ok_or_else(|| unknown(name, "data", &known))?;
            density.set_data(name, array(variable, value)?)?;
        }
        Self::new(density, !data.is_empty())
    }

    fn new(density: Density, is_reshaped: bool) -> Result<Self, Error> {
        let groups = groups(&density, is_reshaped)?;
        let listed = PARTS.map(|part| -> Vec<String> {
            let variables = part.iter().flat_map(|group| &groups[*group]);
            variables.flat_map(|(variable, shape)| names(&variable.name, shape)).collect()
        });
        let description = density.description();
        let unconstrained = description.parameters.iter();
        let unconstrained = unconstrained
            .flat_map(|each| row_major_names(&each.variable.name, &each.unconstrained.shape))
            .collect::<Vec<String>>();
        let versions: Vec<String> =
            description.versions.iter().map(|(name, version)| format!("{name} version: {version}")).collect();
        let info = format!(
            "precast version: {}\nBridgeStan version: 2.9.0\n{}\nSTAN_THREADS=true\n",
            env!("CARGO_PKG_VERSION"),
            versions.join("\n")
        );
        Ok(Self {
            name: text(&description.name),
            info: text(&info),
            counts: listed.each_ref().map(Vec::len),
            names: listed.map(|names| text(&names.join(","))),
            unconstrained_names: text(&unconstrained.join(",")),
            plain: density.clone().without_jacobian(),
            density,
            groups,
        })
    }

    /// Returns the position of a selection in [`Model::names`].
    pub(crate) fn part(has_transformed: bool, has_generated: bool) -> usize {
        usize::from(has_transformed) + 2 * usize::from(has_generated)
    }

    /// Returns the number of values of a selection.
    pub(crate) fn count(&self, has_transformed: bool, has_generated: bool) -> usize {
        self.counts[Self::part(has_transformed, has_generated)]
    }

    pub(crate) fn dim(&self) -> usize {
        self.density.dim()
    }

    pub(crate) fn density(&self, has_jacobian: bool) -> &Density {
        if has_jacobian { &self.density } else { &self.plain }
    }

    /// Writes parameters, and where asked for transformed parameters and generated quantities.
    pub(crate) fn constrain(
        &self,
        q: &[f64],
        has_transformed: bool,
        generator: Option<&Generator>,
        target: &mut [f64],
    ) -> Result<(), Error> {
        let mut arrays = self.density.constrain(q)?;
        if !has_transformed {
            arrays.truncate(self.groups[0].len());
        }
        if let Some(generator) = generator.filter(|_| !self.groups[2].is_empty()) {
            arrays.extend(self.density.predict(generator.key(), q)?);
        }
        let values = arrays.into_iter().flat_map(|array| {
            let shape = array.shape().to_vec();
            let values = floats(array);
            column_major(&shape).into_iter().map(move |position| values[position])
        });
        target.iter_mut().zip(values).for_each(|(target, value)| *target = value);
        Ok(())
    }

    /// Writes the unconstrained point of parameters in column-major order.
    pub(crate) fn unconstrain(&self, theta: &[f64], q: &mut [f64]) -> Result<(), Error> {
        let mut rest = theta;
        let mut arrays = Vec::new();
        for (variable, shape) in &self.groups[0] {
            let order = column_major(shape);
            let mut values = vec![0.0; order.len()];
            order.iter().zip(rest).for_each(|(position, value)| values[*position] = *value);
            rest = &rest[order.len().min(rest.len())..];
            let made = typed(variable, shape.clone(), values);
            arrays.push(made.map_err(|reason| Error::Value { name: variable.name.clone(), reason })?);
        }
        self.write_unconstrained(&arrays, q)
    }

    /// Writes the unconstrained point of parameters in JSON.
    pub(crate) fn unconstrain_json(&self, theta: &str, q: &mut [f64]) -> Result<(), Error> {
        let given = self.given(&object(theta)?)?;
        let missing = self.groups[0].iter().zip(&given).find(|(_, given)| given.is_none());
        if let Some(((variable, _), _)) = missing {
            return Err(Error::Missing(variable.name.clone()));
        }
        self.write_unconstrained(&given.into_iter().flatten().collect::<Vec<_>>(), q)
    }

    /// Writes a point with a finite density: the given parameters, and unconstrained values from `-radius` to `radius`.
    pub(crate) fn initialize(
        &self,
        theta: &str,
        generator: &Generator,
        radius: f64,
        tries: i32,
        has_jacobian: bool,
        q: &mut [f64],
    ) -> Result<(), Error> {
        let given = self.given(&object(theta)?)?;
        let mut last = "no value".to_owned();
        for _ in 0..tries {
            let drawn = self.density.uniform(generator.key())?;
            q.iter_mut().zip(drawn).for_each(|(target, value)| *target = value * radius);
            self.replace(&given, q)?;
            match self.density(has_jacobian).logp(q) {
                Ok(value) if value.is_finite() => return Ok(()),
                Ok(value) => last = format!("the log density {value}"),
                Err(error) if error.is_of_values() => last = format!("the error: {error}"),
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Initial { tries, last })
    }

    /// Replaces the unconstrained values of given parameters. Transforms may depend on other parameters.
    fn replace(&self, given: &[Option<Array>], q: &mut [f64]) -> Result<(), Error> {
        if given.iter().all(Option::is_none) {
            return Ok(());
        }
        let drawn = self.density.constrain(q)?;
        let whole = drawn.into_iter().zip(given).map(|(drawn, given)| given.clone().unwrap_or(drawn));
        let mut moved = vec![0.0; q.len()];
        self.write_unconstrained(&whole.collect::<Vec<_>>(), &mut moved)?;
        let mut at = 0;
        for (parameter, given) in self.density.description().parameters.iter().zip(given) {
            let end = at + parameter.unconstrained.size();
            if given.is_some() {
                q[at..end].copy_from_slice(&moved[at..end]);
            }
            at = end;
        }
        Ok(())
    }

    /// Returns the given parameters, in the order of the model.
    fn given(&self, values: &Map<String, Value>) -> Result<Vec<Option<Array>>, Error> {
        let known = &self.groups[0];
        if let Some(name) =
            values.keys().find(|name| known.iter().all(|(variable, _)| variable.name != **name))
        {
            let known: Vec<Variable> = known.iter().map(|(variable, _)| variable.clone()).collect();
            return Err(unknown(name, "parameter", &known));
        }
        let one = |(variable, shape): &(Variable, Vec<usize>)| {
            let Some(value) = values.get(&variable.name) else { return Ok(None) };
            let array = array(variable, value)?;
            if array.shape() != shape {
                let reason = format!("has shape {:?}, expected {shape:?}", array.shape());
                return Err(Error::Value { name: variable.name.clone(), reason });
            }
            Ok(Some(array))
        };
        known.iter().map(one).collect()
    }

    fn write_unconstrained(&self, parameters: &[Array], q: &mut [f64]) -> Result<(), Error> {
        let made = self.density.unconstrain(&parameters.iter().map(ArrayRef::from).collect::<Vec<_>>())?;
        q.iter_mut().zip(made).for_each(|(target, value)| *target = value);
        Ok(())
    }
}

/// Returns the parameters, deterministics and observed variables with their shapes. Replaced data may change shapes.
fn groups(density: &Density, is_reshaped: bool) -> Result<[Shaped; 3], Error> {
    let description = density.description();
    let has_draws = density.loader().entries().iter().any(|name| name == "predict");
    let observed =
        description.observed.iter().filter(|_| has_draws).map(|each| &each.variable).cloned().collect();
    let mut variables: [Vec<Variable>; 3] = [
        description.parameters.iter().map(|each| each.variable.clone()).collect(),
        description.deterministics.clone(),
        observed,
    ];
    let mut shapes: Vec<Vec<usize>> = variables.iter().flatten().map(|each| each.shape.clone()).collect();
    if is_reshaped {
        let q = density.initial()?;
        let mut arrays = density.constrain(&q)?;
        match density.predict([0, 0], &q) {
            Ok(draws) if !variables[2].is_empty() => arrays.extend(draws),
            // The observed variables of the model have a fixed shape, so there are no draws for this data.
            _ => variables[2].clear(),
        }
        shapes = arrays.iter().map(|array| array.shape().to_vec()).collect();
    }
    let mut shapes = shapes.into_iter();
    Ok(variables.map(|group| group.into_iter().zip(shapes.by_ref()).collect()))
}

/// Returns the elements in C order.
fn floats(array: Array) -> Vec<f64> {
    let cast = array.cast(DType::F64);
    ndarray::ArrayD::<f64>::try_from(cast).map(|array| array.into_iter().collect()).unwrap_or_default()
}

fn unknown(name: &str, what: &'static str, known: &[Variable]) -> Error {
    let known: Vec<&str> = known.iter().map(|each| each.name.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Error::Unknown { name: name.to_owned(), what, known }
}

/// Returns a text for C, which ends at its first NUL.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}
