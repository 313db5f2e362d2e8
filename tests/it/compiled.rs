//! Artifacts of graphs, without a store: compiled in batches and packed into a bundle of one ISA level.

use precast_codegen::{Module, Unit, link, single};
use precast_compile::{Compiled, Isa, Parallel, Toolchain, Variant, compile_all};
use precast_graph::FunctionGraph;
use precast_ops::rewrite::Form;
use precast_ops::{GENERATOR, Ops, fingerprint, rewrite};
use precast_store::key::Profile;
use precast_store::{BuildKey, Fingerprint, Record, write_bundle};
use precast_testkit::Choices;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns the compiler of this host.
pub(crate) fn toolchain() -> Toolchain {
    Toolchain::find(None).unwrap()
}

/// Returns the variant of an ISA level for this host.
pub(crate) fn variant(isa: Isa) -> Variant {
    Variant { target: toolchain().target().to_owned(), isa, profile: Profile::Release }
}

/// Returns the levels that this CPU can run, lowest first.
pub(crate) fn levels() -> Vec<Isa> {
    let native = Isa::native().unwrap();
    Isa::ALL.iter().copied().filter(|isa| isa.arch() == native.arch() && *isa <= native).collect()
}

/// The granularity at which a graph is cut into modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Granularity {
    /// One module for a graph, fused.
    Whole,
    /// One module for each fused group.
    Groups,
    /// One module for each Apply.
    OpByOp,
    /// Some groups as a whole, parts of the last members of the rest, and every single op; drawn from the seed.
    Mixed(u64),
}

impl Granularity {
    /// Returns the graphs of the modules.
    pub(crate) fn parts(self, graph: &FunctionGraph) -> Vec<FunctionGraph> {
        match self {
            Self::Whole => vec![rewrite::lower(graph).unwrap()],
            Self::Groups => applies(&rewrite::lower(graph).unwrap()),
            Self::OpByOp => applies(&Ops::standard().lower(graph, Form::Unfused).unwrap()),
            Self::Mixed(seed) => {
                // The search is bounded, so modules to use in place of a part that it does not find must exist too.
                let mut parts = mixed(&rewrite::lower(graph).unwrap(), &mut Choices::seeded(seed));
                parts.extend(Self::OpByOp.parts(graph));
                parts
            }
        }
    }

    /// Returns the modules of a graph.
    pub(crate) fn modules(self, graph: &FunctionGraph) -> Vec<Module> {
        self.parts(graph).iter().map(module).collect()
    }
}

fn module(part: &FunctionGraph) -> Module {
    link(part, Ops::standard().c()).unwrap()
}

/// Returns each Apply as a separate graph.
fn applies(graph: &FunctionGraph) -> Vec<FunctionGraph> {
    (0..graph.applies().len()).map(|at| single(graph, at, Ops::standard().c()).unwrap()).collect()
}

/// Draws parts at random that together serve a lowered graph.
fn mixed(lowered: &FunctionGraph, choices: &mut Choices) -> Vec<FunctionGraph> {
    let mut parts = Vec::new();
    for position in 0..lowered.applies().len() {
        let group = rewrite::unfuse(lowered, position).unwrap().filter(|_| !choices.one_in(3));
        // The last members can always form one part, because outside of them only the group's results are read. The
        // members of a row program or of a small graph do not share one loop.
        let is_rows = ["row_program", "small_graph"].contains(&lowered.applies()[position].op.name());
        parts.push(group.map(|group| {
            let members = group.applies().len();
            let first = if is_rows { members - 1 } else { choices.below(members) };
            (0..first).map(|member| vec![member]).chain([(first..members).collect()]).collect()
        }));
    }
    applies(&rewrite::cut(lowered, &parts).unwrap().0)
}

/// Compiles graphs for one level and packs them into the bytes of a bundle.
pub(crate) fn bundle(graphs: &[FunctionGraph], granularity: Granularity, isa: Isa) -> Vec<u8> {
    try_bundle(graphs, granularity, isa, Profile::Release).unwrap_or_else(|error| panic!("{error}"))
}

/// Does the same as [`bundle`], but returns the message of the generator or the compiler if it fails.
pub(crate) fn try_bundle(
    graphs: &[FunctionGraph],
    granularity: Granularity,
    isa: Isa,
    profile: Profile,
) -> Result<Vec<u8>, String> {
    try_bundle_by(&toolchain(), graphs, granularity, isa, profile)
}

/// Does the same as [`try_bundle`] with a given compiler.
pub(crate) fn try_bundle_by(
    toolchain: &Toolchain,
    graphs: &[FunctionGraph],
    granularity: Granularity,
    isa: Isa,
    profile: Profile,
) -> Result<Vec<u8>, String> {
    let ops = Ops::standard().with_profile(profile);
    let parts: Vec<FunctionGraph> = graphs.iter().flat_map(|graph| granularity.parts(graph)).collect();
    let module = |part| link(part, ops.c()).map(Arc::new).map_err(|error| error.to_string());
    let modules = parts.iter().map(module).collect::<Result<_, String>>()?;
    let modules: Vec<Arc<Module>> = modules;
    let jobs: Vec<_> =
        Unit::batches(modules).into_iter().map(|unit| (unit, Variant { profile, ..variant(isa) })).collect();
    let compiled = compile_all(&jobs, toolchain, Parallel::Auto, &|_| {});
    let packed = |result: Result<Compiled, _>| result.map(pack).map_err(|error| told(&error));
    let mut records = compiled.into_iter().map(packed).collect::<Result<Vec<_>, String>>()?;
    match granularity {
        // Every second graph can be found by its fingerprint, the rest by the key of their module.
        Granularity::Whole => add_fingerprints(parts.iter().step_by(2), &ops, &mut records),
        // Parts of groups are only looked up by fingerprint.
        Granularity::Mixed(_) => add_fingerprints(parts.iter(), &ops, &mut records),
        Granularity::Groups | Granularity::OpByOp => {}
    }
    Ok(write_bundle(&records, &[], GENERATOR).unwrap())
}

/// Returns the message of an error and its causes.
fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Compiles one graph as a separate unit.
pub(crate) fn compiled(graph: &FunctionGraph, isa: Isa) -> Compiled {
    let module = Granularity::Whole.modules(graph).remove(0);
    precast_compile::compile(&Unit::single(Arc::new(module)), &toolchain(), &variant(isa)).unwrap()
}

/// Returns a record with its shared object.
pub(crate) fn pack(compiled: Compiled) -> (Record, Vec<u8>) {
    let object = compiled.archive.get("unit.so").unwrap().to_vec();
    (compiled.record, object)
}

fn add_fingerprints<'a>(
    parts: impl Iterator<Item = &'a FunctionGraph>,
    ops: &Ops,
    records: &mut [(Record, Vec<u8>)],
) {
    let mut aliases: BTreeMap<BuildKey, Vec<Fingerprint>> = BTreeMap::new();
    for part in parts {
        let key = link(part, ops.c()).unwrap().key();
        aliases.entry(key).or_default().extend(fingerprint(part, ops));
    }
    for member in records.iter_mut().flat_map(|(record, _)| &mut record.members) {
        let mut list = aliases.remove(&member.key).unwrap_or_default();
        list.sort();
        list.dedup();
        member.fingerprints = list;
    }
}
