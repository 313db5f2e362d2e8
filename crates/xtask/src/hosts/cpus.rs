//! `cargo xtask cpus`: runs jobs on other CPUs of this architecture under QEMU's user emulation, and compares the
//! results.
//!
//! A bundle serves the best variant that the emulated CPU can run, so this tests the selection of variants and their
//! bits.

use super::scene::{End, Scene};
use anyhow::Result;
use std::path::Path;

/// The CPUs by their QEMU names, oldest first, some with features disabled as hypervisors do.
const CPUS: [&str; 10] = [
    "Nehalem",
    "SandyBridge",
    "IvyBridge",
    "Haswell",
    "Haswell,-avx2",
    "Haswell,-fma",
    "Haswell,-bmi2",
    "Skylake-Server,-avx512vl",
    "Skylake-Server",
    "EPYC",
];

/// The jobs to emulate; compilers would take minutes.
const JOBS: [&str; 3] = ["run a bundle", "run from a store", "a Rust host"];

/// Runs all jobs on all CPUs; returns `true` if the results agree.
pub(crate) fn run(root: &Path) -> Result<bool> {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: other CPUs: the list is of x86-64");
        return Ok(true);
    }
    if !super::has("qemu-x86_64", "qemu-user", "other CPUs") {
        return Ok(true);
    }
    let scene = Scene::new(root, "cpus")?;
    let (mut passed, mut failed) = (0, 0);
    for cpu in CPUS {
        let mut ends = Vec::new();
        for job in scene.jobs.iter().filter(|job| JOBS.contains(&job.name)) {
            let end = scene.run(job, &["qemu-x86_64", "-cpu", cpu].map(str::to_owned))?;
            *(if end == End::Right { &mut passed } else { &mut failed }) += 1;
            ends.push(format!("{}: {end:?}", job.name));
        }
        println!("{cpu:26} {}", ends.join(", "));
    }
    println!("test result: {passed} passed; {failed} failed");
    Ok(failed == 0)
}
