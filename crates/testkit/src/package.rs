//! Packages that tests write as users do, and Cargo builds.
//!
//! All of them share the target folder of this workspace, so that other people's crates are compiled once; our own are
//! compiled again, since to such a package they are dependencies.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders deep").to_owned()
}

/// The target folder that `tmpdir`, the `CARGO_TARGET_TMPDIR` of a test, lies in.
///
/// # Panics
/// When it has no parent.
#[must_use]
pub fn target(tmpdir: &str) -> PathBuf {
    Path::new(tmpdir).parent().expect("Cargo's is `target/tmp`").to_owned()
}

/// Cargo in a directory, without what this process's environment says to precast; the store that packages share is in that
/// directory, so that a first build compiles.
#[must_use]
pub fn cargo(directory: &Path, target: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(directory).env("CARGO_TARGET_DIR", target).env("CARGO_TERM_COLOR", "never");
    for inherited in ["PRECAST_STORE", "PRECAST_ISA", "PRECAST_LOCKED", "DOCS_RS", "CARGO_BUILD_TARGET"] {
        cargo.env_remove(inherited);
    }
    cargo.env("PRECAST_CACHE", directory.join("cache"));
    cargo
}

/// The end of a package's `Cargo.toml`: the profiles of this workspace, with which its dependencies are compiled already.
///
/// # Panics
/// When the workspace has no profile for `dev`.
#[must_use]
pub fn profiles() -> String {
    let manifest = fs_err::read_to_string(root().join("Cargo.toml")).expect("the root has a manifest");
    let at = manifest.find("[profile.dev]").expect("the workspace has a profile");
    manifest[at..].to_owned()
}
