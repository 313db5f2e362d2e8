//! The fast path to a key: a fingerprint of the graph, without generating its module.

use crate::generator::GENERATOR;
use crate::registry::Ops;
use precast_graph::{FunctionGraph, encode};
use precast_store::Fingerprint;
use precast_store::key::{Canonical, FORMAT_EPOCH, HostAbi, context};

/// The fingerprint of a graph that [`crate::rewrite::lower`] made; `None` when the C of some op comes from elsewhere than
/// the sources of [`GENERATOR`].
#[must_use]
pub fn fingerprint(lowered: &FunctionGraph, ops: &Ops) -> Option<Fingerprint> {
    // The C of a user type comes from its author's Rust.
    if lowered.variables().iter().any(|variable| variable.ty.as_user().is_some()) {
        return None;
    }
    let contents = lowered.applies().iter().map(|apply| ops.c().c_op(&*apply.op)?.content_id());
    let contents = contents.collect::<Option<Vec<String>>>()?;
    let encoder = Canonical::new(context::FINGERPRINT)
        .u64(FORMAT_EPOCH)
        .str(GENERATOR)
        .str(HostAbi::Native.name())
        .str(ops.c().profile().name())
        .bytes(&encode::canonical(lowered))
        .strs(&contents);
    Some(Fingerprint::from_bytes(encoder.finish()))
}
