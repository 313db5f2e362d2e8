//! Artifacts of graphs, without a store: compiled in batches, packed into a bundle of one ISA level.

use precast_codegen::{Module, Unit, link, link_opwise};
use precast_compile::{Compiled, Isa, Parallel, Toolchain, Variant, compile_all};
use precast_graph::FunctionGraph;
use precast_ops::{GENERATOR, Ops, fingerprint, rewrite};
use precast_store::key::Profile;
use precast_store::{BuildKey, Fingerprint, Record, write_bundle};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The compiler of this host.
pub(crate) fn toolchain() -> Toolchain {
    Toolchain::find(None).unwrap()
}

/// The variant of an ISA level for this host.
pub(crate) fn variant(isa: Isa) -> Variant {
    Variant { target: toolchain().target().to_owned(), isa, profile: Profile::Release }
}

/// The levels that this CPU can run, the lowest first.
pub(crate) fn levels() -> Vec<Isa> {
    let native = Isa::native().unwrap();
    Isa::ALL.iter().copied().filter(|isa| isa.arch() == native.arch() && *isa <= native).collect()
}

/// How a graph is cut into modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// One module for a graph, fused.
    Whole,
    /// One module for each Apply.
    OpByOp,
}

impl Cut {
    /// The modules of a graph.
    pub(crate) fn modules(self, graph: &FunctionGraph) -> Vec<Module> {
        let ops = Ops::standard();
        match self {
            Self::Whole => vec![link(&rewrite::lower(graph).unwrap(), ops.c()).unwrap()],
            Self::OpByOp => link_opwise(&rewrite::plain(graph).unwrap(), ops.c()).unwrap(),
        }
    }
}

/// Compiles graphs for one level and packs them into the bytes of a bundle.
pub(crate) fn bundle(graphs: &[FunctionGraph], cut: Cut, isa: Isa) -> Vec<u8> {
    let modules = graphs.iter().flat_map(|graph| cut.modules(graph)).map(Arc::new).collect();
    let jobs: Vec<_> = Unit::batches(modules).into_iter().map(|unit| (unit, variant(isa))).collect();
    let compiled = compile_all(&jobs, &toolchain(), Parallel::Auto, &|_| {});
    let mut records: Vec<_> = compiled.into_iter().map(|result| pack(result.unwrap())).collect();
    if cut == Cut::Whole {
        add_fingerprints(graphs, &mut records);
    }
    write_bundle(&records, &[], GENERATOR).unwrap()
}

/// Compiles one graph as a unit of its own.
pub(crate) fn compiled(graph: &FunctionGraph, isa: Isa) -> Compiled {
    let module = Cut::Whole.modules(graph).remove(0);
    precast_compile::compile(&Unit::single(Arc::new(module)), &toolchain(), &variant(isa)).unwrap()
}

/// A record with the shared object it speaks of.
pub(crate) fn pack(compiled: Compiled) -> (Record, Vec<u8>) {
    let object = compiled.archive.get("unit.so").unwrap().to_vec();
    (compiled.record, object)
}

/// Every second graph can be found by its fingerprint, the others by the key of their module.
fn add_fingerprints(graphs: &[FunctionGraph], records: &mut [(Record, Vec<u8>)]) {
    let mut aliases: BTreeMap<BuildKey, Vec<Fingerprint>> = BTreeMap::new();
    for graph in graphs.iter().step_by(2) {
        let found = fingerprint(&rewrite::lower(graph).unwrap(), &Ops::standard());
        aliases.entry(Cut::Whole.modules(graph)[0].key()).or_default().extend(found);
    }
    for member in records.iter_mut().flat_map(|(record, _)| &mut record.members) {
        let mut list = aliases.remove(&member.key).unwrap_or_default();
        list.sort();
        list.dedup();
        member.fingerprints = list;
    }
}
