//! A miss: what was wanted, what is nearest, and what differs.

use crate::layer::Layer;
use crate::resolve::Resolver;
use precast_codegen::Module;
use precast_store::key::{Diff, KeyDocument, nearest};
use precast_store::{BuildKey, Unmet};
use std::fmt;

/// What no layer has.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    /// Printable signature of the module.
    pub signature: String,
    /// Its key.
    pub key: BuildKey,
    /// The nearest module in any layer, with what differs; `None` when the layers are empty.
    pub nearest: Option<(String, Diff)>,
    /// Variants of this very module that this host cannot run: ISA level, and what is missing.
    pub inadmissible: Vec<(String, Unmet)>,
    /// What kept a module that is there from being used: damage, or a refusal of the dynamic linker.
    pub unusable: Option<String>,
}

impl Miss {
    /// Compares a module that was not found with all that there is.
    pub(crate) fn explain(module: &Module, resolver: &Resolver) -> Self {
        let (key, document, layers) = (module.key(), module.document(), &resolver.layers);
        let documents: Vec<(String, KeyDocument)> = layers.iter().flat_map(Layer::documents).collect();
        let present = documents.iter().any(|(_, document)| document.key() == key);
        let candidates = documents.iter().map(|(signature, document)| (signature.clone(), document));
        Self {
            signature: module.signature.clone(),
            key,
            nearest: nearest(&document, candidates),
            inadmissible: layers.iter().flat_map(|layer| layer.inadmissible(&key)).collect(),
            unusable: resolver.recorder.last_failure().filter(|_| present),
        }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "miss: `{}`", self.signature)?;
        for (isa, unmet) in &self.inadmissible {
            write!(f, "; the `{isa}` variant {unmet}")?;
        }
        if let Some(reason) = &self.unusable {
            write!(f, "; a layer has it, but {reason}")?;
        }
        match &self.nearest {
            _ if self.unusable.is_some() => Ok(()),
            _ if !self.inadmissible.is_empty() => Ok(()),
            None => f.write_str("; the layers hold no module at all"),
            Some((signature, diff)) if diff.differences.is_empty() => write!(f, "; nearest `{signature}`"),
            Some((signature, diff)) => {
                let diff = diff.to_string();
                let named = diff.contains(&format!("`{signature}`"));
                if named {
                    write!(f, "; nearest {diff}")
                } else {
                    write!(f, "; nearest `{signature}`: {diff}")
                }
            }
        }
    }
}
