//! `precast gc`: selects unused artifacts of a store, explains why, and deletes them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use precast_build::{Lock, Plan};
use precast_ops::Ops;
use precast_store::key::Profile;
use precast_store::{Digest, GcPlan, Keep, OpenError, Reason, Roots, Store, Swept, Victim, VictimKind};
use serde_json::{Value, json};

use super::build;
use crate::args::GcArgs;
use crate::error::{Exit, Failure, Rendered};
use crate::kind::Kind;
use crate::{events, held, layers, print, term};

/// The largest number of items of a kind that are listed in the text; JSON lists all of them.
const LISTED: usize = 40;

/// Runs the command.
pub(super) fn run(args: GcArgs) -> Result<Exit, Failure> {
    let path = if args.cache { cache()? } else { layers::to_build(args.store) };
    let (declared, pinned) = match &args.declared[..] {
        [] => (None, BTreeSet::new()),
        files => roots(files).map(|(roots, pinned)| (Some(roots), pinned))?,
    };
    let keep = Keep {
        declared,
        pinned,
        releases: args.keep_releases,
        max_age: args.max_age,
        max_size: args.max_size,
        grace: args.grace,
    };
    // Every reader moves damaged files to quarantine, even in a dry run.
    let store = match Store::open(&path) {
        // The first program that compiles creates the cache.
        Err(OpenError::Missing { is_lost: false, .. }) if args.cache => {
            return nothing(&path, args.json, args.dry_run);
        }
        opened => opened?.on_event(events::hear),
    };
    let plan = store.plan_gc(&keep)?;
    let checked = check_some_stays(&path, &keep, &plan).and_then(|()| check_clock(&path, &plan, args.empty));
    let swept = match args.dry_run {
        true => {
            if let Err(refused) = checked {
                let Rendered { message, hints, .. } = refused.render();
                let hints: String = hints.iter().map(|hint| format!("\nhint: {hint}")).collect();
                term::warning(&format!("without `--dry-run`, this command fails: {message}{hints}"));
            }
            None
        }
        false => {
            checked?;
            Some(store.sweep(&plan)?)
        }
    };
    if args.json {
        term::print_json(&to_json(&path, &plan, swept.as_ref()))?;
    } else {
        term::print(&text(&path, &keep, &plan, swept.as_ref()))?;
    }
    let left = swept.map_or(0, |swept| swept.left);
    if left > 0 {
        let message = format!("{} not deleted, because other processes kept publishing", things(left));
        return Err(Failure::new(message).hint("run it again later"));
    }
    Ok(Exit::Ok)
}

/// Reports that the store does not exist yet, so that nothing can be deleted.
fn nothing(path: &Path, json: bool, is_dry_run: bool) -> Result<Exit, Failure> {
    if json {
        let swept = (!is_dry_run).then(Swept::default);
        term::print_json(&to_json(path, &GcPlan::default(), swept.as_ref()))?;
    } else {
        term::print(&format!("store `{}` does not exist, nothing to delete\n", path.display()))?;
    }
    Ok(Exit::Ok)
}

/// Returns the store of this user; warns about stores of older formats next to it.
fn cache() -> Result<PathBuf, Failure> {
    let store = precast_store::user_store().ok_or_else(|| {
        Failure::new("this user has no cache directory")
            .hint("set `PRECAST_CACHE` or `HOME`, or name the store with `--store DIR`")
    })?;
    for outdated in precast_store::outdated_user_stores()? {
        term::warning(&format!(
            "`{}` is a store of an older precast, which this version does not use\nhint: delete the directory if no older \
             version is in use",
            outdated.display()
        ));
    }
    Ok(store)
}

/// Returns the declarations of manifests, for release and for a debugger, and the contents and pins of lock files.
fn roots(files: &[PathBuf]) -> Result<(Roots, BTreeSet<Digest>), Failure> {
    let (mut roots, mut pinned) = (Roots::default(), BTreeSet::new());
    for path in files {
        let kind = Kind::at(path).unwrap_or(Kind::Other);
        if !matches!(kind, Kind::Empty | Kind::Lock | Kind::Manifest | Kind::Text | Kind::Other) {
            let what = format!("`{}` is {kind}, expected a manifest or a lock file", path.display());
            return Err(
                Failure::new(what).hint("name the manifest of the artifacts to keep, or its lock file")
            );
        }
        let is_lock = path.extension().is_some_and(|ending| ending == "lock");
        let (found, pins) = if is_lock { of_lock(path)? } else { (of_manifest(path)?, BTreeSet::new()) };
        if found == Roots::default() && pins.is_empty() {
            return Err(Failure::new(format!(
                "`{}` has no declarations, so it keeps nothing",
                path.display()
            ))
            .hint("leave it out; to delete the whole store, delete its directory"));
        }
        roots.entries.extend(found.entries);
        roots.modules.extend(found.modules);
        pinned.extend(pins);
    }
    Ok((roots, pinned))
}

fn of_lock(path: &Path) -> Result<(Roots, BTreeSet<Digest>), Failure> {
    let lock = Lock::read(path)?.ok_or_else(|| held::missing(path))?;
    let modules = lock.modules.into_iter().map(|(_, key)| key).collect();
    let roots = Roots { entries: lock.entries.into_keys().collect(), modules };
    Ok((roots, lock.pins.into_iter().map(|pin| pin.digest).collect()))
}

fn of_manifest(path: &Path) -> Result<Roots, Failure> {
    let mut roots = Roots::default();
    for profile in [Profile::Release, Profile::Debug] {
        let (_, plan) = build::read(path, Ops::standard().with_profile(profile))?;
        let Plan { units, entries, .. } = plan;
        roots.modules.extend(units.iter().flat_map(|unit| unit.members()).map(|(key, _)| *key));
        roots.entries.extend(entries.into_iter().map(|entry| entry.name));
    }
    Ok(roots)
}

/// Refuses to delete everything: the declarations then belong to another store or to another version of precast.
fn check_some_stays(path: &Path, keep: &Keep, plan: &GcPlan) -> Result<(), Failure> {
    let goes =
        plan.victims.iter().any(|victim| matches!(victim.kind, VictimKind::Entry | VictimKind::Record));
    if keep.declared.is_none() || !goes || plan.records + plan.entries > 0 {
        return Ok(());
    }
    let message =
        format!("no declared item is in store `{}`, so everything would be deleted", path.display());
    Err(Failure::new(message)
        .hint("name the manifests that the store was built from, and build first; list the deletions with `--dry-run`"))
}

/// Refuses to delete everything because of its age: the clock may be wrong.
fn check_clock(path: &Path, plan: &GcPlan, may_empty: bool) -> Result<(), Failure> {
    let is_artifact = |victim: &&Victim| matches!(victim.kind, VictimKind::Entry | VictimKind::Record);
    let mut artifacts = plan.victims.iter().filter(is_artifact).peekable();
    let has_artifacts = artifacts.peek().is_some();
    if may_empty
        || !has_artifacts
        || plan.records + plan.entries > 0
        || artifacts.any(|victim| victim.reason != Reason::Old)
    {
        return Ok(());
    }
    let message = format!(
        "everything in store `{}` is older than allowed, so everything would be deleted",
        path.display()
    );
    Err(Failure::new(message).hint("check the clock with `date`; if it is right, pass `--empty`"))
}

fn text(path: &Path, keep: &Keep, plan: &GcPlan, swept: Option<&Swept>) -> String {
    let mut text = format!("store `{}`\n", path.display());
    let (records, entries) =
        (print::count(plan.records, "record", "records"), print::count(plan.entries, "entry", "entries"));
    let _ = writeln!(text, "  keep    {entries}, {records}, {}", print::size(plan.bytes));
    for kind in [VictimKind::Entry, VictimKind::Release, VictimKind::Record] {
        let victims: Vec<&Victim> = plan.victims.iter().filter(|victim| victim.kind == kind).collect();
        for victim in victims.iter().take(LISTED) {
            let (what, why) = (describe(victim), victim.reason.words());
            let _ = writeln!(
                text,
                "  delete  {what}: {why}, {} old, {}",
                age(victim.age),
                print::size(victim.bytes)
            );
        }
        if victims.len() > LISTED {
            let rest: u64 = victims[LISTED..].iter().map(|victim| victim.bytes).sum();
            let _ =
                writeln!(text, "  delete  {} more, {}", things(victims.len() - LISTED), print::size(rest));
        }
    }
    for (kind, what) in [
        (VictimKind::Leftover, "not referenced, from an interrupted publish or a loss"),
        (VictimKind::Temporary, "of a killed writer"),
        (VictimKind::Quarantined, "in quarantine, at least a week old"),
    ] {
        let victims: Vec<&Victim> = plan.victims.iter().filter(|victim| victim.kind == kind).collect();
        if !victims.is_empty() {
            let bytes = victims.iter().map(|victim| victim.bytes).sum();
            let files = print::count(victims.len(), "file", "files");
            let _ = writeln!(text, "  delete  {files} {what}, {}", print::size(bytes));
        }
    }
    if plan.foreign > 0 {
        let _ = writeln!(text, "  keep    {} of a newer precast, and every archive", things(plan.foreign));
    }
    if plan.over > 0 {
        let (over, limit) = (print::size(plan.over), print::size(keep.max_size.unwrap_or_default()));
        let _ = writeln!(
            text,
            "  over    {over} more than {limit}: used by entries, or newer than the grace period"
        );
    }
    let _ = match swept {
        None => {
            writeln!(text, "  would free {} in {}", print::size(plan.freed()), things(plan.victims.len()))
        }
        Some(swept) => writeln!(text, "  freed {} in {}", print::size(swept.bytes), things(swept.removed)),
    };
    if let Some(spared) = swept.map(|swept| swept.spared).filter(|spared| *spared > 0) {
        let _ = writeln!(text, "  {} kept: built or used in the meantime", things(spared));
    }
    text
}

fn describe(victim: &Victim) -> String {
    match victim.kind {
        VictimKind::Entry => format!("entry `{}`", victim.name),
        VictimKind::Release => format!("release `{}`", victim.name),
        _ => victim.name.clone(),
    }
}

fn things(number: usize) -> String {
    print::count(number, "item", "items")
}

/// Formats a duration in the largest unit that is not zero: `3 d`, `5 h`, `12 min`.
fn age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86400 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86400),
    }
}

fn to_json(path: &Path, plan: &GcPlan, swept: Option<&Swept>) -> Value {
    let victims = plan.victims.iter().map(|victim| {
        json!({
            "kind": kind(victim.kind), "name": victim.name, "reason": reason(victim.reason),
            "age_seconds": victim.age.as_secs(), "bytes": victim.bytes,
        })
    });
    json!({
        "store": path.to_string_lossy(),
        "stays": {"entries": plan.entries, "records": plan.records, "bytes": plan.bytes, "foreign": plan.foreign},
        "goes": victims.collect::<Vec<_>>(),
        "over": plan.over,
        "removed": swept.map(|swept| swept.removed),
        "spared": swept.map(|swept| swept.spared),
        "left": swept.map(|swept| swept.left),
        "freed": swept.map_or_else(|| plan.freed(), |swept| swept.bytes),
    })
}

fn kind(kind: VictimKind) -> &'static str {
    match kind {
        VictimKind::Entry => "entry",
        VictimKind::Release => "release",
        VictimKind::Record => "record",
        VictimKind::Temporary => "temporary",
        VictimKind::Quarantined => "quarantined",
        _ => "leftover",
    }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Undeclared => "undeclared",
        Reason::Old => "old",
        Reason::Superseded => "superseded",
        Reason::Budget => "budget",
        Reason::Past => "past",
        _ => "unreachable",
    }
}
