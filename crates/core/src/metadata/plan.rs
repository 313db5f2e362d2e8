//! The plan of a function of several entries: calls of entries, of extension modules and of functions of the host.
//!
//! ```text
//! inputs ─▶ entry draw.0 ─▶ svd, normal, … ─▶ entry draw.1 ─▶ … ─▶ results
//! ```
//! Values have names. A host that cannot call one of the callees, or does not know a setting, refuses the function.

use super::{MetadataError, check_distinct};
use crate::key::BuildKey;
use std::collections::BTreeMap;

/// The steps of a function.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The inputs, in the order of arguments.
    pub inputs: Vec<PlanPort>,
    /// The outputs, in order.
    pub outputs: Vec<PlanPort>,
    /// Values that are known before the first step, as JSON that the host understands.
    pub known: BTreeMap<String, String>,
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
    /// The values of the outputs, in order; `None` is the host's null.
    pub results: Vec<Option<String>>,
}

/// An input or an output of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanPort {
    /// Its name.
    pub name: String,
    /// Its type: `f64[?]`, or a type of the host.
    pub ty: String,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// The entry, module or function to call.
    pub callee: Callee,
    /// The arguments; `None` is the host's null.
    pub takes: Vec<Option<String>>,
    /// The names of the results.
    pub gives: Vec<String>,
    /// Settings of the call, as JSON that the host understands. Empty if there are none.
    pub settings: String,
}

/// What a step of a plan calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callee {
    /// An entry of the same bundle.
    Entry(String),
    /// An extension module of the same bundle.
    Module {
        /// Its key.
        key: BuildKey,
        /// The host that it was compiled for, with its version.
        host: String,
    },
    /// A function that the host knows by this name.
    Host(String),
}

impl Plan {
    /// Checks the names of inputs and outputs.
    pub(super) fn check(&self) -> Result<(), MetadataError> {
        for ports in [&self.inputs, &self.outputs] {
            check_distinct(&ports.iter().map(|port| port.name.clone()).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Returns the names of the entries that the plan calls, in the order of calls.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match &step.callee {
            Callee::Entry(name) => Some(name.as_str()),
            _ => None,
        })
    }
}
