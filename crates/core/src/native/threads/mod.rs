//! Threads that share the work of a call: element-wise loops, reductions, row programs and matrix products.
//!
//! Calls are single-threaded by default. A program can change that with [`limit`], and a user with `PRECAST_THREADS`, a
//! number or `all`. Results have the same bits for any number of threads: work is divided by elements and outputs, and each
//! is computed as by one thread.
//!
//! ```text
//! call ─▶ units 0 .. n ─▶ ranges, taken by free threads ─┬─ the calling thread
//!                                                         └─ helpers: the built-in pool, or the program's threads (bring)
//! ```
//! Small work stays with the caller. A caller that finds the helpers busy works alone, so a program with its own threads
//! gets no additional ones. Idle helpers sleep.

mod place;
mod pool;

use crate::native::host;
use crate::native::host::DefaultFloats;
use precast_abi::context::{Context, Error, Host, Range};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The variable for the number of threads that share the work of a call: a number, or `all`. The number is limited by the
/// affinity of the process's threads and the quota of its control group.
pub const VARIABLE: &str = "PRECAST_THREADS";

/// Maximum number of threads. More would not help on any machine.
const MOST: usize = 256;

/// Maximum number of ranges per thread. A thread that is late delays the rest only for a short time.
pub(super) const RANGES: i64 = 4;

/// The number set by [`limit`]; 0 while the variable decides.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// The function that runs work on the program's own threads.
static BROUGHT: OnceLock<Bring> = OnceLock::new();

/// A function that calls `work` `times` times, on any number of threads, and returns after all calls have returned.
pub type Bring = fn(times: usize, work: &(dyn Fn() + Sync));

/// Lets at most `threads` threads, including the calling one, share the work of a call. Overrides `PRECAST_THREADS`. The
/// number is clamped to 1 to 256.
pub fn limit(threads: usize) {
    LIMIT.store(threads.clamp(1, MOST), Ordering::Relaxed);
}

/// Returns the number of threads that may share the work of a call.
#[must_use]
pub fn count() -> usize {
    static ASKED: OnceLock<usize> = OnceLock::new();
    match LIMIT.load(Ordering::Relaxed) {
        0 => *ASKED.get_or_init(|| asked(&variable(), available).unwrap_or(1)),
        limit => limit,
    }
}

/// Returns a message if the value of [`VARIABLE`] is invalid. Calls are single-threaded then; the program is not stopped.
#[must_use]
pub fn misread() -> Option<String> {
    let value = variable();
    let is_misread = asked(&value, || 1).is_none();
    is_misread.then(|| {
        format!(
            "invalid `{VARIABLE}` `{value}`: expected a number of threads or `all`; using one thread per call"
        )
    })
}

/// Returns the value of the variable, or an empty text if it is not set.
fn variable() -> String {
    std::env::var_os(VARIABLE).unwrap_or_default().to_string_lossy().into_owned()
}

/// Uses the program's own threads, such as those of an existing pool, for the work of calls. Returns `false` if a function
/// was already set.
///
/// ```
/// fn scoped(times: usize, work: &(dyn Fn() + Sync)) {
///     std::thread::scope(|scope| (0..times).for_each(|_| drop(scope.spawn(work))));
/// }
/// precast_core::threads::bring(scoped);
/// ```
/// A panic of the function becomes an error of the call.
pub fn bring(how: Bring) -> bool {
    BROUGHT.set(how).is_ok()
}

/// Returns the number of threads for a value of the variable, or `None` if the value is invalid.
fn asked(value: &str, available: impl Fn() -> usize) -> Option<usize> {
    let threads = match value {
        "" => 1,
        "all" => available(),
        number => number.parse::<usize>().ok().filter(|threads| *threads > 0)?.min(available()),
    };
    Some(threads.clamp(1, MOST))
}

/// Returns the number of threads that the process may run at once. std reads affinity and control groups.
fn available() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The error of a range.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) code: c_int,
    pub(super) error: Error,
    /// The position of the failed kernel, if there are several.
    pub(super) at: Option<usize>,
}

impl Failed {
    /// Stores the error in a context, unless it has one already, and returns the code.
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

/// Shared units, on the stack of the waiting thread.
struct Job<'a> {
    n: i64,
    /// Number of units in a range.
    range: i64,
    next: AtomicI64,
    work: &'a (dyn Fn(i64, i64) -> Result<(), Box<Failed>> + Sync),
    /// Ranges from here on need not run.
    stop: AtomicI64,
    /// The first failed range known so far.
    failure: Mutex<Option<(i64, Box<Failed>)>>,
}

impl Job<'_> {
    /// Takes and runs ranges until none are left.
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

/// Calls `work` for ranges of at least `grain` units that cover `0 .. n`. Returns the failure of the first failed range, if
/// any.
pub(super) fn share(
    n: i64,
    grain: i64,
    work: &(dyn Fn(i64, i64) -> Result<(), Box<Failed>> + Sync),
) -> Result<(), Box<Failed>> {
    share_in(RANGES, n, grain, work)
}

/// Does the same as [`share`], with at most `ranges` ranges per thread.
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
    // The program's own threads may use another rounding mode.
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

/// A loop body in C, and its state.
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
        // SAFETY: body and state belong to the caller, which waits; the context is local to this call.
        match unsafe { (self.body)(&raw mut context, first, end, self.state) } {
            0 => Ok(()),
            code => Err(Box::new(Failed { code, error: context.error, at: None })),
        }
    }
}

/// Implements `pc_host.parallel`.
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

/// Implements `pc_host.parallel` for a host with one thread.
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
