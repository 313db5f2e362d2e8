//! `cargo xtask limits`: runs each job under each resource limit, from hopeless to ample, and on one CPU.

use super::scene::{End, Scene};
use anyhow::Result;
use std::path::Path;

/// The limits, as options of `prlimit` (util-linux), with a description.
const LIMITS: [(&str, &str); 20] = [
    ("--fsize=0", "no file may be written"),
    ("--fsize=4096", "files of one page"),
    ("--fsize=65536", "files of 64 KiB"),
    ("--nofile=8", "8 open files"),
    ("--nofile=16", "16 open files"),
    ("--nofile=64", "64 open files"),
    ("--as=33554432", "32 MiB of addresses"),
    ("--as=67108864", "64 MiB of addresses"),
    ("--as=134217728", "128 MiB of addresses"),
    ("--as=268435456", "256 MiB of addresses"),
    ("--as=1073741824", "1 GiB of addresses"),
    ("--data=16777216", "16 MiB of data"),
    ("--data=67108864", "64 MiB of data"),
    ("--stack=65536", "a stack of 64 KiB"),
    ("--stack=524288", "a stack of 512 KiB"),
    ("--core=0", "no core files"),
    ("--memlock=0", "no locked memory"),
    ("--locks=0", "no file locks"),
    ("--sigpending=0", "no pending signals"),
    ("--nice=0", "no niceness"),
];

/// The limits under which the dynamic linker, libc or a library of the host ends the process: a job's name or "", the
/// limit, the reason.
const BEYOND: [(&str, &str, &str); 5] = [
    ("", "--as=33554432", "libraries cannot be mapped"),
    ("", "--stack=65536", "the kernel cannot start a program, or main's stack ends in SIGSEGV"),
    ("", "--data=16777216", "libc cannot start threads"),
    ("", "--nofile=8", "an interpreter cannot open its modules"),
    ("a Python host", "--as=134217728", "NumPy's OpenBLAS crashes, without precast too"),
];

/// Runs all jobs; returns `true` if each one ends as allowed.
pub(crate) fn run(root: &Path) -> Result<bool> {
    if !super::has("prlimit", "util-linux", "resource limits") {
        return Ok(true);
    }
    let scene = Scene::new(root, "limits")?;
    let (mut passed, mut failed) = (0, 0);
    for job in &scene.jobs {
        let (mut right, mut refused, mut beyond) = (0, 0, 0);
        for (limit, what) in LIMITS {
            match scene.run(job, &["prlimit".to_owned(), limit.to_owned()])? {
                End::Right => right += 1,
                End::Refused => refused += 1,
                End::Wrong(_) if super::is_excepted(&BEYOND, job.name, limit) => beyond += 1,
                End::Wrong(how) => {
                    println!("FAILED  {}: {limit}, {what}: {how}", job.name);
                    failed += 1;
                }
            }
        }
        let one = ["taskset", "-c", "0"].map(str::to_owned);
        match scene.run(job, &one)? {
            End::Right => right += 1,
            other => {
                println!("FAILED  {}: on one CPU: {other:?}", job.name);
                failed += 1;
            }
        }
        println!("{:17} {right} right, {refused} refused with a message, {beyond} ended by libc", job.name);
        passed += right + refused;
    }
    println!("test result: {passed} passed; {failed} failed");
    Ok(failed == 0)
}
