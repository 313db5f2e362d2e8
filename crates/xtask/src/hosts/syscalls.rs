//! `cargo xtask syscalls`: runs each job once for each of its system calls, with that call refused as a seccomp
//! filter would.

use super::scene::{End, Job, Scene};
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// The errors of filters: a forbidden call, and one that the kernel does not implement.
const ERRORS: [&str; 2] = ["EPERM", "ENOSYS"];

/// Calls that any process needs to start, end or print: a job's name or "", the call, the reason.
const NEEDED: [(&str, &str, &str); 22] = [
    ("", "execve", "starts the program"),
    ("", "exit_group", "ends the program"),
    ("", "exit", "ends a thread"),
    ("", "mmap", "the dynamic linker maps libraries"),
    ("", "munmap", "libc's allocator"),
    ("", "mprotect", "the dynamic linker and thread stacks"),
    ("", "brk", "libc's allocator"),
    ("", "arch_prctl", "libc sets its thread pointer"),
    ("", "openat", "the dynamic linker opens libraries"),
    ("", "close", "the dynamic linker closes libraries"),
    ("", "read", "the dynamic linker reads libraries"),
    ("", "pread64", "the dynamic linker reads libraries"),
    ("", "fstat", "the dynamic linker looks at libraries"),
    ("", "newfstatat", "the dynamic linker looks at libraries"),
    ("", "write", "errors are printed by it"),
    ("", "futex", "std aborts when a lock cannot wait"),
    ("", "poll", "std aborts unless it can look at the standard streams"),
    ("", "rt_sigaction", "std aborts unless it can ignore SIGPIPE"),
    ("", "rt_sigreturn", "returns from signal handlers"),
    ("", "recvfrom", "std panics unless it hears of a child's start"),
    ("", "wait4", "std panics unless it can wait for a child that did not start"),
    ("a Python host", "clone3", "NumPy's OpenBLAS sends SIGINT where no thread can start"),
];

/// Runs all jobs; returns `true` if each one ends as allowed.
pub(crate) fn run(root: &Path) -> Result<bool> {
    if !super::has("strace", "strace", "refused system calls") {
        return Ok(true);
    }
    let scene = Scene::new(root, "syscalls")?;
    let (mut passed, mut failed) = (0, 0);
    for job in &scene.jobs {
        let calls = calls(&scene, job)?;
        let (mut right, mut refused) = (0, 0);
        for call in calls.iter().filter(|call| !super::is_excepted(&NEEDED, job.name, call)) {
            for error in ERRORS {
                match scene.run(job, &injecting(call, error))? {
                    End::Right => right += 1,
                    End::Refused => refused += 1,
                    End::Wrong(what) => {
                        println!("FAILED  {}: {call} gives {error}: {what}", job.name);
                        failed += 1;
                    }
                }
            }
        }
        println!("{:17} {} calls: {right} right, {refused} refused with a message", job.name, calls.len());
        passed += right + refused;
    }
    println!("test result: {passed} passed; {failed} failed");
    Ok(failed == 0)
}

/// Returns the system calls of a job.
fn calls(scene: &Scene, job: &Job) -> Result<BTreeSet<String>> {
    let log = std::env::temp_dir().join(format!("precast-calls-{}", std::process::id()));
    let trace = words(&["strace", "-f", "-qq", "-c", "-o", &log.display().to_string()]);
    anyhow::ensure!(scene.run(job, &trace)? == End::Right, "`{}` fails under strace", job.name);
    let text = fs_err::read_to_string(&log)?;
    fs_err::remove_file(&log)?;
    let last = |line: &str| line.split_whitespace().last().map(str::to_owned);
    let calls: BTreeSet<String> = text
        .lines()
        .skip(2)
        .filter_map(last)
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect();
    Ok(calls.into_iter().filter(|name| name != "total").collect())
}

fn injecting(call: &str, error: &str) -> Vec<String> {
    // With a filter in the kernel, strace does not stop at other calls.
    words(&[
        "strace",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-o",
        "/dev/null",
        "-e",
        &format!("inject={call}:error={error}"),
    ])
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
