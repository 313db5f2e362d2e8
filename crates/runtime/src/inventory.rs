//! What layers have, for telling what is nearest to a miss.

use crate::miss::Miss;
use crate::resolve::Resolver;
use crate::stats::Event;
use precast_codegen::Module;
use precast_ops::OtherVersion;
use precast_store::key::{Diff, KeyDocument, nearest, stale};
use precast_store::{BuildKey, Layer};
use std::cell::OnceCell;
use std::collections::HashMap;

/// All modules of all layers, read with the first miss, and once for several.
pub(crate) struct Inventory<'a> {
    resolver: &'a Resolver,
    known: OnceCell<Vec<Known<'a>>>,
    /// Who made modules of stores.
    recipes: OnceCell<HashMap<BuildKey, String>>,
}

/// A module that a layer has.
struct Known<'a> {
    signature: String,
    document: KeyDocument,
    layer: &'a Layer,
}

impl<'a> Inventory<'a> {
    pub(crate) fn new(resolver: &'a Resolver) -> Self {
        Self { resolver, known: OnceCell::new(), recipes: OnceCell::new() }
    }

    fn known(&self) -> &[Known<'a>] {
        self.known.get_or_init(|| {
            let of = |layer: &'a Layer| {
                let known = layer.documents().into_iter();
                known.map(move |(signature, document)| Known { signature, document, layer })
            };
            let mut known: Vec<_> = self.resolver.layers.iter().flat_map(of).collect();
            // Of equally near ones the first is named: let that not depend on hashes.
            known.sort_by(|a, b| a.signature.cmp(&b.signature));
            known
        })
    }

    /// Compares a module that was not found with all that there is.
    pub(crate) fn explain(&self, module: &Module) -> Miss {
        let (key, document) = (module.key(), module.document());
        let present = self.known().iter().any(|known| known.document.key() == key);
        let nearest = nearest(&document, self.known().iter().map(|known| (known, &known.document)));
        Miss {
            signature: module.signature.clone(),
            key,
            other_version: self.other_version(nearest.as_ref()),
            nearest: nearest.map(|(known, diff)| (known.signature.clone(), diff)),
            known: self.known().len(),
            inadmissible: self.resolver.layers.iter().flat_map(|layer| layer.inadmissible(&key)).collect(),
            unusable: present.then(|| self.unusable(&module.signature, &key)).flatten(),
            stale: stale(&document, self.known().iter().map(|known| &known.document)),
        }
    }

    /// Whether it is for another version of precast that something is missing.
    fn other_version(&self, nearest: Option<&(&Known<'a>, Diff)>) -> Option<(String, OtherVersion)> {
        let (known, diff) = nearest?;
        let is_certain = diff.of_version()?;
        let recipes = || self.resolver.layers.iter().flat_map(Layer::recipes).collect();
        let stated = match known.layer {
            Layer::Bundle { bundle, .. } => Some(bundle.generator()),
            _ => self.recipes.get_or_init(recipes).get(&known.document.key()).map(String::as_str),
        };
        let other = match stated {
            Some(stated) => OtherVersion::of(stated)?,
            None => is_certain.then_some(OtherVersion { found: None })?,
        };
        Some((known.layer.to_string(), other))
    }

    /// What kept a module that is there from being used: its own failure, else the latest that a layer could not use.
    fn unusable(&self, wanted: &str, key: &BuildKey) -> Option<String> {
        let recorder = &self.resolver.recorder;
        let failed =
            recorder.last(|event| matches!(event, Event::NotLoaded { signature, .. } if signature == wanted));
        let lost = || failed.or_else(|| self.resolver.lost(key));
        lost().or_else(|| recorder.last(|event| matches!(event, Event::Layer(_))))
    }
}
