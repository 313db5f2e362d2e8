//! The built-in pool of helpers: threads that sleep until there is a job.
//!
//! There is one job at a time, and a caller that finds the helpers busy works alone. Helpers are started on first use, and
//! end with the process. A forked child has no helpers. It creates a new pool and never uses the old one, whose lock may
//! have been held during the fork.
//!
//! No call waits forever, and none returns while helpers use its stack: a call that panics also counts as returned. After
//! all calls have returned, the panic continues in the caller.

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

/// The function to call, on the stack of the waiting thread.
type Work = *const (dyn Fn() + Sync + 'static);

/// How long a caller that has finished its own work spins for the helpers, before it sleeps.
const LOOKS: Duration = Duration::from_micros(50);

struct Pool {
    /// The process id of the helpers.
    process: u32,
    busy: AtomicBool,
    state: Mutex<State>,
    /// Number of helpers at work. Written only with the state locked.
    active: AtomicUsize,
    done: Condvar,
}

struct State {
    work: Option<Work>,
    /// Number of helpers that may still take the work.
    wanted: usize,
    /// The payload of the first helper's panic.
    panic: Option<Box<dyn Any + Send>>,
    helpers: Vec<Helper>,
}

/// A thread of the pool.
struct Helper {
    thread: Thread,
    place: Place,
    /// Whether it is working.
    is_active: bool,
}

// SAFETY: work is `Sync`, and is called only while its owner waits.
unsafe impl Send for State {}

static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

impl Pool {
    /// Returns the pool of this process.
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
            // SAFETY: it was just created, and is leaked.
            Ok(_) => unsafe { &*made },
            Err(other) => {
                // SAFETY: it was just created, and no other thread has seen it.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: another thread of this process stored it, and it is leaked.
                unsafe { &*other }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the loop of a helper.
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
            // SAFETY: the owner waits until no helper is working on it.
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

    /// Wakes `helpers` helpers, away from processor `here`. Starts missing ones, if the system can.
    fn call(&'static self, helpers: usize, here: usize) {
        for i in 0..helpers {
            let mut state = self.lock();
            if let Some(helper) = state.helpers.get_mut(i) {
                // A helper that was late for the previous work may have taken this one.
                if helper.is_active {
                    continue;
                }
                helper.place.keep_from(here);
                let thread = helper.thread.clone();
                drop(state);
                thread.unpark();
                continue;
            }
            // The new thread waits for the lock before it reads its entry.
            let named = thread::Builder::new().name("precast".to_owned());
            let Ok(started) = named.spawn(move || self.help(i)) else { return };
            state.helpers.push(Helper {
                thread: started.thread().clone(),
                place: Place::default(),
                is_active: false,
            });
        }
    }

    /// Waits until no helper is working. Spins first, because sleeping and waking takes as long as a short range.
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

/// Calls `work` on this thread and on at most `helpers` helpers, and returns after all calls have returned. Returns `false`
/// without calling `work` if the helpers are busy.
///
/// # Panics
/// A call of `work` panics.
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
    // Helpers that have not started by now find no work.
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
