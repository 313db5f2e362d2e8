//! Runs one build, from the environment to the files under OUT_DIR.

use super::environment::Environment;
use super::gather::{Gathered, gather};
use super::memo::{self, Question};
use super::{Build, BuildError, Counts, Outcome, index, model};
use crate::execute::{Executed, Execution, Locked, Mode, execute};
use crate::history;
use crate::lock::{Lock, LockError};
use crate::plan::{Plan, plan, plan_after};
use crate::problem::DeclareError;
use precast_compile::{Toolchain, Variant};
use precast_ops::GENERATOR;
use precast_store::key::{Canonical, ContentId};
use precast_store::whole::write_if_changed;
use precast_store::{OpenError, Store, event, file};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs a build.
pub(super) fn run(build: &Build, environment: &Environment) -> Result<Outcome, BuildError> {
    let mut outcome = Outcome {
        bundle: environment.out_dir.join("precast.bundle"),
        index: environment.out_dir.join("precast.rs"),
        model: environment.out_dir.join("precast_model.rs"),
        library: None,
        system_libraries: Vec::new(),
        store: None,
        counts: Counts::default(),
        hits: 0,
        healed: 0,
        compiled: 0,
        compilations: Vec::new(),
        warnings: Vec::new(),
        inputs: Vec::new(),
        variables: environment.watched(),
    };
    if environment.is_docs_rs || build.is_library {
        // Documentation builds and libraries need only the functions' signatures.
        let gathered = gather(build, environment)?;
        outcome.inputs = gathered.inputs();
        let (declared, problems) = gathered.declare();
        DeclareError::check(problems)?;
        let functions = model::render(&model::graphs(&declared), build.home());
        return write(&nothing(), &nothing().bundle_of(Vec::new())?, functions, outcome);
    }
    let gathered = gather(build, environment)?;
    outcome.warnings.extend(gathered.warnings.iter().cloned());
    outcome.inputs = gathered.inputs();
    outcome.inputs.extend(Some(environment.lock()).filter(|path| path.is_file()));
    if gathered.is_empty() {
        let manifest = environment.manifest_dir.join("precast.toml");
        let is_there = manifest.exists();
        let lacks = if is_there { "declares nothing" } else { "does not exist" };
        outcome.warnings.push(format!(
            "the bundle is empty: `{}` {lacks}, and no dependency declares graphs",
            manifest.display()
        ));
        // Cargo reruns a script as long as a watched path is missing. That is intended for a package that waits for
        // its manifest.
        if !is_there {
            outcome.inputs.push(manifest);
        }
        let functions = model::render(&[], build.home());
        return write(&nothing(), &nothing().bundle_of(Vec::new())?, functions, outcome);
    }
    compile(build, environment, &gathered, outcome)
}

fn nothing() -> Executed {
    Executed {
        artifacts: Vec::new(),
        entries: Vec::new(),
        hits: 0,
        healed: 0,
        fetched: 0,
        compiled: 0,
        compilations: Vec::new(),
        fresh: BTreeSet::new(),
        stale: Vec::new(),
        is_hermetic: true,
    }
}

fn compile(
    build: &Build,
    environment: &Environment,
    gathered: &Gathered<'_>,
    mut outcome: Outcome,
) -> Result<Outcome, BuildError> {
    let variants = gathered.variants(environment).map_err(|error| with_all_others(error, gathered))?;
    let toolchain = Toolchain::find(Some(&environment.target))?;
    let named = environment.store.as_ref().or(gathered.dependencies.store.as_ref());
    let store = match environment.is_frozen {
        true => open_to_read(named, environment)?,
        false => Some(open(named, environment, &mut outcome)?),
    };
    let (store, heard) = store.map(|store| store.listening()).unzip();
    outcome.store = store.as_ref().map(|store| store.path().to_owned());
    let is_static = build.is_static || environment.is_static;
    outcome.library = is_static.then(|| environment.out_dir.join(library_name(environment)));
    let (bundle, index, library) = (outcome.bundle.clone(), outcome.index.clone(), outcome.library.clone());
    let question = Question {
        file: environment.out_dir.join("precast/build.json"),
        inputs: inputs(gathered, &variants, environment)?,
        store: store.as_ref().map_or(&environment.out_dir, |store| store.path()),
        toolchain: &toolchain,
        bundle: &bundle,
        index: &index,
        library: library.as_deref(),
    };
    if let Some(counts) = memo::get(&question).filter(|_| !environment.updates_lock) {
        return Ok(Outcome { counts, hits: counts.artifacts, ..outcome });
    }
    let (declared, problems) = gathered.declare();
    let plan = plan_after(DeclareError::check(problems), &declared)?;
    let lock = locked(&plan, environment, &mut outcome)?;
    let path = environment.lock();
    let lock = lock.filter(|_| environment.is_locked);
    if let Some(lock) = &lock {
        lock.check_actions(&plan, (&toolchain, &variants), &path)?;
        outcome.warnings.extend(lock.unpinned(&environment.target, &path));
    }
    let execution = Execution {
        store: store.as_ref(),
        mode: if environment.is_frozen { Mode::Reuse } else { Mode::Compile },
        locked: lock.as_ref().map(|lock| Locked { lock, path: &path }),
        ..Execution::new(&toolchain, &variants)
    };
    let executed = execute(&plan, &execution)?;
    store.iter().for_each(|store| history::remember(store, &environment.manifest_dir, &executed));
    outcome.warnings.extend(heard.map(|heard| event::lines(&heard.take())).unwrap_or_default());
    outcome.warnings.extend(plan.warnings());
    outcome.warnings.extend(executed.stale.iter().map(ToString::to_string));
    outcome.counts = Counts {
        combinations: plan.combinations,
        modules: plan.modules(),
        artifacts: executed.artifacts.len(),
    };
    memo::forget(&question);
    let functions = model::render(&model::graphs(&declared), build.home());
    let outcome = match &library {
        None => write(&executed, &executed.bundle(&toolchain)?, functions, outcome)?,
        Some(path) => {
            let (bundle, library) = executed.static_bundle(&toolchain)?;
            put(path, &library.bytes)?;
            let outcome = Outcome { system_libraries: library.system_libraries, ..outcome };
            write(&executed, &bundle, functions, outcome)?
        }
    };
    if executed.is_hermetic {
        memo::put(&question, plan.languages(), outcome.counts);
    }
    Ok(outcome)
}

/// Combines an error in a manifest's ISA levels with the problems of all declarations.
fn with_all_others(error: BuildError, gathered: &Gathered<'_>) -> BuildError {
    let BuildError::Declare(mut wrong) = error else { return error };
    let (declared, problems) = gathered.declare();
    wrong.problems.extend(problems);
    wrong.problems.extend(plan(&declared).err().into_iter().flat_map(|more| more.problems));
    wrong.into()
}

/// Opens the named store, else the user's store, so that packages, profiles and target directories share compiled
/// modules. If the user's store is not writable or not trusted, opens a store of this build alone.
fn open(
    named: Option<&PathBuf>,
    environment: &Environment,
    outcome: &mut Outcome,
) -> Result<Store, BuildError> {
    let create = |path: &Path| {
        Store::create(path).map_err(|source| BuildError::Store { path: path.to_owned(), source })
    };
    if let Some(path) = named {
        return create(path);
    }
    let own = environment.out_dir.join("precast-store");
    let Some(shared) = &environment.shared else { return create(&own) };
    create(shared).or_else(|error| {
        let told = format!("{}\nusing the store `{}` instead", error.lines().join("\n"), own.display());
        outcome.warnings.push(told);
        create(&own)
    })
}

/// Opens the store for a build that compiles nothing, if one exists: it need not be writable, and is never created.
/// The shared store comes first if it is writable, because other builds fill it; see [`open`].
fn open_to_read(named: Option<&PathBuf>, environment: &Environment) -> Result<Option<Store>, BuildError> {
    let own = environment.out_dir.join("precast-store");
    let places = match named {
        Some(path) => vec![path],
        None => {
            let shared = environment.shared.as_ref();
            let filled = shared.filter(|path| Store::open(path).is_ok_and(|store| store.is_writable()));
            filled.into_iter().chain([&own]).chain(shared).collect()
        }
    };
    for path in places {
        match Store::open(path) {
            Ok(store) => return Ok(Some(store)),
            Err(OpenError::Missing { is_lost: false, .. }) => {}
            Err(error) => return Err(BuildError::Store { path: path.clone(), source: error.into() }),
        }
    }
    Ok(None)
}

/// Compares a plan with the lock file: a difference is an error if the build is locked, else a warning. In update
/// mode it writes the file.
fn locked(plan: &Plan, environment: &Environment, outcome: &mut Outcome) -> Result<Option<Lock>, BuildError> {
    let path = environment.lock();
    if environment.updates_lock {
        let (present, why) = Lock::read_to_replace(&path)?;
        let (present, is_broken) = (present.unwrap_or_default(), why.is_some());
        outcome
            .warnings
            .extend(why.map(|why| format!("rewrote invalid `{}` without pins: {why}", path.display())));
        let (lock, changes) = Lock::following(&present, plan);
        lock.write(&path)?;
        let dropped = present.pins.len() - lock.pins.len();
        if !is_broken && dropped > 0 {
            outcome.warnings.push(format!(
                "removed {dropped} archive pin(s) from `{}`: their modules are no longer declared",
                path.display()
            ));
        }
        // New items are not pinned yet; this build compiles them.
        let pins = if changes.is_empty() { lock.pins } else { BTreeSet::new() };
        return Ok(Some(Lock { pins, ..lock }));
    }
    let lock = Lock::read(&path)?;
    if let Some(lock) = &lock {
        match lock.check(plan, &path) {
            Err(error) if environment.is_locked => return Err(error.into()),
            Err(error) => outcome.warnings.push(error.to_string()),
            Ok(()) => {}
        }
    } else if environment.is_locked {
        return Err(LockError::Missing { path }.into());
    }
    Ok(lock)
}

/// Hashes the declarations and the variants.
fn inputs(
    gathered: &Gathered<'_>,
    variants: &[Variant],
    environment: &Environment,
) -> Result<ContentId, BuildError> {
    let mut encoder = Canonical::new("precast v1 build inputs").str(GENERATOR).list(variants.len());
    for Variant { target, isa, profile } in variants {
        encoder = encoder.str(target).str(isa.name()).str(profile.name());
    }
    let path = environment.lock();
    let lock = match file::read(&path, file::TEXT_LIMIT) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|source| LockError::Io { path, source })?,
    };
    let asked = [environment.is_locked, environment.updates_lock].map(u64::from);
    encoder = encoder.bytes(&lock).u64(asked[0]).u64(asked[1]);
    Ok(ContentId::from_bytes(gathered.hash(encoder).finish()))
}

/// Returns the name of the library of a static program. Each package of a program has its own library.
fn library_name(environment: &Environment) -> String {
    let package = environment.manifest_dir.file_name().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("libprecast_{}.a", package.chars().map(plain).collect::<String>())
}

/// Writes the bundle, its index, and the functions with their warnings.
fn write(
    executed: &Executed,
    bundle: &[u8],
    (functions, nameless): (String, Vec<String>),
    mut outcome: Outcome,
) -> Result<Outcome, BuildError> {
    put(&outcome.bundle, bundle)?;
    put(&outcome.index, index::render(&executed.entries, GENERATOR).as_bytes())?;
    put(&outcome.model, functions.as_bytes())?;
    outcome.warnings.extend(nameless);
    (outcome.hits, outcome.healed) = (executed.hits, executed.healed);
    outcome.compiled = executed.compiled;
    outcome.compilations.clone_from(&executed.compilations);
    Ok(outcome)
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    write_if_changed(path, bytes)
        .map(drop)
        .map_err(|source| BuildError::Write { path: path.to_owned(), source })
}
