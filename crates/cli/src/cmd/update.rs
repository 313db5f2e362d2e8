//! `precast update`: the lock file next to a manifest.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use precast_build::{Lock, LockError, Plan, lock};
use precast_ops::Ops;
use serde_json::json;

use super::build;
use crate::args::UpdateArgs;
use crate::error::{Exit, Failure};
use crate::{print, term};

/// Returns the path of a manifest's lock file: `model.lock` for `model.toml`, so that each of several manifests has
/// its own. For a package it is `precast.lock`, which its build script reads, whatever manifest the package names.
pub(super) fn path(manifest: &Path) -> PathBuf {
    match manifest.file_name() {
        Some(name) if name == "Cargo.toml" => manifest.with_file_name(lock::FILE),
        // A lock file must not overwrite its manifest.
        _ if manifest.extension().is_some_and(|it| it == "lock") => manifest.with_extension("lock.lock"),
        _ => manifest.with_extension("lock"),
    }
}

/// Runs the command.
pub(super) fn run(args: &UpdateArgs) -> Result<Exit, Failure> {
    let (_, plan) = build::read(&args.manifest, Ops::standard())?;
    let path = path(&args.manifest);
    let (present, broken) = Lock::read_to_replace(&path)?;
    let present = present.unwrap_or_default();
    let (new, changes) = Lock::following(&present, &plan);
    let dropped = present.pins.len() - new.pins.len();
    if let Some(why) = broken {
        term::warning(&format!(
            "replaced invalid `{}`, whose contents and pins are lost: {why}",
            path.display()
        ));
    }
    if !args.dry_run {
        new.write(&path)?;
    }
    if args.json {
        let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
        term::print_json(&json!({
            "lock": path.to_string_lossy(), "entries": new.entries.len(), "modules": new.modules.len(),
            "pins": new.pins.len(), "changes": changes, "pins_dropped": dropped, "written": !args.dry_run,
        }))?;
        return Ok(Exit::Ok);
    }
    let (entries, modules) = (
        print::count(new.entries.len(), "graph", "graphs"),
        print::count(new.modules.len(), "module", "modules"),
    );
    let mut text = format!("{}: {entries}, {modules}\n", path.display());
    match changes.len() {
        0 => text.push_str("  no changes\n"),
        _ => changes.iter().for_each(|change| {
            let _ = writeln!(text, "  {change}");
        }),
    }
    if dropped > 0 {
        let pins = print::count(dropped, "pin", "pins");
        let _ = writeln!(text, "  removed {pins} of modules that are no longer declared");
    }
    if !changes.is_empty() && !present.pins.is_empty() {
        let stay = print::count(new.pins.len(), "pin is kept", "pins are kept");
        let _ = writeln!(text, "  {stay}: pin the rest with `precast build --pin`");
    }
    term::print(&text)?;
    Ok(Exit::Ok)
}

/// How a build treats the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// A difference is a warning.
    Loosely,
    /// A difference is an error.
    Locked,
    /// The file is written, with pins.
    Pinning,
}

/// Checks a plan against the lock file of its manifest; returns the file if both agree.
pub(super) fn check(manifest: &Path, plan: &Plan, held: Held) -> Result<Option<Lock>, Failure> {
    let path = path(manifest);
    if held == Held::Pinning {
        // A file of a newer precast is not replaced.
        return Lock::read_to_replace(&path).map(|(present, _)| present).map_err(Failure::from);
    }
    let lock = Lock::read(&path)?;
    match (&lock, held) {
        (None, Held::Loosely | Held::Pinning) => Ok(None),
        (None, Held::Locked) => Err(LockError::Missing { path }.into()),
        (Some(present), _) => match present.check(plan, &path) {
            Ok(()) => Ok(lock),
            Err(error) if held == Held::Locked => Err(error.into()),
            Err(error) => {
                term::warning(
                    &error
                        .to_string()
                        .replace("is out of date, and changes are not allowed:", "is out of date:"),
                );
                Ok(None)
            }
        },
    }
}
