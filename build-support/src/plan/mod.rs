//! The plan: the units to compile and the named graphs. It is a function of the declared *set* only.
//!
//! ```text
//! [[op]]     ops::combinations ──▶ one graph an Apply ──link──▶ modules ──▶ Unit::batches     ┐
//! [[graph]]  rewrite::lower ──▶ fused graph ──segments, link──▶ modules ──▶ Unit::single       ├▶ units, entries
//!                │                         └──▶ entry (name, declared graph, program) ┤
//!                └ serve: its groups, its ops ──single, link──▶ modules ──▶ Unit::batches            ┘
//! ```
//! Neither the order of declarations nor the content of a store can change a unit: a unit has an identity, and the
//! machine code of a function may depend on its neighbours. A segment that is a single op of a matrix uses the
//! matrix's module.

mod expand;

#[cfg(test)]
mod tests;

use crate::declared::{Declared, NamedGraph};
use crate::problem::{DeclareError, Problem, ProblemKind};
use precast_codegen::{LinkError, Module, Unit, link};
use precast_core::Metadata;
use precast_core::event::chain;
use precast_graph::{BuildError, FunctionGraph, json};
use precast_ops::rewrite::Form;
use precast_ops::{CheckEntryError, Ops, Serve, check_entry, derive, fingerprint};
use precast_store::key::Language;
use precast_store::{BuildKey, Entry, Fingerprint};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The units and named graphs to build.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The units: batches of single ops first, then whole graphs, each part sorted.
    pub units: Vec<Unit>,
    /// The named graphs, sorted by name.
    pub entries: Vec<Entry>,
    /// The metadata of functions of several entries, and of the bundle, whose name is empty.
    pub functions: BTreeMap<String, Metadata>,
    /// The fingerprints (aliases) of each module's key.
    pub fingerprints: BTreeMap<BuildKey, BTreeSet<Fingerprint>>,
    /// The number of distinct declared combinations of op, dtype and rank.
    pub combinations: usize,
    /// Signatures of modules that are never published because one of their ops has an empty version. Entries call
    /// them, and each process that may compile builds its own copy.
    pub unpublished: BTreeSet<String>,
    /// External ops with the name of a library op, each with the place of its declaration in words.
    pub shadowing: BTreeMap<String, String>,
}

impl Plan {
    /// Returns the number of modules; combinations that share their code count once.
    #[must_use]
    pub fn modules(&self) -> usize {
        self.units.iter().map(|unit| unit.members().len()).sum()
    }

    /// Returns the languages to compile, sorted.
    #[must_use]
    pub fn languages(&self) -> BTreeSet<Language> {
        self.units.iter().map(Unit::language).collect()
    }

    /// Returns a warning for each module that is never published, and for each op that shadows a library op.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let shadowing = self.shadowing.iter().map(|(name, place)| {
            format!(
                "{place}: op `{name}` shadows the library function of this name\nhint: use `np.{name}(…)` for the \
                 library function"
            )
        });
        let unpublished = self.unpublished.iter().map(|signature| {
            format!(
                "`{signature}` contains an op with an empty cache version, so it is never published and every program \
                 compiles it\nhint: set a version, or set none for programs that do not compile"
            )
        });
        shadowing.chain(unpublished)
    }
}

/// Plans the declared set.
///
/// # Errors
/// Fails with every unknown op, every unsupported combination and every graph that cannot be compiled, each with its
/// place.
pub fn plan(declared: &Declared) -> Result<Plan, DeclareError> {
    let ops = declared.ops();
    let mut planned = Planned::default();
    let combinations = expand::combinations(declared, ops, &mut planned.problems);
    for (combination, matrix) in &combinations {
        if let Err(kind) = planned.single_op(&combination.graph, ops) {
            planned.problems.push(Problem::new(matrix.place.clone(), kind));
        }
    }
    for (name, named) in declared.graphs() {
        if let Err(kind) = planned.graph(name, named, declared.metadata(name), ops) {
            planned.problems.push(Problem::new(named.place.clone(), kind));
        }
    }
    let mut plan = planned.finish(combinations.len())?;
    plan.functions = declared.functions();
    plan.shadowing = declared.shadowing().map(|(name, place)| (name.clone(), place.to_string())).collect();
    Ok(plan)
}

/// Plans the declared set, and combines the problems of declaring it with those of planning it.
///
/// # Errors
/// As [`plan`], after the problems in `declaring`.
pub fn plan_after(declaring: Result<(), DeclareError>, declared: &Declared) -> Result<Plan, DeclareError> {
    let planned = plan(declared);
    let Err(mut wrong) = declaring else { return planned };
    wrong.problems.extend(planned.err().into_iter().flat_map(|more| more.problems));
    Err(wrong)
}

/// A plan under construction.
#[derive(Default)]
struct Planned {
    single: Vec<Arc<Module>>,
    whole: BTreeMap<BuildKey, Arc<Module>>,
    entries: Vec<Entry>,
    fingerprints: BTreeMap<BuildKey, BTreeSet<Fingerprint>>,
    unpublished: BTreeSet<String>,
    problems: Vec<Problem>,
}

impl Planned {
    /// Plans a module that is batched with similar modules.
    fn single_op(&mut self, graph: &FunctionGraph, ops: &Ops) -> Result<BuildKey, ProblemKind> {
        let (module, key) = self.module(graph, ops)?;
        self.single.extend(module.map(Arc::new));
        Ok(key)
    }

    /// Plans the modules of a named graph, and its entry with the program of the first requested kind.
    fn graph(
        &mut self,
        name: &str,
        named: &NamedGraph,
        metadata: Metadata,
        ops: &Ops,
    ) -> Result<(), ProblemKind> {
        let lowered = ops.lower(&named.graph, Form::Lowered)?;
        let mut program = None;
        for serve in &named.serve {
            let served = derive(&named.graph, &lowered, *serve, ops, |part| match serve {
                Serve::Whole => self.segment(part, ops),
                Serve::Groups | Serve::Ops => self.single_op(part, ops),
            })?;
            program.get_or_insert(served);
        }
        let (program, declared) = (program.unwrap_or_default(), json::render(&named.graph));
        let entry = Entry { name: name.to_owned(), program, declared, recipe: ops.recipe(), metadata };
        match check_entry(&entry, ops, |part, ops| self.known(part, ops)) {
            // An op without a JSON name is accepted: programs can still call the entry.
            Ok(()) | Err(CheckEntryError::Declared(_)) => self.entries.push(entry),
            Err(error) => return Err(ProblemKind::Compile { message: chain(&error) }),
        }
        Ok(())
    }

    /// Returns the key of a planned part, looked up by its fingerprint.
    fn known(&self, part: &FunctionGraph, ops: &Ops) -> Option<BuildKey> {
        let wanted = fingerprint(part, ops)?;
        self.fingerprints.iter().find(|(_, known)| known.contains(&wanted)).map(|(key, _)| *key)
    }

    /// Plans the module of a whole graph or of one of its segments; the module is a unit by itself.
    fn segment(&mut self, graph: &FunctionGraph, ops: &Ops) -> Result<BuildKey, ProblemKind> {
        let (module, key) = self.module(graph, ops)?;
        self.whole.extend(module.map(|module| (key, Arc::new(module))));
        Ok(key)
    }

    /// Returns the key of a graph's module, and the module unless it is never published.
    fn module(&mut self, graph: &FunctionGraph, ops: &Ops) -> Result<(Option<Module>, BuildKey), LinkError> {
        let module = link(graph, ops.c())?;
        let key = module.key();
        self.fingerprints.entry(key).or_default().extend(fingerprint(graph, ops));
        if module.unpublished {
            self.unpublished.insert(module.signature);
            return Ok((None, key));
        }
        Ok((Some(module), key))
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
        Ok(Plan {
            units,
            entries: self.entries,
            functions: BTreeMap::new(),
            fingerprints: self.fingerprints,
            combinations,
            unpublished: self.unpublished,
            shadowing: BTreeMap::new(),
        })
    }
}

impl From<BuildError> for ProblemKind {
    fn from(error: BuildError) -> Self {
        Self::Compile { message: chain(&error) }
    }
}

impl From<LinkError> for ProblemKind {
    fn from(error: LinkError) -> Self {
        Self::Compile { message: chain(&error) }
    }
}
