//! Helpers of this module's own: threads that sleep until there is a job.
//!
//! One job at a time. A caller who finds them busy does its work alone. Helpers are started when they are first needed, and end
//! with the process. A child that was forked has none: it makes a pool of its own, and looks at the old one no more, whose lock
//! somebody may have held.
//!
//! Nobody waits for ever, nor leaves while others use what is on their stack: a call that panics has returned too. Its panic goes on
//! in the caller, when all calls have returned.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What is to be called, on the stack of who waits for it.
type Work = *const (dyn Fn() + Sync + 'static);

struct Pool {
    /// Whose helpers they are.
    process: u32,
    busy: AtomicBool,
    state: Mutex<State>,
    wake: Condvar,
    done: Condvar,
}

struct State {
    work: Option<Work>,
    /// Helpers that may still take the work.
    wanted: usize,
    /// Helpers that are at it.
    active: usize,
    /// What the first helper that panicked says.
    panic: Option<Box<dyn Any + Send>>,
    helpers: usize,
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
        let state = State { work: None, wanted: 0, active: 0, panic: None, helpers: 0 };
        let made = Box::into_raw(Box::new(Self {
            process,
            busy: AtomicBool::new(false),
            state: Mutex::new(state),
            wake: Condvar::new(),
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
    fn help(&self) {
        let mut state = self.lock();
        loop {
            let Some(work) = state.work.filter(|_| state.wanted > 0) else {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.wanted -= 1;
            state.active += 1;
            drop(state);
            // SAFETY: its owner waits until no helper is at it.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*work)() }));
            state = self.lock();
            state.active -= 1;
            if let Err(panic) = done {
                state.panic.get_or_insert(panic);
            }
            if state.active == 0 {
                self.done.notify_one();
            }
        }
    }

    /// Starts helpers until there are so many, or the system has no more.
    fn start(&'static self, state: &mut State, helpers: usize) {
        while state.helpers < helpers {
            let named = std::thread::Builder::new().name("precast".to_owned());
            if named.spawn(|| self.help()).is_err() {
                return;
            }
            state.helpers += 1;
        }
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
    let mut state = pool.lock();
    pool.start(&mut state, helpers);
    state.work = Some(shared);
    state.wanted = helpers;
    drop(state);
    pool.wake.notify_all();
    let done = catch_unwind(AssertUnwindSafe(work));
    let mut state = pool.lock();
    state.work = None;
    while state.active > 0 {
        state = pool.done.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    let panic = done.err().or(state.panic.take());
    drop(state);
    pool.busy.store(false, Ordering::Release);
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
    true
}
