//! Ranges: each once, whoever takes them; callers at the same time, failures, forks.

use super::*;
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

/// Every unit is in one range, whatever the number of threads.
#[test]
fn ranges_are_all_units_once() {
    for (n, grain) in [(1, 1), (7, 3), (100, 1), (100_003, 10), (1 << 20, 1 << 14)] {
        let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
        let work = |first: i64, end: i64| {
            assert!(end - first >= grain || end == n, "{first}..{end} of {n}");
            (first..end).for_each(|unit| {
                seen[unit as usize].fetch_add(1, Ordering::Relaxed);
            });
            Ok(())
        };
        limit(3);
        assert!(share(n, grain, &work).is_ok());
        assert!(seen.iter().all(|times| times.load(Ordering::Relaxed) == 1));
    }
}

/// Callers that come while the helpers are busy do their work alone, and everybody gets their own.
#[test]
fn callers_do_not_wait_for_each_other() {
    limit(3);
    std::thread::scope(|scope| {
        for caller in 0..4_i64 {
            scope.spawn(move || {
                for round in 0..200 {
                    let sum = AtomicI64::new(0);
                    let work = |first: i64, end: i64| {
                        sum.fetch_add((first..end).sum(), Ordering::Relaxed);
                        Ok(())
                    };
                    let n = 1000 + caller + round;
                    assert!(share(n, 10, &work).is_ok());
                    assert_eq!(sum.into_inner(), n * (n - 1) / 2);
                }
            });
        }
    });
}

/// Callers on processors of their own, in turn: a helper works with the processors that it had when it was started.
#[cfg(target_os = "linux")]
#[test]
fn helpers_have_their_own_processors_whoever_calls() {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let caller = std::thread::current().id();
    let all = sched_getaffinity(None).unwrap();
    let seen = AtomicUsize::new(0);
    let work = || {
        if std::thread::current().id() != caller {
            assert!(sched_getaffinity(None).unwrap() == all);
            seen.fetch_add(1, Ordering::Relaxed);
        }
        // So long that helpers come to it.
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    let mut processors = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).cycle();
    while seen.load(Ordering::Relaxed) < 20 {
        let mut here = CpuSet::new();
        // The first call, which starts the helpers, comes from where the process may run.
        here.set(processors.next().unwrap());
        sched_setaffinity(None, if seen.load(Ordering::Relaxed) == 0 { &all } else { &here }).unwrap();
        pool::run(&work, 2);
    }
    sched_setaffinity(None, &all).unwrap();
}

#[test]
fn the_first_range_that_fails_is_told() {
    limit(3);
    for _ in 0..100 {
        let late = AtomicBool::new(false);
        let work = |first: i64, end: i64| {
            let bad = if first <= 500 { 500 } else { 900 };
            late.fetch_or(bad == 900, Ordering::Relaxed);
            if (first..end).contains(&bad) {
                Err(Box::new(Failed { code: bad as c_int, error: Error::NONE, at: None }))
            } else {
                Ok(())
            }
        };
        assert_eq!(share(1000, 10, &work).map_err(|failed| failed.code).unwrap_err(), 500);
    }
}

/// Whoever it is that panics: the caller hears of it when nobody is at the work any more, and the helpers serve the next call.
#[test]
fn a_panic_in_a_range_is_the_callers() {
    limit(3);
    let caller = std::thread::current().id();
    for panics_here in [true, false].repeat(20) {
        let done = AtomicI64::new(0);
        let work = |first: i64, end: i64| {
            let is_here = std::thread::current().id() == caller;
            assert_ne!(is_here, panics_here, "{first}..{end}");
            done.fetch_add(end - first, Ordering::Relaxed);
            // So long that others take ranges too.
            std::thread::sleep(std::time::Duration::from_millis(1));
            Ok(())
        };
        let shared = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| share(1000, 10, &work)));
        // Helpers that another test keeps busy do not panic here.
        assert_eq!(shared.is_ok(), done.into_inner() == 1000);
    }
    assert!(share(1000, 10, &|_, _| Ok(())).is_ok());
}

/// Ranges of C that are shared by what panics: an error of the call, told with its words.
#[test]
fn what_a_program_brings_may_panic() {
    thread_local! {
        static IS_THIS: Cell<bool> = const { Cell::new(false) };
    }
    /// Serves other tests of this process, too.
    fn panics_here(times: usize, work: &(dyn Fn() + Sync)) {
        assert!(!IS_THIS.get(), "no threads today");
        std::thread::scope(|scope| (0..times).for_each(|_| drop(scope.spawn(work))));
    }
    unsafe extern "C" fn counted(_: *mut Context, first: i64, end: i64, state: *mut c_void) -> c_int {
        // SAFETY: the state is the counter of the test, which waits.
        unsafe { &*state.cast::<AtomicI64>() }.fetch_add(end - first, Ordering::Relaxed);
        0
    }
    limit(3);
    assert!(bring(panics_here));
    IS_THIS.set(true);
    let units = AtomicI64::new(0);
    let state: *mut c_void = ptr::from_ref(&units).cast_mut().cast();
    let mut context = host::context();
    // SAFETY: the context is this call's, and the state what the body takes.
    let code = unsafe { parallel(&raw mut context, 1000, 10, counted, state) };
    assert_eq!((code, units.into_inner()), (-1, 0));
    assert_eq!(context.error.message(), "a thread that shares the work panicked: no threads today");
}

/// A child has none of the threads that its parent had, and gets its own.
#[test]
fn a_forked_child_shares_its_work_too() {
    limit(3);
    let total = || {
        let sum = AtomicI64::new(0);
        let work = |first: i64, end: i64| {
            sum.fetch_add((first..end).sum(), Ordering::Relaxed);
            Ok(())
        };
        share(10_000, 10, &work).is_ok() && sum.into_inner() == 10_000 * 9_999 / 2
    };
    assert!(total());
    // SAFETY: the child calls nothing but what is tested, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = i32::from(!(total() && total()));
        // SAFETY: it ends the child.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: the child is ours.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}

#[test]
fn the_variable_asks_within_what_there_is() {
    let four = || 4;
    let threads = |value| asked(value, four);
    assert_eq!(["", "all", "3", "64"].map(threads), [1, 4, 3, 4].map(Some));
    assert_eq!(["0", "many", "-1", " 2"].map(threads), [None; 4]);
}
