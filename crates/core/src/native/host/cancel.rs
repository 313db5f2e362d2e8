//! Cancels running calls.
//!
//! A loop asks the host in its steps whether to go on; see `pc_host.cancelled`. Other work is never interrupted.

use super::set_error;
use precast_abi::context::{Context, ErrorKind};
use std::cell::Cell;
use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A function that returns whether to cancel a call.
type IsCancelled<'a> = dyn Fn() -> bool + 'a;

thread_local! {
    /// The function of the innermost [`cancellable`] on this thread.
    static CURRENT: Cell<Option<NonNull<IsCancelled<'static>>>> = const { Cell::new(None) };
}

/// A flag that cancels calls. Clones share the flag.
///
/// # Examples
/// ```
/// use precast_core::Cancel;
///
/// let cancel = Cancel::new();
/// let from_another_thread = cancel.clone();
/// std::thread::spawn(move || from_another_thread.cancel());
/// // In place of 1 + 1: `function.call(…)`.
/// assert_eq!(cancel.scope(|| 1 + 1), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Creates a flag.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the calls inside [`Cancel::scope`], now and from now on. Any thread may call this.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether [`Cancel::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Calls `work`. Once the flag is set, the loops of graphs that `work` calls on this thread fail with
    /// [`ErrorKind::Cancelled`]; other operations run to their end.
    pub fn scope<R>(&self, work: impl FnOnce() -> R) -> R {
        cancellable(&|| self.is_cancelled(), work)
    }
}

/// Calls `work`. Once `is_cancelled` returns true, the loops of graphs that `work` calls on this thread fail with
/// [`ErrorKind::Cancelled`]. Loops call the function in their steps, so it must be fast.
pub fn cancellable<R>(is_cancelled: &IsCancelled<'_>, work: impl FnOnce() -> R) -> R {
    /// Restores the function of the outer scope, also after a panic.
    struct Outer(Option<NonNull<IsCancelled<'static>>>);
    impl Drop for Outer {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let current = NonNull::from(is_cancelled);
    // SAFETY: only the lifetime changes. `Outer` removes the pointer before this function returns.
    let current =
        unsafe { std::mem::transmute::<NonNull<IsCancelled<'_>>, NonNull<IsCancelled<'static>>>(current) };
    let _outer = Outer(CURRENT.replace(Some(current)));
    work()
}

/// Returns whether the running call is cancelled.
#[must_use]
pub fn is_cancelled() -> bool {
    let Some(current) = CURRENT.get() else { return false };
    // SAFETY: `cancellable` is running on this thread, and holds a reference.
    unsafe { current.as_ref()() }
}

/// The message of [`ErrorKind::Cancelled`].
pub const CANCELLED: &str = "the call was cancelled";

/// `pc_host.cancelled`.
pub(super) unsafe extern "C" fn cancelled(ctx: *mut Context) -> c_int {
    // A panic must not cross C.
    if !std::panic::catch_unwind(is_cancelled).unwrap_or(true) {
        return 0;
    }
    // SAFETY: a module passes the context of its call.
    unsafe { set_error(ctx, ErrorKind::Cancelled, CANCELLED) };
    -1
}
