//! Tests of ranges: each runs once, whichever thread takes it; concurrent callers, failures and forks.

use super::*;
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

/// Tests that every unit is in exactly one range, for any number of threads.
#[test]
fn ranges_cover_each_unit_once() {
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

/// Tests that callers that find the helpers busy work alone, and that each caller gets its own result.
#[test]
fn concurrent_callers_do_not_wait() {
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

/// Tests that a helper works with the processors that it had when it was started. The callers run on different processors
/// in turn.
#[cfg(target_os = "linux")]
#[test]
fn helpers_use_separate_processors_for_any_caller() {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let caller = std::thread::current().id();
    let all = sched_getaffinity(None).unwrap();
    let seen = AtomicUsize::new(0);
    let work = || {
        if std::thread::current().id() != caller {
            assert!(sched_getaffinity(None).unwrap() == all);
            seen.fetch_add(1, Ordering::Relaxed);
        }
        // Long enough for helpers to start.
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    let mut processors = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).cycle();
    while seen.load(Ordering::Relaxed) < 20 {
        let mut here = CpuSet::new();
        // The first call starts the helpers, so it runs with the mask of the process.
        here.set(processors.next().unwrap());
        sched_setaffinity(None, if seen.load(Ordering::Relaxed) == 0 { &all } else { &here }).unwrap();
        pool::run(&work, 2);
    }
    sched_setaffinity(None, &all).unwrap();
}

#[test]
fn first_failed_range_is_reported() {
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

/// Tests that the caller gets the panic, whichever thread panicked, after all threads have stopped. The helpers then serve
/// the next call.
#[test]
fn panic_in_a_range_reaches_the_caller() {
    limit(3);
    let caller = std::thread::current().id();
    for panics_here in [true, false].repeat(20) {
        let done = AtomicI64::new(0);
        let work = |first: i64, end: i64| {
            let is_here = std::thread::current().id() == caller;
            assert_ne!(is_here, panics_here, "{first}..{end}");
            done.fetch_add(end - first, Ordering::Relaxed);
            // Long enough for helpers to take ranges too.
            std::thread::sleep(std::time::Duration::from_millis(1));
            Ok(())
        };
        let shared = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| share(1000, 10, &work)));
        // Helpers that are busy in another test do not panic here.
        assert_eq!(shared.is_ok(), done.into_inner() == 1000);
    }
    assert!(share(1000, 10, &|_, _| Ok(())).is_ok());
}

/// Tests that a panic in the program's own threads becomes an error of the call, with the same text.
#[test]
fn program_callbacks_may_panic() {
    thread_local! {
        static IS_THIS: Cell<bool> = const { Cell::new(false) };
    }
    /// Also serves other tests of this process.
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
    // SAFETY: the context belongs to this call, and the body expects this state.
    let code = unsafe { parallel(&raw mut context, 1000, 10, counted, state) };
    assert_eq!((code, units.into_inner()), (-1, 0));
    assert_eq!(context.error.message(), "a helper thread panicked: no threads today");
}

/// Tests that a child has none of its parent's threads and starts its own.
#[test]
fn forked_child_runs_in_parallel() {
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
    // SAFETY: the child calls only the tested code, and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = i32::from(!(total() && total()));
        // SAFETY: exits the child.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: the child belongs to this process.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}

#[test]
fn thread_variable_is_capped_at_processors() {
    let four = || 4;
    let threads = |value| asked(value, four);
    assert_eq!(["", "all", "3", "64"].map(threads), [1, 4, 3, 4].map(Some));
    assert_eq!(["0", "many", "-1", " 2"].map(threads), [None; 4]);
}
