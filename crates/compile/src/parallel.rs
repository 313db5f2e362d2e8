//! Many units at once, within what Cargo's jobserver or `-j` allows.
//!
//! The caller's own slot is one job. Further workers each need a token; a worker that gets none looks again after a few
//! milliseconds, a fraction of what a job takes, and goes home when no job is left. Results are in the order of the jobs,
//! and none is lost to the failure of another.

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use precast_codegen::Unit;

use crate::compile::{Compiled, compile};
use crate::error::CompileError;
use crate::isa::Variant;
use crate::tokens::Tokens;
use crate::toolchain::Toolchain;

/// How many units are compiled at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parallel {
    /// As many as the jobserver of Cargo or make gives tokens for; without one, `NUM_JOBS`, else one a processor.
    #[default]
    Auto,
    /// This many (`-j N`), whatever a jobserver says.
    Jobs(NonZeroUsize),
}

/// A step of compiling a list of jobs. `job` is a position in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The build waits for another process that compiles the same modules. Only `precast-build` reports it.
    Waiting,
    /// It is being compiled.
    Started {
        /// Its place in the list.
        job: usize,
    },
    /// It ended.
    Finished {
        /// Its place in the list.
        job: usize,
        /// Whether it failed.
        failed: bool,
        /// How many have ended.
        done: usize,
        /// How many there are.
        total: usize,
    },
}

enum Event {
    Started(usize),
    Finished(usize, Box<Result<Compiled, CompileError>>),
}

/// How long a worker without a token waits before it asks again.
const RETRY: Duration = Duration::from_millis(3);

/// Compiles jobs, several at once. The results are in the order of the jobs; `progress` is called on this thread.
pub fn compile_all(
    jobs: &[(Unit, Variant)],
    toolchain: &Toolchain,
    parallel: Parallel,
    progress: &dyn Fn(Progress),
) -> Vec<Result<Compiled, CompileError>> {
    let tokens = if parallel == Parallel::Auto { Tokens::from_env() } else { None };
    all(jobs.len(), workers(parallel, tokens.is_some()), tokens.as_ref(), progress, &|job| {
        let (unit, variant) = &jobs[job];
        compile(unit, toolchain, variant)
    })
}

fn workers(parallel: Parallel, served: bool) -> usize {
    let processors = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    match parallel {
        Parallel::Jobs(count) => count.get(),
        Parallel::Auto if served => processors(),
        Parallel::Auto => {
            let told = std::env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok());
            told.filter(|jobs| *jobs > 0).unwrap_or_else(processors)
        }
    }
}

type Work<'a> = &'a (dyn Fn(usize) -> Result<Compiled, CompileError> + Sync);

fn all(
    total: usize,
    workers: usize,
    tokens: Option<&Tokens>,
    progress: &dyn Fn(Progress),
    work: Work<'_>,
) -> Vec<Result<Compiled, CompileError>> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<Result<Compiled, CompileError>>> = (0..total).map(|_| None).collect();
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let mut started = 0;
        for worker in 0..workers.min(total) {
            let (send, next) = (send.clone(), &next);
            // The first one works on the token that this process has anyway.
            let tokens = tokens.filter(|_| worker > 0);
            let worker = thread::Builder::new().name("precast-compile".to_owned());
            // Where there are no more threads to be had, those that there are do the work.
            if worker.spawn_scoped(scope, move || run(total, next, tokens, &send, work)).is_err() {
                break;
            }
            started += 1;
        }
        if started == 0 {
            run(total, &next, None, &send, work);
        }
        drop(send);
        let mut done = 0;
        for event in receive {
            match event {
                Event::Started(job) => progress(Progress::Started { job }),
                Event::Finished(job, result) => {
                    done += 1;
                    progress(Progress::Finished { job, failed: result.is_err(), done, total });
                    results[job] = Some(*result);
                }
            }
        }
    });
    let lost = || CompileError::Panic { message: "the worker is gone".to_owned() };
    results.into_iter().map(|result| result.unwrap_or_else(|| Err(lost()))).collect()
}

fn run(total: usize, next: &AtomicUsize, tokens: Option<&Tokens>, send: &Sender<Event>, work: Work<'_>) {
    while next.load(Ordering::Relaxed) < total {
        let token = match tokens.map(Tokens::take) {
            Some(None) => {
                thread::sleep(RETRY);
                continue;
            }
            Some(token) => token,
            None => None,
        };
        let job = next.fetch_add(1, Ordering::Relaxed);
        if job >= total {
            return;
        }
        // The receiver outlives the workers.
        let _ = send.send(Event::Started(job));
        let result = catch_unwind(AssertUnwindSafe(|| work(job)));
        let result = result.unwrap_or_else(|panic| Err(CompileError::Panic { message: message(&*panic) }));
        let _ = send.send(Event::Finished(job, Box::new(result)));
        drop(token);
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}
