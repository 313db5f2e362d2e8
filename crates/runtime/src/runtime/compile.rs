//! Compiles missing modules: before the first call, or in the background while parts serve the function.

use super::Runtime;
use super::function::misses;
use crate::cover::{self, Answer, KnownCovers, Purpose, Scope};
use crate::error::FunctionError;
use crate::instantiate;
use crate::jit;
use crate::policy::Policy;
use crate::resolve::Resolver;
use crate::stats::Event;
use crate::tiered::Tiered;
use precast_acquire::Engine;
use precast_codegen::Module;
use precast_core::Function;
use precast_core::event::chain;
use precast_graph::FunctionGraph;
use precast_ops::Ops;
use precast_ops::rewrite::Form;
use std::sync::Arc;

impl Runtime {
    /// Compiles the segments that no layer serves, and publishes them.
    pub(super) fn compile(
        &self,
        graph: &FunctionGraph,
        mut answer: Answer,
    ) -> Result<(Function, Answer), FunctionError> {
        let function = compile_missing(graph, &mut answer, &self.ops, &self.engine, &self.resolver)?;
        Ok((function, answer))
    }

    /// Under `tiered`, returns a function that switches to modules of whole segments once they are compiled. If a
    /// module failed to compile in this process, or if none is missing, the function is returned unchanged.
    pub(super) fn tiered(&self, graph: &FunctionGraph, function: Function, answer: &Answer) -> Function {
        let modules = answer.wanted.iter().filter(|module| answer.found(&module.key()).is_none());
        let wanted: Vec<&Module> = modules.map(|module| &**module).collect();
        let failed = wanted.iter().any(|module| self.engine.has_failed(&module.key()));
        if self.policy != Policy::Tiered || wanted.is_empty() || failed {
            return function;
        }
        let signature = wanted.iter().map(|module| module.signature.clone()).collect::<Vec<_>>().join("; ");
        let (function, then) = Tiered::function(function);
        let recorder = Arc::clone(&self.resolver.recorder);
        let (resolver, ops) = (Arc::clone(&self.resolver), Arc::clone(&self.ops));
        let engine = Arc::clone(&self.engine);
        let (graph, name) = (graph.clone(), answer.name.clone());
        let named = signature.clone();
        let job = move || {
            let whole = whole(&name, &graph, &ops, &engine, &resolver);
            resolver.recorder.tell(match whole {
                Ok(whole) => {
                    // Only this job sets it.
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

/// Returns the function of a graph with a module for each segment, from layers or compiled.
fn whole(
    name: &str,
    graph: &FunctionGraph,
    ops: &Ops,
    engine: &Engine,
    resolver: &Resolver,
) -> Result<Function, FunctionError> {
    let known = KnownCovers::default();
    let scope = Scope { name, ops, resolver, known: &known };
    let mut answer = cover::search(scope, ops.lower(graph, Form::Lowered)?, true, Purpose::CallWhole)?;
    compile_missing(graph, &mut answer, ops, engine, resolver)
}

/// Compiles the segments of a graph whose modules are missing.
fn compile_missing(
    graph: &FunctionGraph,
    answer: &mut Answer,
    ops: &Ops,
    engine: &Engine,
    resolver: &Resolver,
) -> Result<Function, FunctionError> {
    for position in 0..answer.segments.len() {
        let segment = &answer.segments[position];
        let Some(missing) = segment.missing.as_ref().filter(|_| !segment.is_served()) else { continue };
        let loaded = jit::make(
            engine,
            &missing.module,
            missing.fingerprint,
            resolver,
            answer.names(&missing.module.key()),
        )?;
        answer.serve(position, missing.module.key(), loaded);
    }
    let function = instantiate::function(graph, answer, ops)?;
    function.ok_or_else(|| FunctionError::Miss {
        misses: misses(answer, resolver),
        no_compiler: None,
        recorded: None,
    })
}
