//! The parts of `precast verify` that need no build: compiling archives again, and deriving keys and fingerprints
//! again from declarations.

use std::collections::BTreeMap;
use std::path::PathBuf;

use precast_compile::{RecompileError, Recompiled, Toolchain, recompile};
use precast_ops::Ops;
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::event::chain;
use precast_store::{Record, Store};

use super::build;
use crate::compared::Compared;
use crate::difference::{self, Files};
use crate::error::Failure;
use crate::searched::Searched;

/// Compiles every archive of the stores again, from its own contents.
pub(super) fn from_archives(stores: &[PathBuf]) -> Result<Compared, Failure> {
    let mut again = Compared::new("recompiled from archives", "recompiled");
    let mut toolchains: BTreeMap<String, Option<Toolchain>> = BTreeMap::new();
    for path in stores {
        let store = Store::open(path)?;
        for record in store.records() {
            let record = record?;
            let find = || Toolchain::find(Some(&record.target)).ok();
            let toolchain = toolchains.entry(record.target.clone()).or_insert_with(find);
            match toolchain {
                Some(toolchain) => compile(&mut again, &store, &record, toolchain),
                None => again.skip(format!("no compiler for `{}` found", record.target)),
            }
        }
    }
    Ok(again)
}

fn compile(again: &mut Compared, store: &Store, record: &Record, toolchain: &Toolchain) {
    let signature = record.members.first().map_or("", |member| member.signature.as_str());
    let mut fails = |error: &dyn std::error::Error| {
        again.alarm(format!("{signature} for {}: {}", record.isa, chain(error)), Vec::new());
    };
    let archive = match store.load(record) {
        Ok(archive) => archive,
        Err(error) => return fails(&error),
    };
    let Recompiled { object, shared_object } = match recompile(record, &archive, toolchain) {
        Ok(made) => made,
        Err(RecompileError::NotAlone { why }) => return again.skip(why),
        Err(error) => return fails(&error),
    };
    let made: Files = [(OBJECT, object), (SHARED_OBJECT, shared_object)]
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .into();
    let held: Files = archive.members.into_iter().filter(|(name, _)| made.contains_key(name)).collect();
    if held == made {
        again.same += 1;
    } else {
        let what = format!("{signature} for {} differs after recompiling", record.isa);
        again.alarm(what, difference::between(&held, &made));
    }
}

/// Derives keys, fingerprints and programs from manifests, and looks them up in stores and bundles. No compiler is
/// started.
pub(super) fn from_manifests(manifests: &[PathBuf], stores: &[Searched]) -> Result<Compared, Failure> {
    let mut again = Compared::new("derived from manifests", "regenerated");
    for path in manifests {
        let (_, plan) = build::read(path, Ops::standard())?;
        for (key, module) in plan.units.iter().flat_map(|unit| unit.members()) {
            let aliases = plan.fingerprints.get(key).into_iter().flatten();
            let mut is_here = false;
            for store in stores {
                if store.find(key)?.is_empty() {
                    continue;
                }
                is_here = true;
                let (mut is_whole, mut is_lost) = (true, false);
                for alias in aliases.clone() {
                    let found = store.find_fingerprint(alias)?;
                    is_lost |= found.is_empty();
                    for other in found.iter().filter(|other| *other != key) {
                        is_whole = false;
                        let what = format!(
                            "fingerprint `{}` of {} leads to `{}`, expected `{}`",
                            alias.short(),
                            module.signature,
                            other.short(),
                            key.short()
                        );
                        again.alarm(what, Vec::new());
                    }
                }
                if is_lost {
                    again.skip("no layer has their fingerprint; rebuild to restore it");
                } else if is_whole {
                    again.same += 1;
                }
            }
            if !is_here {
                again.lack(format!("{} is declared but missing", module.signature));
            }
        }
        for entry in &plan.entries {
            for store in stores {
                match store.find_entry(&entry.name)? {
                    None => again.skip("a layer does not have the entry"),
                    Some(found) if found.program == entry.program => again.same += 1,
                    Some(found) if (&found.declared, &found.recipe) == (&entry.declared, &entry.recipe) => {
                        again.alarm(format!("entry `{}` has a different program", entry.name), Vec::new());
                    }
                    Some(_) => again.skip("a layer has a different graph with this name"),
                }
            }
        }
    }
    Ok(again)
}
