//! Runs one build, from the environment to the files under OUT_DIR.

use super::environment::Environment;
use super::gather::{Gathered, gather};
use super::locked::locked;
use super::memo::{self, Question};
use super::model::Functions;
use super::{Build, BuildError, Counts, Outcome, index, model};
use crate::execute::{Executed, Execution, Locked, Mode};
use crate::lock::LockError;
use crate::pipeline::{self, Access, Opened, StoreChoice};
use crate::plan::{plan, plan_after};
use crate::problem::DeclareError;
use precast_compile::{Toolchain, Variant};
use precast_ops::GENERATOR;
use precast_store::key::{Canonical, ContentId};
use precast_store::whole::write_if_changed;
use precast_store::{Store, file};
use std::path::Path;

/// Runs a build.
pub(super) fn run(build: &Build, environment: &Environment) -> Result<Outcome, BuildError> {
    let gathered = gather(build, environment)?;
    let mut outcome = blank(environment, &gathered);
    if environment.is_docs_rs || build.is_library {
        // Documentation builds and libraries need only the functions' signatures.
        let (declared, problems) = gathered.declare();
        DeclareError::check(problems)?;
        return without_code(model::render(&model::graphs(&declared), build.home()), outcome);
    }
    outcome.warnings.extend(gathered.warnings.iter().cloned());
    outcome.inputs.extend(Some(environment.lock()).filter(|path| path.is_file()));
    if !gathered.is_empty() {
        return build_declared(build, environment, &gathered, outcome);
    }
    let manifest = environment.manifest_dir.join("precast.toml");
    let is_there = manifest.exists();
    let lacks = if is_there { "declares nothing" } else { "is missing" };
    outcome.warnings.push(format!(
        "the bundle is empty: `{}` {lacks}, and no dependency declares graphs",
        manifest.display()
    ));
    // Cargo reruns a script as long as a watched path is missing. That is intended for a package that waits for its
    // manifest.
    outcome.inputs.extend((!is_there).then_some(manifest));
    without_code(model::render(&[], build.home()), outcome)
}

/// Returns the outcome before anything is built: the paths of the output, and what Cargo watches.
fn blank(environment: &Environment, gathered: &Gathered<'_>) -> Outcome {
    Outcome {
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
        inputs: gathered.inputs(),
        variables: environment.watched(),
    }
}

fn build_declared(
    build: &Build,
    environment: &Environment,
    gathered: &Gathered<'_>,
    mut outcome: Outcome,
) -> Result<Outcome, BuildError> {
    let variants = gathered.variants(environment).map_err(|error| with_all_others(error, gathered))?;
    let toolchain = Toolchain::find_for(Some(&environment.target), gathered.glibc())?;
    let store = open_store(environment, gathered, &mut outcome.warnings)?;
    outcome.store = store.as_ref().map(|store| store.path().to_owned());
    let is_static = build.is_static || environment.is_static;
    outcome.library = is_static.then(|| environment.out_dir.join(library_name(environment)));
    let Outcome { bundle, index, library, .. } = outcome.clone();
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
    let lock_path = environment.lock();
    let lock = locked(&plan, environment, &mut outcome.warnings)?.filter(|_| environment.is_locked);
    if let Some(lock) = &lock {
        lock.check_actions(&plan, &toolchain, &variants, &lock_path)?;
        outcome.warnings.extend(lock.unpinned(&environment.target, &lock_path));
    }
    let execution = Execution {
        store: store.as_ref(),
        mode: if environment.is_frozen { Mode::Reuse } else { Mode::Compile },
        locked: lock.as_ref().map(|lock| Locked { lock, path: &lock_path }),
        ..Execution::new(&toolchain, &variants)
    };
    let executed = pipeline::build(&plan, &execution, &environment.manifest_dir)?;
    outcome.warnings.extend(executed.warnings());
    outcome.counts = Counts {
        combinations: plan.combinations,
        modules: plan.modules(),
        artifacts: executed.artifacts.len(),
    };
    memo::forget(&question);
    let bytes = match &library {
        None => executed.bundle(&toolchain)?,
        Some(path) => {
            let (bundle, library) = executed.static_bundle(&toolchain)?;
            put(path, &library.bytes)?;
            outcome.system_libraries = library.system_libraries;
            bundle
        }
    };
    let outcome = write(&executed, &bytes, model::render(&model::graphs(&declared), build.home()), outcome)?;
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
/// modules. If the user's store is not writable or not trusted, opens a store of this build alone. A build that
/// compiles nothing only reads.
fn open_store(
    environment: &Environment,
    gathered: &Gathered<'_>,
    warnings: &mut Vec<String>,
) -> Result<Option<Store>, BuildError> {
    let own = environment.out_dir.join("precast-store");
    let named = environment.store.as_ref().or(gathered.dependencies.store.as_ref());
    let choice = match (named, &environment.shared) {
        (Some(path), _) => StoreChoice::Named(path),
        (None, Some(path)) => StoreChoice::Shared { path, fallback: Some(&own) },
        (None, None) => StoreChoice::Named(&own),
    };
    let access = if environment.is_frozen { Access::Read } else { Access::Publish };
    let Opened { store, refused } = choice.open(access)?;
    warnings.extend(refused.map(|refused| {
        let lines = BuildError::from(refused).lines();
        format!("{}\nusing the store `{}` instead", lines.join("\n"), own.display())
    }));
    Ok(store)
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

/// Writes the functions with an empty bundle.
fn without_code(functions: Functions, outcome: Outcome) -> Result<Outcome, BuildError> {
    let nothing = Executed::default();
    write(&nothing, &nothing.bundle_of(Vec::new())?, functions, outcome)
}

/// Writes the bundle, its index, and the functions with their warnings.
fn write(
    executed: &Executed,
    bundle: &[u8],
    functions: Functions,
    mut outcome: Outcome,
) -> Result<Outcome, BuildError> {
    put(&outcome.bundle, bundle)?;
    put(&outcome.index, index::render(&executed.entries, GENERATOR).as_bytes())?;
    put(&outcome.model, functions.text.as_bytes())?;
    outcome.warnings.extend(functions.warnings);
    let Executed { hits, healed, compiled, .. } = *executed;
    Ok(Outcome { hits, healed, compiled, compilations: executed.compilations.clone(), ..outcome })
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    write_if_changed(path, bytes)
        .map(drop)
        .map_err(|source| BuildError::Write { path: path.to_owned(), source })
}
