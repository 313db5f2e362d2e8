//! Resolves a graph to a function: one search, then the policy for a miss.

use super::Runtime;
use crate::body;
use crate::cover::{self, Answer, Purpose, Scope};
use crate::debug::Checks;
use crate::error::FunctionError;
use crate::filter::filtered;
use crate::instantiate;
use crate::policy::Policy;
#[cfg(feature = "record")]
use crate::recording::Recorded;
use crate::reference::Reference;
use crate::resolve::Resolver;
use crate::stats::Event;
use precast_acquire::Miss;
use precast_core::{Function, span};
use precast_graph::{Apply, FunctionGraph};
use precast_ops::SmallGraph;
use precast_ops::rewrite::Form;
use std::any::Any;
use std::collections::BTreeSet;
use std::path::PathBuf;

impl Runtime {
    /// Resolves, verifies and loads the modules of `graph`: one for each segment, and most graphs are one segment. If
    /// a segment's module is missing, modules of fused groups, of their parts and of single ops are used; otherwise
    /// the policy applies.
    ///
    /// # Errors
    /// Fails if the graph is invalid; on a miss under `strict`; under `jit` without a compiler, or if compiling
    /// fails.
    pub fn function(&self, graph: &FunctionGraph) -> Result<Function, FunctionError> {
        self.named_function("", graph)
    }

    /// Resolves a graph as [`Runtime::function`] does, and names it: `/proc/PID/maps` and profilers show the name. A
    /// module that serves several graphs keeps the name of the first.
    ///
    /// # Errors
    /// As [`Runtime::function`].
    /// As [`Runtime::function`].
    pub fn named_function(&self, name: &str, graph: &FunctionGraph) -> Result<Function, FunctionError> {
        graph.validate()?;
        let function = self.resolve(name, graph)?;
        let function = match self.debug {
            true => body::checked(function, graph.clone(), Checks::new(self, graph)?),
            false => function,
        };
        Ok(filtered(function, self.ops.c().types(), self.casting))
    }

    pub(crate) fn resolve(&self, name: &str, graph: &FunctionGraph) -> Result<Function, FunctionError> {
        // An error must list all missing modules; a graph that is compiled stops at the first.
        let is_told = matches!(self.policy, Policy::Auto | Policy::Strict);
        let span = span!("resolve"; outcome);
        let found = self.find(name, graph, if is_told { Purpose::CallOrReport } else { Purpose::Call });
        if let (Err(FunctionError::Link(_)), Policy::Interpret) = (&found, self.policy) {
            // An op without C still has a reference.
            return Ok(body::interpreted(graph.clone(), Reference::new(self, graph)?));
        }
        let answer = found?;
        span.record("outcome", if answer.is_complete() { "hit" } else { "miss" });
        if answer.is_complete()
            && let Some(function) = instantiate::function(graph, &answer, &self.ops)?
        {
            return Ok(self.tiered(graph, function, &answer));
        }
        for module in answer.unserved() {
            self.resolver.recorder.tell(Event::Miss { signature: module.signature.clone() });
        }
        let recorded = self.record(graph, &answer);
        self.miss(graph, answer, recorded)
    }

    /// Searches for the modules of a graph in its lowered form. If a module is missing, the form for all extents is
    /// searched, then the one without in-place ops, which modules of declared ops can serve. Misses are those of the
    /// first form.
    pub(super) fn find(
        &self,
        name: &str,
        graph: &FunctionGraph,
        purpose: Purpose,
    ) -> Result<Answer, FunctionError> {
        let scope = Scope { name, ops: &self.ops, resolver: &self.resolver, known: &self.known_covers };
        let lowered = {
            let _span = span!("rewrite");
            self.ops.lower(graph, Form::Lowered)?
        };
        let first = cover::search(scope, lowered, true, purpose)?;
        if first.is_complete() || self.resolver.layers.is_empty() {
            return Ok(first);
        }
        let has = |is_so: fn(&Apply) -> bool| first.lowered.applies().iter().any(is_so);
        let overwrites = has(|apply| !apply.op.destroy_map().is_empty());
        let forms = [(Form::General, has(is_small_graph)), (Form::Preserving, overwrites)];
        for (form, is_other) in forms {
            if is_other {
                let mut answer =
                    cover::search(scope, self.ops.lower(graph, form)?, form == Form::General, purpose)?;
                if answer.is_complete() {
                    answer.wanted = first.wanted;
                    return Ok(answer);
                }
            }
        }
        Ok(first)
    }

    /// Records a miss if requested; returns the manifest that now contains it.
    #[cfg(feature = "record")]
    fn record(&self, graph: &FunctionGraph, answer: &Answer) -> Option<PathBuf> {
        let recording = self.recording.as_ref()?;
        let signature = answer.unserved().next()?.signature.clone();
        match recording.add(graph, answer, &self.ops) {
            Ok(recorded) => {
                let (path, added) = (recording.path().to_owned(), recorded == Recorded::Now);
                self.resolver.recorder.tell(Event::Recorded { signature, path: path.clone(), added });
                Some(path)
            }
            Err(error) => {
                let reason = precast_core::event::chain(&error);
                recording.report(&signature, &reason);
                self.resolver.recorder.tell(Event::NotRecorded { signature, reason });
                None
            }
        }
    }

    #[cfg(not(feature = "record"))]
    fn record(&self, _: &FunctionGraph, _: &Answer) -> Option<PathBuf> {
        None
    }

    /// Applies the policy to a miss.
    fn miss(
        &self,
        graph: &FunctionGraph,
        answer: Answer,
        recorded: Option<PathBuf>,
    ) -> Result<Function, FunctionError> {
        let signature = answer.unserved().next().map(|module| module.signature.clone());
        let signature = signature.unwrap_or_default();
        match self.resolver.check_stage(&signature) {
            Err(error) if self.policy == Policy::Interpret => {
                let reason = error.to_string();
                self.resolver.recorder.tell(Event::NotLoaded { signature, reason });
            }
            checked => checked?,
        }
        #[cfg(feature = "jit")]
        let no_compiler = (self.policy == Policy::Auto).then(crate::jit::no_compiler).flatten();
        match self.policy {
            Policy::Strict => Err(self.strict(&answer, None, recorded)),
            Policy::Interpret => Ok(body::interpreted(graph.clone(), Reference::new(self, graph)?)),
            #[cfg(feature = "jit")]
            Policy::Auto if no_compiler.is_some() => Err(self.strict(&answer, no_compiler, recorded)),
            #[cfg(feature = "jit")]
            Policy::Auto | Policy::Jit | Policy::Tiered => {
                let (function, answer) = self.compile(graph, answer)?;
                Ok(self.tiered(graph, function, &answer))
            }
            #[cfg(not(feature = "jit"))]
            Policy::Auto => Err(self.strict(&answer, None, recorded)),
            #[cfg(not(feature = "jit"))]
            Policy::Jit | Policy::Tiered => Err(FunctionError::NoCompiler {
                miss: Box::new(misses(&answer, &self.resolver).remove(0)),
                problem: "this program was built without the feature `jit`".to_owned(),
            }),
        }
    }

    fn strict(
        &self,
        answer: &Answer,
        no_compiler: Option<String>,
        recorded: Option<PathBuf>,
    ) -> FunctionError {
        FunctionError::Miss { misses: misses(answer, &self.resolver), no_compiler, recorded }
    }

    #[cfg(not(feature = "jit"))]
    fn tiered(&self, _: &FunctionGraph, function: Function, _: &Answer) -> Function {
        function
    }
}

/// Returns the misses: segments, then the Applies whose modules are missing too. Each module appears once.
pub(super) fn misses(answer: &Answer, resolver: &Resolver) -> Vec<Miss> {
    let problems = resolver.problems();
    let inventory = resolver.inventory(&problems);
    let segments = answer.unserved().map(|module| &**module);
    let modules = segments.chain(answer.missing.iter().map(|missing| &*missing.module));
    let mut known = BTreeSet::new();
    modules.filter(|module| known.insert(module.key())).map(|module| inventory.explain(module)).collect()
}

fn is_small_graph(apply: &Apply) -> bool {
    let op: &dyn Any = &*apply.op;
    op.is::<SmallGraph>()
}
