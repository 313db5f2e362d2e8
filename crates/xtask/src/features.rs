//! Lints packages with each combination of features that a user may choose, and runs the tests of lock-free tables
//! under every order of memory.

use crate::steps::Steps;
use crate::tools::answers;
use anyhow::Result;
use std::process::Command;

/// Packages and features.
const COMBINATIONS: [(&str, &str); 12] = [
    ("precast-runtime", ""),
    ("precast", ""),
    ("precast", "half"),
    ("precast", "tracing"),
    ("precast", "remote,half,tracing"),
    ("precast-remote", ""),
    ("precast-remote", "files"),
    ("precast-remote", "oci"),
    ("precast-remote", "reapi"),
    ("precast-cli", ""),
    ("precast-cli", "remote"),
    ("precast-python", ""),
];

/// Runs all steps; returns `true` if all succeed.
pub(crate) fn run() -> Result<bool> {
    let mut steps = Steps::default();
    for (package, features) in COMBINATIONS {
        let of = ["--locked", "-p", package, "--no-default-features", "--features", features];
        let args = [&["clippy"], &of[..], &["--", "-D", "warnings"]].concat();
        let features = if features.is_empty() { "without any" } else { features };
        steps.cargo(&format!("features: {package} {features}"), &args, &[]);
    }
    if answers(Command::new("make").arg("--version")) {
        let ffi = ["test", "--locked", "-p", "precast-abi", "--features", "ffi", "--test", "it", "call::"];
        steps.cargo("features: precast-abi with calls made at run time", &ffi, &[]);
    } else {
        println!("skipped: calls made at run time: no `make`, which builds libffi");
    }
    let loom = ["test", "--locked", "--release", "-p", "precast-abi", "--lib", "loom"];
    let apart = [("RUSTFLAGS", "--cfg loom"), ("CARGO_TARGET_DIR", "target/loom")];
    steps.cargo("loom: tables under every order of memory", &loom, &apart);
    Ok(steps.finish())
}
