//! Lints packages with each combination of features that a user may choose, and runs the tests of lock-free tables
//! under every order of memory. CI lints a share of the combinations; `cargo xtask features` all of them.

use crate::steps::Steps;
use crate::tools::answers;
use anyhow::Result;
use std::process::Command;

/// Packages and features, and whether CI lints them.
const COMBINATIONS: [(&str, &str, bool); 12] = [
    ("precast-runtime", "", false),
    ("precast", "", true),
    ("precast", "half", false),
    ("precast", "tracing", false),
    ("precast", "remote,half,tracing", false),
    ("precast-remote", "", false),
    ("precast-remote", "files", false),
    ("precast-remote", "oci", false),
    ("precast-remote", "reapi", false),
    ("precast-cli", "", false),
    ("precast-cli", "remote", false),
    ("precast-python", "", false),
];

/// Runs all steps; returns `true` if all succeed.
pub(crate) fn run() -> Result<bool> {
    let mut steps = Steps::default();
    add(&mut steps, |_| true);
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

/// Adds the steps of CI.
pub(crate) fn share(steps: &mut Steps) {
    add(steps, |in_ci| in_ci);
}

fn add(steps: &mut Steps, selected: impl Fn(bool) -> bool) {
    for (package, features, in_ci) in COMBINATIONS {
        if selected(in_ci) {
            let of = ["--locked", "-p", package, "--no-default-features", "--features", features];
            let args = [&["clippy"], &of[..], &["--", "-D", "warnings"]].concat();
            let features = if features.is_empty() { "without any" } else { features };
            steps.cargo(&format!("features: {package} {features}"), &args, &[]);
        }
    }
}
