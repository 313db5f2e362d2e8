//! Helpers of this module's own: threads that sleep until there is a job.
//!
//! One job at a time. A caller who finds them busy does its work alone. Helpers are started when they are first needed, and end
//! with the process. A child that was forked has none: it makes a pool of its own, and looks at the old one no more, whose lock
//! somebody may have held.
//!
//! Nobody waits for ever, nor leaves while others use what is on their stack: a call that panics has returned too. Its panic goes on
//! in the caller, when all calls have returned.

use super::place::{self, Place};
use std::any::Any;
use std::hint;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// What is to be called, on the stack of who waits for it.
type Work = *const (dyn Fn() + Sync + 'static);

/// How long a caller whose own work is done looks for the end of what helpers still do, before it sleeps.
const LOOKS: Duration = Duration::from_micros(50);

struct Pool {
    /// Whose helpers they are.
    process: u32,
    busy: AtomicBool,
    state: Mutex<State>,
    /// Helpers that are at the work; written by who has the state.
    active: AtomicUsize,
    done: Condvar,
}

struct State {
    work: Option<Work>,
    /// Helpers that may still take the work.
    wanted: usize,
    /// What the first helper that panicked says.
    panic: Option<Box<dyn Any + Send>>,
    helpers: Vec<Helper>,
}

/// A thread of the pool.
struct Helper {
    thread: Thread,
    place: Place,
    /// Whether it is at the work.
    is_active: bool,
}

// SAFETY: work is `Sync`, and is called only while its owner waits.
unsafe impl Send for State {}

static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

impl Pool {
    /// The pool of this process.
    fn here() -> &'static Self {
        let process = std::process::id();
        let known = POOL.load(Ordering::Acquire);
        // SAFETY: pools are leaked.
        if let Some(pool) = unsafe { known.as_ref() }.filter(|pool| pool.process == process) {
            return pool;
        }
        let state = State { work: None, wanted: 0, panic: None, helpers: Vec::new() };
        let made = Box::into_raw(Box::new(Self {
            process,
            busy: AtomicBool::new(false),
            state: Mutex::new(state),
            active: AtomicUsize::new(0),
            done: Condvar::new(),
        }));
        match POOL.compare_exchange(known, made, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: it was just made, and is leaked.
            Ok(_) => unsafe { &*made },
            Err(other) => {
                // SAFETY: it was just made, and nobody else saw it.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: another thread of this process put it there, and it is leaked.
                unsafe { &*other }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a helper does.
    fn help(&self, this: usize) {
        let mut state = self.lock();
        state.helpers[this].place.enter();
        loop {
            state.helpers[this].place.begin();
            let Some(work) = state.work.filter(|_| state.wanted > 0) else {
                drop(state);
                thread::park();
                state = self.lock();
                continue;
            };
            state.wanted -= 1;
            state.helpers[this].is_active = true;
            self.active.fetch_add(1, Ordering::Relaxed);
            drop(state);
            // SAFETY: its owner waits until no helper is at it.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*work)() }));
            state = self.lock();
            state.helpers[this].is_active = false;
            if let Err(panic) = done {
                state.panic.get_or_insert(panic);
            }
            if self.active.fetch_sub(1, Ordering::Release) == 1 {
                self.done.notify_one();
            }
        }
    }

    /// Calls so many helpers to the work, elsewhere than to processor `here`; those that there are not yet are started, as far as the
    /// system has any.
    fn call(&'static self, helpers: usize, here: usize) {
        for i in 0..helpers {
            let mut state = self.lock();
            if let Some(helper) = state.helpers.get_mut(i) {
                // One that comes late from the work before may have found this.
                if helper.is_active {
                    continue;
                }
                helper.place.keep_from(here);
                let thread = helper.thread.clone();
                drop(state);
                thread.unpark();
                continue;
            }
            // It waits for the state before it looks for itself.
            let named = thread::Builder::new().name("precast".to_owned());
            let Ok(started) = named.spawn(move || self.help(i)) else { return };
            state.helpers.push(Helper {
                thread: started.thread().clone(),
                place: Place::default(),
                is_active: false,
            });
        }
    }

    /// Waits until no helper is at the work. Sleeping and being woken takes as long as a short range, so it looks for a while first.
    fn wait(&self) -> MutexGuard<'_, State> {
        let begun = Instant::now();
        while self.active.load(Ordering::Acquire) > 0 && begun.elapsed() < LOOKS {
            hint::spin_loop();
        }
        let state = self.lock();
        self.done
            .wait_while(state, |_| self.active.load(Ordering::Relaxed) > 0)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `work` on this thread and on at most `helpers` others, until all calls have returned. `false`, and nothing was called, if
/// the helpers are busy.
///
/// # Panics
/// If a call of `work` does.
pub(super) fn run(work: &(dyn Fn() + Sync), helpers: usize) -> bool {
    let pool = Pool::here();
    if pool.busy.swap(true, Ordering::Acquire) {
        return false;
    }
    // SAFETY: helpers use it only until this function returns.
    let shared: Work = unsafe { mem::transmute::<*const (dyn Fn() + Sync), Work>(ptr::from_ref(work)) };
    let here = place::here();
    let mut state = pool.lock();
    state.work = Some(shared);
    state.wanted = helpers;
    drop(state);
    pool.call(helpers, here);
    let done = catch_unwind(AssertUnwindSafe(work));
    // Who has not begun by now finds nothing.
    pool.lock().work = None;
    let mut state = pool.wait();
    let panic = done.err().or(state.panic.take());
    drop(state);
    pool.busy.store(false, Ordering::Release);
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
    true
}
