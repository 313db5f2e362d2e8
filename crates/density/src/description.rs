//! What a package states about its model.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The version of the description that this crate reads.
pub(crate) const SCHEMA: u32 = 1;

/// The description of a model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Description {
    /// The version of the description.
    pub(crate) schema: u32,
    /// The name of the model.
    pub name: String,
    /// The number of unconstrained values.
    pub unconstrained: usize,
    /// The free variables.
    pub parameters: Vec<Parameter>,
    /// The variables that are functions of the parameters.
    pub deterministics: Vec<Variable>,
    /// The observed variables.
    pub observed: Vec<Observed>,
    /// The inputs that [`Density::set_data`](crate::Density::set_data) replaces. Shapes are those of their defaults.
    pub data: Vec<Variable>,
    /// The coordinates of dimensions by name. A coordinate is a number, a text or a boolean.
    pub coords: BTreeMap<String, Vec<serde_json::Value>>,
    /// The versions of the packages that exported the model.
    pub versions: BTreeMap<String, String>,
}

/// A variable of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Variable {
    /// Its name in the model.
    pub name: String,
    /// Its name as an input or output of the package's entries.
    pub port: String,
    /// Its shape with the default data.
    pub shape: Vec<usize>,
    /// The names of its dimensions; empty for a dimension without a name. No element: no dimension has a name.
    pub dims: Vec<String>,
    /// Its dtype, as NumPy names it.
    pub dtype: String,
}

/// A free variable of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Parameter {
    /// The constrained variable.
    #[serde(flatten)]
    pub variable: Variable,
    /// Its unconstrained value. The values of all parameters, in this order, are `q`.
    pub unconstrained: Unconstrained,
}

/// The unconstrained value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Unconstrained {
    /// Its name in the model, such as `tau_log__`.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The name of the transform; `None` if the parameter is unconstrained.
    pub transform: Option<String>,
}

/// An observed variable of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Observed {
    /// The variable.
    #[serde(flatten)]
    pub variable: Variable,
    /// The SHA-256 of the observations: of dtype, shape and elements.
    pub sha256: String,
}

impl Variable {
    /// Returns the number of elements with the default data.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

impl Unconstrained {
    /// Returns the number of unconstrained values.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

impl Description {
    /// Returns the parameters, then the deterministics: the results of [`Density::constrain`](crate::Density::constrain).
    pub fn constrained(&self) -> impl Iterator<Item = &Variable> {
        self.parameters.iter().map(|each| &each.variable).chain(&self.deterministics)
    }

    /// Returns the first contradiction.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let unconstrained: usize = self.parameters.iter().map(|each| each.unconstrained.size()).sum();
        if unconstrained != self.unconstrained {
            let stated = self.unconstrained;
            return Some(format!(
                "it states {stated} unconstrained values, and its parameters have {unconstrained}"
            ));
        }
        let variables = self.constrained().chain(self.observed.iter().map(|each| &each.variable));
        let mut wrong = variables
            .chain(&self.data)
            .filter(|each| !each.dims.is_empty() && each.dims.len() != each.shape.len());
        wrong
            .next()
            .map(|each| format!("`{}` has {} dims and rank {}", each.name, each.dims.len(), each.shape.len()))
    }
}
