//! Compiles several units in parallel, within the limits of Cargo's jobserver or `-j`.
//!
//! The process itself owns one job slot. Each additional worker needs a token. A worker without a token retries every
//! few milliseconds, a fraction of the duration of a job, and exits when no jobs are left. Results are in the order of
//! the jobs, and a failed job does not affect the results of the rest.

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

/// The number of units to compile in parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parallel {
    /// The number of tokens that the jobserver of Cargo or make provides. Without a jobserver, `NUM_JOBS`, or else the
    /// number of processors.
    #[default]
    Auto,
    /// A fixed number (`-j N`), regardless of any jobserver.
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
        /// The position of the job in the list.
        job: usize,
    },
    /// The job finished.
    Finished {
        /// The position of the job in the list.
        job: usize,
        /// Whether it failed.
        failed: bool,
        /// The number of finished jobs.
        done: usize,
        /// The total number of jobs.
        total: usize,
    },
}

enum Event {
    Started(usize),
    Finished(usize, Box<Result<Compiled, CompileError>>),
}

/// The delay before a worker without a token retries.
const RETRY: Duration = Duration::from_millis(3);

/// Compiles jobs in parallel. The results are in the order of the jobs; `progress` is called on this thread.
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
            // The first worker uses the token that this process implicitly owns.
            let tokens = tokens.filter(|_| worker > 0);
            let worker = thread::Builder::new().name("precast-compile".to_owned());
            // If no more threads can be created, the existing ones do the work.
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
    let lost = || CompileError::Panic { message: "the worker thread is gone".to_owned() };
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
