//! Explaining: how a graph would be served, without loading anything.

use super::{FunctionError, Runtime};
use crate::cover::{Cut, Found, Search};
use crate::explain::{Check, Explanation, Lookup};
use crate::miss::Inventory;
use precast_codegen::{Module, link};
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

    /// Tells how a graph would be served, and for what is missing what comes nearest and how it differs.
    ///
    /// # Errors
    /// An invalid graph, a layer that cannot be read.
    pub fn explain(&self, graph: &FunctionGraph) -> Result<Explanation, FunctionError> {
        graph.validate()?;
        let mut lowered = self.ops.lower(graph)?;
        let inventory = Inventory::read(&self.resolver);
        let whole = self.lookup(&link(&lowered, self.ops.c())?, &inventory)?;
        if whole.is_found() {
            let served = vec![whole.clone(); lowered.applies().len()];
            let (groups, ops) = (Vec::new(), Vec::new());
            return Ok(Explanation { whole, groups, ops, graph: lowered, served, check: Check::Whole });
        }
        let mut search = Search::new(&self.ops, &self.resolver, false);
        let mut cuts = search.cover(&lowered, true)?;
        if cuts.contains(&None)
            && let Some(kept) = self.kept(graph, &lowered)?
        {
            let mut other = Search::new(&self.ops, &self.resolver, false);
            let all = other.cover(&kept, true)?;
            if !all.contains(&None) {
                (lowered, search, cuts) = (kept, other, all);
            }
        }
        let missing = |(_, module): &(usize, Arc<Module>)| Lookup::Missing(inventory.explain(module));
        let groups = search.groups.iter().map(missing).collect();
        let (mut ops, mut served) = (Vec::new(), Vec::new());
        for (position, cut) in cuts.iter().enumerate() {
            let is_here = |(of, _): &&(usize, Arc<Module>)| *of == position;
            let Some(cut) = cut else {
                // The picture of it is the Apply as it was looked for: a group as a whole.
                served.extend(search.groups.iter().chain(&search.missing).find(is_here).map(missing));
                ops.extend(search.missing.iter().filter(is_here).map(missing));
                continue;
            };
            for key in cut.keys() {
                if let Some(Found::Seen(layer, record)) = search.found(&key) {
                    let found = found(&key, layer.clone(), record);
                    ops.push(found.clone());
                    served.push(found);
                }
            }
        }
        let check = answer(&lowered, &cuts)?;
        let taken: Vec<Option<rewrite::Parts>> =
            cuts.iter().map(|cut| cut.as_ref().and_then(Cut::members)).collect();
        let (graph, _) = rewrite::cut(&lowered, &taken)?;
        Ok(Explanation { whole, groups, ops, graph, served, check })
    }

    fn lookup(&self, module: &Module, inventory: &Inventory<'_>) -> Result<Lookup, FunctionError> {
        let key = module.key();
        Ok(match self.resolver.has(&key)? {
            Some((layer, record)) => found(&key, layer, &record),
            None => Lookup::Missing(inventory.explain(module)),
        })
    }
}

/// The look-up of a key that a layer has.
fn found(key: &BuildKey, layer: String, record: &Record) -> Lookup {
    let member = record.members.iter().find(|member| member.key == *key);
    Lookup::Found {
        signature: member.map(|member| member.signature.clone()).unwrap_or_default(),
        key: *key,
        layer,
        digest: record.digest,
        isa: record.isa.clone(),
    }
}

/// What a cover comes to, in one word.
fn answer(lowered: &FunctionGraph, cuts: &[Option<Cut>]) -> Result<Check, FunctionError> {
    let (mut fused, mut apart) = (false, false);
    for (position, cut) in cuts.iter().enumerate() {
        match cut {
            None => return Ok(Check::Miss),
            Some(Cut::Group(_)) => fused |= rewrite::unfuse(lowered, position)?.is_some(),
            Some(Cut::Parts(parts)) => {
                apart = true;
                fused |= parts.iter().any(|(members, _)| members.len() > 1);
            }
        }
    }
    Ok(match (fused, apart) {
        (true, false) => Check::Groups,
        (true, true) => Check::Mixed,
        (false, _) => Check::OpByOp,
    })
}
