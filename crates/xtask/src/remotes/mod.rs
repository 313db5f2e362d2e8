//! `cargo xtask remotes`: the tests of remote stores against real servers, each started here on the loopback
//! interface.
//!
//! ```text
//! moto (PyPI), s3s-fs (crates.io)   S3              docker-registry, skopeo (Debian), oras (PyPI)   a registry, and other clients
//! python -m http.server             a web server    BuildGrid (PyPI), PostgreSQL                    a cache and a farm
//! ```
//! Missing programs are installed if possible; otherwise the tests that need them are skipped with a message.

mod install;
pub(crate) mod server;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use server::{Server, free, start};

use crate::buildgrid;
use crate::steps::run as run_command;
use crate::tools::cargo;

/// The credentials of a bucket's client.
const WHO: [(&str, &str); 4] = [
    ("AWS_ACCESS_KEY_ID", "key"),
    ("AWS_SECRET_ACCESS_KEY", "secret-of-the-key"),
    ("AWS_REGION", "us-east-1"),
    ("AWS_ALLOW_HTTP", "true"),
];

/// The bucket of each server.
const BUCKET: &str = "precast";

/// Runs the tests; returns `true` on success or if none can run here.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let folder = root.join("target/remotes");
    fs_err::create_dir_all(&folder)?;
    let python = install::python(&folder)?;
    let mut others = tests(&[], &["real::", "pipelines::", "--skip", "bucket"]);
    others.envs(python.as_ref().map(|python| ("PRECAST_TEST_PYTHON", python)));
    let oras = python.as_deref().map(install::oras).transpose()?.unwrap_or_default();
    others.envs(python.as_ref().filter(|_| oras).map(|python| ("PRECAST_TEST_ORAS", python)));
    let registry = registry(&folder)?;
    others.envs(registry.as_ref().map(|registry| ("PRECAST_TEST_REGISTRY", &registry.address)));
    let mut fine = run_command(&mut others)?;
    let moto = python.as_deref().map(|python| moto(python, &folder)).transpose()?.flatten();
    for bucket in [moto, s3s(&folder)?].into_iter().flatten() {
        let mut tests = tests(&[], &["bucket", "--skip", "figures::"]);
        tests.envs(WHO).env("PRECAST_TEST_S3", &bucket.address).env("PRECAST_TEST_BUCKET", BUCKET);
        // The tests listen there, as a proxy between the client and the server.
        tests.env("AWS_ENDPOINT_URL", format!("http://{}", free()?));
        fine &= run_command(&mut tests)?;
    }
    Ok(buildgrid::run(root, &folder)? && fine)
}

/// Prints figures; fails if a measured operation fails.
pub(crate) fn figures(root: &Path) -> Result<bool> {
    let folder = root.join("target/remotes");
    fs_err::create_dir_all(&folder)?;
    let python = install::python(&folder)?;
    let registry = registry(&folder)?;
    // The bucket is public, so `curl` needs no signatures.
    let bucket = python.as_deref().map(|python| moto(python, &folder)).transpose()?.flatten();
    let mut figures = tests(&["--release"], &["figures::"]);
    figures.env("PRECAST_TEST_FIGURES", "1").envs(WHO);
    figures.envs(registry.as_ref().map(|registry| ("PRECAST_TEST_REGISTRY", &registry.address)));
    if let Some(bucket) = &bucket {
        figures.env("PRECAST_TEST_S3", &bucket.address).env("PRECAST_TEST_BUCKET", BUCKET);
        figures.env("AWS_ENDPOINT_URL", format!("http://{}", bucket.address));
    }
    // `curl` writes no file. Stores in memory do not wait for a disk either.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        figures.env("TMPDIR", memory);
        println!("stores are in memory, in {}", memory.display());
    }
    run_command(&mut figures)
}

/// Returns the command that runs the tests against real servers, restricted to `filter`.
fn tests(options: &[&str], filter: &[&str]) -> Command {
    let mut tests = Command::new(cargo());
    tests.arg("test").args(options).args(["--locked", "-p", "precast-remote", "--features", "files,oci"]);
    tests.args(["--test", "it", "-p", "precast-cli", "--test", "cli", "--"]).args(filter);
    tests.args(["--nocapture", "--test-threads", "1"]);
    tests
}

/// Starts an S3 server in Python.
fn moto(python: &Path, folder: &Path) -> Result<Option<Server>> {
    if !install::moto(python)? {
        return Ok(None);
    }
    let address = free()?;
    let mut server = Command::new(python);
    server.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", server::port(&address)]);
    let server = start(server, address, &folder.join("moto.log"))?;
    // Anyone may create a bucket.
    server::put(&server.address, &format!("/{BUCKET}"))?;
    Ok(Some(server))
}

/// Starts an S3 server in Rust, on a directory with one subdirectory per bucket.
fn s3s(folder: &Path) -> Result<Option<Server>> {
    let Some(program) = install::s3s(folder)? else { return Ok(None) };
    let (address, data) = (free()?, folder.join("s3s-data"));
    let _ = fs_err::remove_dir_all(&data);
    fs_err::create_dir_all(data.join(BUCKET))?;
    let mut server = Command::new(program);
    server.args(["--host", "127.0.0.1", "--port", server::port(&address)]);
    server.args(["--access-key", WHO[0].1, "--secret-key", WHO[1].1]).arg(data);
    start(server, address, &folder.join("s3s.log")).map(Some)
}

/// Starts the registry of Debian's package.
fn registry(folder: &Path) -> Result<Option<Server>> {
    if !install::registry()? {
        return Ok(None);
    }
    let (address, data): (String, PathBuf) = (free()?, folder.join("registry"));
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
