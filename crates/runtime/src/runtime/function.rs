//! A graph to a function: one search, then what the policy says of what is missing.

use super::Runtime;
use crate::body;
use crate::cover::{Cover, How, Search};
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
use precast_codegen::Module;
use precast_core::{Function, span};
use precast_graph::FunctionGraph;
use precast_ops::rewrite::Form;
use std::path::PathBuf;

impl Runtime {
    /// Resolves, verifies and loads what serves `graph`: a module for each of its segments, which is one for most graphs, else
    /// modules of the groups that fusion makes, of parts of them, and of single ops, else what the policy says.
    ///
    /// # Errors
    /// An invalid graph; a miss under `strict`; under `jit` no compiler, or what it refused.
    pub fn function(&self, graph: &FunctionGraph) -> Result<Function, FunctionError> {
        graph.validate()?;
        let function = self.resolve(graph)?;
        let function = match self.debug {
            true => body::checked(function, graph.clone(), Checks::new(self, graph)?),
            false => function,
        };
        Ok(filtered(function, self.ops.c().types(), self.casting))
    }

    pub(crate) fn resolve(&self, graph: &FunctionGraph) -> Result<Function, FunctionError> {
        // A miss that is told wants all that is missing; one that is compiled is not looked at twice.
        let thorough = matches!(self.policy, None | Some(Policy::Strict));
        let span = span!("resolve"; outcome);
        let found = self.find(graph, How { loads: true, thorough, parts: true });
        if let (Err(FunctionError::Link(_)), Some(Policy::Interpret)) = (&found, self.policy) {
            // What has no C has a reference all the same.
            return Ok(body::interpreted(graph.clone(), Reference::new(self, graph)?));
        }
        let (cover, search) = found?;
        span.record("outcome", if cover.is_complete() { "hit" } else { "miss" });
        if cover.is_complete()
            && let Some(function) = instantiate::function(graph, &cover, &self.ops, &search)?
        {
            return Ok(self.tiered(graph, function, &search));
        }
        for module in search.unserved(&cover) {
            self.resolver.recorder.tell(Event::Miss { signature: module.signature.clone() });
        }
        let recorded = self.record(graph, &cover, &search);
        self.miss(graph, cover, search, recorded)
    }

    /// Looks for what serves a graph: in the form whose ops overwrite what nobody needs any more, then, if something of that
    /// is missing, in the other one, which declared ops serve. What is missing is told of the first.
    pub(super) fn find(&self, graph: &FunctionGraph, how: How) -> Result<(Cover, Search<'_>), FunctionError> {
        let search = || Search::new(&self.ops, &self.resolver, &self.known_covers, how);
        let mut overwriting = search();
        let lowered = {
            let _span = span!("rewrite");
            self.ops.lower(graph, Form::Lowered)?
        };
        let cover = overwriting.cover(lowered, true)?;
        let overwrites = cover.lowered.applies().iter().any(|a| !a.op.destroy_map().is_empty());
        if !cover.is_complete() && overwrites && !self.resolver.layers.is_empty() {
            let mut preserving = search();
            let preserved = preserving.cover(self.ops.lower(graph, Form::Preserving)?, false)?;
            if preserved.is_complete() {
                preserving.whole = overwriting.whole;
                return Ok((preserved, preserving));
            }
        }
        Ok((cover, overwriting))
    }

    /// Writes a miss down where that is asked for; gives the manifest that has it now.
    #[cfg(feature = "record")]
    fn record(&self, graph: &FunctionGraph, cover: &Cover, search: &Search<'_>) -> Option<PathBuf> {
        let recording = self.recording.as_ref()?;
        let signature = search.unserved(cover).next()?.signature.clone();
        match recording.add(graph, cover, search, &self.ops) {
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
    fn record(&self, _: &FunctionGraph, _: &Cover, _: &Search<'_>) -> Option<PathBuf> {
        None
    }

    /// What the policy says about a miss.
    fn miss(
        &self,
        graph: &FunctionGraph,
        cover: Cover,
        search: Search<'_>,
        recorded: Option<PathBuf>,
    ) -> Result<Function, FunctionError> {
        let signature = search.unserved(&cover).next().map(|module| module.signature.clone());
        let signature = signature.unwrap_or_default();
        match self.resolver.check_stage(&signature) {
            Err(error) if self.policy == Some(Policy::Interpret) => {
                let reason = error.to_string();
                self.resolver.recorder.tell(Event::NotLoaded { signature, reason });
            }
            checked => checked?,
        }
        #[cfg(feature = "jit")]
        let no_compiler = self.policy.is_none().then(crate::jit::no_compiler).flatten();
        match self.policy {
            Some(Policy::Strict) => Err(self.strict(&cover, &search, None, recorded)),
            Some(Policy::Interpret) => Ok(body::interpreted(graph.clone(), Reference::new(self, graph)?)),
            #[cfg(feature = "jit")]
            None if no_compiler.is_some() => Err(self.strict(&cover, &search, no_compiler, recorded)),
            #[cfg(feature = "jit")]
            None | Some(Policy::Jit | Policy::Tiered) => {
                let (function, search) = self.compile(graph, cover, search)?;
                Ok(self.tiered(graph, function, &search))
            }
            #[cfg(not(feature = "jit"))]
            None => Err(self.strict(&cover, &search, None, recorded)),
            #[cfg(not(feature = "jit"))]
            Some(Policy::Jit | Policy::Tiered) => Err(FunctionError::NoCompiler {
                miss: Box::new(misses(&cover, &search, &self.resolver).remove(0)),
                problem: "this program was built without the feature `jit`".to_owned(),
            }),
        }
    }

    fn strict(
        &self,
        cover: &Cover,
        search: &Search<'_>,
        no_compiler: Option<String>,
        recorded: Option<PathBuf>,
    ) -> FunctionError {
        FunctionError::Miss { misses: misses(cover, search, &self.resolver), no_compiler, recorded }
    }

    #[cfg(not(feature = "jit"))]
    fn tiered(&self, _: &FunctionGraph, function: Function, _: &Search<'_>) -> Function {
        function
    }
}

/// What is missing: segments, then the Applies that have no module either.
pub(super) fn misses(cover: &Cover, search: &Search<'_>, resolver: &Resolver) -> Vec<Miss> {
    let problems = resolver.problems();
    let inventory = resolver.inventory(&problems);
    let segments: Vec<&Module> = search.unserved(cover).collect();
    let is_segment = |module: &Module| segments.iter().any(|segment| segment.key() == module.key());
    let applies = search.missing.iter().map(|(_, module)| &**module).filter(|module| !is_segment(module));
    segments.iter().copied().chain(applies).map(|module| inventory.explain(module)).collect()
}
