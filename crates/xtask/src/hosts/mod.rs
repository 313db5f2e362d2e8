//! Programs with precast on hosts that refuse something, and for a long time: `cargo xtask syscalls | limits | cpus | reload`.
//!
//! ```text
//! scene: bundle, store, inputs; jobs: run, verify, build, jit, a Rust host, a Python host
//!   ├─▶ syscalls  each job × each system call that it makes × EPERM, ENOSYS (strace injects them)
//!   ├─▶ limits    each job under each resource limit, on one CPU, without a network
//!   └─▶ cpus      each job on other CPUs, by emulation
//! reload: services of each host reload bundles, and hold no more than before
//! ```
//! A job passes if it gives the results that it gives undisturbed, or fails with an exit code and a message. A signal, a panic,
//! another result, or no end is a failure. Exceptions are lists with reasons.

mod cpus;
mod limits;
mod reload;
mod scene;
mod syscalls;

pub(crate) use cpus::run as cpus;
pub(crate) use limits::run as limits;
pub(crate) use reload::run as reload;
pub(crate) use syscalls::run as syscalls;

use crate::steps::run as run_command;
use crate::tools::answers;
use std::process::Command;

/// Whether a list of exceptions, each a job's name or "", a disturbance and the reason, has this one.
fn is_excepted(list: &[(&str, &str, &str)], job: &str, disturbance: &str) -> bool {
    list.iter().any(|(name, known, _)| *known == disturbance && (name.is_empty() || *name == job))
}

/// Installs Debian's `package` unless `program` is there; prints why its proof is skipped where that fails.
fn has(program: &str, package: &str, proof: &str) -> bool {
    let is_there = || answers(Command::new(program).arg("--version"));
    if is_there() {
        return true;
    }
    let install =
        run_command(Command::new("apt-get").args(["install", "-y", "--no-install-recommends", package]));
    if install.unwrap_or(false) && is_there() {
        return true;
    }
    println!("skipped: {proof}: `{program}` not found");
    println!("hint: on Debian, as root: `apt-get update && apt-get install {package}`");
    false
}
