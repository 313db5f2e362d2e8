//! Compiling what no layer has: before the first call, or behind the calls of a function that parts serve.

use super::Runtime;
use super::function::misses;
use crate::cover::{By, Cover, How, KnownCovers, Search};
use crate::error::FunctionError;
use crate::instantiate;
use crate::jit;
use crate::policy::Policy;
use crate::resolve::Resolver;
use crate::stats::Event;
use crate::tiered::Tiered;
use precast_acquire::Engine;
use precast_codegen::{Module, segments};
use precast_core::Function;
use precast_core::event::chain;
use precast_graph::FunctionGraph;
use precast_ops::Ops;
use precast_ops::rewrite::Form;
use std::sync::Arc;

impl Runtime {
    /// Compiles the segments that nothing serves, and publishes them.
    pub(super) fn compile<'s>(
        &'s self,
        graph: &FunctionGraph,
        cover: Cover,
        mut search: Search<'s>,
    ) -> Result<(Function, Search<'s>), FunctionError> {
        let function = compile(graph, cover, &mut search, &self.ops, &self.engine, &self.resolver)?;
        Ok((function, search))
    }

    /// Under `tiered`, the function whose calls modules of whole segments will serve, if a search found that there are none. One
    /// that could not be compiled in this process is not tried again.
    pub(super) fn tiered(&self, graph: &FunctionGraph, function: Function, search: &Search<'_>) -> Function {
        let modules = search.whole.values().filter(|module| search.found(&module.key()).is_none());
        let wanted: Vec<&Module> = modules.map(|module| &**module).collect();
        let failed = wanted.iter().any(|module| self.engine.has_failed(&module.key()));
        if self.policy != Some(Policy::Tiered) || wanted.is_empty() || failed {
            return function;
        }
        let signature = wanted.iter().map(|module| module.signature.clone()).collect::<Vec<_>>().join("; ");
        let (function, then) = Tiered::function(function);
        let recorder = Arc::clone(&self.resolver.recorder);
        let (resolver, ops) = (Arc::clone(&self.resolver), Arc::clone(&self.ops));
        let engine = Arc::clone(&self.engine);
        let (graph, named) = (graph.clone(), signature.clone());
        let job = move || {
            let whole = whole(&graph, &ops, &engine, &resolver);
            resolver.recorder.tell(match whole {
                Ok(whole) => {
                    // Nobody else sets it.
                    let _ = then.set(whole);
                    Event::Swapped { signature: named }
                }
                Err(error) => Event::NotSwapped { signature: named, reason: chain(&error) },
            });
        };
        if let Err(error) = self.background.add(Box::new(job)) {
            recorder.tell(Event::NotSwapped { signature, reason: error.to_string() });
        }
        function
    }
}

/// The function of a graph whose segments have a module each: from layers, else compiled.
fn whole(
    graph: &FunctionGraph,
    ops: &Ops,
    engine: &Engine,
    resolver: &Resolver,
) -> Result<Function, FunctionError> {
    let known = KnownCovers::default();
    let mut search = Search::new(ops, resolver, &known, How { loads: true, thorough: false, parts: false });
    let cover = search.cover(ops.lower(graph, Form::Lowered)?, true)?;
    compile(graph, cover, &mut search, ops, engine, resolver)
}

/// Compiles the segments of a graph that a cover does not serve.
fn compile(
    graph: &FunctionGraph,
    mut cover: Cover,
    search: &mut Search<'_>,
    ops: &Ops,
    engine: &Engine,
    resolver: &Resolver,
) -> Result<Function, FunctionError> {
    let parts = segments(&cover.lowered, ops.c())?;
    for ((position, segment), part) in cover.segments.iter_mut().enumerate().zip(&parts) {
        let Some(module) = search.whole.get(&position).filter(|_| !segment.is_served()).cloned() else {
            continue;
        };
        let fingerprint = precast_ops::fingerprint(&part.graph, ops);
        let key = module.key();
        search.compiled(key, jit::compile(engine, &module, fingerprint, resolver)?);
        segment.by = By::Own(key);
    }
    drop(parts);
    let function = instantiate::function(graph, &cover, ops, search)?;
    function.ok_or_else(|| FunctionError::Miss {
        misses: misses(&cover, search, resolver),
        no_compiler: None,
        recorded: None,
    })
}
