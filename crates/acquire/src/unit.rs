//! Explains why a store cannot serve a unit of a build. A build looks up the unit's action, not its modules.
//!
//! ```text
//! ActionKey found ─▶ its archive is missing
//! BuildKeys found ─▶ another target, ISA level, compiler, flags, or other modules in the unit
//! else            ─▶ a module is new: the nearest, and its differences
//! ```

use crate::inventory::Inventory;
use crate::miss::Reason;
use precast_codegen::Unit;
use precast_compile::{Toolchain, Variant};
use precast_store::{ActionKey, FindError, Layer, Record, Store};
use std::collections::BTreeSet;

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

    /// Finds the reason why the store cannot serve a unit, and the signature of the module that it concerns.
    ///
    /// # Errors
    /// Fails if the store cannot be searched.
    pub fn find(
        &self,
        unit: &Unit,
        variant: &Variant,
        action: &ActionKey,
    ) -> Result<(String, Reason), FindError> {
        let first = unit.first().signature.clone();
        if !self.store.find_action(action)?.is_empty() {
            let problem = "its archive is missing or damaged".to_owned();
            return Ok((first, Reason::Unusable { problem }));
        }
        for (key, module) in unit.members() {
            if self.store.find(key)?.is_empty() {
                return Ok((
                    module.signature.clone(),
                    self.inventory.absent(&module.document()).swap_remove(0),
                ));
            }
        }
        let records = self.store.find(&unit.members()[0].0)?;
        Ok((first, self.otherwise(&records, unit, variant)))
    }

    /// Returns the reason if the store has the modules, but built by other actions.
    fn otherwise(&self, records: &[Record], unit: &Unit, variant: &Variant) -> Reason {
        let of_target: Vec<&Record> =
            records.iter().filter(|record| record.target == variant.target).collect();
        if of_target.is_empty() {
            return Reason::Target { found: distinct(records.iter().map(|record| record.target.clone())) };
        }
        let alike: Vec<&&Record> =
            of_target.iter().filter(|record| record.isa == variant.isa.name()).collect();
        if alike.is_empty() {
            return Reason::Isa { found: distinct(of_target.iter().map(|record| record.isa.clone())) };
        }
        let keys = || unit.members().iter().map(|(key, _)| *key);
        let same = alike.iter().filter(|record| record.members.iter().map(|member| member.key).eq(keys()));
        let toolchain = self.toolchain.id(unit.language()).ok();
        match same.clone().next() {
            None => Reason::Neighbours,
            Some(_) if same.clone().all(|record| record.toolchain != toolchain) => Reason::Compiler,
            Some(_) => Reason::Flags,
        }
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}
