//! `precast build`: the pipeline of `precast-build`, for a manifest named on the command line.

mod inputs;
mod manifest;
mod pin;
#[cfg_attr(not(feature = "remote"), path = "local.rs")]
mod remote;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use precast_build::pipeline::{self, Access, StoreChoice};
use precast_build::{Compilation, ExecuteError, Executed, Execution, Lock, Locked, Mode, Plan};
use precast_compile::{ChooseIsaError, Progress, Toolchain, Variant, host_target};
use precast_ops::Ops;
use precast_picture::Timing;
use precast_store::Store;
use precast_store::key::Profile;

pub(super) use self::manifest::read;
use self::remote::Remotes;
use self::summary::Summary;
use super::update::{self, Held};
use crate::args::BuildArgs;
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::provenance::{self, Builder};
use crate::{events, layers, term, whole};

/// A build before it is executed: nothing has been written yet.
struct Planned<'a> {
    args: &'a BuildArgs,
    plan: Plan,
    held: Held,
    /// The lock file, if it agrees with the plan.
    lock: Option<Lock>,
    lock_path: PathBuf,
    target: String,
    /// The files that the manifest consists of.
    read: Vec<PathBuf>,
    variants: Vec<Variant>,
    /// `None` if pinned archives are used, whatever compiler is installed.
    toolchain: Option<Toolchain>,
}

/// Runs the command.
pub(super) fn run(args: &BuildArgs) -> Result<Exit, Failure> {
    let start = Instant::now();
    args.bundle.iter().try_for_each(|path| whole::check(path, Kind::Bundle))?;
    let mut builder = builder(args)?;
    let mut planned = Planned::new(args, builder.as_mut())?;
    let remotes = Remotes::new(args)?;
    planned.toolchain = planned.toolchain.map(|toolchain| remotes.compiling(toolchain));
    let path = layers::to_build(args.store.clone());
    let store = open_store(&path, args.frozen, remotes.is_any())?;
    remotes.prefetch(&planned, store.as_ref())?;
    let executed = planned.execute(store.as_ref(), &remotes);
    remotes.tell();
    let executed = executed.map_err(|error| match error {
        ExecuteError::Damaged { .. } => Failure::from(error).exiting(Exit::Damaged),
        other => other.into(),
    })?;
    if let Some(store) =
        store.as_ref().filter(|store| args.frozen && args.bundle.is_none() && !store.is_writable())
    {
        check_names(store, &planned.plan)?;
    }
    if planned.held == Held::Pinning {
        planned.pin(&executed)?;
        take(builder.as_mut(), &planned.lock_path)?;
    }
    executed.remarks().for_each(|warning| term::warning(&warning));
    let toolchain = planned.toolchain.as_ref();
    let bundle = args.bundle.as_ref().map(|path| write_bundle(path, &executed, toolchain)).transpose()?;
    if let (Some(builder), Some(toolchain)) = (builder, toolchain) {
        builder.state(store.as_ref(), bundle.as_ref(), &executed, toolchain)?;
    }
    let inputs = planned.inputs(&executed);
    if let Some(file) = &args.depfile {
        inputs::write_depfile(file, args.bundle.as_ref().unwrap_or(&path), &inputs)?;
    }
    if let Some(file) = &args.timings {
        write_timings(file, &args.manifest, &executed.compilations)?;
    }
    let summary = Summary {
        planned,
        executed,
        inputs,
        store: path,
        bundle: bundle.map(|(path, bytes)| (path, bytes.len())),
        seconds: start.elapsed().as_secs_f64(),
    };
    summary.print()?;
    Ok(Exit::Ok)
}

impl<'a> Planned<'a> {
    /// Reads the manifest and the lock file, and finds the compiler.
    fn new(args: &'a BuildArgs, mut builder: Option<&mut Builder>) -> Result<Self, Failure> {
        let profile = if args.debug_info { Profile::Debug } else { Profile::Release };
        let ops = Ops::standard().with_profile(profile).with_passes(args.passes.clone().unwrap_or_default());
        take(builder.as_deref_mut(), &args.manifest)?;
        let (manifest, plan) = read(&args.manifest, ops)?;
        let lock_path = update::path(&args.manifest);
        take(builder, &lock_path)?;
        let held = match (args.pin, args.locked || args.frozen) {
            (true, _) => Held::Pinning,
            (_, true) => Held::Locked,
            _ => Held::Loosely,
        };
        // Only release builds are locked.
        let is_usual = profile == Profile::Release && args.passes.is_none();
        let lock = if is_usual { update::check(&args.manifest, &plan, held)? } else { None };
        let stated = || args.target.clone().or_else(|| manifest.target().map(str::to_owned));
        let target = stated().unwrap_or_else(host_target);
        let levels = if args.isa.is_empty() { manifest.isa()?.unwrap_or_default() } else { args.isa.clone() };
        let variants = Variant::choose(levels, &target, profile).map_err(foreign)?;
        let read = manifest.inputs();
        let mut planned = Self { args, plan, held, lock, lock_path, target, read, variants, toolchain: None };
        let glibc = args.glibc.as_deref().or_else(|| manifest.glibc());
        planned.toolchain = planned.find_toolchain(glibc)?;
        planned.check_lock()?;
        if planned.toolchain.is_none() && args.builder.is_some() {
            term::warning("`--builder` has no effect: the pinned artifacts were not built here");
        }
        Ok(planned)
    }

    /// Returns the lock file that the build must follow.
    fn pinned(&self) -> Option<&Lock> {
        self.lock.as_ref().filter(|_| self.held == Held::Locked)
    }

    /// Finds the compiler. A frozen build takes pinned archives without it, so it needs no compiler if the local one
    /// would not reproduce all pins.
    fn find_toolchain(&self, glibc: Option<&str>) -> Result<Option<Toolchain>, Failure> {
        let found = Toolchain::find_for(Some(&self.target), glibc);
        let Some(lock) = self.pinned().filter(|_| self.args.frozen) else { return Ok(Some(found?)) };
        if lock.is_of_others(&self.plan, found.as_ref().ok(), &self.variants, &self.target) {
            return Ok(None);
        }
        let hint = "pin the archives with `precast build --pin` to build without a compiler";
        found.map(Some).map_err(|error| Failure::from(error).hint(hint))
    }

    /// Checks the actions of the plan against the pins.
    fn check_lock(&self) -> Result<(), Failure> {
        let Some(lock) = self.pinned() else { return Ok(()) };
        if let Some(toolchain) = &self.toolchain {
            lock.check_actions(&self.plan, toolchain, &self.variants, &self.lock_path)?;
        }
        lock.unpinned(&self.target, &self.lock_path).iter().for_each(|warning| term::warning(warning));
        Ok(())
    }

    /// Executes the plan and shows its progress.
    fn execute(&self, store: Option<&Store>, remotes: &Remotes) -> Result<Executed, ExecuteError> {
        let bar = term::progress((self.plan.units.len() * self.variants.len()) as u64);
        let progress = |progress| match progress {
            Progress::Waiting => bar.set_message("waiting for another build of the same modules"),
            Progress::Finished { done, total, .. } => {
                bar.set_message("");
                bar.set_length(total as u64);
                bar.set_position(done as u64);
            }
            _ => {}
        };
        let execution = Execution {
            store,
            cache: remotes.cache(),
            toolchain: self.toolchain.as_ref(),
            variants: &self.variants,
            mode: if self.args.frozen { Mode::Reuse } else { Mode::Compile },
            locked: self.pinned().map(|lock| Locked { lock, path: &self.lock_path }),
            parallel: remotes.parallel(self.args.jobs),
            progress: &progress,
        };
        let executed = pipeline::build(&self.plan, &execution, &self.args.manifest);
        bar.finish_and_clear();
        executed
    }
}

/// Returns the builder that the statements of this build name.
fn builder(args: &BuildArgs) -> Result<Option<Builder>, Failure> {
    let named = || std::env::var("PRECAST_BUILDER").ok().filter(|name| !name.is_empty());
    let Some(id) = args.builder.clone().or_else(named) else {
        let given = [("--source", args.source.is_some()), ("--invocation", args.invocation.is_some())];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(None),
            Some((option, _)) => {
                Err(Failure::usage(format!("`{option}` needs a builder: only its statements state it"))
                    .hint("name the builder with `--builder URI`, or in `PRECAST_BUILDER`"))
            }
        };
    };
    let source = args.source.clone().map(|uri| (uri, args.source_commit.clone()));
    Builder::new(id, source, args.invocation.clone()).map(Some)
}

/// Records a file that the build reads or has written.
fn take(builder: Option<&mut Builder>, path: &Path) -> Result<(), Failure> {
    builder.map_or(Ok(()), |builder| builder.take(path))
}

fn foreign(error: ChooseIsaError) -> Failure {
    match error {
        ChooseIsaError::Foreign { .. } => Failure::usage(error.to_string())
            .hint("use `--target` for the target, and `--isa` for its levels"),
        other => other.into(),
    }
}

/// Opens the store to build into. A frozen build may only read the store, and creates one only if something can fill
/// it.
fn open_store(path: &Path, is_frozen: bool, is_filled: bool) -> Result<Option<Store>, Failure> {
    let access = match (is_frozen, is_filled) {
        (false, _) => Access::Publish,
        (true, true) => Access::Fetch,
        (true, false) => Access::Read,
    };
    let opened = StoreChoice::Named(path).open(access).map_err(|refused| refused.source)?;
    Ok(opened.store.map(|store| store.on_event(events::hear)))
}

/// Checks that the entries of a read-only store match the planned graphs: without a bundle, a run has no other source
/// of names.
fn check_names(store: &Store, plan: &Plan) -> Result<(), Failure> {
    for entry in &plan.entries {
        let found = store.find_entry(&entry.name)?;
        if found.as_ref().map(Lock::entry_key) != Some(Lock::entry_key(entry)) {
            let what = if found.is_some() { "has another graph for" } else { "has no entry" };
            let message =
                format!("store `{}` {what} `{}`, and is read-only", store.path().display(), entry.name);
            return Err(Failure::new(message)
                .hint("build as the owner of the store, or write a bundle with `--bundle FILE`"));
        }
    }
    Ok(())
}

/// Writes the page of `--timings`.
fn write_timings(file: &Path, manifest: &Path, compilations: &[Compilation]) -> Result<(), Failure> {
    let timing = |one: &Compilation| Timing {
        title: one.title.clone(),
        start: one.start_millis,
        duration: one.millis,
    };
    let timings: Vec<Timing> = compilations.iter().map(timing).collect();
    let page = precast_picture::timings(&format!("Build of {}", manifest.display()), &timings);
    whole::write(file, Kind::Text, |out| out.write_all(page.as_bytes()))?.commit()?;
    Ok(())
}

fn write_bundle(
    path: &Path,
    executed: &Executed,
    toolchain: Option<&Toolchain>,
) -> Result<(PathBuf, Vec<u8>), Failure> {
    let bytes = executed.bundle(toolchain)?;
    // An unchanged file keeps its time, so that a build system does not run the steps after it.
    if whole::has(path, &bytes) {
        return Ok((path.to_owned(), bytes));
    }
    let written = whole::write(path, Kind::Bundle, |out| out.write_all(&bytes))?;
    provenance::forget(path, &bytes)?;
    whole::forget_signatures(path)?;
    written.commit_durably()?;
    Ok((path.to_owned(), bytes))
}
