//! Against the real compiler: what comes out depends on nothing but what is asked for.

use super::{ExecuteError, Executed, Execution, execute};
use crate::declared::{Declared, matrix};
use crate::manifest::Manifest;
use crate::place::Place;
use crate::plan::{Plan, plan};
use precast_compile::{Isa, Parallel, Toolchain, Variant, host_target};
use precast_store::Store;
use precast_store::key::Profile;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// A few matrices and a graph: at least two units.
fn small() -> Plan {
    let mut declared = Declared::default();
    let text =
        "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"(x + y) * x\"]\n";
    let manifest = Manifest::parse(Path::new("precast.toml"), text.to_owned()).unwrap();
    manifest.declare(&mut declared).unwrap();
    for name in ["add", "mul"] {
        let place = Place::in_build("op", name);
        let lists = (["f32", "f64"].map(|dtype| (dtype, place.clone())), [(1, place.clone())]);
        declared.op(matrix(name, &lists.0, &lists.1, place).0);
    }
    plan(&declared).unwrap()
}

fn variants() -> Vec<Variant> {
    let target = host_target();
    let isa = Isa::defaults(&target)[0];
    vec![Variant { target, isa, profile: Profile::Release }]
}

fn toolchain() -> Toolchain {
    Toolchain::find(None).unwrap()
}

fn run(plan: &Plan, store: Option<&Store>, jobs: usize) -> Executed {
    let parallel = Parallel::Jobs(NonZeroUsize::new(jobs).unwrap());
    let toolchain = toolchain();
    let execution =
        Execution { store, toolchain: &toolchain, variants: &variants(), parallel, progress: &|_| {} };
    execute(plan, &execution).unwrap()
}

fn objects(store: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(store.join("objects")).sort_by_file_name().into_iter().flatten();
    files.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

fn contents(store: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let relative = |path: &Path| path.strip_prefix(store).unwrap().to_owned();
    objects(store).iter().map(|path| (relative(path), fs_err::read(path).unwrap())).collect()
}

#[test]
fn neither_the_store_nor_its_place_nor_the_jobs_reach_the_bytes() {
    let plan = small();
    let whole = tempfile::tempdir().unwrap();
    let first = run(&plan, Some(&Store::create(whole.path()).unwrap()), 1);
    assert_eq!((first.hits, first.compiled), (0, plan.units.len()));
    assert!(first.compiled >= 2 && first.is_hermetic);
    let bundle = first.bundle(&toolchain()).unwrap();

    // Another directory, with more jobs, half of it there before.
    let other = tempfile::tempdir().unwrap();
    let place = other.path().join("a longer name of a directory");
    let half = Plan { units: plan.units[..1].to_vec(), entries: Vec::new(), ..plan.clone() };
    run(&half, Some(&Store::create(&place).unwrap()), 1);
    let second = run(&plan, Some(&Store::create(&place).unwrap()), 2);
    assert_eq!((second.hits, second.compiled), (1, plan.units.len() - 1));
    assert_eq!(second.bundle(&toolchain()).unwrap(), bundle);
    assert_eq!(contents(&place), contents(whole.path()));

    // No store at all.
    assert_eq!(run(&plan, None, 2).bundle(&toolchain()).unwrap(), bundle);

    // All of it there.
    let third = run(&plan, Some(&Store::create(&place).unwrap()), 2);
    assert_eq!((third.hits, third.compiled), (plan.units.len(), 0));
    assert_eq!(third.bundle(&toolchain()).unwrap(), bundle);
}

#[test]
fn a_damaged_object_is_compiled_again_and_healed() {
    let plan = small();
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    let bundle = run(&plan, Some(&store), 2).bundle(&toolchain()).unwrap();
    let before = contents(directory.path());
    let [flipped, truncated, ..] = &objects(directory.path())[..] else { panic!("two objects") };
    let mut bytes = fs_err::read(flipped).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    for (path, bytes) in [(flipped, &bytes[..]), (truncated, &[])] {
        fs_err::remove_file(path).unwrap();
        fs_err::write(path, bytes).unwrap();
    }
    let again = run(&plan, Some(&store), 2);
    assert_eq!((again.compiled, again.bundle(&toolchain()).unwrap()), (2, bundle));
    assert_eq!(contents(directory.path()), before);
    assert_eq!(run(&plan, Some(&store), 2).compiled, 0);
}

#[test]
fn a_unit_that_cannot_be_compiled_is_named() {
    let plan = small();
    let foreign = if cfg!(target_arch = "aarch64") { Isa::X86_64V2 } else { Isa::Aarch64 };
    let variants = [Variant { isa: foreign, ..variants()[0].clone() }];
    let toolchain = toolchain();
    let execution = Execution {
        store: None,
        toolchain: &toolchain,
        variants: &variants,
        parallel: Parallel::Auto,
        progress: &|_| {},
    };
    let Err(ExecuteError::Compile { failures }) = execute(&plan, &execution) else { panic!("an error") };
    assert_eq!(failures.len(), plan.units.len());
    assert!(failures[0].to_string().contains("does not exist on"), "{}", failures[0]);
}
