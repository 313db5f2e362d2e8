//! What `precast verify` makes again without a build: machine code from archives alone, keys and fingerprints from declarations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use precast_compile::{RecompileError, Recompiled, Toolchain, recompile};
use precast_ops::Ops;
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::event::chain;
use precast_store::{Record, Store};
use serde_json::{Value, json};

use super::build;
use crate::difference::{self, Files};
use crate::error::Failure;
use crate::print;

/// What came of making things again.
pub(super) struct Again {
    /// What was done, in words that begin a line; and as a name.
    what: (&'static str, &'static str),
    /// How many came out the same.
    pub(super) same: usize,
    /// What came out otherwise.
    pub(super) alarms: BTreeSet<String>,
    /// What is declared, and in none of the stores.
    pub(super) lacking: BTreeSet<String>,
    /// Why others were not compared, and how many they are.
    unchecked: BTreeMap<String, usize>,
}

impl Again {
    fn new(words: &'static str, name: &'static str) -> Self {
        let (alarms, lacking) = (BTreeSet::new(), BTreeSet::new());
        Self { what: (words, name), same: 0, alarms, lacking, unchecked: BTreeMap::new() }
    }

    /// Whether nothing was compared, which is no success.
    pub(super) fn is_empty(&self) -> bool {
        self.same == 0 && self.alarms.is_empty() && self.lacking.is_empty()
    }

    fn skip(&mut self, why: impl Into<String>) {
        *self.unchecked.entry(why.into()).or_default() += 1;
    }

    pub(super) fn text(&self) -> String {
        let same = print::count(self.same, "is the same", "are the same");
        let mut text = format!("{}: {same}\n", self.what.0);
        for alarm in &self.alarms {
            let _ = writeln!(text, "  alarm  {alarm}");
        }
        for lacking in &self.lacking {
            let _ = writeln!(text, "  module {lacking}, which is declared, is not here");
        }
        for (why, count) in &self.unchecked {
            let _ = writeln!(text, "  not compared: {count}, as {why}");
        }
        text
    }

    pub(super) fn json(&self) -> (String, Value) {
        let value = json!({
            "same": self.same, "alarms": self.alarms, "lacking": self.lacking, "unchecked": self.unchecked,
        });
        (self.what.1.to_owned(), value)
    }
}

/// Compiles every archive of the stores again, from what is in it.
pub(super) fn from_archives(stores: &[PathBuf]) -> Result<Again, Failure> {
    let mut again = Again::new("compiled again from archives alone", "recompiled");
    let mut toolchains: BTreeMap<String, Option<Toolchain>> = BTreeMap::new();
    for path in stores {
        let store = Store::open(path)?;
        for record in store.records() {
            let record = record?;
            let find = || Toolchain::find(Some(&record.target)).ok();
            let toolchain = toolchains.entry(record.target.clone()).or_insert_with(find);
            match toolchain {
                Some(toolchain) => again.compile(&store, &record, toolchain),
                None => again.skip(format!("there is no compiler for `{}` here", record.target)),
            }
        }
    }
    Ok(again)
}

impl Again {
    fn compile(&mut self, store: &Store, record: &Record, toolchain: &Toolchain) {
        let signature = record.members.first().map_or("", |member| member.signature.as_str());
        let mut fails = |error: &dyn std::error::Error| {
            self.alarms.insert(format!("{signature} for {}: {}", record.isa, chain(error)));
        };
        let archive = match store.load(record) {
            Ok(archive) => archive,
            Err(error) => return fails(&error),
        };
        let Recompiled { object, shared_object } = match recompile(record, &archive, toolchain) {
            Ok(made) => made,
            Err(RecompileError::NotAlone { why }) => {
                self.skip(why);
                return;
            }
            Err(error) => return fails(&error),
        };
        let made: Files = [(OBJECT, object), (SHARED_OBJECT, shared_object)]
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .into();
        let held: Files = archive.members.into_iter().filter(|(name, _)| made.contains_key(name)).collect();
        if held == made {
            self.same += 1;
            return;
        }
        let mut alarm = format!("{signature} for {} comes out otherwise", record.isa);
        for difference in difference::between(&held, &made) {
            let _ = write!(alarm, "\n    differs {difference}");
        }
        self.alarms.insert(alarm);
    }
}

/// Derives keys, fingerprints and programs from what manifests declare, and looks for them in the stores. No compiler is started.
pub(super) fn from_manifests(manifests: &[PathBuf], stores: &[PathBuf]) -> Result<Again, Failure> {
    let mut again = Again::new("derived again from manifests", "regenerated");
    let stores = stores.iter().map(Store::open).collect::<Result<Vec<_>, _>>()?;
    for path in manifests {
        let (_, plan) = build::read(path, Ops::standard())?;
        for (key, module) in plan.units.iter().flat_map(|unit| unit.members()) {
            let aliases = plan.fingerprints.get(key).into_iter().flatten();
            let mut is_here = false;
            for store in &stores {
                if store.find(key)?.is_empty() {
                    continue;
                }
                is_here = true;
                let (mut is_whole, mut is_lost) = (true, false);
                for alias in aliases.clone() {
                    let found = store.find_fingerprint(alias)?;
                    is_lost |= found.is_empty();
                    for (_, other) in found.iter().filter(|(_, other)| other != key) {
                        is_whole = false;
                        again.alarms.insert(format!(
                            "fingerprint `{}` of {} leads to `{}`, not to `{}`",
                            alias.short(),
                            module.signature,
                            other.short(),
                            key.short()
                        ));
                    }
                }
                if is_lost {
                    again.skip(
                        "they have a fingerprint which nothing in a store is found by; building puts it back",
                    );
                } else if is_whole {
                    again.same += 1;
                }
            }
            if !is_here {
                again.lacking.insert(module.signature.clone());
            }
        }
        for entry in &plan.entries {
            for store in &stores {
                match store.find_entry(&entry.name)? {
                    None => again.skip("a store has no entry of the name"),
                    Some(found) if found.program == entry.program => again.same += 1,
                    Some(found) if (&found.declared, &found.recipe) == (&entry.declared, &entry.recipe) => {
                        again.alarms.insert(format!("entry `{}` has another program", entry.name));
                    }
                    Some(_) => again.skip("a store has another graph under the name"),
                }
            }
        }
    }
    Ok(again)
}
