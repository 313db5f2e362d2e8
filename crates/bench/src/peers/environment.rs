//! The virtual environment: created once for each lock file, under the target directory, from PyPI with hashes.

use crate::cases::target;
use crate::measure::output;
use anyhow::{Context as _, Result};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pinned packages, with the hash of each file.
const LOCK: &str = include_str!("../../python/requirements.lock");

/// A Python interpreter with the peers installed.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    python: PathBuf,
    /// The directory of the peers' caches.
    caches: PathBuf,
}

impl Environment {
    /// Finds the environment or creates it; the inner error is the reason for not having one.
    pub(crate) fn find() -> Result<Result<Self, String>> {
        let place = target()?.join("bench-python");
        // One directory per lock file and Python. The hash may differ between machines.
        let base = std::env::var_os("PRECAST_BENCH_PYTHON").unwrap_or_else(|| "python3".into());
        let mut hasher = DefaultHasher::new();
        (LOCK, &base).hash(&mut hasher);
        let directory = place.join(format!("{:016x}", hasher.finish()));
        let found = Self { python: directory.join("bin/python"), caches: place.join("caches") };
        let complete = directory.join("complete");
        if complete.is_file() {
            return Ok(Ok(found));
        }
        fs_err::create_dir_all(&place)?;
        let made = make(&base, &directory, &found.python);
        let made = made.and_then(|()| Ok(fs_err::write(&complete, LOCK)?));
        Ok(made.map(|()| found).map_err(|error| first_lines(&format!("{error:#}"))))
    }

    /// Returns the path of the interpreter.
    pub(crate) fn python(&self) -> &Path {
        &self.python
    }

    /// Returns the command of a script in `python/`, on one thread, with the default cache directories.
    pub(crate) fn script(&self, name: &str) -> Command {
        self.script_on(name, 1)
    }

    /// Returns the command of [`Self::script`] on `threads` threads. JAX reads `NPROC`.
    pub(super) fn script_on(&self, name: &str, threads: usize) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("python").join(name));
        let libraries = ["OMP", "OPENBLAS", "MKL", "NUMBA"].map(|name| format!("{name}_NUM_THREADS"));
        for variable in libraries.iter().map(String::as_str).chain(["NPROC"]) {
            command.env(variable, threads.to_string());
        }
        command.env("JAX_PLATFORMS", "cpu");
        command.env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
        caches(&mut command, &self.caches);
        command
    }
}

/// Sets the cache directories of PyTensor, numba, JAX and precast.
pub(crate) fn caches(command: &mut Command, directory: &Path) {
    command.env("NUMBA_CACHE_DIR", directory.join("numba"));
    command
        .env("JAX_COMPILATION_CACHE_DIR", directory.join("jax"))
        .env("PRECAST_CACHE", directory.join("precast"));
    // JAX also keeps results that compile quickly.
    command.env("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0");
    command.env("PYTENSOR_FLAGS", format!("base_compiledir={}", directory.join("pytensor").display()));
}

fn make(base: &OsStr, directory: &Path, python: &Path) -> Result<()> {
    let lock = directory.with_extension("lock");
    fs_err::write(&lock, LOCK)?;
    output(Command::new(base).args(["-m", "venv", "--clear"]).arg(directory))
        .context("no virtual environment can be made")?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]);
    output(pip.args(["--only-binary", ":all:", "-r"]).arg(lock)).context("pip cannot install the peers")?;
    Ok(())
}

/// Returns the first lines of an error, since pip prints many.
fn first_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
    lines.join(" / ")
}
