//! Resolves named graphs of layers.

use super::Runtime;
use super::combination::{mismatch, takes};
use crate::error::EntryError;
use crate::stats::Event;
use precast_core::{CodeOrigin, Function};
use precast_graph::{FunctionGraph, Type};
use precast_ops::{CheckEntryError, Ops, check_entry};
use precast_store::{Entry, Layer};
use std::sync::PoisonError;

impl Runtime {
    /// Resolves a named graph of a layer. Only the declared graph is read from the layer, and the modules are derived
    /// from it. An entry can therefore never select a module that computes something else. An entry whose program
    /// does so is corrupt, which is reported as an event, once.
    ///
    /// A function served by modules is resolved once; further calls look it up by name, even if the layer changes. An
    /// interpreted function is resolved again each time.
    ///
    /// # Errors
    /// Fails if no layer has an entry with this name; also as [`Runtime::function`].
    pub fn entry(&self, name: &str) -> Result<Function, EntryError> {
        let known = || self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = known().get(name) {
            return Ok(function.clone());
        }
        let resolved = self.named_function(name, &self.entry_graph(name)?);
        let function = resolved
            .map_err(|source| EntryError::Function { name: name.to_owned(), source: Box::new(source) })?;
        let interpreted = function.provenance().iter().any(|part| part.served == CodeOrigin::Interpreted);
        if !interpreted && !self.debug {
            known().insert(name.to_owned(), function.clone());
        }
        Ok(function)
    }

    /// Returns the declared graph of an entry.
    ///
    /// # Errors
    /// Fails if no layer has an entry with this name.
    pub fn entry_graph(&self, name: &str) -> Result<FunctionGraph, EntryError> {
        for layer in &self.resolver.layers {
            let found = layer.find_entry(name);
            let found = found.map_err(|source| EntryError::Layer { name: name.to_owned(), source })?;
            if let Some(entry) = found {
                let keys = entry.program.steps.iter().map(|step| step.key).collect();
                let fetched = self.resolver.prefetch(keys);
                fetched.map_err(|source| EntryError::Layer { name: name.to_owned(), source })?;
                self.check_entry(layer, &entry);
                let parsed = precast_graph::json::parse(&entry.declared, &*self.ops);
                let failed = |source| EntryError::Graph { name: name.to_owned(), source: Box::new(source) };
                return parsed.map_err(failed);
            }
        }
        Err(EntryError::Unknown { name: name.to_owned(), known: self.entries().join(", ") })
    }

    /// Reports, once, an entry whose program does not match its graph: callers that load it by name alone would run
    /// it.
    fn check_entry(&self, layer: &Layer, entry: &Entry) {
        if !self.checked.lock().unwrap_or_else(PoisonError::into_inner).insert(entry.id()) {
            return;
        }
        let known = |part: &FunctionGraph, ops: &Ops| self.resolver.known(part, ops).ok().flatten();
        if let Err(error @ CheckEntryError::Other) = check_entry(entry, &self.ops, known) {
            let (place, reason) = (format!("{layer}, entry `{}`", entry.name), error.to_string());
            let damage = precast_store::Event::Damaged { place, reason, quarantined: None };
            self.resolver.recorder.tell(Event::Layer(damage));
        }
    }

    /// Resolves the named graph that accepts inputs of these types: the graph of that name, else the first matching
    /// combination in name order. Combinations are named `<name>.<selection>`.
    ///
    /// # Errors
    /// Fails if no combination accepts these types; also as [`Runtime::entry`].
    pub fn entry_for(&self, name: &str, inputs: &[Type]) -> Result<Function, EntryError> {
        let combinations = self.combinations(name);
        if combinations.is_empty() || combinations.iter().any(|known| known == name) {
            return self.entry(name);
        }
        let mut known = Vec::new();
        for combination in &combinations {
            let graph = self.entry_graph(combination)?;
            let types: Vec<Type> = graph.inputs().iter().map(|input| graph.ty(*input).clone()).collect();
            if types.len() == inputs.len() && types.iter().zip(inputs).all(|(mine, its)| takes(mine, its)) {
                return self.entry(combination);
            }
            known.push(types);
        }
        Err(EntryError::Combination {
            name: name.to_owned(),
            found: printed(inputs),
            problem: mismatch(&known, inputs),
        })
    }

    /// Returns the names of the graph `name` and of its combinations, sorted.
    #[must_use]
    pub fn combinations(&self, name: &str) -> Vec<String> {
        let mut names = self.entries();
        names.retain(|known| {
            known.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        names
    }

    /// Returns the names of all entries in the layers, sorted.
    #[must_use]
    pub fn entries(&self) -> Vec<String> {
        let entries = self.resolver.layers.iter().flat_map(|layer| layer.entries().unwrap_or_default());
        let mut names: Vec<String> = entries.map(|entry| entry.name).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Renders types in parentheses: `(f32[?], f64[?])`.
fn printed<'t>(types: impl IntoIterator<Item = &'t Type>) -> String {
    let types: Vec<String> = types.into_iter().map(Type::to_string).collect();
    format!("({})", types.join(", "))
}
