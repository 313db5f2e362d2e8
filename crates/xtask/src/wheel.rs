//! `cargo xtask wheel`: builds the wheel of the Python package for any Linux with glibc 2.28 or later, and checks it.
//!
//! ```text
//! PyPI ─▶ target/tools/wheel: maturin, zig, auditwheel
//! crates/python ─ maturin, zig links for glibc 2.28 ─▶ target/wheels ─▶ auditwheel: the platform; licence texts
//!                                                           └─▶ a bare environment: an example runs
//! ```
//! zig has the libraries of old versions of glibc, so no old system is needed. The wheel uses CPython's stable ABI: one
//! file serves 3.10 and later.

use crate::root;
use crate::steps::run as run_command;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The platform tag: the oldest systems that are supported.
const PLATFORM: &str = "manylinux_2_28";

/// The tools.
const TOOLS: [&str; 3] = ["maturin>=1.9.4,<2", "ziglang>=0.14", "auditwheel"];

/// Builds and checks the wheel; returns `true` on success.
pub(crate) fn run() -> Result<bool> {
    let root = root();
    let tools = environment(&root.join("target/tools/wheel"))?;
    if !pip(&tools, &TOOLS)? {
        bail!("pip cannot install {}", TOOLS.join(", "));
    }
    let wheels = root.join("target/wheels");
    if wheels.is_dir() {
        fs_err::remove_dir_all(&wheels)?;
    }
    let mut build = Command::new(tools.join("bin/maturin"));
    build.args(["build", "--release", "--locked", "--strip", "--zig", "--compatibility", PLATFORM]);
    build.arg("--manifest-path").arg(root.join("crates/python/Cargo.toml")).arg("--out").arg(&wheels);
    // maturin runs `python -m ziglang` of its own environment.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::iter::once(tools.join("bin")).chain(std::env::split_paths(&path));
    if !run_command(build.env("PATH", std::env::join_paths(places)?))? {
        return Ok(false);
    }
    let wheel = fs_err::read_dir(&wheels)?.next().context("maturin made no wheel")??.path();
    check(&tools, &wheel)?;
    let bytes = fs_err::metadata(&wheel)?.len();
    println!("{}: {:.1} MB", wheel.display(), bytes as f64 / 1e6);
    try_out(&root, &wheel)
}

/// Checks the platform of a wheel, and its licence texts.
fn check(tools: &Path, wheel: &Path) -> Result<()> {
    let shown = output(Command::new(tools.join("bin/auditwheel")).arg("show").arg(wheel))?;
    if !shown.contains(PLATFORM) {
        bail!("`{}` does not run on {PLATFORM}:\n{shown}", wheel.display());
    }
    let listed = output(Command::new(tools.join("bin/python")).args(["-m", "zipfile", "-l"]).arg(wheel))?;
    for text in ["LICENSE-APACHE", "LICENSE-MIT", "_native.abi3.so"] {
        if !listed.contains(text) {
            bail!("`{}` has no file `{text}`:\n{listed}", wheel.display());
        }
    }
    Ok(())
}

/// Installs a wheel in a bare environment, and runs an example there.
fn try_out(root: &Path, wheel: &Path) -> Result<bool> {
    let folder = root.join("target/tools/bare");
    if folder.is_dir() {
        fs_err::remove_dir_all(&folder)?;
    }
    let bare = environment(&folder)?;
    let wheel = wheel.to_str().context("the path of the wheel is not UTF-8")?;
    if !pip(&bare, &[wheel])? {
        return Ok(false);
    }
    run_command(Command::new(bare.join("bin/python")).arg(root.join("crates/python/examples/build.py")))
}

/// Creates a virtual environment unless it exists, and returns it.
fn environment(folder: &Path) -> Result<PathBuf> {
    if !folder.join("pyvenv.cfg").is_file()
        && !run_command(Command::new("python3").args(["-m", "venv"]).arg(folder))?
    {
        bail!("cannot create an environment in `{}`", folder.display());
    }
    Ok(folder.to_owned())
}

fn pip(environment: &Path, packages: &[&str]) -> Result<bool> {
    let mut pip = Command::new(environment.join("bin/python"));
    run_command(pip.args(["-m", "pip", "--disable-pip-version-check", "install", "--quiet"]).args(packages))
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
