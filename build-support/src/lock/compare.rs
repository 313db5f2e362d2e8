//! Describes how two locks differ. Changes that follow from other changes are only counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use precast_store::BuildKey;

use super::Lock;

/// The most changes that a message lists.
const LISTED: usize = 30;

/// A difference from the lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A named graph was added.
    EntryAdded {
        /// Its name.
        name: String,
    },
    /// A named graph was removed.
    EntryRemoved {
        /// Its name.
        name: String,
    },
    /// A named graph computes something different, or computes it differently.
    EntryChanged {
        /// Its name.
        name: String,
    },
    /// A module was added.
    ModuleAdded {
        /// Its signature.
        signature: String,
    },
    /// A module was removed.
    ModuleRemoved {
        /// Its signature.
        signature: String,
    },
    /// The generated C of a module changed.
    ModuleChanged {
        /// Its signature.
        signature: String,
        /// The old key.
        old: BuildKey,
        /// The new key.
        new: BuildKey,
    },
}

impl Change {
    /// Returns whether a different version of precast may be the cause, by generating another program or other C from
    /// the same declaration.
    pub(super) fn may_be_of_version(&self) -> bool {
        matches!(self, Self::EntryChanged { .. } | Self::ModuleChanged { .. })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EntryAdded { name } => write!(f, "graph `{name}` is new"),
            Self::EntryRemoved { name } => write!(f, "graph `{name}` was removed"),
            Self::EntryChanged { name } => write!(f, "graph `{name}` changed"),
            Self::ModuleAdded { signature } => write!(f, "module `{signature}` is new"),
            Self::ModuleRemoved { signature } => write!(f, "module `{signature}` was removed"),
            Self::ModuleChanged { signature, old, new } => {
                write!(
                    f,
                    "generated C of module `{signature}` changed: key `{}` was `{}`",
                    new.short(),
                    old.short()
                )
            }
        }
    }
}

impl Lock {
    /// Lists the changes from this lock to `new`: graphs, then modules.
    #[must_use]
    pub fn changes(&self, new: &Self) -> Vec<Change> {
        let names: BTreeSet<&String> = self.entries.keys().chain(new.entries.keys()).collect();
        let mut changes = Vec::new();
        for name in names {
            let name = name.clone();
            match (self.entries.get(&name), new.entries.get(&name)) {
                (None, _) => changes.push(Change::EntryAdded { name }),
                (_, None) => changes.push(Change::EntryRemoved { name }),
                (old, new) if old != new => changes.push(Change::EntryChanged { name }),
                _ => {}
            }
        }
        let (gone, come) =
            (by_signature(&self.modules, &new.modules), by_signature(&new.modules, &self.modules));
        let signatures: BTreeSet<&String> = gone.keys().chain(come.keys()).collect();
        for signature in signatures {
            let none = Vec::new();
            let (old, new) = (gone.get(signature).unwrap_or(&none), come.get(signature).unwrap_or(&none));
            let both = old.len().min(new.len());
            for (old, new) in old.iter().zip(new) {
                let (signature, old, new) = (signature.clone(), *old, *new);
                changes.push(Change::ModuleChanged { signature, old, new });
            }
            let added = new[both..].iter().map(|_| Change::ModuleAdded { signature: signature.clone() });
            let removed = old[both..].iter().map(|_| Change::ModuleRemoved { signature: signature.clone() });
            changes.extend(removed.chain(added));
        }
        changes
    }
}

type Modules = BTreeSet<(String, BuildKey)>;

/// Returns the modules of `one` that `other` lacks.
fn by_signature(one: &Modules, other: &Modules) -> BTreeMap<String, Vec<BuildKey>> {
    let mut found: BTreeMap<String, Vec<BuildKey>> = BTreeMap::new();
    for (signature, key) in one.difference(other) {
        found.entry(signature.clone()).or_default().push(*key);
    }
    found
}

/// Renders a line for each change, up to a limit.
pub(super) fn list(changes: &[Change]) -> String {
    let mut lines: Vec<String> = changes.iter().take(LISTED).map(|change| format!("  {change}")).collect();
    if changes.len() > LISTED {
        lines.push(format!("  and {} more", changes.len() - LISTED));
    }
    lines.join("\n")
}
