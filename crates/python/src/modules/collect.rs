//! Collects the modules that a program used into a bundle.

use super::unit::Wanted;
use super::{Modules, shared_object};
use precast_core::event::chain;
use precast_ops::GENERATOR;
use precast_store::{Layer, Record, whole, write_bundle};
use std::collections::BTreeMap;
use std::path::Path;

/// A record and its shared object.
type Item = (Record, Vec<u8>);

impl Modules {
    /// Writes the bundle atomically and returns the number of units.
    pub(super) fn write_bundle(&self, path: &Path, units: &[&Wanted]) -> Result<usize, String> {
        let mut items = Vec::new();
        for unit in units {
            let found = self.variants(unit)?;
            if found.is_empty() {
                return Err(format!("`{}` is no longer in any layer", unit.build_key()));
            }
            items.extend(found);
        }
        let bytes =
            write_bundle(&items, &[], &format!("{GENERATOR}, pytensor")).map_err(|error| chain(&error))?;
        let written = whole::write_if_changed(path, &bytes);
        written.map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        Ok(units.len())
    }

    /// Returns the artifacts of a unit, one for each ISA level. Modules compiled in this process come first, then the
    /// layers in order. Within a layer, the first listed record is used; a store lists the last built record first.
    fn variants(&self, unit: &Wanted) -> Result<Vec<Item>, String> {
        let key = unit.build_key();
        let mut variants: BTreeMap<String, Item> = BTreeMap::new();
        for made in self.engine.compiled(&key) {
            let bytes = shared_object(&made.archive).unwrap_or_default().to_vec();
            variants.entry(made.record.isa.clone()).or_insert_with(|| (made.record.clone(), bytes));
        }
        for layer in &self.layers {
            for mut record in all(layer, unit)? {
                if variants.contains_key(&record.isa) {
                    continue;
                }
                let Some(bytes) = bytes(layer, &record)? else { continue };
                for member in record.members.iter_mut().filter(|member| member.key == key) {
                    member.document = Some(unit.document());
                }
                variants.insert(record.isa.clone(), (record, bytes));
            }
        }
        Ok(variants.into_values().collect())
    }
}

/// Returns the records of a unit for all CPUs.
fn all(layer: &Layer, unit: &Wanted) -> Result<Vec<Record>, String> {
    match layer {
        Layer::Bundle { bundle, .. } => {
            Ok(bundle.find(&unit.build_key()).iter().map(|record| Record::clone(record)).collect())
        }
        Layer::Store { store, .. } => store.find(&unit.build_key()).map_err(|error| chain(&error)),
        Layer::Remote(remote) => remote.find(&unit.build_key()).map_err(|error| chain(&error)),
    }
}

/// Returns the shared object of a record, or `None` if it is corrupt. The layer reports the damage.
fn bytes(layer: &Layer, record: &Record) -> Result<Option<Vec<u8>>, String> {
    layer.load(record).map(Result::ok).map_err(|error| chain(&error))
}
