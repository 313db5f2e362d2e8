//! Installs servers and clients from package indexes, and prints the ones that cannot be installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::steps::run as run_command;
use crate::tools::{answers, cargo};

/// Packages from Debian.
const PACKAGES: [&str; 2] = ["docker-registry", "skopeo"];

/// Packages from PyPI.
const MOTO: &str = "moto[server,s3]==5.2.5";
const ORAS: &str = "oras==0.2.43";

/// The last version of s3s on crates.io that builds with this workspace's compiler.
const S3S: &str = "0.14.1";

/// Creates a Python environment; returns `None` without an interpreter.
pub(super) fn python(folder: &Path) -> Result<Option<PathBuf>> {
    let environment = folder.join("python");
    let python = environment.join("bin/python");
    if !python.exists() && !answers(Command::new("python3").arg("-m").arg("venv").arg(&environment)) {
        println!("skipped: moto, oras and a web server: no `python3` that can make an environment");
        println!("hint: on Debian, as root: `apt-get install python3-venv`");
        return Ok(None);
    }
    Ok(Some(python))
}

/// Installs a server for S3.
pub(super) fn moto(python: &Path) -> Result<bool> {
    module(python, "moto.server, moto.s3", MOTO)
}

/// Installs a client for registries.
pub(super) fn oras(python: &Path) -> Result<bool> {
    module(python, "oras.client", ORAS)
}

/// Installs a package unless its modules can be imported; returns whether they can be.
fn module(python: &Path, modules: &str, package: &str) -> Result<bool> {
    if answers(Command::new(python).args(["-c", &format!("import {modules}")])) {
        return Ok(true);
    }
    let mut install = Command::new(python);
    install.args(["-m", "pip", "--disable-pip-version-check", "install", "--quiet", package]);
    let is_there = run_command(&mut install)?;
    if !is_there {
        println!("skipped: `{package}` cannot be installed");
    }
    Ok(is_there)
}

/// Installs a second S3 server; it is compiled once, which takes minutes.
pub(super) fn s3s(folder: &Path) -> Result<Option<PathBuf>> {
    let root = folder.join("s3s");
    let program = root.join("bin/s3s-fs");
    if !answers(Command::new(&program).arg("--version")) {
        let mut install = Command::new(cargo());
        install.args(["install", "--quiet", "--locked", "s3s-fs", "--version", S3S, "--features", "binary"]);
        if !run_command(install.arg("--root").arg(&root))? {
            println!("skipped: `s3s-fs {S3S}` cannot be installed");
            return Ok(None);
        }
    }
    Ok(Some(program))
}

/// Installs a registry and a client for registries.
pub(super) fn registry() -> Result<bool> {
    let is_there = || {
        answers(Command::new("docker-registry").arg("--version"))
            && answers(Command::new("skopeo").arg("--version"))
    };
    if is_there() {
        return Ok(true);
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "--no-install-recommends"]).args(PACKAGES);
    if run_command(&mut install).unwrap_or(false) && is_there() {
        return Ok(true);
    }
    println!("skipped: a registry: no `docker-registry`, or no `skopeo`");
    println!("hint: on Debian, as root: `apt-get update && apt-get install {}`", PACKAGES.join(" "));
    Ok(false)
}
