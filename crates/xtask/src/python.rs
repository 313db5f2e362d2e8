//! `cargo xtask python`: the Python package, installed into an environment of its own as users install it, and its tests.
//!
//! ```text
//! interpreter ──▶ target/python/PYTHON-x.y ──pip──▶ NumPy, SciPy, PyTensor, pytest, ./crates/python
//! precast build crates/python/tests/precast.toml ──▶ target/python/model.precast ──PRECAST_TEST_BUNDLE──▶ pytest
//! ```
//! Needs CPython 3.10 or later and a package index. Where one is not there, it says so and that is fine: `cargo xtask test`
//! stands on Rust and a C compiler alone.

use crate::root;
use crate::steps::run as run_command;
use crate::tools::cargo;
use anyhow::{Context as _, Result, bail};
use std::path::Path;
use std::process::Command;

/// Where interpreters are looked for, besides PRECAST_PYTHON. A name on PATH may be a shim that runs none.
const NAMES: [&str; 5] = ["python3.13", "python3.12", "python3.11", "python3.10", "python3"];

/// Prints `3.13`, or fails: an older Python, or one without `venv`.
const VERSION: &str = "import sys, venv, ensurepip; v = sys.version_info; assert v >= (3, 10); \
                       print(sys.implementation.name, '%d.%d' % v[:2], sep='-')";

/// What the tests use beside the package. `ml_dtypes` is what gives NumPy bfloat16.
const PACKAGES: [&str; 7] =
    ["numpy", "scipy", "ml_dtypes", "pytest", "pytest-xdist", "maturin>=1.9.4,<2", "setuptools>=77"];

/// A process for each processor; who is done takes tests of another. Each has a cache of its own.
const AT_ONCE: [&str; 4] = ["-n", "auto", "--dist", "worksteal"];

/// PyTensor for the newest Python that has it; another version is tested by `PYTENSOR_VERSION`, without PyMC. Where it cannot be
/// installed, its tests are skipped, and say so.
const PYTENSOR: [&str; 2] =
    ["pytensor==3.3.7; python_version >= '3.12'", "pytensor==3.0.7; python_version == '3.11'"];

/// What holds the stubs against the module, and against a program. Where it cannot be installed, its tests are skipped.
const CHECKER: &str = "mypy";

/// What the long tests use beside it.
const MODELS: &str = "pymc>=6; python_version >= '3.12'";

/// The interpreters of the long tests with PyTensor: one for each version of it.
const LONG: [&str; 2] = ["python3.11", "python3.12"];

/// Builds, installs and tests the package; `args` go to pytest. `true` if all is fine, or cannot be tried here.
///
/// Begins `args` with `--pytensor`, then it is the tests with PyTensor alone, the long ones too, for each of [`LONG`].
pub(crate) fn run(args: &[&str]) -> Result<bool> {
    if let ["--pytensor", rest @ ..] = args {
        return run_long(&[&["tests/with_pytensor", "-m", "pytensor"], rest].concat());
    }
    let Some((python, version)) = interpreter()? else {
        println!("skipped: the Python package: no CPython 3.10 or later that runs");
        println!("hint: name one in PRECAST_PYTHON, or have one of {} on PATH", NAMES.join(", "));
        return Ok(true);
    };
    test(&python, &version, &[], &[&["-m", "not long"], &AT_ONCE[..], args].concat())
}

/// The tests with PyTensor, under every interpreter of [`LONG`] that is there.
fn run_long(args: &[&str]) -> Result<bool> {
    let mut fine = true;
    for name in LONG {
        match version(name) {
            Some(version) => fine &= test(name, &version, &[MODELS], args)?,
            None => {
                println!("skipped: the tests with PyTensor under {name}: it is not there, or does not run");
            }
        }
    }
    Ok(fine)
}

/// Installs the package and `more` into an environment of an interpreter, and runs its tests.
fn test(python: &str, version: &str, more: &[&str], args: &[&str]) -> Result<bool> {
    println!("Python: `{python}`, {version}");
    let folder = root().join("target/python");
    let environment = folder.join(version);
    if !environment.join("pyvenv.cfg").is_file()
        && !run_command(Command::new(python).args(["-m", "venv"]).arg(&environment))?
    {
        bail!("cannot make an environment of `{python}`");
    }
    let python = environment.join("bin/python");
    let pip = |words: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "--disable-pip-version-check", "install", "--quiet"]).args(words);
        command
    };
    if !run_command(&mut pip(&PACKAGES))? {
        println!("skipped: the Python package: pip cannot install {} (see above)", PACKAGES.join(", "));
        return Ok(true);
    }
    let named = std::env::var("PYTENSOR_VERSION").map(|version| format!("pytensor=={version}"));
    let pytensor = named.as_ref().map_or_else(|_| [&PYTENSOR, more].concat(), |named| vec![named.as_str()]);
    if !run_command(&mut pip(&pytensor))? {
        println!("skipped: the tests with PyTensor: pip cannot install it (see above)");
    }
    if !run_command(&mut pip(&[CHECKER]))? {
        println!("skipped: the stubs against a type checker: pip cannot install {CHECKER} (see above)");
    }
    // As `pip install ./crates/python`, in the profile that the workspace is compiled in, with the maturin that is there.
    let package = ["--no-build-isolation", "--no-deps", "--force-reinstall"];
    let profile = "--config-settings=build-args=--profile=dev --locked";
    let path = root().join("crates/python");
    let mut install = pip(&package);
    install.arg(profile).arg(&path).env("PATH", path_with(&environment.join("bin"))?);
    // The extension links most of the workspace, which is compiled once for all. (maturin gives PyO3 another environment than a
    // plain `cargo build` does, so that the few crates that use it are compiled again after one.)
    install.env("CARGO_TARGET_DIR", root().join("target"));
    if !run_command(&mut install)? {
        return Ok(false);
    }
    let bundle = folder.join("model.precast");
    Ok(build(&path.join("tests/precast.toml"), &folder.join("store"), &bundle)? && {
        let mut tests = Command::new(&python);
        // Nothing is written beside the sources.
        tests.args(["-B", "-m", "pytest", "--quiet", "-rs", "-p", "no:cacheprovider"]).args(args);
        run_command(tests.current_dir(&path).env("PRECAST_TEST_BUNDLE", &bundle))?
    })
}

/// The first interpreter that runs and is new enough, and its name and version, `cpython-3.13`.
fn interpreter() -> Result<Option<(String, String)>> {
    let named = std::env::var("PRECAST_PYTHON").ok();
    let names = named.as_deref().map_or_else(|| NAMES.to_vec(), |named| vec![named]);
    let found = names.into_iter().find_map(|name| Some((name.to_owned(), version(name)?)));
    match (named, found) {
        (Some(named), None) => {
            bail!("PRECAST_PYTHON names `{named}`, which is no CPython 3.10 or later that runs")
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
    let mut command = Command::new(cargo());
    command.args(["run", "--quiet", "--locked", "-p", "precast-cli", "--bin", "precast", "--", "build"]);
    command.arg(manifest).arg("--store").arg(store).arg("--bundle").arg(bundle).current_dir(root());
    run_command(&mut command)
}

/// PATH with a folder before all others.
fn path_with(folder: &Path) -> Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).context("a folder on PATH has a separator in its name")
}
