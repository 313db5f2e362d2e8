//! What layers have, for telling what is nearest to a miss.

use crate::miss::Miss;
use crate::resolve::Resolver;
use precast_codegen::Module;
use precast_store::key::{KeyDocument, nearest, stale};
use precast_store::{BuildKey, Layer};
use std::cell::OnceCell;

/// All modules of all layers, read with the first miss, and once for several.
pub(crate) struct Inventory<'a> {
    resolver: &'a Resolver,
    documents: OnceCell<Vec<(String, KeyDocument)>>,
}

impl<'a> Inventory<'a> {
    pub(crate) fn new(resolver: &'a Resolver) -> Self {
        Self { resolver, documents: OnceCell::new() }
    }

    fn documents(&self) -> &[(String, KeyDocument)] {
        self.documents.get_or_init(|| {
            let mut documents: Vec<_> = self.resolver.layers.iter().flat_map(Layer::documents).collect();
            // Of equally near ones the first is named: let that not depend on hashes.
            documents.sort_by(|(a, _), (b, _)| a.cmp(b));
            documents
        })
    }

    /// Compares a module that was not found with all that there is.
    pub(crate) fn explain(&self, module: &Module) -> Miss {
        let (key, document) = (module.key(), module.document());
        let present = self.documents().iter().any(|(_, document)| document.key() == key);
        let candidates = self.documents().iter().map(|(signature, document)| (signature.clone(), document));
        Miss {
            signature: module.signature.clone(),
            key,
            nearest: nearest(&document, candidates),
            known: self.documents().len(),
            inadmissible: self.resolver.layers.iter().flat_map(|layer| layer.inadmissible(&key)).collect(),
            unusable: present.then(|| self.unusable(&key)).flatten(),
            stale: stale(&document, self.documents().iter().map(|(_, document)| document)),
        }
    }

    fn unusable(&self, key: &BuildKey) -> Option<String> {
        self.resolver.recorder.last_failure().or_else(|| self.resolver.lost(key))
    }
}
