//! Checks the linked crates of programs: asynchronous crates only with the `remote` feature.

use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

use super::Findings;
use crate::tools::cargo;

/// Loaders and what they grow to, each with all its features but `remote`.
const PROGRAMS: [(&str, &str); 6] = [
    ("precast-quickstart", ""),
    ("precast", ""),
    ("precast", "half,jit,record,signed,tracing"),
    ("precast-capi", ""),
    ("precast-cli", ""),
    ("precast-python", ""),
];

/// The asynchronous runtimes, and crates that depend on one.
const ASYNCHRONOUS: [&str; 9] = [
    "async-std",
    "futures-executor",
    "hyper",
    "object_store",
    "oci-client",
    "precast-remote",
    "reqwest",
    "tokio",
    "tonic",
];

pub(super) fn check(root: &Path, findings: &mut Findings) -> Result<()> {
    for (package, features) in PROGRAMS {
        for linked in asynchronous(root, package, features)? {
            findings.problem(package, format!("with the features `{features}` it links `{linked}`"));
        }
    }
    Ok(())
}

/// Returns the crates of [`ASYNCHRONOUS`] that a package links, on any target.
fn asynchronous(root: &Path, package: &str, features: &str) -> Result<Vec<&'static str>> {
    let mut tree = Command::new(cargo());
    tree.args(["tree", "--locked", "--target", "all", "-e", "normal", "--prefix", "none", "-p", package]);
    let tree = tree.args(["--no-default-features", "--features", features]).current_dir(root).output()?;
    if !tree.status.success() {
        bail!("`cargo tree` of {package} failed:\n{}", String::from_utf8_lossy(&tree.stderr));
    }
    let text = String::from_utf8(tree.stdout)?;
    let is_linked = |name: &&str| text.lines().any(|line| line.split(' ').next() == Some(name));
    Ok(ASYNCHRONOUS.into_iter().filter(is_linked).collect())
}

#[cfg(test)]
mod tests {
    use super::asynchronous;

    #[test]
    fn remote_feature_links_an_async_runtime() {
        let linked = asynchronous(&crate::root(), "precast", "remote").unwrap();
        assert_eq!(linked, ["hyper", "object_store", "oci-client", "precast-remote", "reqwest", "tokio"]);
    }
}
