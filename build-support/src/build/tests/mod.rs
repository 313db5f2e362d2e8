//! Tests that build packages in temporary directories, with the real Cargo and the real compiler, in this process.

mod extents;
mod external;
mod lock;
mod names;

use super::environment::Environment;
use super::{Build, BuildError, Outcome, run};
use crate::Declaration;
use precast_compile::{Isa, host_target};
use precast_store::Bundle;
use std::path::{Path, PathBuf};
use std::process::Command;

const ADD: &str = "[[op]]\nname = \"add\"\ndtypes = [\"f32\", \"f64\"]\nndim = [1, 2]\n";
const SCORE: &str = "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = (x + y) * x\"]\n";

/// A package with a `precast.toml`.
struct Package {
    _guard: tempfile::TempDir,
    environment: Environment,
}

impl Package {
    fn new(manifest: &str) -> Self {
        let guard = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(guard.path()).unwrap();
        fs_err::create_dir_all(root.join("src")).unwrap();
        fs_err::write(root.join("src/lib.rs"), "").unwrap();
        let package = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
        fs_err::write(root.join("Cargo.toml"), package).unwrap();
        fs_err::write(root.join("precast.toml"), manifest).unwrap();
        let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let target = host_target();
        let environment = Environment {
            out_dir: root.join("out"),
            isa: Some(Isa::defaults(&target)[0].to_string()),
            manifest_dir: root,
            target,
            is_static: false,
            cargo,
            features: Some(Vec::new()),
            store: None,
            shared: None,
            is_locked: false,
            is_frozen: false,
            updates_lock: false,
            is_docs_rs: false,
        };
        let package = Self { _guard: guard, environment };
        package.lock();
        package
    }

    /// Writes Cargo's lock file.
    fn lock(&self) {
        let mut command = Command::new(&self.environment.cargo);
        command.args(["generate-lockfile", "--offline"]).current_dir(&self.environment.manifest_dir);
        assert!(command.output().unwrap().status.success());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.environment.manifest_dir.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs_err::write(self.path(name), text).unwrap();
    }

    fn build(&self) -> Result<Outcome, BuildError> {
        run::run(&Build::new(), &self.environment)
    }

    fn refusal(&self) -> String {
        self.build().expect_err("a mistake").lines().join("\n")
    }
}

fn names(bundle: &Path) -> Vec<String> {
    Bundle::open(bundle).unwrap().entries().iter().map(|entry| entry.name.clone()).collect()
}

#[test]
fn build_writes_bundle_index_and_store() {
    let package = Package::new(&(ADD.to_owned() + SCORE));
    let outcome = package.build().unwrap();
    assert!(outcome.compiled >= 2 && outcome.hits == 0 && outcome.warnings.is_empty(), "{outcome:?}");
    assert_eq!(outcome.counts.artifacts, outcome.compiled);
    assert_eq!(names(&outcome.bundle), ["score"]);
    let index = fs_err::read_to_string(&outcome.index).unwrap();
    let entry = Bundle::open(&outcome.bundle).unwrap().find_entry("score").unwrap();
    assert!(index.contains("pub const NAMES: &[&str] = &[\"score\"];"), "{index}");
    assert!(index.contains(&format!("(\"score\", &[\"{}\"])", entry.program.steps[0].key)), "{index}");
    assert!(index.contains(&format!("GENERATOR: &str = {:?}", precast_ops::GENERATOR)), "{index}");
    assert_eq!(outcome.store, Some(package.environment.out_dir.join("precast-store")));
    // Only inputs are listed, and only existing files.
    assert!(
        outcome.inputs.contains(&package.path("precast.toml"))
            && outcome.inputs.contains(&package.path("Cargo.lock"))
    );
    assert!(
        outcome.inputs.iter().all(|path| path.exists() && !path.starts_with(&package.environment.out_dir))
    );
    assert!(outcome.directives().contains(&"cargo::rerun-if-env-changed=PRECAST_STORE".to_owned()));
}

#[test]
fn unchanged_build_compiles_and_writes_nothing() {
    let package = Package::new(ADD);
    let first = package.build().unwrap();
    let modified = |path: &Path| fs_err::metadata(path).unwrap().modified().unwrap();
    let before = (modified(&first.bundle), modified(&first.index));
    let second = package.build().unwrap();
    assert_eq!((second.compiled, second.hits), (0, first.compiled));
    assert_eq!((second.counts, second.inputs), (first.counts, first.inputs));
    assert_eq!((modified(&first.bundle), modified(&first.index)), before);
}

#[test]
fn profile_clean_and_move_compile_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let shared = fs_err::canonicalize(cache.path()).unwrap().join("precast/store-v2");
    let sharing = || {
        let mut package = Package::new(&(ADD.to_owned() + SCORE));
        package.environment.shared = Some(shared.clone());
        package
    };
    let mut package = sharing();
    let first = package.build().unwrap();
    assert!(first.compiled >= 2 && first.store.as_ref() == Some(&shared), "{first:?}");
    let bundle = fs_err::read(&first.bundle).unwrap();
    let alike = |again: Outcome| {
        assert_eq!((again.compiled, again.hits, again.warnings), (0, first.compiled, Vec::new()));
        assert_eq!(fs_err::read(&again.bundle).unwrap(), bundle);
    };
    fs_err::remove_dir_all(&package.environment.out_dir).unwrap();
    alike(package.build().unwrap());
    package.environment.out_dir = package.path("release");
    alike(package.build().unwrap());
    alike(sharing().build().unwrap());
    // The named store takes precedence.
    package.environment.store = Some(package.path("named"));
    assert_eq!(package.build().unwrap().compiled, first.compiled);
}

#[cfg(unix)]
#[test]
fn unusable_shared_store_is_reported_and_skipped() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let root = fs_err::canonicalize(directory.path()).unwrap();
    let everybodys = root.join("everybodys");
    fs_err::create_dir(&everybodys).unwrap();
    fs_err::set_permissions(&everybodys, std::fs::Permissions::from_mode(0o777)).unwrap();
    fs_err::write(root.join("file"), "").unwrap();
    for (shared, word) in
        [(everybodys.join("store-v2"), "is writable by everybody"), (root.join("file/x"), "file/x")]
    {
        let mut package = Package::new(ADD);
        package.environment.shared = Some(shared.clone());
        let outcome = package.build().unwrap();
        let own = package.environment.out_dir.join("precast-store");
        assert!(outcome.compiled > 0 && outcome.store.as_ref() == Some(&own), "{outcome:?}");
        let [warning] = &outcome.warnings[..] else { panic!("{:?}", outcome.warnings) };
        assert!(warning.contains(word) && warning.contains("hint: set `PRECAST_STORE`"), "{warning}");
        assert!(warning.ends_with(&format!("using the store `{}` instead", own.display())), "{warning}");
        assert!(!shared.exists());
    }
}

#[test]
fn directory_and_order_do_not_change_the_files() {
    let (one, other) = (Package::new(&(ADD.to_owned() + SCORE)), Package::new(&(SCORE.to_owned() + ADD)));
    let (one, other) = (one.build().unwrap(), other.build().unwrap());
    let read = |path: &Path| fs_err::read(path).unwrap();
    assert!(one.bundle != other.bundle && read(&one.bundle) == read(&other.bundle));
    assert_eq!(read(&one.index), read(&other.index));
}

#[test]
fn a_memo_is_never_stale() {
    let mut package = Package::new(ADD);
    let first = package.build().unwrap();
    let bundle = fs_err::read(&first.bundle).unwrap();
    // A corrupt output is rebuilt from the store.
    fs_err::write(&first.bundle, &bundle[..bundle.len() / 2]).unwrap();
    assert_eq!(package.build().unwrap().compiled, 0);
    assert_eq!(fs_err::read(&first.bundle).unwrap(), bundle);
    // A deleted store is filled again.
    fs_err::remove_dir_all(first.store.unwrap()).unwrap();
    assert_eq!(package.build().unwrap().compiled, first.compiled);
    // A different store is filled too, with the same bundle.
    package.environment.store = Some(package.path("elsewhere"));
    assert_eq!(package.build().unwrap().compiled, first.compiled);
    assert_eq!(fs_err::read(&first.bundle).unwrap(), bundle);
    // Different declarations produce a different bundle; the old ones produce the old bundle.
    package.write("precast.toml", SCORE);
    assert_eq!(package.build().unwrap().counts.combinations, 0);
    assert_eq!(names(&first.bundle), ["score"]);
    package.write("precast.toml", ADD);
    assert_eq!(package.build().unwrap().compiled, 0);
    assert_eq!(fs_err::read(&first.bundle).unwrap(), bundle);
    // So do different ISA levels.
    package.environment.isa = Some(Isa::defaults(&package.environment.target).last().unwrap().to_string());
    package.build().unwrap();
    let changed = fs_err::read(&first.bundle).unwrap() != bundle;
    assert_eq!(changed, Isa::defaults(&package.environment.target).len() > 1);
}

#[test]
fn failed_build_keeps_existing_files() {
    let package = Package::new(SCORE);
    let first = package.build().unwrap();
    let bundle = fs_err::read(&first.bundle).unwrap();
    package.write("precast.toml", &SCORE.replace("x + y", "x + z"));
    let message = package.refusal();
    assert!(message.contains("precast.toml:4: [[graph]] 1 (`score`), key `outputs`"), "{message}");
    assert_eq!(fs_err::read(&first.bundle).unwrap(), bundle);
}

#[test]
fn one_run_reports_all_mistakes() {
    let unknown = "[[op]]\nname = \"exq\"\ndtypes = [\"f46\"]\nndim = [1]\n";
    let unsupported = "[[op]]\nname = \"bitwise_and\"\ndtypes = [\"f32\"]\nndim = [1]\n";
    let message =
        Package::new(&format!("{unknown}{unsupported}{}", SCORE.replace("x + y", "x + z"))).refusal();
    for part in ["unknown dtype `f46`", "unknown name `z`", "unknown op `exq`; nearest `exp`", "f32, rank 1"]
    {
        assert!(message.contains(part), "`{part}` in {message}");
    }
    let mut package = Package::new(&format!("isa = [\"avx9\"]\n{unknown}{unsupported}"));
    package.environment.isa = None;
    let message = package.refusal();
    for part in ["precast.toml:1: key `isa`: unknown ISA level `avx9`", "unknown op `exq`", "f32, rank 1"] {
        assert!(message.contains(part), "`{part}` in {message}");
    }
}

#[test]
fn script_declarations_count_like_a_manifest() {
    let package = Package::new(ADD);
    let from_manifest = package.build().unwrap();
    let bundle = fs_err::read(&from_manifest.bundle).unwrap();
    fs_err::remove_file(package.path("precast.toml")).unwrap();
    let build = Build::new().op("add", &["f64"], &[2, 1]).op("add", &["f32", "f64"], &[1, 2]);
    let outcome = run::run(&build, &package.environment).unwrap();
    assert_eq!((outcome.compiled, outcome.counts), (0, from_manifest.counts));
    assert_eq!(fs_err::read(&outcome.bundle).unwrap(), bundle);
    let mistake = run::run(&Build::new().op("add", &["f9"], &[]), &package.environment).unwrap_err().lines();
    assert!(mistake[0].starts_with("in `Build`: op `add`, key `ndim`: empty list"), "{mistake:?}");
    assert!(mistake[1].starts_with("in `Build`: op `add`, key `dtypes`: unknown dtype `f9`"), "{mistake:?}");
}

#[test]
fn missing_manifest_is_watched() {
    let package = Package::new("");
    fs_err::remove_file(package.path("precast.toml")).unwrap();
    let outcome = package.build().unwrap();
    assert!(outcome.inputs.contains(&package.path("precast.toml")));
}

#[test]
fn no_declarations_give_empty_bundle_and_warning() {
    let package = Package::new("");
    for lacks in ["precast.toml` declares nothing", "precast.toml` is missing"] {
        let outcome = package.build().unwrap();
        assert!(names(&outcome.bundle).is_empty());
        let first = &outcome.directives()[0];
        assert!(first.starts_with("cargo::warning=the bundle is empty") && first.contains(lacks), "{first}");
        let _ = fs_err::remove_file(package.path("precast.toml"));
    }
}

#[test]
fn misspelled_table_is_an_error() {
    let package = Package::new("[[grahp]]\nname = \"score\"\n");
    assert!(package.refusal().contains("unknown table `[[grahp]]`"), "{}", package.refusal());
}

#[test]
fn invalid_environment_variables_are_named() {
    let mut package = Package::new(ADD);
    package.environment.isa = Some("avx9".to_owned());
    assert!(
        package.refusal().contains("in `PRECAST_ISA`: unknown ISA level `avx9`"),
        "{}",
        package.refusal()
    );
    package.environment.isa = None;
    package.environment.store = Some(package.path("precast.toml/store"));
    let message = package.refusal();
    assert!(message.contains("cannot use the store at `") && message.contains("\ncaused by: "), "{message}");
    assert!(message.lines().last().unwrap().starts_with("hint: set `PRECAST_STORE`"), "{message}");
}

#[test]
fn unknown_dependencies_are_reported() {
    let mut package = Package::new(SCORE);
    fs_err::remove_file(package.path("Cargo.lock")).unwrap();
    let outcome = package.build().unwrap();
    assert!(outcome.warnings[0].contains("building only those of this package"), "{:?}", outcome.warnings);
    assert_eq!(names(&outcome.bundle), ["score"]);
    package.environment.is_locked = true;
    let message = package.refusal();
    assert!(
        message.contains("caused by: cannot read the dependency graph") && message.contains("hint: "),
        "{message}"
    );
}

#[test]
fn external_ops_are_built_for_all_dtypes() {
    let package = Package::new("");
    let declare = |dtypes: &[&str], ndim: &[usize]| {
        let text = "#section code\n*OUTPUT_0 = INPUT_0;\n";
        let op = Declaration::new("same").file("same.c", text).input("{T}").output("{T}");
        let op = Declaration { version: Some(vec![1]), ..op };
        run::run(&Build::new().external(op, &[("T", dtypes)], ndim), &package.environment)
    };
    let problem = |dtypes: &[&str], ndim: &[usize]| declare(dtypes, ndim).unwrap_err().lines().join("\n");
    assert!(problem(&["f33"], &[]).contains("external `same`, key `dtypes`: unknown dtype `f33`"));
    assert!(problem(&[], &[]).contains("`T` has no dtypes"));
    assert!(problem(&["f64"], &[1]).contains("no input has an open rank"));
    // The rules match a manifest's: a misspelled letter gets a suggestion, and duplicates count once.
    let negated = || {
        let text = "#section code\nOUTPUT_0 = -INPUT_0;\n";
        Declaration::new("negated").file("negated.c", text).input("{Ta}").output("{Ta}")
    };
    let refused = run::run(&Build::new().external(negated(), &[("Tb", &["f64"])], &[]), &package.environment);
    let refused = refused.unwrap_err().lines().join("\n");
    assert!(refused.contains("no input uses `{Tb}`; nearest `Ta`"), "{refused}");
    let twice = Build::new().external(negated(), &[("Ta", &["f64", "f64"])], &[]);
    assert_eq!(names(&run::run(&twice, &package.environment).unwrap().bundle), ["negated"]);
    // The C is invalid for a scalar; the error names its position.
    let refused = problem(&["f64"], &[]);
    assert!(refused.contains("same/same.c:2"), "{refused}");
    let right = |text: &str| {
        let op = Declaration::new("same").file("same.c", text).input("{T}").output("{T}");
        let op = Declaration { version: Some(vec![1]), ..op };
        run::run(&Build::new().external(op, &[("T", &["f32", "f64"])], &[]), &package.environment).unwrap()
    };
    let outcome = right("#section code\nOUTPUT_0 = INPUT_0;\n");
    assert_eq!(names(&outcome.bundle), ["same.f32", "same.f64"]);
    assert_eq!((outcome.compiled, outcome.warnings.len()), (2, 0), "{outcome:?}");
    // The same text compiles nothing; a changed text compiles everything, and warns because the version was not
    // raised.
    assert_eq!(right("#section code\nOUTPUT_0 = INPUT_0;\n").compiled, 0);
    let outcome = right("#section code\nOUTPUT_0 = -INPUT_0;\n");
    assert_eq!((outcome.compiled, outcome.warnings.len()), (2, 2), "{outcome:?}");
    assert!(outcome.warnings[0].contains("the C of `same(f32) -> f32` changed under version `1`"));
    assert!(
        outcome.directives().iter().any(|line| line.starts_with("cargo::warning=hint: raise the version"))
    );
}
