//! Tests compiling several units in parallel. Results are in the order of the jobs, none is lost, and the bytes do not
//! depend on the number of jobs.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::process::Command;

use precast_codegen::Unit;
use precast_compile::{CompileError, Parallel, Progress, Variant, compile_all};

use crate::modules::{kernel, module, single, toolchain, variant};

fn jobs(count: u32) -> Vec<(Unit, Variant)> {
    (0..count).map(|factor| (single(kernel(factor)), variant())).collect()
}

fn digests(jobs: &[(Unit, Variant)], parallel: Parallel) -> Vec<String> {
    let results = compile_all(jobs, toolchain(), parallel, &|_| {});
    results.into_iter().map(|result| result.expect("a good unit").record.digest.to_string()).collect()
}

#[test]
fn parallelism_changes_neither_order_nor_bytes() {
    let jobs = jobs(6);
    let by = |count| Parallel::Jobs(NonZeroUsize::new(count).unwrap());
    let one = digests(&jobs, by(1));
    assert_eq!(one, digests(&jobs, by(4)));
    assert_eq!(one, digests(&jobs, Parallel::Auto));
}

#[test]
fn one_failure_keeps_other_results() {
    let mut jobs = jobs(4);
    jobs[1].0 = single(module("bad() -> f64", "", "    syntax error;"));
    let events = RefCell::new(Vec::new());
    let results = compile_all(&jobs, toolchain(), Parallel::Auto, &|event| events.borrow_mut().push(event));
    let failed: Vec<bool> = results.iter().map(Result::is_err).collect();
    assert_eq!(failed, [false, true, false, false]);
    assert!(matches!(results[1], Err(CompileError::Rejected { .. })));
    let ended = |event: &&Progress| matches!(event, Progress::Finished { .. });
    assert_eq!(events.borrow().iter().filter(ended).count(), 4);
    assert!(matches!(events.borrow().last(), Some(Progress::Finished { done: 4, total: 4, .. })));
}

/// Compiles under the jobserver of the test below and prints the maximum number of parallel jobs.
#[test]
#[ignore = "the child of a_jobserver_bounds_the_jobs_at_once"]
fn child_counts_jobs_at_once() {
    let (now, most) = (Cell::new(0_usize), Cell::new(0_usize));
    compile_all(&jobs(8), toolchain(), Parallel::Auto, &|event| match event {
        Progress::Started { .. } => {
            now.set(now.get() + 1);
            most.set(most.get().max(now.get()));
        }
        _ => now.set(now.get() - 1),
    });
    println!("most={}", most.get());
}

#[test]
fn a_jobserver_bounds_the_jobs_at_once() {
    for free in [0, 1] {
        let server = jobserver::Client::new(free).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "parallel::child_counts_jobs_at_once", "--nocapture"]);
        command.env_remove("MAKEFLAGS").env_remove("MFLAGS");
        server.configure(&mut command);
        let words = String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned();
        let most: usize =
            words.lines().find_map(|line| line.strip_prefix("most=")?.parse().ok()).expect(&words);
        assert!(most <= free + 1, "{words}");
        assert_eq!(server.available().unwrap(), free, "tokens were lost");
    }
}
