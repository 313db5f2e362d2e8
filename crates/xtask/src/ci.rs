//! `cargo xtask ci`: every check that a change must pass, cheapest first, with the time of each.
//!
//! The `doc` step covers libraries only: the documents of the binary `precast` and the library `precast` would share
//! a directory. The C library is left out for the same reason; its header is its documentation. All cargo commands
//! use `--locked`, so an outdated Cargo.lock is an error.

use crate::steps::Steps;
use crate::{headers, root, test, tidy};
use anyhow::Result;

/// Runs all steps, with the tests last and only on request; returns `true` if all succeed.
pub(crate) fn run(tests: bool) -> Result<bool> {
    let mut steps = Steps::default();
    let deny = [("RUSTDOCFLAGS", "-D warnings")];
    steps.step("tidy", || tidy::run(&root()));
    steps.cargo("fmt", &["fmt", "--all", "--check"], &[]);
    steps.step("headers", || headers::run(&root()));
    steps.cargo("quickstart", &["run", "--release", "--locked", "-p", "precast-quickstart"], &[]);
    for (name, profile, packages) in
        [("clippy", "dev", &test::OTHERS[..]), ("clippy of programs", "release", &test::PROGRAMS)]
    {
        let all = ["clippy", "--all-targets", "--locked", "--keep-going", "--profile", profile];
        steps.cargo(name, &[&all, packages, &["--", "-D", "warnings"]].concat(), &[]);
    }
    let doc = ["doc", "--workspace", "--exclude", "precast-capi", "--lib", "--no-deps", "--locked"];
    steps.cargo("doc", &doc, &deny);
    if tests {
        steps.step("test", || test::run(&root(), &[]));
    }
    Ok(steps.finish())
}
