//! The plan: which units are compiled, and what the named graphs are made of. A function of the declared *set* only.
//!
//! ```text
//! [[op]]     ops::combinations ──▶ one graph an Apply ──link──▶ modules ──▶ Unit::batches     ┐
//! [[graph]]  rewrite::lower ──▶ fused graph ──link──▶ module ──▶ Unit::single                 ├▶ units, entries
//!                                          └──▶ entry (name, declared graph, lowered graph, program) ┘
//! ```
//! Neither the order of declarations nor what a store already has can change a unit: a unit is an identity, and a function's
//! machine code may depend on its neighbours. A whole graph that is a single op of a matrix is served from the matrix.

mod expand;

#[cfg(test)]
mod tests;

use crate::declared::{Declared, Matrix};
use crate::problem::{DeclareError, Problem, ProblemKind, chain};
use precast_codegen::{Module, Unit, link};
use precast_graph::{FunctionGraph, json};
use precast_ops::{Ops, fingerprint, rewrite};
use precast_store::key::Language;
use precast_store::{BuildKey, Entry, Fingerprint};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is to be compiled.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The units; batches of single ops first, then whole graphs, each sorted.
    pub units: Vec<Unit>,
    /// The named graphs, sorted by name.
    pub entries: Vec<Entry>,
    /// Aliases of each module's key.
    pub fingerprints: BTreeMap<BuildKey, BTreeSet<Fingerprint>>,
    /// How many combinations of op, dtype and rank are declared, each counted once.
    pub combinations: usize,
}

impl Plan {
    /// How many modules there are once combinations that share their code are counted once.
    #[must_use]
    pub fn modules(&self) -> usize {
        self.units.iter().map(|unit| unit.members().len()).sum()
    }

    /// The languages that are compiled, sorted.
    #[must_use]
    pub fn languages(&self) -> BTreeSet<Language> {
        self.units.iter().map(Unit::language).collect()
    }
}

/// Plans what `declared` asks for.
///
/// # Errors
/// Every op that there is not, every combination that an op does not support, and every graph that no module can be made
/// of; each with its place.
pub fn plan(declared: &Declared, ops: &Ops) -> Result<Plan, DeclareError> {
    let mut planned = Planned::default();
    let combinations = expand::combinations(declared, ops, &mut planned.problems);
    for (combination, matrix) in &combinations {
        planned.single_op(&combination.graph, matrix, ops);
    }
    for (name, named) in declared.graphs() {
        match whole(name, &named.graph, ops) {
            Ok((entry, lowered, module)) => planned.graph(entry, &lowered, module, ops),
            Err(kind) => planned.problems.push(Problem::new(named.place.clone(), kind)),
        }
    }
    planned.finish(combinations.len())
}

/// A plan in the making.
#[derive(Default)]
struct Planned {
    single: Vec<Arc<Module>>,
    whole: BTreeMap<BuildKey, Arc<Module>>,
    entries: Vec<Entry>,
    fingerprints: BTreeMap<BuildKey, BTreeSet<Fingerprint>>,
    problems: Vec<Problem>,
}

impl Planned {
    fn single_op(&mut self, graph: &FunctionGraph, matrix: &Matrix, ops: &Ops) {
        match module(graph, ops) {
            Ok(module) => {
                self.alias(module.key(), graph, ops);
                self.single.push(Arc::new(module));
            }
            Err(kind) => self.problems.push(Problem::new(matrix.place.clone(), kind)),
        }
    }

    fn graph(&mut self, entry: Entry, lowered: &FunctionGraph, module: Module, ops: &Ops) {
        let key = module.key();
        self.alias(key, lowered, ops);
        self.whole.insert(key, Arc::new(module));
        self.entries.push(entry);
    }

    fn alias(&mut self, key: BuildKey, graph: &FunctionGraph, ops: &Ops) {
        self.fingerprints.entry(key).or_default().extend(fingerprint(graph, ops));
    }

    fn finish(mut self, combinations: usize) -> Result<Plan, DeclareError> {
        DeclareError::check(self.problems)?;
        let mut units = Unit::batches(self.single);
        for unit in &units {
            for (key, _) in unit.members() {
                self.whole.remove(key);
            }
        }
        units.extend(self.whole.into_values().map(Unit::single));
        Ok(Plan { units, entries: self.entries, fingerprints: self.fingerprints, combinations })
    }
}

fn whole(
    name: &str,
    declared: &FunctionGraph,
    ops: &Ops,
) -> Result<(Entry, FunctionGraph, Module), ProblemKind> {
    let compile = |error: &dyn std::error::Error| ProblemKind::Compile { message: chain(error) };
    let lowered = rewrite::lower(declared).map_err(|error| compile(&error))?;
    let module = module(&lowered, ops)?;
    let entry = Entry {
        name: name.to_owned(),
        graph: json::to_json(&lowered),
        declared: json::to_json(declared),
        program: vec![module.key()],
    };
    Ok((entry, lowered, module))
}

fn module(graph: &FunctionGraph, ops: &Ops) -> Result<Module, ProblemKind> {
    let module = link(graph, ops.c()).map_err(|error| ProblemKind::Compile { message: chain(&error) })?;
    if module.unpublished {
        let message = format!(
            "`{}` has an op that returns the empty cache version, so its code stays in one process",
            module.signature
        );
        return Err(ProblemKind::Compile { message });
    }
    Ok(module)
}
