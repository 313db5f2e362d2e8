//! Threads that share the work of a call: elementwise loops, reductions, programs of rows and products of matrices.
//!
//! A program has one thread per call unless it asks for more: by [`limit`], or from outside by `PRECAST_THREADS`, a number or
//! `all`. Results have the same bits for any number of them: what is shared is cut along elements and outputs, each of which is
//! computed as by one thread.
//!
//! ```text
//! call ─▶ units 0 .. n ─▶ ranges, taken by who is free ─┬─ the calling thread
//!                                                        └─ helpers: this module's own (pool), or the program's (bring)
//! ```
//! Small work stays with the caller, as does that of a caller who finds the helpers busy: a program with threads of its own does
//! not get more of them. Helpers that have nothing to do sleep.

mod place;
mod pool;

use super::floats::DefaultFloats;
use super::host;
use precast_abi::context::{Context, Error, Host, Range};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The variable that says how many threads share the work of a call: a number, or `all`. No more than the process may use at
/// once: by the affinity of its threads and the quota of its control group.
pub const VARIABLE: &str = "PRECAST_THREADS";

/// More threads than any machine gains from.
const MOST: usize = 256;

/// Ranges a thread, so that one that is late holds up the others for a short time only.
pub(super) const RANGES: i64 = 4;

/// What [`limit`] set; 0 as long as the variable decides.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// How a program runs work on threads of its own.
static BROUGHT: OnceLock<Bring> = OnceLock::new();

/// Calls a function so many times, on as many threads as are free, and returns when all calls have returned.
pub type Bring = fn(times: usize, work: &(dyn Fn() + Sync));

/// Lets at most `threads` threads share the work of a call, the calling one among them, whatever `PRECAST_THREADS` says. No less
/// than one, and not more than 256.
pub fn limit(threads: usize) {
    LIMIT.store(threads.clamp(1, MOST), Ordering::Relaxed);
}

/// Gives the number of threads that may share the work of a call.
#[must_use]
pub fn count() -> usize {
    static ASKED: OnceLock<usize> = OnceLock::new();
    match LIMIT.load(Ordering::Relaxed) {
        0 => *ASKED.get_or_init(|| asked(&variable(), available).unwrap_or(1)),
        limit => limit,
    }
}

/// Says what is wrong with [`VARIABLE`], if it cannot be read. A program cannot be stopped by it: a call then has one thread.
#[must_use]
pub fn misread() -> Option<String> {
    let value = variable();
    let is_misread = asked(&value, || 1).is_none();
    is_misread.then(|| {
        format!(
            "`{VARIABLE}` is `{value}`, which is neither a number of threads nor `all`: a call has one thread"
        )
    })
}

/// The value of the variable; empty, as if it were not set, where there is none.
fn variable() -> String {
    std::env::var_os(VARIABLE).unwrap_or_default().to_string_lossy().into_owned()
}

/// Has the work of calls shared by threads of the program's own, such as those of a pool that it has anyway. `false` if that was
/// said before.
///
/// ```
/// fn scoped(times: usize, work: &(dyn Fn() + Sync)) {
///     std::thread::scope(|scope| (0..times).for_each(|_| drop(scope.spawn(work))));
/// }
/// precast_core::threads::bring(scoped);
/// ```
/// A panic of it is an error of the call.
pub fn bring(how: Bring) -> bool {
    BROUGHT.set(how).is_ok()
}

/// How many threads a value of the variable asks for; `None` if that is no number of them.
fn asked(value: &str, available: impl Fn() -> usize) -> Option<usize> {
    let threads = match value {
        "" => 1,
        "all" => available(),
        number => number.parse::<usize>().ok().filter(|threads| *threads > 0)?.min(available()),
    };
    Some(threads.clamp(1, MOST))
}

/// Threads that the process may run at once; std reads affinity and control groups.
fn available() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// What a range that failed says.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) code: c_int,
    pub(super) error: Error,
    /// Which of several kernels it was.
    pub(super) at: Option<usize>,
}

impl Failed {
    /// Puts its error into the slot of a context, unless one is there; gives the code.
    ///
    /// # Safety
    /// `ctx` is the context of the running call.
    pub(super) unsafe fn tell(self, ctx: *mut Context) -> c_int {
        // SAFETY: the caller's promise.
        let slot = unsafe { ptr::addr_of_mut!((*ctx).error) };
        // SAFETY: as above.
        if unsafe { (*slot).kind } == 0 {
            // SAFETY: as above.
            unsafe { slot.write(self.error) };
        }
        self.code
    }
}

/// Units that are shared, on the stack of who waits for them.
struct Job<'a> {
    n: i64,
    /// Units of a range.
    range: i64,
    next: AtomicI64,
    work: &'a (dyn Fn(i64, i64) -> Result<(), Box<Failed>> + Sync),
    /// Ranges from here on need not be run.
    stop: AtomicI64,
    /// The first range that failed, as far as is known.
    failure: Mutex<Option<(i64, Box<Failed>)>>,
}

impl Job<'_> {
    /// Takes ranges until there are none.
    fn run(&self) {
        loop {
            let first = self.next.fetch_add(self.range, Ordering::Relaxed);
            if first >= self.n.min(self.stop.load(Ordering::Relaxed)) {
                return;
            }
            let Err(failed) = (self.work)(first, self.n.min(first + self.range)) else { continue };
            self.stop.fetch_min(first, Ordering::Relaxed);
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            if failure.as_ref().is_none_or(|(known, _)| first < *known) {
                *failure = Some((first, failed));
            }
        }
    }
}

/// Calls `work` for ranges of at least `grain` units that are `0 .. n` together; the first failure in their order, if any.
pub(super) fn share(
    n: i64,
    grain: i64,
    work: &(dyn Fn(i64, i64) -> Result<(), Box<Failed>> + Sync),
) -> Result<(), Box<Failed>> {
    share_in(RANGES, n, grain, work)
}

/// As [`share`], in at most so many ranges a thread.
pub(super) fn share_in(
    ranges: i64,
    n: i64,
    grain: i64,
    work: &(dyn Fn(i64, i64) -> Result<(), Box<Failed>> + Sync),
) -> Result<(), Box<Failed>> {
    let threads = count();
    let grain = grain.max(1);
    let range = ((n - 1) / (threads as i64 * ranges) / grain + 1) * grain;
    if threads == 1 || range >= n {
        return work(0, n);
    }
    let job = Job {
        n,
        range,
        next: AtomicI64::new(0),
        work,
        stop: AtomicI64::new(i64::MAX),
        failure: Mutex::new(None),
    };
    let ranges = (n - 1) / range + 1;
    let helpers = threads.min(usize::try_from(ranges).unwrap_or(threads)) - 1;
    // The program's own threads may round otherwise.
    let help = || {
        let _floats = DefaultFloats::set();
        job.run();
    };
    match BROUGHT.get() {
        Some(how) => {
            how(helpers + 1, &help);
            job.run();
        }
        None if pool::run(&help, helpers) => job.run(),
        None => return work(0, n),
    }
    match job.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, failed)) => Err(failed),
        None => Ok(()),
    }
}

/// What C shares: a body, and what it works on.
struct Body {
    body: Range,
    state: *mut c_void,
    host: *const Host,
}

// SAFETY: the contract of `pc_host.parallel`: ranges may run on several threads at once.
unsafe impl Sync for Body {}

impl Body {
    fn run(&self, first: i64, end: i64) -> Result<(), Box<Failed>> {
        let mut context = Context { host: self.host, error: Error::NONE };
        // SAFETY: the body and its state are those of the caller, who waits; the context is this call's.
        match unsafe { (self.body)(&raw mut context, first, end, self.state) } {
            0 => Ok(()),
            code => Err(Box::new(Failed { code, error: context.error, at: None })),
        }
    }
}

/// `pc_host.parallel`.
pub(super) unsafe extern "C" fn parallel(
    ctx: *mut Context,
    n: i64,
    grain: i64,
    body: Range,
    state: *mut c_void,
) -> c_int {
    if count() == 1 {
        // SAFETY: as promised by the caller.
        return unsafe { alone(ctx, n, grain, body, state) };
    }
    let body = Body { body, state, host: host::here() };
    // SAFETY: the context of the running call.
    match unsafe { host::guarded(ctx, || share(n, grain, &|first, end| body.run(first, end))) } {
        None => -1,
        Some(Ok(())) => 0,
        // SAFETY: the context of the running call.
        Some(Err(failed)) => unsafe { failed.tell(ctx) },
    }
}

/// `pc_host.parallel` of a host with one thread.
pub(super) unsafe extern "C" fn alone(
    ctx: *mut Context,
    n: i64,
    _grain: i64,
    body: Range,
    state: *mut c_void,
) -> c_int {
    // SAFETY: as promised by the caller.
    unsafe { body(ctx, 0, n, state) }
}

#[cfg(test)]
mod tests;
