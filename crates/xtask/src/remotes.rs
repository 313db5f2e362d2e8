//! `cargo xtask remotes`: the tests of stores elsewhere that speak to real servers, each started here on the loopback.
//!
//! ```text
//! moto (PyPI)                S3                    docker-registry, skopeo (Debian)     a registry, and another client
//! python -m http.server      a web server          BuildGrid (PyPI), PostgreSQL        a cache and a farm
//! ```
//! What is not there is installed where that is possible; what cannot be is skipped, and that is printed.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::buildgrid;
use crate::steps::run as run_command;
use crate::tools::{answers, cargo};

/// What Debian has.
const PACKAGES: [&str; 2] = ["docker-registry", "skopeo"];

/// What PyPI has.
const MOTO: &str = "moto[server,s3]==5.2.5";

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, ended with this value.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the tests; `true` if all are fine, or none can be tried here.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let folder = root.join("target/remotes");
    fs_err::create_dir_all(&folder)?;
    let mut tests = Command::new(cargo());
    tests.args(["test", "--locked", "-p", "precast-remote", "--features", "files,oci", "--test", "it"]);
    tests.args([
        "-p",
        "precast-cli",
        "--test",
        "cli",
        "--",
        "real::",
        "pipelines::",
        "--nocapture",
        "--test-threads",
        "1",
    ]);
    let python = python(&folder)?;
    let web = python.as_ref().map(|python| ("PRECAST_TEST_PYTHON", python.clone().into_os_string()));
    tests.envs(web);
    let s3 = python.as_deref().map(|python| moto(python, &folder)).transpose()?.flatten();
    if let Some(s3) = &s3 {
        let url = format!("http://{}", s3.address);
        tests.envs([
            ("AWS_ENDPOINT_URL", url.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
        ]);
        tests.envs([("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")]);
        tests.env("PRECAST_TEST_S3", &s3.address);
    }
    let registry = registry(&folder)?;
    if let Some(registry) = &registry {
        tests.env("PRECAST_TEST_REGISTRY", &registry.address);
    }
    let fine = run_command(&mut tests)?;
    Ok(buildgrid::run(root, &folder)? && fine)
}

/// An environment of Python; none where there is no interpreter.
fn python(folder: &Path) -> Result<Option<PathBuf>> {
    let environment = folder.join("python");
    let python = environment.join("bin/python");
    if !python.exists() && !answers(Command::new("python3").arg("-m").arg("venv").arg(&environment)) {
        println!("skipped: S3 and a web server: no `python3` that can make an environment");
        println!("hint: on Debian, as root: `apt-get install python3-venv`");
        return Ok(None);
    }
    Ok(Some(python))
}

/// S3.
fn moto(python: &Path, folder: &Path) -> Result<Option<Server>> {
    if !answers(Command::new(python).args(["-c", "import moto.server, moto.s3"])) {
        let mut install = Command::new(python);
        install.args(["-m", "pip", "install", "--quiet", MOTO]);
        if !run_command(&mut install)? {
            println!("skipped: S3: `{MOTO}` cannot be installed");
            return Ok(None);
        }
    }
    let address = free()?;
    let port = address.rsplit(':').next().unwrap_or_default();
    let mut server = Command::new(python);
    server.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", port]);
    start(server, address, &folder.join("moto.log")).map(Some)
}

/// A registry, as Debian has it.
fn registry(folder: &Path) -> Result<Option<Server>> {
    let is_there = || {
        answers(Command::new("docker-registry").arg("--version"))
            && answers(Command::new("skopeo").arg("--version"))
    };
    if !is_there() {
        let installed = run_command(
            Command::new("apt-get").args(["install", "-y", "--no-install-recommends"]).args(PACKAGES),
        );
        if !installed.unwrap_or(false) || !is_there() {
            println!("skipped: a registry: no `docker-registry`, or no `skopeo`");
            println!("hint: on Debian, as root: `apt-get update && apt-get install {}`", PACKAGES.join(" "));
            return Ok(None);
        }
    }
    let (address, data) = (free()?, folder.join("registry"));
    let _ = fs_err::remove_dir_all(&data);
    let config = folder.join("registry.yml");
    let text = format!(
        "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: '{address}'}}\n",
        data.display()
    );
    fs_err::write(&config, text)?;
    let mut server = Command::new("docker-registry");
    server.arg("serve").arg(&config);
    start(server, address, &folder.join("registry.log")).map(Some)
}

/// An address that nobody listens to.
pub(crate) fn free() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// Starts a server, and waits until it listens.
pub(crate) fn start(mut command: Command, address: String, log: &Path) -> Result<Server> {
    let output = fs_err::File::create(log)?;
    let (output, _) = output.into_parts();
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let mut server = Server { child, address };
    let begin = Instant::now();
    while std::net::TcpStream::connect(&server.address).is_err() {
        if server.child.try_wait()?.is_some() || begin.elapsed() > PATIENCE {
            bail!("{command:?} does not listen; it said what is in `{}`", log.display());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("started: {command:?} on {}", server.address);
    Ok(server)
}
