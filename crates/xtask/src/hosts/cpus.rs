//! `cargo xtask cpus`: jobs on other CPUs of this architecture, under QEMU's user emulation: the same results on each.
//!
//! A bundle serves the best variant that the emulated CPU can run, so this tries the choice of variants as well as their bits.

use super::scene::{End, Scene};
use anyhow::Result;
use std::path::Path;

/// CPUs by QEMU's names, oldest first, with features taken away as hypervisors do it.
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

/// The jobs that run under emulation; compilers take minutes there.
const JOBS: [&str; 3] = ["run a bundle", "run from a store", "a Rust host"];

/// Runs everything; `true` if every CPU gave the same results.
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
