//! `cargo xtask python`: installs the Python package into a separate environment, as users do, and runs its tests.
//!
//! ```text
//! interpreter ──▶ target/python/PYTHON-x.y ──pip──▶ NumPy, SciPy, numba, PyTensor, JAX, Polars, DuckDB, pytest, ./crates/python/nativecall
//! crates/python ──pip wheel──▶ target/python/wheel ──pip──▶ the environment, and that of another CPython
//!               (with `--share`, the wheel is packed from the library of the workspace's build)
//! precast build crates/python/tests/precast.toml ──▶ target/python/model.precast ──PRECAST_TEST_BUNDLE──▶ pytest
//! ```
//! The other CPython is the oldest one installed. Tests that need only NumPy also run there, with the same wheel.
//!
//! The command needs CPython 3.10 or later and a package index. Without them it prints a message and succeeds,
//! because `cargo xtask test` requires only Rust and a C compiler.

use crate::root;
use crate::steps::run as run_command;
use crate::tools::cargo;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreters to try if PRECAST_PYTHON is not set. A name on PATH may be a shim that runs nothing.
const NAMES: [&str; 5] = ["python3.13", "python3.12", "python3.11", "python3.10", "python3"];

/// Prints the name and version, such as `cpython-3.13`; fails for an older Python, or one without `venv`.
const VERSION: &str = "import sys, venv, ensurepip; v = sys.version_info; assert v >= (3, 10); \
                       print(sys.implementation.name, '%d.%d' % v[:2], sep='-')";

/// The packages of the tests. `ml_dtypes` adds bfloat16 to NumPy.
const PACKAGES: [&str; 8] =
    ["numpy", "scipy", "ml_dtypes", "pytest", "pytest-xdist", "maturin>=1.9.4,<2", "setuptools>=77", "wheel"];

/// One process per processor, with work stealing. Each process has its own cache.
const AT_ONCE: [&str; 4] = ["-n", "auto", "--dist", "worksteal"];

/// The packages that call functions by address, and the checker of the stubs. If they have no wheels, their tests are
/// skipped with a message.
const OPTIONAL: [&str; 3] = ["numba", "cffi", "mypy"];

/// The tests of the wheel in another CPython.
const OTHERS: [&str; 5] = [
    "tests/test_load.py",
    "tests/test_call.py",
    "tests/test_fast.py",
    "tests/test_native.py",
    "tests/test_nativecall.py",
];

/// PyTensor for the newest Python that it supports. `PYTENSOR_VERSION` selects another version, which is tested
/// without PyMC. If PyTensor cannot be installed, its tests are skipped with a message.
const PYTENSOR: [&str; 2] =
    ["pytensor==3.3.8; python_version >= '3.12'", "pytensor==3.0.7; python_version == '3.11'"];

/// JAX for the interpreters of the tests, and what its own test cases import. If it cannot be installed, its tests are
/// skipped with a message.
const JAX: [&str; 3] =
    ["jax==0.12.0.1; python_version >= '3.12'", "jax==0.10.2; python_version == '3.11'", "absl-py"];

/// Packages whose models are frozen with JAX. If they cannot be installed, their tests are skipped with a message.
const JAX_MODELS: [&str; 4] = [
    JAX[0],
    "flax>=0.12; python_version >= '3.12'",
    "equinox>=0.13; python_version >= '3.12'",
    "numpyro>=0.22; python_version >= '3.12'",
];

/// Packages that call functions of precast. If one has no wheel, the tests with it are skipped with a message. Tests with
/// PyTorch run where it is installed already: from the package index, it needs five gigabytes of CUDA.
const HOSTS: [&str; 3] = ["polars", "duckdb", "pyarrow"];

/// The additional packages of the long tests: PyMC, and what samples its models.
const MODELS: [&str; 4] = [
    "pymc>=6; python_version >= '3.12'",
    "nutpie>=0.16; python_version >= '3.12'",
    "bridgestan==2.9.0; python_version >= '3.12'",
    "zarr; python_version >= '3.12'",
];

/// The option of our `conftest.py` for all cases of tests that have many.
const ALL: &str = "--all-cases";

/// The interpreters of the long tests with PyTensor, one for each version of PyTensor.
const LONG: [&str; 2] = ["python3.11", "python3.12"];

/// Builds, installs and tests the package; `args` are passed to pytest. Returns `true` on success or if the tests
/// cannot run here.
///
/// If `args` is `--share`, each test with many cases runs a share of them, as in `cargo xtask test`; else all cases run.
/// If `args` starts with `--pytensor`, only the tests with PyTensor run, including the long ones, for each of
/// [`LONG`]. If it starts with `--long`, only the long tests without PyTensor run.
pub(crate) fn run(args: &[&str]) -> Result<bool> {
    if let ["--pytensor", rest @ ..] = args {
        return run_long(&[&["tests/with_pytensor", "-m", "pytensor", ALL], rest].concat());
    }
    let Some((python, version)) = interpreter()? else {
        println!("skipped: the Python package: no CPython 3.10 or later that runs");
        println!("hint: name one in PRECAST_PYTHON, or have one of {} on PATH", NAMES.join(", "));
        return Ok(true);
    };
    if let ["--long", rest @ ..] = args {
        let long = ["--ignore=tests/with_pytensor", "-m", "long", ALL];
        return test(&python, &version, Wheel::Built, &[], Other::Nothing, &[&long, rest].concat());
    }
    // The selection in `args` may contain none of the shared tests.
    let (other, of, args) = match args {
        ["--share"] => (Other::Share, Wheel::Packed, &[][..]),
        [] => (Other::Share, Wheel::Built, &[ALL][..]),
        _ => (Other::Called, Wheel::Built, &[&[ALL], args].concat()[..]),
    };
    test(&python, &version, of, &[], other, &[&["-m", "not long"], &AT_ONCE[..], args].concat())
}

/// Installs the packages of the tests and returns the interpreter of their environment; `None` if that is not
/// possible here.
pub(crate) fn installed() -> Result<Option<PathBuf>> {
    let Some((python, version)) = interpreter()? else { return Ok(None) };
    let environment = Environment::make(&python, &version)?;
    Ok(environment.install(&PACKAGES)?.then(|| environment.python()))
}

/// Runs the tests with PyTensor under every available interpreter of [`LONG`].
fn run_long(args: &[&str]) -> Result<bool> {
    let mut fine = true;
    for name in LONG {
        match version(name) {
            Some(version) => fine &= test(name, &version, Wheel::Built, &MODELS, Other::Nothing, args)?,
            None => {
                println!("skipped: the tests with PyTensor under {name}: it is not there, or does not run");
            }
        }
    }
    Ok(fine)
}

/// How the wheel is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wheel {
    /// As for users: pip has it built, with the features of the package.
    Built,
    /// Of what the workspace's build has compiled, with the features of all packages: nothing is compiled twice.
    Packed,
}

/// The use of another CPython with the same wheel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Other {
    Nothing,
    /// Tests call it.
    Called,
    /// It also runs the tests of [`OTHERS`].
    Share,
}

/// Installs the package and `more` into an environment of an interpreter, and runs its tests.
fn test(python: &str, version: &str, of: Wheel, more: &[&str], does: Other, args: &[&str]) -> Result<bool> {
    println!("Python: `{python}`, {version}");
    let environment = Environment::make(python, version)?;
    if !environment.install(&PACKAGES)? {
        println!("skipped: the Python package: pip cannot install {} (see above)", PACKAGES.join(", "));
        return Ok(true);
    }
    if !environment.install(&[&["--only-binary=:all:"], &OPTIONAL[..]].concat())? {
        println!("skipped: the tests with {}: there are no wheels for {version}", OPTIONAL.join(", "));
    }
    if args.contains(&"long") && !environment.install(&["ziglang"])? {
        println!("skipped: the tests with zig: pip cannot install it (see above)");
    }
    let named = std::env::var("PYTENSOR_VERSION").map(|version| format!("pytensor=={version}"));
    let pytensor = named.as_ref().map_or_else(|_| [&PYTENSOR, more].concat(), |named| vec![named.as_str()]);
    if !environment.install(&pytensor)? {
        println!("skipped: the tests with PyTensor: pip cannot install it (see above)");
    }
    if !environment.install(&JAX)? {
        println!("skipped: the tests with JAX: pip cannot install it (see above)");
    }
    if !environment.install(&JAX_MODELS)? {
        println!("skipped: the tests with flax, equinox and NumPyro: pip cannot install them (see above)");
    }
    if !environment.install(&[&["--only-binary=:all:"], &HOSTS[..]].concat())? {
        println!("skipped: the tests with {}: there are no wheels for {version}", HOSTS.join(", "));
    }
    let made = match of {
        Wheel::Built => environment.build_wheel()?,
        Wheel::Packed => environment.pack_wheel()?,
    };
    let Some(wheel) = made else { return Ok(false) };
    if !environment.install_ours(&wheel)? {
        return Ok(false);
    }
    let bundle = folder().join("model.precast");
    let manifest = package().join("tests/precast.toml");
    if (of == Wheel::Built && !build_programs()?) || !build(&manifest, &folder().join("store"), &bundle)? {
        return Ok(false);
    }
    let other = if does == Other::Nothing { None } else { other(version, &wheel)? };
    let path = other.as_ref().map(Environment::python);
    let fine = environment.test(&bundle, path.as_deref(), args)?;
    let other = other.filter(|_| does == Other::Share);
    Ok(fine && other.map_or(Ok(true), |other| other.test(&bundle, None, &[&OTHERS, args].concat()))?)
}

/// Returns an environment with the wheel for the oldest installed CPython, if its version differs from `version`.
fn other(version: &str, wheel: &Path) -> Result<Option<Environment>> {
    let of = |name: &&'static str| {
        self::version(name).filter(|found| found != version).map(|found| (*name, found))
    };
    let Some((python, found)) = NAMES.iter().rev().find_map(of) else {
        println!("skipped: the wheel in a second CPython: there is none on PATH but {version}");
        return Ok(None);
    };
    println!("Python: `{python}`, {found}, with the wheel that {version} has");
    let environment = Environment::make(python, &format!("other-{found}"))?;
    if !environment.install(&["numpy", "pytest", "pytest-xdist"])? {
        println!("skipped: the wheel in a second CPython: pip cannot install NumPy and pytest (see above)");
        return Ok(None);
    }
    if !environment.install_ours(wheel)? {
        bail!("the wheel of {version} cannot be installed for {found}");
    }
    Ok(Some(environment))
}

struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// Creates the environment unless it exists.
    fn make(python: &str, name: &str) -> Result<Self> {
        let folder = folder().join(name);
        if !folder.join("pyvenv.cfg").is_file()
            && !run_command(Command::new(python).args(["-m", "venv"]).arg(&folder))?
        {
            bail!("cannot create an environment for `{python}`");
        }
        Ok(Self { folder })
    }

    fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    fn pip(&self, command: &str) -> Command {
        let mut pip = Command::new(self.python());
        pip.args(["-m", "pip", "--disable-pip-version-check", command, "--quiet"]);
        pip
    }

    fn install(&self, packages: &[&str]) -> Result<bool> {
        run_command(self.pip("install").args(packages))
    }

    /// Builds the wheel of the package like `pip install ./crates/python`: in the profile of the workspace, with the
    /// installed maturin. Returns `None` if the build fails.
    fn build_wheel(&self) -> Result<Option<PathBuf>> {
        let wheels = emptied("wheel")?;
        let mut command = self.pip("wheel");
        command.args(["--no-build-isolation", "--no-deps", "--wheel-dir"]).arg(&wheels);
        command.arg("--config-settings=build-args=--profile=dev --locked").arg(package());
        command.env("PATH", path_with(&self.folder.join("bin"))?);
        // The extension links most of the workspace, which is compiled only once this way. (maturin gives PyO3 a
        // different environment than a plain `cargo build` does, so the few crates that use PyO3 are compiled again
        // after one.)
        command.env("CARGO_TARGET_DIR", root().join("target"));
        if !run_command(&mut command)? {
            return Ok(None);
        }
        only_file(&wheels).map(Some)
    }

    /// Packs the wheel of the package from its sources, maturin's metadata, and the library that the workspace's build
    /// compiles. Returns `None` if a step fails.
    fn pack_wheel(&self) -> Result<Option<PathBuf>> {
        if !crate::test::build()? {
            return Ok(None);
        }
        let (wheels, files) = (emptied("wheel")?, emptied("unpacked")?);
        let mut metadata = Command::new(self.folder.join("bin/maturin"));
        metadata.args(["pep517", "write-dist-info", "--metadata-directory"]).arg(&files);
        metadata.arg("--interpreter").arg(self.python()).current_dir(package());
        if !run_command(&mut metadata)? {
            return Ok(None);
        }
        let sources = package().join("python");
        for entry in walkdir::WalkDir::new(&sources) {
            let entry = entry?;
            let target = files.join(entry.path().strip_prefix(&sources)?);
            if entry.file_type().is_dir() {
                fs_err::create_dir_all(target)?;
            } else {
                fs_err::copy(entry.path(), target)?;
            }
        }
        let library = format!("{}_native{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        let library = root().join("target/debug").join(library);
        fs_err::copy(library, files.join("precast/_native.abi3.so"))?;
        let mut pack = Command::new(self.python());
        pack.args(["-m", "wheel", "pack"]).arg(&files).arg("--dest-dir").arg(&wheels);
        if !run_command(&mut pack)? {
            return Ok(None);
        }
        only_file(&wheels).map(Some)
    }

    /// Installs the wheel, and `./crates/python/nativecall` if it can be compiled.
    fn install_ours(&self, wheel: &Path) -> Result<bool> {
        let mut ours = self.pip("install");
        if !run_command(ours.args(["--no-deps", "--force-reinstall"]).arg(wheel))? {
            return Ok(false);
        }
        let scratch = self.folder.join("nativecall");
        fs_err::create_dir_all(&scratch)?;
        // Build files stay out of the source directory.
        let settings = scratch.join("setuptools.cfg");
        let shown = scratch.display();
        fs_err::write(&settings, format!("[build]\nbuild_base = {shown}\n[egg_info]\negg_base = {shown}\n"))?;
        let mut native = self.pip("install");
        native.arg("--force-reinstall").arg(package().join("nativecall")).env("DIST_EXTRA_CONFIG", settings);
        if !run_command(&mut native)? {
            println!(
                "skipped: the tests of what pip makes of crates/python/nativecall: it cannot (see above)"
            );
        }
        Ok(true)
    }

    /// Runs pytest; `other` is an interpreter of another version, with the package.
    fn test(&self, bundle: &Path, other: Option<&Path>, args: &[&str]) -> Result<bool> {
        let mut tests = Command::new(self.python());
        // Bytecode and caches stay out of the source directory.
        tests
            .args(["-B", "-m", "pytest", "--quiet", "-rs", "--durations=10", "-p", "no:cacheprovider"])
            .args(args);
        if let Some(other) = other {
            tests.env("PRECAST_TEST_OTHER_PYTHON", other);
        }
        tests.env("PRECAST_TEST_BUNDLE", bundle).env("PRECAST_TEST_BUILT", root().join("target/debug"));
        run_command(tests.current_dir(package()))
    }
}

/// Returns the directory of all generated files.
fn folder() -> PathBuf {
    root().join("target/python")
}

/// Returns an empty directory among the generated files.
fn emptied(name: &str) -> Result<PathBuf> {
    let path = folder().join(name);
    if path.is_dir() {
        fs_err::remove_dir_all(&path)?;
    }
    fs_err::create_dir_all(&path)?;
    Ok(path)
}

/// Returns the file that was made in a directory.
fn only_file(directory: &Path) -> Result<PathBuf> {
    Ok(fs_err::read_dir(directory)?.next().context("no wheel was made")??.path())
}

/// Returns the source directory of the package.
fn package() -> PathBuf {
    root().join("crates/python")
}

/// Returns the first interpreter that runs and is new enough, with its name and version, such as `cpython-3.13`.
fn interpreter() -> Result<Option<(String, String)>> {
    let named = std::env::var("PRECAST_PYTHON").ok();
    let names = named.as_deref().map_or_else(|| NAMES.to_vec(), |named| vec![named]);
    let found = names.into_iter().find_map(|name| Some((name.to_owned(), version(name)?)));
    match (named, found) {
        (Some(named), None) => {
            bail!("PRECAST_PYTHON names `{named}`, expected CPython 3.10 or later")
        }
        (_, found) => Ok(found),
    }
}

fn version(name: &str) -> Option<String> {
    let output =
        Command::new(name).args(["-c", VERSION]).output().ok().filter(|output| output.status.success())?;
    let version = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    version.starts_with("cpython-").then_some(version)
}

/// Compiles the graphs of the tests with the command of this workspace.
fn build(manifest: &Path, store: &Path, bundle: &Path) -> Result<bool> {
    let mut command = Command::new(root().join("target/debug/precast"));
    command.arg("build").arg(manifest).arg("--store").arg(store).arg("--bundle").arg(bundle);
    run_command(command.current_dir(root()))
}

/// Builds the command, with the features that the extension has, and the programs that call bundles from C and from
/// Rust.
fn build_programs() -> Result<bool> {
    let command = ["-p", "precast-python", "-p", "precast-cli", "--bin", "precast"];
    let packages = ["-p", "precast-capi", "-p", "precast-bridgestan", "-p", "precast"];
    let callers = [&packages[..], &["--lib", "--example", "call", "--no-default-features"]].concat();
    for args in [&command[..], &callers] {
        let mut compile = Command::new(cargo());
        compile.args(["build", "--quiet", "--locked"]).args(args).current_dir(root());
        if !run_command(compile.env("CARGO_TARGET_DIR", root().join("target")))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns PATH with a directory in front.
fn path_with(folder: &Path) -> Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).context("a folder on PATH has a separator in its name")
}
