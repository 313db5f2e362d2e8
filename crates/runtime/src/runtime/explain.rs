//! Explains how a graph would be served, without loading anything.

use super::Runtime;
use crate::cover::{Answer, ApplyCover, By, Found, Missing, Purpose};
use crate::error::FunctionError;
use crate::explain::{Check, Explanation, Lookup};
use precast_codegen::Module;
use precast_graph::FunctionGraph;
use precast_ops::rewrite;
use precast_store::{BuildKey, Record};

impl Runtime {
    /// Checks whether a graph would hit, without loading or compiling anything.
    ///
    /// # Errors
    /// Fails if the graph is invalid or a layer cannot be read.
    pub fn check(&self, graph: &FunctionGraph) -> Result<Check, FunctionError> {
        Ok(self.explain(graph)?.check())
    }

    /// Returns whether the layers serve a graph; a failed look-up counts as a miss.
    pub(crate) fn holds(&self, graph: &FunctionGraph) -> bool {
        let found = self.find("", graph, Purpose::Check);
        found.and_then(|answer| check(&answer)).is_ok_and(Check::is_hit)
    }

    /// Explains how a graph would be served, and for each miss the nearest module and the differences.
    ///
    /// # Errors
    /// Fails if the graph is invalid or a layer cannot be read.
    pub fn explain(&self, graph: &FunctionGraph) -> Result<Explanation, FunctionError> {
        graph.validate()?;
        let answer = self.find("", graph, Purpose::Report)?;
        let problems = self.resolver.problems();
        let inventory = self.resolver.inventory(&problems);
        let missing = |module: &Module| Lookup::Missing(inventory.explain(module));
        let mut told = Explanation {
            segments: Vec::new(),
            groups: answer.groups.iter().map(|group| missing(&group.module)).collect(),
            ops: Vec::new(),
            graph: cut(&answer)?,
            served: Vec::new(),
            check: check(&answer)?,
        };
        for segment in &answer.segments {
            match &segment.by {
                By::Own(key) => {
                    let own = found(key, &answer);
                    told.served.extend(vec![own.clone(); segment.applies.len()]);
                    told.segments.push(own);
                }
                By::Applies(covers) => {
                    told.segments.extend(segment.missing.as_ref().map(|own| missing(&own.module)));
                    for (by, apply) in covers.iter().zip(segment.applies.clone()) {
                        told.apply(by.as_ref(), apply, &answer, missing);
                    }
                }
            }
        }
        Ok(told)
    }
}

impl Explanation {
    /// Adds the look-ups of one Apply of the lowered graph.
    fn apply(
        &mut self,
        by: Option<&ApplyCover>,
        position: usize,
        answer: &Answer,
        missing: impl Fn(&Module) -> Lookup,
    ) {
        if let Some(by) = by {
            let parts: Vec<Lookup> = by.keys().iter().map(|key| found(key, answer)).collect();
            self.ops.extend(parts.iter().cloned());
            self.served.extend(parts);
            return;
        }
        let is_here = |missing: &&Missing| missing.apply == position;
        // The picture shows the Apply that was looked up first: a group as a whole.
        let drawn = answer.groups.iter().chain(&answer.missing).find(is_here);
        self.served.extend(drawn.map(|drawn| missing(&drawn.module)));
        self.ops.extend(answer.missing.iter().filter(is_here).map(|one| missing(&one.module)));
    }
}

/// Returns the look-up of a key that a layer has.
fn found(key: &BuildKey, answer: &Answer) -> Lookup {
    let Some(Found::Seen(layer, record)) = answer.found(key) else {
        unreachable!("an answer names what was found")
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

/// Splits the groups of a graph of which only parts were found.
fn cut(answer: &Answer) -> Result<FunctionGraph, FunctionError> {
    Ok(crate::instantiate::cut(answer)?.0.into_owned())
}

/// Summarizes an answer.
fn check(answer: &Answer) -> Result<Check, FunctionError> {
    if answer.segments.iter().all(|segment| matches!(segment.by, By::Own(_))) {
        return Ok(Check::Whole);
    }
    let is_fused = |position| rewrite::unfuse(&answer.lowered, position).map(|group| group.is_some());
    let (mut fused, mut apart) = (false, false);
    for segment in &answer.segments {
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
