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
use std::sync::{Arc, Mutex};

/// A record with its shared object.
type Built = (Record, Vec<u8>);

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
///
/// Units of parts are kept, because most parts of random graphs are parts of earlier graphs too: of 32 000 single ops,
/// 3500 are distinct.
pub(crate) fn try_bundle(
    graphs: &[FunctionGraph],
    granularity: Granularity,
    isa: Isa,
    profile: Profile,
) -> Result<Vec<u8>, String> {
    static KEPT: Mutex<BTreeMap<(String, BuildKey), Arc<Built>>> = Mutex::new(BTreeMap::new());
    let parts = Parts::of(graphs, granularity, profile)?;
    if granularity == Granularity::Whole {
        let records = compile(&toolchain(), parts.modules.clone(), isa, profile)?;
        return Ok(parts.bundle(granularity, records));
    }
    let place = |key| (format!("{isa} {profile:?}"), key);
    let mut kept = KEPT.lock().unwrap();
    let new = parts.modules.iter().filter(|module| !kept.contains_key(&place(module.key())));
    for unit in compile(&toolchain(), new.cloned().collect(), isa, profile)?.into_iter().map(Arc::new) {
        kept.extend(unit.0.members.iter().map(|member| (place(member.key), unit.clone())));
    }
    let units: BTreeMap<BuildKey, Built> = parts
        .modules
        .iter()
        .map(|module| &*kept[&place(module.key())])
        .map(|unit| (unit.0.members[0].key, unit.clone()))
        .collect();
    Ok(parts.bundle(granularity, units.into_values().collect()))
}

/// Does the same as [`try_bundle`] with a given compiler.
pub(crate) fn try_bundle_by(
    toolchain: &Toolchain,
    graphs: &[FunctionGraph],
    granularity: Granularity,
    isa: Isa,
    profile: Profile,
) -> Result<Vec<u8>, String> {
    let parts = Parts::of(graphs, granularity, profile)?;
    let records = compile(toolchain, parts.modules.clone(), isa, profile)?;
    Ok(parts.bundle(granularity, records))
}

/// The graphs of modules, and the modules.
struct Parts {
    ops: Ops,
    graphs: Vec<FunctionGraph>,
    modules: Vec<Arc<Module>>,
}

impl Parts {
    fn of(graphs: &[FunctionGraph], granularity: Granularity, profile: Profile) -> Result<Self, String> {
        let ops = Ops::standard().with_profile(profile);
        let graphs: Vec<FunctionGraph> = graphs.iter().flat_map(|graph| granularity.parts(graph)).collect();
        let module = |part| link(part, ops.c()).map(Arc::new).map_err(|error| error.to_string());
        let modules = graphs.iter().map(module).collect::<Result<_, String>>()?;
        Ok(Self { ops, graphs, modules })
    }

    /// Packs the units of these modules.
    fn bundle(&self, granularity: Granularity, mut records: Vec<Built>) -> Vec<u8> {
        match granularity {
            // Every second graph can be found by its fingerprint, the rest by the key of their module.
            Granularity::Whole => add_fingerprints(self.graphs.iter().step_by(2), &self.ops, &mut records),
            // Parts of groups are only looked up by fingerprint.
            Granularity::Mixed(_) => add_fingerprints(self.graphs.iter(), &self.ops, &mut records),
            Granularity::Groups | Granularity::OpByOp => {}
        }
        write_bundle(&records, &[], GENERATOR).unwrap()
    }
}

/// Compiles modules in batches, each of them once.
fn compile(
    toolchain: &Toolchain,
    modules: Vec<Arc<Module>>,
    isa: Isa,
    profile: Profile,
) -> Result<Vec<Built>, String> {
    let jobs: Vec<_> =
        Unit::batches(modules).into_iter().map(|unit| (unit, Variant { profile, ..variant(isa) })).collect();
    let compiled = compile_all(&jobs, toolchain, Parallel::Auto, &|_| {});
    let packed = |result: Result<Compiled, _>| result.map(pack).map_err(|error| told(&error));
    compiled.into_iter().map(packed).collect()
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
pub(crate) fn pack(compiled: Compiled) -> Built {
    let object = compiled.archive.get("unit.so").unwrap().to_vec();
    (compiled.record, object)
}

fn add_fingerprints<'a>(parts: impl Iterator<Item = &'a FunctionGraph>, ops: &Ops, records: &mut [Built]) {
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
