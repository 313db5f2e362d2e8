//! A model package as functions.

use crate::METADATA_KEY;
use crate::description::{Description, SCHEMA, Variable};
use crate::entry::{Data, Entry, floats};
use crate::error::{DensityError, OpenDensityError};
use ndarray::ArrayView1;
use precast_core::{Array, ArrayRef, Loader};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The key of random draws. Equal keys give equal draws.
pub type Key = [u32; 2];

/// A statistical model: its log density as a function of `q`, the vector of its unconstrained values.
///
/// Clones share the loaded code; each has its own data. Any number of threads may call one at once. Calls with slices
/// allocate no memory.
#[derive(Debug, Clone)]
pub struct Density {
    package: Arc<Package>,
    data: Arc<Data>,
    has_jacobian: bool,
}

#[derive(Debug)]
struct Package {
    loader: Loader,
    description: Description,
    /// With the Jacobian's terms, and without.
    log_density: [Entry; 2],
    gradient: [Entry; 2],
    hessian_product: [Entry; 2],
    constrain: Entry,
    unconstrain: Entry,
    log_likelihood: Entry,
    predict: Entry,
    prior: Entry,
    initial: Entry,
    uniform: Entry,
}

impl Density {
    /// Opens a package. If `PRECAST_KEYRING` names a keyring, enough of its keys must have signed the file; see
    /// [`Loader::open`].
    ///
    /// # Errors
    /// The file is no model package, or its density cannot be loaded on this host.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenDensityError> {
        Self::new(Loader::open(path)?)
    }

    /// Opens a package that enough keys of a keyring have signed.
    ///
    /// # Errors
    /// As [`Density::open`], or too few keys have signed it.
    #[cfg(feature = "signed")]
    pub fn open_signed(
        path: impl AsRef<Path>,
        keyring: &precast_core::keyring::Keyring,
    ) -> Result<Self, OpenDensityError> {
        Self::new(Loader::open_signed(path, keyring)?)
    }

    /// Opens a package that is part of the program: `Density::embedded(include_bytes!("model.precast"))`.
    ///
    /// # Errors
    /// As [`Density::open`].
    pub fn embedded(package: &'static [u8]) -> Result<Self, OpenDensityError> {
        Self::new(Loader::embedded(package)?)
    }

    /// Uses the package of a loader.
    ///
    /// # Errors
    /// The bundle is no model package, or its density cannot be loaded on this host.
    pub fn new(loader: Loader) -> Result<Self, OpenDensityError> {
        let description = description(&loader)?;
        let data = defaults(&loader, &description)?;
        let package = Package {
            loader,
            description,
            log_density: [
                Entry::new("log_density", Some(&["q"]), Some(1)),
                Entry::new("log_density_no_jacobian", Some(&["q"]), Some(1)),
            ],
            gradient: [
                Entry::new("log_density_gradient", Some(&["q"]), Some(2)),
                Entry::new("log_density_gradient_no_jacobian", Some(&["q"]), Some(2)),
            ],
            hessian_product: [
                Entry::new("log_density_hessian_product", Some(&["q", "vector"]), Some(2)),
                Entry::new("log_density_hessian_product_no_jacobian", Some(&["q", "vector"]), Some(2)),
            ],
            constrain: Entry::new("constrain", Some(&["q"]), None),
            unconstrain: Entry::new("unconstrain", None, Some(1)),
            log_likelihood: Entry::new("log_likelihood", Some(&["q"]), None),
            predict: Entry::new("predict", Some(&["key", "q"]), None),
            prior: Entry::new("prior", Some(&["key"]), None),
            initial: Entry::new("initial", Some(&[]), Some(1)),
            uniform: Entry::new("uniform", Some(&["key"]), Some(1)),
        };
        let density = Self { package: Arc::new(package), data: Arc::new(data), has_jacobian: true };
        // A package without a usable density is an error now, rather than in the first call.
        density.package.gradient[0].own_inputs(&density.package.loader, &density.data)?;
        Ok(density)
    }

    /// Returns a model whose densities lack the log determinant of the transforms' Jacobian, for optimisation in the
    /// constrained space.
    #[must_use]
    pub fn without_jacobian(self) -> Self {
        Self { has_jacobian: false, ..self }
    }

    /// Returns what the package states about the model.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.package.description
    }

    /// Returns the loader of the package, for entries that have no method here.
    #[must_use]
    pub fn loader(&self) -> &Loader {
        &self.package.loader
    }

    /// Returns the number of unconstrained values.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.package.description.unconstrained
    }

    /// Returns the current value of data.
    #[must_use]
    pub fn data(&self, name: &str) -> Option<&Array> {
        let position = self.package.description.data.iter().position(|each| each.name == name)?;
        Some(&self.data[position].1)
    }

    /// Replaces data of the model, for this model and its later clones. The new array may have other extents. Those that
    /// determine the number of parameters must stay.
    ///
    /// # Errors
    /// The model has no data of this name. Calls return an error if dtype, rank or extents do not fit.
    pub fn set_data(&mut self, name: &str, value: impl Into<Array>) -> Result<(), DensityError> {
        let known = &self.package.description.data;
        let Some(position) = known.iter().position(|each| each.name == name) else {
            let known: Vec<&str> = known.iter().map(|each| each.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(DensityError::Data { name: name.to_owned(), known });
        };
        Arc::make_mut(&mut self.data)[position].1 = value.into();
        Ok(())
    }

    /// Returns the log density at `q`, which has [`Density::dim`] elements.
    ///
    /// # Errors
    /// The length is wrong, or the model rejects the point; see [`DensityError::is_of_values`].
    pub fn logp(&self, q: &[f64]) -> Result<f64, DensityError> {
        let mut value = 0.0;
        self.write(&self.package.log_density, &[q], &mut value, None)?;
        Ok(value)
    }

    /// Returns the log density at `q` and writes its gradient. Both slices have [`Density::dim`] elements.
    ///
    /// # Errors
    /// As [`Density::logp`].
    #[inline]
    pub fn logp_and_grad(&self, q: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        self.check("gradient", gradient.len(), self.dim())?;
        let mut value = 0.0;
        self.write(&self.package.gradient, &[q], &mut value, Some(gradient))?;
        Ok(value)
    }

    /// Returns the log density at `q` and writes the product of its Hessian and `vector`. All slices have [`Density::dim`]
    /// elements.
    ///
    /// # Errors
    /// As [`Density::logp`], or the package has no second derivatives.
    pub fn hessian_product(
        &self,
        q: &[f64],
        vector: &[f64],
        product: &mut [f64],
    ) -> Result<f64, DensityError> {
        self.check("vector", vector.len(), self.dim())?;
        self.check("product", product.len(), self.dim())?;
        let mut value = 0.0;
        self.write(&self.package.hessian_product, &[q, vector], &mut value, Some(product))?;
        Ok(value)
    }

    /// Returns the log density at `q` and writes its gradient and its Hessian of `dim` times `dim` elements, by rows.
    ///
    /// # Errors
    /// As [`Density::hessian_product`].
    pub fn hessian(&self, q: &[f64], gradient: &mut [f64], hessian: &mut [f64]) -> Result<f64, DensityError> {
        let dim = self.dim();
        self.check("hessian", hessian.len(), dim * dim)?;
        let value = self.logp_and_grad(q, gradient)?;
        let mut unit = vec![0.0; dim];
        for (at, row) in hessian.chunks_exact_mut(dim.max(1)).enumerate() {
            unit[at] = 1.0;
            self.hessian_product(q, &unit, row)?;
            unit[at] = 0.0;
        }
        Ok(value)
    }

    /// Returns the parameters and deterministics at `q`, in the order of [`Description::constrained`].
    ///
    /// # Errors
    /// As [`Density::logp`].
    pub fn constrain(&self, q: &[f64]) -> Result<Vec<Array>, DensityError> {
        self.call(&self.package.constrain, &[ArrayView1::from(q).into()])
    }

    /// Returns the unconstrained point of parameters, which are in the order of [`Description::parameters`].
    ///
    /// # Errors
    /// A parameter has another shape or dtype, or the package has no `unconstrain`. A parameter outside its support gives
    /// NaN or an infinity.
    pub fn unconstrain(&self, parameters: &[ArrayRef<'_>]) -> Result<Vec<f64>, DensityError> {
        // The function may lack inputs that no transform and no value depends on.
        let own = self.package.unconstrain.own_inputs(&self.package.loader, &self.data)?;
        let known = &self.package.description.parameters;
        self.check("parameters", parameters.len(), known.len())?;
        let position = |name: &String| known.iter().position(|each| each.variable.port == *name);
        let given = own.iter().filter_map(|name| Some(parameters[position(name)?].clone()));
        self.one(&self.package.unconstrain, &given.collect::<Vec<_>>())
    }

    /// Returns the log density of each observation, in the order of [`Description::observed`].
    ///
    /// # Errors
    /// As [`Density::logp`], or nothing is observed.
    pub fn log_likelihood(&self, q: &[f64]) -> Result<Vec<Array>, DensityError> {
        self.call(&self.package.log_likelihood, &[ArrayView1::from(q).into()])
    }

    /// Returns draws of the observed variables, given `q`: a draw from the posterior predictive distribution, if `q` is a
    /// draw from the posterior.
    ///
    /// # Errors
    /// As [`Density::logp`], or the package has no such draws.
    pub fn predict(&self, key: Key, q: &[f64]) -> Result<Vec<Array>, DensityError> {
        self.call(&self.package.predict, &[ArrayView1::from(&key).into(), ArrayView1::from(q).into()])
    }

    /// Returns draws from the prior: the parameters, the deterministics, then the observed variables.
    ///
    /// # Errors
    /// The package has no such draws.
    pub fn prior(&self, key: Key) -> Result<Vec<Array>, DensityError> {
        self.call(&self.package.prior, &[ArrayView1::from(&key).into()])
    }

    /// Returns the model's initial point.
    ///
    /// # Errors
    /// The entry cannot be loaded.
    pub fn initial(&self) -> Result<Vec<f64>, DensityError> {
        self.one(&self.package.initial, &[])
    }

    /// Returns a point that is uniform from -1 to 1, for an initial point by a multiple of it.
    ///
    /// # Errors
    /// The entry cannot be loaded.
    pub fn uniform(&self, key: Key) -> Result<Vec<f64>, DensityError> {
        self.one(&self.package.uniform, &[ArrayView1::from(&key).into()])
    }

    #[inline]
    fn write(
        &self,
        entries: &[Entry; 2],
        own: &[&[f64]],
        value: &mut f64,
        slice: Option<&mut [f64]>,
    ) -> Result<(), DensityError> {
        entries[usize::from(!self.has_jacobian)].write(&self.package.loader, &self.data, own, value, slice)
    }

    fn call(&self, entry: &Entry, own: &[ArrayRef<'_>]) -> Result<Vec<Array>, DensityError> {
        entry.call(&self.package.loader, &self.data, own)
    }

    /// Calls an entry with one result.
    fn one(&self, entry: &Entry, own: &[ArrayRef<'_>]) -> Result<Vec<f64>, DensityError> {
        Ok(self.call(entry, own)?.pop().map(floats).transpose()?.unwrap_or_default())
    }

    fn check(&self, name: &'static str, found: usize, expected: usize) -> Result<(), DensityError> {
        if found == expected { Ok(()) } else { Err(DensityError::Length { name, found, expected }) }
    }
}

/// Reads the description of the model.
fn description(loader: &Loader) -> Result<Description, OpenDensityError> {
    let bundle = || loader.bundle().name().to_owned();
    let metadata = loader.metadata("")?;
    let Some(json) = metadata.json.get(METADATA_KEY) else {
        return Err(OpenDensityError::NoModel { bundle: bundle() });
    };
    let read = |source| OpenDensityError::Json { bundle: bundle(), source };
    #[derive(serde::Deserialize)]
    struct Version {
        schema: u32,
    }
    let version: Version = serde_json::from_str(json).map_err(read)?;
    if version.schema != SCHEMA {
        let reason =
            format!("it has version {}, expected {SCHEMA}\nhint: export the model again", version.schema);
        return Err(OpenDensityError::Description { bundle: bundle(), reason });
    }
    let description: Description = serde_json::from_str(json).map_err(read)?;
    match description.contradiction() {
        None => Ok(description),
        Some(reason) => Err(OpenDensityError::Description { bundle: bundle(), reason }),
    }
}

/// Returns the default values of the data.
fn defaults(loader: &Loader, description: &Description) -> Result<Data, DensityError> {
    if description.data.is_empty() {
        return Ok(Data::new());
    }
    let entry = Entry::new("data", Some(&[]), Some(description.data.len()));
    let values = entry.call(loader, &Data::new(), &[])?;
    let mut named: BTreeMap<String, Array> =
        entry.outputs(loader, &Data::new())?.into_iter().zip(values).collect();
    let value = |each: &Variable| {
        let missing = || DensityError::Interface {
            entry: "data".to_owned(),
            found: "another output".to_owned(),
            expected: format!("the output {}", each.port),
        };
        Ok((each.port.clone(), named.remove(&each.port).ok_or_else(missing)?))
    };
    description.data.iter().map(value).collect()
}
