//! Tests against a third-party farm and cache: BuildGrid on PostgreSQL, with our own workers (`worker.py`).
//!
//! ```text
//! initdb ─▶ postgres ─▶ bgd migrate ─▶ bgd server ─▶ the test starts two workers, and kills one
//!                    openssl ─▶ certificate ─┘
//! ```
//! The test is `tests/cli/farm.rs`: it builds 200 units with `precast build`, locally and remotely, and compares the
//! bytes. If openssl is available, builds connect to the server over TLS; workers never do.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::remotes::server::{Server, free, start};
use crate::steps::run as run_command;
use crate::tools::{answers, cargo};

/// The BuildGrid version that `server.yml` is written for.
const BUILDGRID: &str = "buildgrid==0.9.1";

/// The Python interpreters that BuildGrid supports.
const PYTHONS: [&str; 2] = ["python3.13", "python3.12"];

/// Runs the test; returns `true` on success or if the test cannot run here.
pub(crate) fn run(root: &Path, folder: &Path) -> Result<bool> {
    let Some(binaries) = environment(folder)? else { return Ok(true) };
    let scratch = Scratch::new()?;
    let Some(database) = postgres(&scratch.0)? else { return Ok(true) };
    let sql = format!("postgresql+psycopg://postgres@{}/postgres", database.address);
    if !run_command(Command::new(binaries.join("bgd")).args(["migrate", "apply", &sql]))? {
        bail!("BuildGrid cannot create its tables");
    }
    let (address, encrypted) = (free()?, free()?);
    let has_tls = certify(&scratch.0)?;
    let (port, tls_port) = (port(&address), port(&encrypted));
    let directory = scratch.0.display().to_string();
    let mut text = include_str!("server.yml").to_owned();
    if has_tls {
        text = text.replace("connections:\n", concat!(include_str!("tls.yml"), "connections:\n"));
    }
    for (name, value) in [("TLS_PORT", tls_port), ("PORT", port), ("DIR", &*directory), ("SQL", &*sql)] {
        text = text.replace(name, value);
    }
    let config = folder.join("buildgrid.yml");
    fs_err::write(&config, text)?;
    let mut command = Command::new(binaries.join("bgd"));
    command.args(["server", "start"]).arg(&config);
    let server = start(command, address.clone(), &folder.join("buildgrid.log"))?;
    let worker = root.join("crates/xtask/src/buildgrid/worker.py");
    let worker =
        format!("env TMPDIR={directory} {} {} {port}", binaries.join("python").display(), worker.display());
    let mut test = Command::new(cargo());
    // The same packages as in the earlier tests, so that nothing is compiled twice.
    test.args(["test", "--locked", "-p", "precast-remote", "--features", "files,oci", "--test", "it"]);
    test.args(["-p", "precast-cli", "--test", "cli", "--", "farm::", "--nocapture"]);
    test.env("PRECAST_TEST_REAPI_WORKER", worker);
    if has_tls {
        test.env("PRECAST_TEST_REAPI", format!("grpcs://localhost:{tls_port}/main"));
        test.env("PRECAST_TEST_REAPI_CA", scratch.0.join("server.pem"));
    } else {
        println!("skipped: TLS: no `openssl` that makes certificates");
        test.env("PRECAST_TEST_REAPI", format!("grpc://{address}/main"));
    }
    let fine = run_command(&mut test);
    drop((server, database));
    fine
}

/// Returns the port of an address.
fn port(address: &str) -> &str {
    address.rsplit(':').next().unwrap_or_default()
}

/// Creates a self-signed server certificate; returns `false` without openssl.
fn certify(folder: &Path) -> Result<bool> {
    if !answers(Command::new("openssl").arg("version")) {
        return Ok(false);
    }
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]);
    openssl.args([
        "-addext",
        "subjectAltName=DNS:localhost",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ]);
    openssl.args(["-keyout", "server.key", "-out", "server.pem"]).current_dir(folder);
    run_command(&mut openssl)
}

/// Returns the directory of BuildGrid's programs; `None` if it cannot be installed.
fn environment(folder: &Path) -> Result<Option<PathBuf>> {
    let binaries = folder.join("buildgrid/bin");
    if answers(Command::new(binaries.join("bgd")).arg("--version")) {
        return Ok(Some(binaries));
    }
    let runs = |python: &PathBuf| {
        answers(Command::new(python).args(["-c", "import sys, venv; assert sys.version_info >= (3, 12)"]))
    };
    let Some(python) = pythons().into_iter().find(runs) else {
        println!("skipped: BuildGrid: no {} that runs", PYTHONS.join(" and no "));
        println!("hint: name one in PRECAST_PYTHON");
        return Ok(None);
    };
    let made = run_command(Command::new(python).args(["-m", "venv"]).arg(folder.join("buildgrid")))?;
    let mut install = Command::new(binaries.join("python"));
    install.args(["-m", "pip", "--disable-pip-version-check", "install", "--quiet", BUILDGRID]);
    if !made || !run_command(&mut install)? {
        println!("skipped: BuildGrid: `{BUILDGRID}` cannot be installed");
        return Ok(None);
    }
    Ok(Some(binaries))
}

/// Returns candidate interpreters: the one in `PRECAST_PYTHON`, those on PATH, and those installed by pyenv.
fn pythons() -> Vec<PathBuf> {
    let named = std::env::var_os("PRECAST_PYTHON").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pyenv"));
    let kept = std::env::var_os("PYENV_ROOT").map(PathBuf::from).or(home);
    let kept = kept.and_then(|root| fs_err::read_dir(root.join("versions")).ok()).into_iter().flatten();
    let mut kept: Vec<PathBuf> = kept.flatten().map(|version| version.path().join("bin/python")).collect();
    kept.sort();
    named.into_iter().chain(PYTHONS.map(PathBuf::from)).chain(kept.into_iter().rev()).collect()
}

/// A directory that PostgreSQL's user can access, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("precast-buildgrid-{}", std::process::id()));
        fs_err::create_dir(&path).with_context(|| format!("cannot create `{}`", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.0);
    }
}

/// Starts the database; returns `None` without PostgreSQL or a user to run it as.
fn postgres(folder: &Path) -> Result<Option<Server>> {
    let find = || -> Option<PathBuf> {
        let versions = fs_err::read_dir("/usr/lib/postgresql").ok()?.flatten();
        versions.map(|version| version.path().join("bin")).find(|bin| bin.join("initdb").exists())
    };
    if find().is_none() {
        let mut install = Command::new("apt-get");
        let _ = run_command(install.args(["install", "-y", "--no-install-recommends", "postgresql"]));
    }
    let Some(binaries) = find() else {
        println!("skipped: BuildGrid: no PostgreSQL");
        println!("hint: on Debian, as root: `apt-get update && apt-get install postgresql`");
        return Ok(None);
    };
    let data = folder.join("data");
    fs_err::create_dir(&data)?;
    // PostgreSQL does not run as root.
    let is_root = answers(Command::new("sh").args(["-c", "test `id -u` = 0"]));
    if is_root && !run_command(Command::new("chown").arg("postgres").arg(&data))? {
        println!("skipped: BuildGrid: no user `postgres`");
        return Ok(None);
    }
    let command = |program: &str| {
        let program = binaries.join(program);
        if !is_root {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
        command
    };
    let mut init = command("initdb");
    init.args(["-A", "trust", "-U", "postgres", "-D"]).arg(&data).current_dir("/");
    if !run_command(&mut init)? {
        bail!("PostgreSQL cannot create a database");
    }
    let address = free()?;
    let mut server = command("postgres");
    server.arg("-D").arg(&data).args(["-p", port(&address), "-k"]).arg(&data).current_dir("/");
    server.args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]);
    start(server, address, &folder.join("postgres.log")).map(Some)
}
