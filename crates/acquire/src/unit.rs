//! Why a store does not serve a unit that a build wants: a build looks up the action that would make it, not its modules.
//!
//! ```text
//! ActionKey there ─▶ its archive is lost
//! BuildKeys there ─▶ another target, ISA level, compiler, flags, or other modules in the unit
//! else            ─▶ a module is new: the nearest, and its differences
//! ```

use crate::inventory::Inventory;
use crate::miss::Reason;
use precast_codegen::Unit;
use precast_compile::{Toolchain, Variant};
use precast_store::{ActionKey, FindError, Layer, Record, Store};
use std::collections::BTreeSet;

/// The reasons why a store does not serve units. It is read once for all of them.
pub struct Reasons<'a> {
    store: &'a Store,
    toolchain: &'a Toolchain,
    inventory: Inventory<'a>,
}

impl<'a> Reasons<'a> {
    /// Explains what the store in `layer` has not got for a toolchain; `None` if the layer is no store.
    #[must_use]
    pub fn new(layer: &'a Layer, toolchain: &'a Toolchain) -> Option<Self> {
        let inventory = Inventory::new(std::slice::from_ref(layer));
        Some(Self { store: layer.store()?, toolchain, inventory })
    }

    /// Says why the store does not serve a unit, with the signature of the module to blame.
    ///
    /// # Errors
    /// The store cannot be searched.
    pub fn find(
        &self,
        unit: &Unit,
        variant: &Variant,
        action: &ActionKey,
    ) -> Result<(String, Reason), FindError> {
        let first = unit.first().signature.clone();
        if !self.store.find_action(action)?.is_empty() {
            let problem = "its archive was lost or damaged".to_owned();
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

    /// The modules are there, and other actions made them.
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
