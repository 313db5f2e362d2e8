//! An instance of a module: its own state, used by one call at a time.

use super::library::LoadedModule;
use crate::native::host;
use crate::native::host::DefaultFloats;
use crate::native::memory::object::Owned;
use precast_abi::context::{Context, ErrorKind, Host};
use precast_abi::module::TaskKind;
use precast_abi::tensor::Object;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::{c_int, c_void};

/// An error that a module reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunError {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The module's message.
    pub message: String,
    /// The kind of task that failed.
    pub task: Option<TaskKind>,
    /// Position of the failing Apply in the module's graph, if known.
    pub apply: Option<usize>,
    /// Number of the failing variable (`V3`), if known.
    pub variable: Option<usize>,
}

/// `pc_entry.run`.
type Run = unsafe extern "C" fn(*mut c_void, *mut Context, *mut *mut Object) -> c_int;

/// A placeholder for a missing `run`, which the handshake excludes.
unsafe extern "C" fn no_run(_: *mut c_void, _: *mut Context, _: *mut *mut Object) -> c_int {
    -1
}

/// The state of a module. Each frame has its own.
#[derive(Debug)]
pub(crate) struct Instance {
    state: *mut c_void,
    layout: Layout,
    module: LoadedModule,
    /// The host that allocates and frees the memory of the ops' struct members.
    host: &'static Host,
    /// The module's `run`, cached for direct calls.
    run: Run,
    /// The constants. The module holds its own references.
    _slots: Vec<Owned>,
}

// SAFETY: an instance belongs to one frame, and a frame to one thread at a time; modules have no thread-bound state.
unsafe impl Send for Instance {}

impl Instance {
    /// Creates an instance with these constants.
    pub(crate) fn new(module: LoadedModule, slots: Vec<Owned>) -> Result<Self, RunError> {
        Self::on(&host::HOST, module, slots)
    }

    /// Does the same as [`Instance::new`], on another host.
    pub(crate) fn on(host: &'static Host, module: LoadedModule, slots: Vec<Owned>) -> Result<Self, RunError> {
        let _floats = DefaultFloats::set();
        host::prepare_drivers();
        let row = module.row();
        if slots.len() != row.n_slots as usize {
            let message = format!("the module has {} constant(s), found {}", row.n_slots, slots.len());
            return Err(RunError {
                kind: ErrorKind::Runtime,
                message,
                task: None,
                apply: None,
                variable: None,
            });
        }
        let size = (row.instance_bytes as usize).max(1);
        // 64 is a power of two, and a rounded-up u32 does not overflow.
        let layout = Layout::from_size_align(size, 64).unwrap_or(Layout::new::<u64>());
        // SAFETY: the layout has a positive size.
        let state = unsafe { alloc_zeroed(layout) };
        if state.is_null() {
            handle_alloc_error(layout);
        }
        let objects: Vec<*mut Object> = slots.iter().map(Owned::as_raw).collect();
        let mut ctx = host::context_of(host);
        let failure = row.init.map_or(0, |init| {
            // SAFETY: `state` is zeroed memory of the size and alignment that the contract requires. `objects` are the
            // constants in order, alive until the instance is cleaned up.
            unsafe { init(state.cast(), &raw mut ctx, objects.as_ptr()) }
        });
        if failure != 0 {
            // SAFETY: allocated above with this layout; after a failed init there is nothing to clean up.
            unsafe { dealloc(state, layout) };
            return Err(error(&module, failure, &ctx));
        }
        let run = module.row().run.unwrap_or(no_run);
        Ok(Self { state: state.cast(), layout, module, host, run, _slots: slots })
    }

    /// Returns the number of inputs and outputs.
    pub(crate) fn arity(&self) -> (usize, usize) {
        let row = self.module.row();
        (row.n_inputs as usize, row.n_outputs as usize)
    }

    /// Runs the module once over `args`: borrowed inputs, then cells of outputs.
    ///
    /// # Safety
    /// `args` points to as many objects as [`Instance::arity`] returns, alive for the call. The inputs are not NULL; the
    /// outputs are NULL or reusable with one reference owned by the cell. `ctx` is alive, and is the first field of the
    /// struct that its host expects.
    #[inline]
    pub(crate) unsafe fn run_raw(
        &mut self,
        ctx: *mut Context,
        args: *mut *mut Object,
    ) -> Result<(), RunError> {
        // SAFETY: the context is alive, and nothing else uses it now.
        unsafe { (*ctx).error.kind = 0 };
        // SAFETY: the instance was initialised, and only this call uses it; `args` is as promised by the caller.
        let failure = unsafe { (self.run)(self.state, ctx, args) };
        if failure == 0 {
            return Ok(());
        }
        // SAFETY: as above; the module no longer uses it.
        Err(error(&self.module, failure, unsafe { &*ctx }))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _floats = DefaultFloats::set();
        let mut ctx = host::context_of(self.host);
        if let Some(cleanup) = self.module.row().cleanup {
            // SAFETY: the instance was initialised, and is cleaned up once.
            unsafe { cleanup(self.state, &raw mut ctx) };
        }
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.state.cast(), self.layout) };
    }
}

/// Returns the error for a failure id, even if the op set no message.
#[cold]
fn error(module: &LoadedModule, failure: c_int, ctx: &Context) -> RunError {
    let task = module.task(failure);
    let position = |n: i32| usize::try_from(n).ok();
    RunError {
        task: task.and_then(|t| TaskKind::from_code(t.kind)),
        variable: task.and_then(|t| position(t.variable)),
        ..run_error(ctx, task.and_then(|t| position(t.apply)))
    }
}

/// Returns the error in a context, for the failing Apply.
#[cold]
pub(crate) fn run_error(ctx: &Context, apply: Option<usize>) -> RunError {
    let (kind, message) = match ErrorKind::from_code(ctx.error.kind) {
        Some(kind) => (kind, ctx.error.message()),
        None => (ErrorKind::Runtime, "the op's C code failed without setting an error".to_owned()),
    };
    RunError { kind, message, task: None, apply, variable: None }
}
