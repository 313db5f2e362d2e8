//! Programs with precast on restricted and long-running hosts: `cargo xtask syscalls | limits | cpus | reload`.
//!
//! ```text
//! scene: bundle, store, inputs; jobs: run, verify, build, jit, a Rust host, a Python host
//!   ├─▶ syscalls  each job × each system call that it makes × EPERM, ENOSYS (strace injects them)
//!   ├─▶ limits    each job under each resource limit, on one CPU, without a network
//!   └─▶ cpus      each job on other CPUs, by emulation
//! reload: services of each host reload bundles without growing
//! ```
//! A job passes if it returns its undisturbed results, or fails with an exit code and a message. A signal, a panic, a
//! different result or a hang is a failure. Exceptions are listed with reasons.

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

/// Returns whether a list of exceptions contains this job and disturbance. Each entry is a job's name or "", a
/// disturbance and the reason.
fn is_excepted(list: &[(&str, &str, &str)], job: &str, disturbance: &str) -> bool {
    list.iter().any(|(name, known, _)| *known == disturbance && (name.is_empty() || *name == job))
}

/// Installs Debian's `package` if `program` is missing; prints the reason for skipping `proof` if that fails.
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
