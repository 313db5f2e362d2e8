//! Runs a chain of several stages on several threads. Each range that a thread takes has its own context and slots.

use super::{Blocks, Chain, Line, Running};
use crate::native::host::{self, context_of};
use crate::native::threads::{self, Failed};
use precast_abi::context::{Context, Host, Range};
use std::ffi::{c_int, c_void};
use std::ptr;

/// The host for chains of several stages that threads share.
pub(super) static SHARING: Host = {
    let mut sharing = host::host(host::pc_driver_elemwise, host::pc_driver_reduce, host::pc_driver_rows);
    sharing.parallel = parallel;
    sharing
};

/// A chain that threads share, and the driver's loop body.
struct Ranges {
    chain: *const Chain,
    body: Range,
    state: *mut c_void,
}

// SAFETY: a chain is `Sync`, and the contract of `pc_host.parallel` allows ranges to run on several threads at once.
unsafe impl Sync for Ranges {}

impl Ranges {
    /// Runs a range with its own context and slots.
    fn run(&self, first: i64, end: i64) -> Result<(), Box<Failed>> {
        // SAFETY: the chain is alive while it runs.
        let chain = unsafe { &*self.chain };
        let mut slots = vec![Line([0; 64]); chain.lines()];
        let mut running = Running::new(context_of(&SHARING));
        let (slots, slot_bytes) = (slots.as_mut_ptr().cast(), chain.widest * chain.block);
        running.blocks = Blocks { chain, slots, slot_bytes, failed: None };
        // SAFETY: body and state belong to the driver, which waits. The context is local to this call.
        match unsafe { (self.body)(ptr::from_mut(&mut running).cast(), first, end, self.state) } {
            0 => Ok(()),
            code => {
                let at = running.blocks.failed;
                Err(Box::new(Failed { code, error: running.ctx.error, at }))
            }
        }
    }
}

/// Implements `pc_host.parallel` for a chain.
unsafe extern "C" fn parallel(
    ctx: *mut Context,
    n: i64,
    grain: i64,
    body: Range,
    state: *mut c_void,
) -> c_int {
    let running = ctx.cast::<Running>();
    // SAFETY: contexts with this host are those of `Chain::run` and `Ranges::run`.
    let ranges = Ranges { chain: unsafe { (*running).blocks.chain }, body, state };
    let share = || threads::share(n, grain, &|first, end| ranges.run(first, end));
    // SAFETY: the context of the running call.
    let failed = match unsafe { host::guarded(ctx, share) } {
        None => return -1,
        Some(Ok(())) => return 0,
        Some(Err(failed)) => failed,
    };
    // SAFETY: as above.
    unsafe { (*running).blocks.failed = failed.at };
    // SAFETY: the context of the running call.
    unsafe { failed.tell(ctx) }
}
