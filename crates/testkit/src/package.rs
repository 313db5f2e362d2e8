//! Packages that tests write like users do, and build with Cargo.
//!
//! All of them share the target directory of this workspace, so third-party crates are compiled once. The crates of
//! this workspace are compiled again, since they are dependencies of such a package.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders deep").to_owned()
}

/// Returns the target directory that contains `tmpdir`, the `CARGO_TARGET_TMPDIR` of a test.
///
/// # Panics
/// If `tmpdir` has no parent.
#[must_use]
pub fn target(tmpdir: &str) -> PathBuf {
    Path::new(tmpdir).parent().expect("Cargo's is `target/tmp`").to_owned()
}

/// Returns a Cargo command for a directory, without precast's environment variables. The shared store of packages is
/// in `directory`, so a first build compiles.
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

/// Returns the end of a package's `Cargo.toml`: the profiles of this workspace, which its dependencies were compiled
/// with.
///
/// # Panics
/// If the workspace has no profile for `dev`.
#[must_use]
pub fn profiles() -> String {
    let manifest = fs_err::read_to_string(root().join("Cargo.toml")).expect("the root has a manifest");
    let at = manifest.find("\n[profile.dev]\n").expect("the workspace has a profile");
    manifest[at..].to_owned()
}
