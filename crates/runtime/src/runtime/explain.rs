//! Explaining: how a graph would be served, without loading anything.

use super::Runtime;
use crate::cover::{ApplyCover, By, Cover, Found, How, Search};
use crate::error::FunctionError;
use crate::explain::{Check, Explanation, Lookup};
use precast_codegen::Module;
use precast_graph::FunctionGraph;
use precast_ops::rewrite;
use precast_store::{BuildKey, Record};
use std::sync::Arc;

impl Runtime {
    /// Tells whether a graph would hit, without loading or compiling anything.
    ///
    /// # Errors
    /// An invalid graph, a layer that cannot be read.
    pub fn check(&self, graph: &FunctionGraph) -> Result<Check, FunctionError> {
        Ok(self.explain(graph)?.check())
    }

    /// Whether a layer has what serves a graph; what cannot be looked for is not there.
    pub(crate) fn holds(&self, graph: &FunctionGraph) -> bool {
        let found = self.find(graph, How { loads: false, thorough: false, parts: true });
        found.and_then(|(cover, _)| answer(&cover)).is_ok_and(Check::is_hit)
    }

    /// Tells how a graph would be served, and for what is missing what comes nearest and how it differs.
    ///
    /// # Errors
    /// An invalid graph, a layer that cannot be read.
    pub fn explain(&self, graph: &FunctionGraph) -> Result<Explanation, FunctionError> {
        graph.validate()?;
        let (cover, search) = self.find(graph, How { loads: false, thorough: true, parts: true })?;
        let problems = self.resolver.problems();
        let inventory = self.resolver.inventory(&problems);
        let missing = |module: &Module| Lookup::Missing(inventory.explain(module));
        let mut told = Explanation {
            segments: Vec::new(),
            groups: search.groups.iter().map(|(_, module)| missing(module)).collect(),
            ops: Vec::new(),
            graph: cut(&cover)?,
            served: Vec::new(),
            check: answer(&cover)?,
        };
        for (position, segment) in cover.segments.iter().enumerate() {
            match &segment.by {
                By::Own(key) => {
                    let own = found(key, &search);
                    told.served.extend(vec![own.clone(); segment.applies.len()]);
                    told.segments.push(own);
                }
                By::Applies(covers) => {
                    told.segments.extend(search.whole.get(&position).map(|module| missing(module)));
                    for (by, apply) in covers.iter().zip(segment.applies.clone()) {
                        told.apply(by.as_ref(), apply, &search, missing);
                    }
                }
            }
        }
        Ok(told)
    }
}

impl Explanation {
    /// Tells what serves one Apply of the lowered graph.
    fn apply(
        &mut self,
        by: Option<&ApplyCover>,
        position: usize,
        search: &Search<'_>,
        missing: impl Fn(&Module) -> Lookup,
    ) {
        if let Some(by) = by {
            let parts: Vec<Lookup> = by.keys().iter().map(|key| found(key, search)).collect();
            self.ops.extend(parts.iter().cloned());
            self.served.extend(parts);
            return;
        }
        let is_here = |(of, _): &&(usize, Arc<Module>)| *of == position;
        // The picture of it is the Apply as it was looked for: a group as a whole.
        let drawn = search.groups.iter().chain(&search.missing).find(is_here);
        self.served.extend(drawn.map(|(_, module)| missing(module)));
        self.ops.extend(search.missing.iter().filter(is_here).map(|(_, module)| missing(module)));
    }
}

/// The look-up of a key that a layer has.
fn found(key: &BuildKey, search: &Search<'_>) -> Lookup {
    let Some(Found::Seen(layer, record)) = search.found(key) else {
        unreachable!("a cover names what its search found")
    };
    let member = record.members.iter().find(|member| member.key == *key);
    let Record { digest, isa, .. } = &**record;
    Lookup::Found {
        signature: member.map(|member| member.signature.clone()).unwrap_or_default(),
        key: *key,
        layer: layer.clone(),
        digest: *digest,
        isa: isa.clone(),
    }
}

/// The graph with its groups taken apart where only parts were found.
fn cut(cover: &Cover) -> Result<FunctionGraph, FunctionError> {
    Ok(crate::instantiate::cut(cover)?.0.into_owned())
}

/// What a cover comes to, in one word.
fn answer(cover: &Cover) -> Result<Check, FunctionError> {
    if cover.segments.iter().all(|segment| matches!(segment.by, By::Own(_))) {
        return Ok(Check::Whole);
    }
    let is_fused = |position| rewrite::unfuse(&cover.lowered, position).map(|group| group.is_some());
    let (mut fused, mut apart) = (false, false);
    for segment in &cover.segments {
        let By::Applies(covers) = &segment.by else {
            fused |= segment.applies.len() > 1 || is_fused(segment.applies.start)?;
            continue;
        };
        for (by, position) in covers.iter().zip(segment.applies.clone()) {
            match by {
                None => return Ok(Check::Miss),
                Some(ApplyCover::Group(_)) => fused |= is_fused(position)?,
                Some(ApplyCover::Parts(parts)) => {
                    apart = true;
                    fused |= parts.iter().any(|(members, _)| members.len() > 1);
                }
            }
        }
    }
    Ok(match (fused, apart) {
        (true, false) => Check::Groups,
        (true, true) => Check::Mixed,
        (false, _) => Check::OpByOp,
    })
}
