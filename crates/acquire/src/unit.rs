//! Explains why a store cannot serve a unit of a build. A build looks up the unit's action, not its modules.
//!
//! ```text
//! ActionKey found ─▶ its archive is missing
//! BuildKeys found ─▶ what differs from the nearest action: the modules of the unit, target, ISA level, compiler
//! else            ─▶ a module is new: the nearest, and its differences
//! ```
//! The reasons are in the order of the key table in `precast_store::key`. Records do not list the flags of an action, so
//! flags are the reason only if nothing else differs.

use crate::inventory::Inventory;
use crate::miss::Reason;
use precast_codegen::Unit;
use precast_compile::{Toolchain, Variant};
use precast_store::{ActionKey, BuildKey, FindError, Layer, Record, Store};
use std::collections::BTreeSet;

/// The reasons why a store cannot serve a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitMiss {
    /// The signature of the module that the reasons concern.
    pub signature: String,
    /// The reasons. Never empty.
    pub reasons: Vec<Reason>,
}

/// The reasons why a store cannot serve units. The store is read once for all units.
pub struct Reasons<'a> {
    store: &'a Store,
    toolchain: &'a Toolchain,
    inventory: Inventory<'a>,
}

impl<'a> Reasons<'a> {
    /// Creates the explanations for the store in `layer` and a toolchain; `None` if the layer is not a store.
    #[must_use]
    pub fn new(layer: &'a Layer, toolchain: &'a Toolchain) -> Option<Self> {
        let inventory = Inventory::new(std::slice::from_ref(layer));
        Some(Self { store: layer.store()?, toolchain, inventory })
    }

    /// Finds the reasons why the store cannot serve a unit, and the module that they concern.
    ///
    /// # Errors
    /// Fails if the store cannot be searched.
    pub fn find(&self, unit: &Unit, variant: &Variant, action: &ActionKey) -> Result<UnitMiss, FindError> {
        let of_first = |reasons| UnitMiss { signature: unit.first().signature.clone(), reasons };
        if !self.store.find_action(action)?.is_empty() {
            let problem = "its archive is missing or damaged".to_owned();
            return Ok(of_first(vec![Reason::Unusable { problem }]));
        }
        for (key, module) in unit.members() {
            if self.all(key)?.is_empty() {
                let reasons = self.inventory.absent(&module.document());
                return Ok(UnitMiss { signature: module.signature.clone(), reasons });
            }
        }
        let records = self.all(&unit.members()[0].0)?;
        Ok(of_first(self.otherwise(&records, unit, variant)))
    }

    /// Returns the records of a key, including superseded ones.
    fn all(&self, key: &BuildKey) -> Result<Vec<Record>, FindError> {
        Ok([self.store.find(key)?, self.store.find_superseded(key)?].concat())
    }

    /// Returns the reasons if the store has the modules, but built by other actions.
    fn otherwise(&self, records: &[Record], unit: &Unit, variant: &Variant) -> Vec<Reason> {
        let differing: Vec<Vec<Part>> =
            records.iter().map(|record| self.differing(record, unit, variant)).collect();
        let least = differing.iter().min().cloned().unwrap_or_default();
        let nearest = || records.iter().zip(&differing).filter(|(_, parts)| **parts == least);
        let reasons = [Part::Neighbours, Part::Target, Part::Isa, Part::Compiler].into_iter();
        let reasons = reasons.filter(|part| least.contains(part)).map(|part| match part {
            Part::Neighbours => Reason::Neighbours,
            Part::Target => {
                Reason::Target { found: distinct(nearest().map(|(record, _)| record.target.clone())) }
            }
            Part::Isa => Reason::Isa { found: distinct(nearest().map(|(record, _)| record.isa.clone())) },
            Part::Compiler => Reason::Compiler,
        });
        let reasons: Vec<Reason> = reasons.collect();
        if reasons.is_empty() { vec![Reason::Flags] } else { reasons }
    }

    /// Returns the parts of an action that differ from those of a record, the most distant first.
    fn differing(&self, record: &Record, unit: &Unit, variant: &Variant) -> Vec<Part> {
        let mut parts = Vec::new();
        // Another target always has other levels and another compiler.
        let is_of_target = record.target == variant.target;
        if !is_of_target {
            parts.push(Part::Target);
        } else if record.isa != variant.isa.name() {
            parts.push(Part::Isa);
        }
        let wanted = unit.members().iter().map(|(key, _)| *key);
        if !record.members.iter().map(|member| member.key).eq(wanted) {
            parts.push(Part::Neighbours);
        }
        if is_of_target && record.toolchain != self.toolchain.id(unit.language()).ok() {
            parts.push(Part::Compiler);
        }
        parts
    }
}

/// A part of an action that may differ. The order is the distance: a record of the same target is nearer than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Compiler,
    Neighbours,
    Isa,
    Target,
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}
