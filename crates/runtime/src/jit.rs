//! Compiles on a miss, with the engine that all front ends of precast share. The module is loaded from memory while
//! it is published.

use crate::error::FunctionError;
use crate::resolve::{Names, Resolver};
use precast_acquire::{Engine, Made, Request, best};
use precast_codegen::Module;
use precast_compile::{Compiled, Toolchain};
use precast_core::event::chain;
use precast_core::native::LoadedModule;
use precast_core::{CodeOrigin, Provenance};
use precast_store::archive::SHARED_OBJECT;
use precast_store::{BuildKey, Fingerprint};
use std::sync::Arc;

/// A callable module and its origin.
type Loaded = (LoadedModule, Provenance);

/// Compiles a module for this host and loads it. Each miss looks up the compiler again, because a process may outlive
/// a compiler; this is cheap while the compiler's files are unchanged.
pub(crate) fn make(
    engine: &Engine,
    module: &Arc<Module>,
    fingerprint: Option<Fingerprint>,
    resolver: &Resolver,
    names: Names<'_>,
) -> Result<Loaded, FunctionError> {
    let toolchain = Toolchain::find(None).map_err(|problem| FunctionError::NoCompiler {
        miss: Box::new(resolver.explain(module)),
        problem: chain(&problem),
    })?;
    let (key, signature) = (module.key(), module.signature.as_str());
    let observer = resolver.recorder.observer();
    let request = Request { module, levels: &[], fingerprint, layers: &resolver.layers, observer: &observer };
    let failed = |problem: String| FunctionError::Load { signature: signature.to_owned(), problem };
    let find = || resolver.resolve(&key, names, &mut || Some(Arc::clone(module))).transpose();
    let made = engine.make(&request, &toolchain, find);
    match made.map_err(|source| FunctionError::Compile { signature: signature.to_owned(), source })? {
        Made::Here(made) => load(best(&made).map_err(failed)?, &key, resolver, names),
        Made::Elsewhere(found) => Ok(found?),
    }
}

/// Returns the reason if no compiler is available.
pub(crate) fn no_compiler() -> Option<String> {
    Toolchain::find(None).err().map(|problem| chain(&problem))
}

fn load(
    compiled: &Compiled,
    key: &BuildKey,
    resolver: &Resolver,
    names: Names<'_>,
) -> Result<Loaded, FunctionError> {
    let record = &compiled.record;
    let member = record.member(key).unwrap_or(&record.members[0]);
    let signature = &*member.signature;
    let failed = |problem: String| FunctionError::Load { signature: signature.to_owned(), problem };
    let bytes = compiled
        .archive
        .members
        .get(SHARED_OBJECT)
        .ok_or_else(|| failed(format!("missing member `{SHARED_OBJECT}`")))?;
    let library = resolver.keep(record, bytes, member, names).ok_or_else(|| {
        resolver
            .check_stage(signature)
            .err()
            .unwrap_or_else(|| failed("see the events of `stats()`".to_owned()))
    })?;
    let module = library.module(member.slot, key).map_err(|error| failed(chain(&error)))?;
    let served = CodeOrigin::Jit { key: *key, digest: record.digest, isa: record.isa.clone() };
    Ok((module, Provenance { ops: vec![signature.to_owned()], served }))
}
