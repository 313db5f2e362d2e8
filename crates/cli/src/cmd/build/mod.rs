//! `precast build`: the stages of `precast-build`, for a manifest named on the command line.

mod summary;

use std::path::{Path, PathBuf};
#[cfg(feature = "remote")]
use std::sync::Arc;
use std::time::Instant;

use precast_build::history;
use precast_build::lock::Pin;
use precast_build::{
    DeclareError, Declared, ExecuteError, Executed, Execution, Lock, Locked, Manifest, Mode, Plan, execute,
    plan_after,
};
use precast_compile::{ChooseIsaError, Isa, Progress, Toolchain, Variant, host_target};
use precast_ops::Ops;
use precast_store::key::Profile;
#[cfg(feature = "remote")]
use precast_store::{
    Keyring,
    remote::{Remote, Wanted},
};
use precast_store::{OpenError, Store};

use self::summary::Summary;
use super::update::{self, Held};
use crate::args::BuildArgs;
#[cfg(feature = "remote")]
use crate::args::LayerArgs;
#[cfg(feature = "remote")]
use crate::elsewhere::Elsewhere;
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::provenance::{self, Builder};
use crate::{events, layers, term, whole};

/// Runs the command.
#[allow(clippy::too_many_lines, reason = "the stages of a build, one after the other")]
pub(super) fn run(args: BuildArgs) -> Result<Exit, Failure> {
    let start = Instant::now();
    args.bundle.iter().try_for_each(|path| whole::check(path, Kind::Bundle))?;
    let named = || std::env::var("PRECAST_BUILDER").ok().filter(|name| !name.is_empty());
    let has_builder = args.builder.is_some();
    let mut builder = args.builder.or_else(named).map(Builder::new).transpose()?;
    let mut take = |path: &Path| builder.iter_mut().try_for_each(|builder| builder.take(path));
    let profile = if args.debug_info { Profile::Debug } else { Profile::Release };
    let ops = Ops::standard().with_profile(profile).with_passes(args.passes.clone().unwrap_or_default());
    take(&args.manifest)?;
    let (manifest, plan) = read(&args.manifest, ops)?;
    let lock_path = update::path(&args.manifest);
    take(&lock_path)?;
    let held = match (args.pin, args.locked || args.frozen) {
        (true, _) => Held::Pinning,
        (_, true) => Held::Locked,
        _ => Held::Loosely,
    };
    // Only release builds are locked.
    let is_usual = profile == Profile::Release && args.passes.is_none();
    let lock = if is_usual { update::check(&args.manifest, &plan, held)? } else { None };
    let target = args.target.or_else(|| manifest.target().map(str::to_owned)).unwrap_or_else(host_target);
    let variants = variants(args.isa, &manifest, &target, profile)?;
    let pinned = (held == Held::Locked).then_some(()).and(lock.as_ref());
    let taken = pinned.filter(|_| args.frozen);
    let toolchain = find_toolchain((&target, &variants), taken, &plan)?;
    if let Some(lock) = pinned {
        if let Some(toolchain) = &toolchain {
            lock.check_actions(&plan, (toolchain, &variants), &lock_path)?;
        }
        lock.unpinned(&target, &lock_path).iter().for_each(|told| term::warning(told));
    }
    if toolchain.is_none() && has_builder {
        term::warning("`--builder` has no effect: the pinned artifacts were not built here");
    }
    #[cfg(feature = "remote")]
    let keyring = match args.remote.is_empty() && args.elsewhere.remote_cache.is_none() {
        true => None,
        false => layers::open_keyring(&LayerArgs { keyring: args.keyring, ..LayerArgs::default() })?,
    };
    #[cfg(feature = "remote")]
    let elsewhere = Elsewhere::new(args.elsewhere, keyring.clone())?;
    #[cfg(feature = "remote")]
    let toolchain = toolchain.map(|toolchain| elsewhere.compiling(toolchain));
    #[cfg(feature = "remote")]
    let (cache, parallel) = (elsewhere.cache(), elsewhere.parallel(args.jobs));
    #[cfg(not(feature = "remote"))]
    let (cache, parallel) =
        (None, args.jobs.map_or(precast_compile::Parallel::Auto, precast_compile::Parallel::Jobs));
    #[cfg(feature = "remote")]
    let remotes = match args.remote.is_empty() {
        true => None,
        false => Some(keyring.ok_or_else(layers::no_keyring)?),
    };
    let path = layers::to_build(args.store);
    #[cfg(feature = "remote")]
    let is_filled = cache.is_some() || !args.remote.is_empty();
    #[cfg(not(feature = "remote"))]
    let is_filled = false;
    let store = open_store(&path, args.frozen, is_filled)?;
    #[cfg(feature = "remote")]
    if let Some(keyring) = remotes {
        let wanted = wanted(&plan, (toolchain.as_ref(), pinned), &variants);
        for url in &args.remote {
            fetch(url, &keyring, store.as_ref(), &wanted)?;
        }
    }
    let executed = carry_out(
        &plan,
        Execution {
            store: store.as_ref(),
            cache,
            toolchain: toolchain.as_ref(),
            variants: &variants,
            mode: if args.frozen { Mode::Reuse } else { Mode::Compile },
            locked: pinned.map(|lock| Locked { lock, path: &lock_path }),
            parallel,
            progress: &|_| {},
        },
    );
    #[cfg(feature = "remote")]
    elsewhere.tell();
    let executed = executed.map_err(|error| match error {
        ExecuteError::Damaged { .. } => Failure::from(error).exiting(Exit::Damaged),
        other => other.into(),
    })?;
    if let Some(store) =
        store.as_ref().filter(|store| args.frozen && args.bundle.is_none() && !store.is_writable())
    {
        check_names(store, &plan)?;
    }
    if held == Held::Pinning {
        pin(lock, &lock_path, (&plan, &executed), &target)?;
        take(&lock_path)?;
    }
    store.iter().for_each(|store| history::remember(store, &args.manifest, &executed));
    plan.warnings().for_each(|warning| term::warning(&warning));
    executed.stale.iter().for_each(|stale| term::warning(&stale.to_string()));
    let bundle = args.bundle.map(|path| write_bundle(path, &executed, toolchain.as_ref())).transpose()?;
    if let (Some(builder), Some(toolchain)) = (builder, &toolchain) {
        builder.state(store.as_ref(), bundle.as_ref(), &executed, toolchain)?;
    }
    let summary = Summary {
        manifest: args.manifest,
        plan,
        executed,
        target,
        variants,
        compiler: toolchain.map(|toolchain| toolchain.description().to_owned()),
        store: path,
        bundle: bundle.map(|(path, bytes)| (path, bytes.len())),
        seconds: start.elapsed().as_secs_f64(),
        why: args.why,
    };
    if args.json {
        summary.print_json()?;
    } else {
        term::print(&summary.text())?;
    }
    Ok(Exit::Ok)
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

/// Writes the archives of a build into the lock file.
fn pin(
    lock: Option<Lock>,
    path: &Path,
    (plan, executed): (&Plan, &Executed),
    target: &str,
) -> Result<(), Failure> {
    let mut pinned = Lock::of(plan).pinning(executed.records());
    // Pins of other targets stay: all of them if the plan is the same, else those whose modules are still in the
    // plan.
    if let Some(present) = lock {
        let is_same = present.check(plan, path).is_ok();
        let stay: Vec<Pin> = match is_same {
            true => present.pins.into_iter().collect(),
            false => present.pins_of(plan).cloned().collect(),
        };
        pinned.pins.extend(stay.into_iter().filter(|pin| pin.target != target));
    }
    pinned.write(path)?;
    Ok(())
}

/// Reads a manifest and plans its declarations. On failure nothing has been written or started.
pub(crate) fn read(path: &Path, ops: Ops) -> Result<(Manifest, Plan), Failure> {
    if fs_err::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Err(Failure::new(format!("manifest `{}` not found", path.display()))
            .hint("name a manifest, or write one as shown by `precast build --help`"));
    }
    let refused =
        |error: DeclareError| Failure::new(format!("cannot build `{}`", path.display())).because(error);
    let manifest = match path.file_name().is_some_and(|name| name == "Cargo.toml") {
        false => Manifest::read(path).map_err(refused)?,
        true => Manifest::read_metadata(path).map_err(refused)?.ok_or_else(|| {
            Failure::new(format!("missing table `[package.metadata.precast]` in `{}`", path.display()))
        })?,
    };
    let mut declared = Declared::new(ops);
    let declaring = manifest.declare(&mut declared);
    if declaring.is_ok() && declared.is_empty() {
        term::warning(&format!("`{}` declares nothing", path.display()));
    }
    let plan = plan_after(declaring, &declared).map_err(refused)?;
    Ok((manifest, plan))
}

/// Returns the variants to compile for. Their ISA levels come from the command line, else the manifest, else the
/// target's defaults.
fn variants(
    named: Vec<Isa>,
    manifest: &Manifest,
    target: &str,
    profile: Profile,
) -> Result<Vec<Variant>, Failure> {
    let levels = if named.is_empty() { manifest.isa()?.unwrap_or_default() } else { named };
    Variant::choose(levels, target, profile).map_err(|error| match error {
        ChooseIsaError::Foreign { .. } => Failure::usage(error.to_string())
            .hint("use `--target` for the target, and `--isa` for its levels"),
        other => other.into(),
    })
}

/// Finds the compiler. A frozen build takes pinned archives without it, so it needs no compiler if the local one
/// would not reproduce all pins.
fn find_toolchain(
    (target, variants): (&str, &[Variant]),
    taken: Option<&Lock>,
    plan: &Plan,
) -> Result<Option<Toolchain>, Failure> {
    let found = Toolchain::find(Some(target));
    let Some(lock) = taken else { return Ok(Some(found?)) };
    if lock.is_of_others(plan, (found.as_ref().ok(), variants), target) {
        return Ok(None);
    }
    let hint = "pin the archives with `precast build --pin` to build without a compiler";
    found.map(Some).map_err(|error| Failure::from(error).hint(hint))
}

/// Opens the store to build into. A frozen build may only read the store, and creates one only if something can fill
/// it.
fn open_store(path: &Path, is_frozen: bool, is_filled: bool) -> Result<Option<Store>, Failure> {
    let store = match is_frozen.then(|| Store::open(path)) {
        Some(Err(OpenError::Missing { is_lost: false, .. })) if !is_filled => return Ok(None),
        Some(Err(OpenError::Missing { .. })) if is_filled => Store::create(path)?,
        None => Store::create(path)?,
        Some(opened) => opened?,
    };
    Ok(Some(store.on_event(events::hear)))
}

/// Lists the actions of a plan: those of the compiler, or without one the pinned actions.
#[cfg(feature = "remote")]
fn wanted(
    plan: &Plan,
    (toolchain, lock): (Option<&Toolchain>, Option<&Lock>),
    variants: &[Variant],
) -> Vec<Wanted> {
    let Some(toolchain) = toolchain else {
        let pins = lock.into_iter().flat_map(|lock| &lock.pins);
        let pins = pins.filter(|pin| variants.iter().any(|variant| pin.is_for(variant)));
        return pins.map(|pin| Wanted::Action(pin.action)).collect();
    };
    let pairs = plan.units.iter().flat_map(|unit| variants.iter().map(move |variant| (unit, variant)));
    // Compilation reports a unit that cannot be compiled.
    let actions = pairs.filter_map(|(unit, variant)| precast_compile::action(unit, toolchain, variant).ok());
    actions.map(|inputs| Wanted::Action(inputs.key())).collect()
}

/// Fetches the wanted actions from a remote store into the target store, if enough keys have signed them.
#[cfg(feature = "remote")]
fn fetch(url: &str, keyring: &Arc<Keyring>, store: Option<&Store>, wanted: &[Wanted]) -> Result<(), Failure> {
    let Some(store) = store else { return Ok(()) };
    let source = Arc::new(precast_remote::Files::open(&url.parse()?, precast_remote::Patience::default())?);
    let remote = Remote::new(source, store.clone().trusting(Arc::clone(keyring))).on_event(events::hear);
    remote.prefetch(wanted)?;
    Ok(())
}

/// Executes a plan and shows its progress.
fn carry_out(plan: &Plan, execution: Execution<'_>) -> Result<Executed, ExecuteError> {
    let bar = term::progress((plan.units.len() * execution.variants.len()) as u64);
    let progress = |progress| match progress {
        Progress::Waiting => bar.set_message("waiting for another build of the same modules"),
        Progress::Finished { done, total, .. } => {
            bar.set_message("");
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
        _ => {}
    };
    let executed = execute(plan, &Execution { progress: &progress, ..execution });
    bar.finish_and_clear();
    executed
}

fn write_bundle(
    path: PathBuf,
    executed: &Executed,
    toolchain: Option<&Toolchain>,
) -> Result<(PathBuf, Vec<u8>), Failure> {
    let bytes = executed.bundle(toolchain)?;
    let written = whole::write(&path, Kind::Bundle, |out| out.write_all(&bytes))?;
    provenance::forget(&path, &bytes)?;
    written.commit_durably()?;
    Ok((path, bytes))
}
