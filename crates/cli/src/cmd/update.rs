//! `precast update`: the lock file beside a manifest.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use precast_build::{Executed, Lock, LockError, Plan, lock};
use precast_ops::Ops;
use serde_json::json;

use super::build;
use crate::args::UpdateArgs;
use crate::error::{Exit, Failure};
use crate::{print, term};

/// Where the lock file of a manifest is.
pub(super) fn path(manifest: &Path) -> PathBuf {
    manifest.with_file_name(lock::FILE)
}

/// Runs the command.
pub(super) fn run(args: &UpdateArgs) -> Result<Exit, Failure> {
    let (_, plan) = build::read(&args.manifest, Ops::standard())?;
    let path = path(&args.manifest);
    let present = Lock::read(&path)?;
    let mut new = Lock::of(&plan);
    let changes = present.clone().unwrap_or_default().changes(&new);
    let dropped = match &present {
        // Pins are of these very modules.
        Some(present) if changes.is_empty() => {
            new.pins.clone_from(&present.pins);
            0
        }
        Some(present) => present.pins.len(),
        None => 0,
    };
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
        0 => text.push_str("  nothing changes\n"),
        _ => changes.iter().for_each(|change| {
            let _ = writeln!(text, "  {change}");
        }),
    }
    if dropped > 0 {
        let pins = print::count(dropped, "pin was", "pins were");
        let _ = writeln!(
            text,
            "  {pins} of other modules and {}: `precast build --pin` pins anew",
            if dropped == 1 { "goes" } else { "go" }
        );
    }
    term::print(&text)?;
    Ok(Exit::Ok)
}

/// How a build is held to the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// A difference is a warning.
    Loosely,
    /// A difference is an error.
    Locked,
    /// The file is written, with pins.
    Pinning,
}

/// Holds a plan against the lock file of its manifest; gives that file if it says the same.
pub(super) fn check(manifest: &Path, plan: &Plan, held: Held) -> Result<Option<Lock>, Failure> {
    let path = path(manifest);
    let lock = Lock::read(&path)?;
    match (&lock, held) {
        (_, Held::Pinning) | (None, Held::Loosely) => Ok(None),
        (None, Held::Locked) => Err(LockError::Missing { path }.into()),
        (Some(present), _) => match present.check(plan, &path) {
            Ok(()) => Ok(lock),
            Err(error) if held == Held::Locked => Err(error.into()),
            Err(error) => {
                term::warning(
                    &error.to_string().replace("would change, and nothing may:", "is out of date:"),
                );
                Ok(None)
            }
        },
    }
}

/// Holds what was built against the pins, or writes them.
pub(super) fn finish(
    manifest: &Path,
    (plan, executed): (&Plan, &Executed),
    lock: Option<&Lock>,
    held: Held,
) -> Result<(), Failure> {
    let path = path(manifest);
    if held == Held::Pinning {
        Lock::of(plan).pinning(executed).write(&path)?;
    } else if let Some(lock) = lock.filter(|_| held == Held::Locked) {
        lock.check_pins(executed, &path)?;
    }
    Ok(())
}
