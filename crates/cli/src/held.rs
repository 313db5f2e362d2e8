//! What manifests and lock files say of stores: held against what these have, without a compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use precast_build::{Lock, LockError};
use precast_ops::Ops;
use precast_store::key::Profile;
use precast_store::{BuildKey, Fingerprint, Record, Store};
use serde_json::{Value, json};

use crate::cmd::read_manifest;
use crate::error::Failure;
use crate::print;

/// What came of it.
#[derive(Default)]
pub(crate) struct Held {
    what: &'static str,
    /// How many things are as they should be.
    same: usize,
    pub(crate) problems: Vec<String>,
}

/// Everything that lock files name is there: graphs, modules, and the archives that are pinned.
pub(crate) fn locks(files: &[PathBuf], stores: &[Store]) -> Result<Held, Failure> {
    let mut held = Held { what: "locked", ..Held::default() };
    for path in files {
        let lock = Lock::read(path)?.ok_or_else(|| LockError::Missing { path: path.clone() })?;
        let of = |what: String| format!("{what}, which `{}` names, is not here", path.display());
        for (name, key) in &lock.entries {
            let found = stores.iter().map(|store| store.find_entry(name)).collect::<Result<Vec<_>, _>>()?;
            let found: Vec<_> = found.iter().flatten().collect();
            let is_it = found.iter().any(|entry| Lock::entry_key(entry) == *key);
            held.check(is_it, || match found.is_empty() {
                true => of(format!("graph `{name}`")),
                false => format!("graph `{name}` is another than `{}` names", path.display()),
            });
        }
        for (signature, key) in &lock.modules {
            let is_there = any(stores, |store| store.find(key), |_| true)?;
            held.check(is_there, || of(format!("module `{signature}`")));
        }
        for pin in &lock.pins {
            let is_there = any(stores, |s| s.find_action(&pin.action), |r| r.digest == pin.digest)?;
            held.check(is_there, || of(format!("archive `{}` for `{}`", pin.digest.short(), pin.isa)));
        }
    }
    Ok(held)
}

/// Whether a store has a record of this kind, and its archive.
fn any(
    stores: &[Store],
    find: impl Fn(&Store) -> Result<Vec<Record>, precast_store::FindError>,
    is_it: impl Fn(&Record) -> bool,
) -> Result<bool, Failure> {
    for store in stores {
        for record in find(store)?.iter().filter(|record| is_it(record)) {
            if store.holds(record)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// What manifests declare is generated again: each module has to be there under its key, and each fingerprint has to lead to the
/// module that it is of.
pub(crate) fn manifests(files: &[PathBuf], stores: &[Store]) -> Result<Held, Failure> {
    let mut held = Held { what: "derived again", ..Held::default() };
    let (mut declared, mut fingerprints) = (BTreeMap::new(), BTreeMap::new());
    for (path, profile) in files.iter().flat_map(|path| [Profile::Release, Profile::Debug].map(|p| (path, p)))
    {
        let (_, plan) = read_manifest(path, Ops::standard().with_profile(profile))?;
        let aliases = plan.fingerprints.iter().flat_map(|(key, all)| all.iter().map(|alias| (*alias, *key)));
        fingerprints.extend(aliases.collect::<BTreeMap<Fingerprint, BuildKey>>());
        // Nobody has to build for a debugger.
        if profile == Profile::Release {
            let members = plan.units.iter().flat_map(|unit| unit.members());
            declared.extend(members.map(|(key, module)| (*key, module.signature.clone())));
        }
    }
    let mut found = BTreeSet::new();
    for store in stores {
        for record in store.records() {
            for member in record?.members {
                for alias in &member.fingerprints {
                    let Some(key) = fingerprints.get(alias) else { continue };
                    held.check(*key == member.key, || {
                        format!("a fingerprint of another module leads to `{}`", member.signature)
                    });
                }
                found.insert(member.key);
            }
        }
    }
    for (key, signature) in declared {
        held.check(found.contains(&key), || format!("module `{signature}`, which is declared, is not here"));
    }
    Ok(held)
}

impl Held {
    fn check(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if holds {
            self.same += 1;
        } else {
            self.problems.push(problem());
        }
    }

    /// Whether there was nothing to look at, which is no success.
    pub(crate) fn is_empty(&self) -> bool {
        self.same == 0 && self.problems.is_empty()
    }

    pub(crate) fn text(&self) -> String {
        let same = print::count(self.same, "thing is as it should be", "things are as they should be");
        let problems = self.problems.iter().map(|problem| format!("  {problem}\n"));
        format!("{}: {same}\n{}", self.what, problems.collect::<String>())
    }

    pub(crate) fn json(&self) -> Value {
        json!({"same": self.same, "problems": self.problems})
    }
}
