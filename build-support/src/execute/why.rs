//! Why units were compiled, in the words of those who declared them: what of the store came nearest, and what differed.
//!
//! ```text
//! ActionKey there ─▶ its archive is lost
//! BuildKeys there ─▶ another target, ISA level, compiler, flags, or other modules in the unit
//! else            ─▶ a module changed: in what it differs from the nearest; or there is nothing near
//! ```

use std::fmt;

use precast_compile::{Toolchain, Variant};
use precast_store::key::{KeyDocument, nearest};
use precast_store::{ActionKey, FindError, Record, Store};
use serde::{Deserialize, Serialize};

use precast_codegen::Unit;

/// Most records that are compared to find the nearest.
const COMPARED: usize = 20_000;

/// A unit that was compiled, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compilation {
    /// The unit: the signature of its first module, and how many more there are.
    pub title: String,
    /// What kept the store from serving it.
    pub why: Why,
    /// How long the compiler took, in milliseconds.
    pub millis: u64,
}

/// What kept a store from serving a unit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// There is no store.
    NoStore,
    /// Its archive is lost or was damaged.
    Lost,
    /// It was compiled for other targets only.
    Target {
        /// Those targets.
        found: Vec<String>,
    },
    /// It was compiled for other ISA levels only.
    Isa {
        /// Those levels.
        found: Vec<String>,
    },
    /// Another compiler made it, or the same one before an update.
    Compiler,
    /// The compiler was asked otherwise, or libraries or headers of the system changed.
    Flags,
    /// It was compiled together with other modules.
    Neighbours,
    /// A module is not what it was.
    Changed {
        /// The module.
        signature: String,
        /// The nearest that there is.
        nearest: String,
        /// In what that differs.
        differences: String,
    },
    /// Nothing in the store is near.
    New {
        /// The first module.
        signature: String,
    },
}

/// Renders the reason, to stand after the unit.
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStore => f.write_str("there is no store to take it from"),
            Self::Lost => f.write_str("its archive was lost or damaged"),
            Self::Target { found } => write!(f, "the store has it for `{}`", found.join("`, `")),
            Self::Isa { found } => write!(f, "the store has it for `{}`", found.join("`, `")),
            Self::Compiler => f.write_str("another compiler made what the store has"),
            Self::Flags => f.write_str("flags, or libraries or headers of the system, are others"),
            Self::Neighbours => f.write_str("it is compiled together with other modules"),
            Self::Changed { signature, nearest, differences } if signature == nearest => {
                write!(f, "`{signature}` changed: {differences}")
            }
            Self::Changed { signature, differences, .. } => {
                write!(f, "`{signature}` is new; nearest {differences}")
            }
            Self::New { signature } => write!(f, "`{signature}` is new, and nothing in the store is near"),
        }
    }
}

/// Finds reasons in a store, which is read once for all that have changed.
pub(super) struct Reasons<'s> {
    store: Option<&'s Store>,
    toolchain: &'s Toolchain,
    documents: Option<Vec<(String, KeyDocument)>>,
}

impl<'s> Reasons<'s> {
    pub(super) fn new(store: Option<&'s Store>, toolchain: &'s Toolchain) -> Self {
        Self { store, toolchain, documents: None }
    }

    /// Why the store does not serve a unit.
    pub(super) fn of(
        &mut self,
        unit: &Unit,
        variant: &Variant,
        action: &ActionKey,
    ) -> Result<Why, FindError> {
        let Some(store) = self.store else { return Ok(Why::NoStore) };
        if !store.find_action(action)?.is_empty() {
            return Ok(Why::Lost);
        }
        for (key, module) in unit.members() {
            if store.find(key)?.is_empty() {
                return self.changed(store, &module.signature, &module.document());
            }
        }
        let records = store.find(&unit.members()[0].0)?;
        Ok(self.otherwise(&records, unit, variant))
    }

    /// The modules are there, from other actions.
    fn otherwise(&self, records: &[Record], unit: &Unit, variant: &Variant) -> Why {
        let of_target: Vec<&Record> =
            records.iter().filter(|record| record.target == variant.target).collect();
        if of_target.is_empty() {
            return Why::Target { found: distinct(records.iter().map(|record| record.target.clone())) };
        }
        let alike: Vec<&&Record> =
            of_target.iter().filter(|record| record.isa == variant.isa.name()).collect();
        if alike.is_empty() {
            return Why::Isa { found: distinct(of_target.iter().map(|record| record.isa.clone())) };
        }
        let keys = || unit.members().iter().map(|(key, _)| *key);
        let same = alike.iter().filter(|record| record.members.iter().map(|member| member.key).eq(keys()));
        let toolchain = self.toolchain.id(unit.language()).ok();
        match same.clone().next() {
            None => Why::Neighbours,
            Some(_) if same.clone().all(|record| record.toolchain != toolchain) => Why::Compiler,
            Some(_) => Why::Flags,
        }
    }

    fn changed(&mut self, store: &Store, signature: &str, wanted: &KeyDocument) -> Result<Why, FindError> {
        if self.documents.is_none() {
            let mut documents = Vec::new();
            for record in store.records().take(COMPARED) {
                let members = record?.members.into_iter();
                documents.extend(members.filter_map(|member| Some((member.signature, member.document?))));
            }
            documents.sort_by(|(a, _), (b, _)| a.cmp(b));
            self.documents = Some(documents);
        }
        let known =
            self.documents.iter().flatten().map(|(signature, document)| (signature.clone(), document));
        let signature = signature.to_owned();
        Ok(match nearest(wanted, known) {
            Some((nearest, diff)) => Why::Changed { signature, nearest, differences: diff.to_string() },
            None => Why::New { signature },
        })
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let names: std::collections::BTreeSet<String> = names.collect();
    names.into_iter().collect()
}
