//! The modules in the layers, used to explain misses.

use crate::miss::{Miss, Reason};
use precast_codegen::Module;
use precast_ops::OtherVersion;
use precast_store::key::{Diff, KeyDocument, nearest, stale};
use precast_store::{BuildKey, Layer};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

/// The most modules of a layer that are compared to find the nearest.
const COMPARED: usize = 20_000;

/// The problem of a module that is listed but cannot be looked up.
const UNREADABLE: &str = "it cannot be found by its key\nhint: run `precast verify` to check for damage";

/// All modules of some layers. They are read on the first miss that is explained, and reused for further misses.
pub struct Inventory<'a> {
    layers: &'a [Layer],
    problem: &'a dyn Fn(&str) -> Option<String>,
    known: OnceCell<Vec<Known<'a>>>,
    /// The generator versions of modules in stores.
    recipes: OnceCell<HashMap<BuildKey, String>>,
}

/// A module in a layer.
struct Known<'a> {
    signature: String,
    document: KeyDocument,
    layer: &'a Layer,
}

impl<'a> Inventory<'a> {
    /// Creates an inventory of layers; reads nothing yet.
    #[must_use]
    pub fn new(layers: &'a [Layer]) -> Self {
        Self { layers, problem: &|_| None, known: OnceCell::new(), recipes: OnceCell::new() }
    }

    /// Uses `problem` to look up, by signature, the problem that this process had with a module that a layer has.
    #[must_use]
    pub fn with_problems(self, problem: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { problem, ..self }
    }

    fn known(&self) -> &[Known<'a>] {
        self.known.get_or_init(|| {
            let of = |layer: &'a Layer| {
                let known = layer.documents(COMPARED).into_iter();
                known.map(move |(signature, document)| Known { signature, document, layer })
            };
            let mut known: Vec<_> = self.layers.iter().flat_map(of).collect();
            // The first of equally near modules is reported, so the order must not depend on hashes.
            known.sort_by(|a, b| a.signature.cmp(&b.signature));
            known
        })
    }

    /// Explains why no layer can serve a module.
    #[must_use]
    pub fn explain(&self, module: &Module) -> Miss {
        let (key, document) = (module.key(), module.document());
        let stale = stale(&document, self.known().iter().map(|known| &known.document));
        Miss {
            signature: module.signature.clone(),
            key,
            reasons: self.reasons(module, &key, &document),
            stale,
        }
    }

    fn reasons(&self, module: &Module, key: &BuildKey, document: &KeyDocument) -> Vec<Reason> {
        if self.layers.is_empty() {
            return vec![Reason::NoLayer];
        }
        let inadmissible = self.layers.iter().flat_map(|layer| layer.inadmissible(key));
        let mut reasons: Vec<Reason> =
            inadmissible.map(|(isa, unmet)| Reason::Inadmissible { isa, unmet: unmet.to_string() }).collect();
        if self.known().iter().any(|known| known.document.key() == *key) {
            let problem = (self.problem)(&module.signature).or_else(|| self.lost(key));
            let problem = problem.or_else(|| reasons.is_empty().then(|| self.superseded(key)).flatten());
            if let Some(problem) = problem.or_else(|| reasons.is_empty().then(|| UNREADABLE.to_owned())) {
                reasons.push(Reason::Unusable { problem });
            }
        }
        if reasons.is_empty() { self.absent(document) } else { reasons }
    }

    /// Returns a message if a layer has the record of a key but lost the archive.
    fn lost(&self, key: &BuildKey) -> Option<String> {
        self.layers.iter().find_map(|layer| {
            let records = layer.find(key).ok()?;
            let lost = records.iter().find(|record| matches!(layer.holds(record), Ok(false)))?;
            Some(format!("archive `{}` is missing in {layer}", lost.digest.short()))
        })
    }

    /// Returns a message if a layer has only superseded records of a key.
    fn superseded(&self, key: &BuildKey) -> Option<String> {
        let (layer, record) =
            self.layers.iter().find_map(|layer| Some((layer, layer.superseded(key).into_iter().next()?)))?;
        let isa = &record.isa;
        Some(format!(
            "a later build in {layer} read other headers or libraries than its `{isa}` variant\nhint: build it for \
             `{isa}` again"
        ))
    }

    /// Returns the reasons for a module that no layer has.
    pub(crate) fn absent(&self, document: &KeyDocument) -> Vec<Reason> {
        let candidates = self.known().iter().map(|known| (known, &known.document));
        let Some((known, diff)) = nearest(document, candidates) else {
            // A module has a record for each ISA level.
            let keys: BTreeSet<BuildKey> = self.known().iter().map(|known| known.document.key()).collect();
            return vec![Reason::New { known: keys.len() }];
        };
        let version = self.version(known, &diff);
        let nearest = Reason::Nearest {
            signature: known.signature.clone(),
            summary: diff.to_string(),
            differences: diff.differences.iter().map(ToString::to_string).collect(),
        };
        match version {
            None => vec![nearest],
            // The version is the only reason.
            Some(version) if diff.of_version() == Some(true) => vec![version],
            Some(version) => vec![nearest, version],
        }
    }

    /// Returns the different version of precast that built the nearest module, if the version may be the only
    /// difference.
    fn version(&self, known: &Known<'a>, diff: &Diff) -> Option<Reason> {
        let is_certain = diff.of_version()?;
        let recipes = || self.layers.iter().flat_map(Layer::recipes).collect();
        let stated = match known.layer {
            Layer::Bundle { bundle, .. } => Some(bundle.generator()),
            _ => self.recipes.get_or_init(recipes).get(&known.document.key()).map(String::as_str),
        };
        let found = match stated {
            Some(stated) => OtherVersion::of(stated)?.found,
            None => is_certain.then_some(None)?,
        };
        Some(Reason::Version { layer: known.layer.to_string(), found })
    }
}
