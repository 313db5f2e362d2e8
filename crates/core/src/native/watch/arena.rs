//! A host that watches memory.
//!
//! It differs from other hosts in its tensors and blocks. They are regions that are filled with a pattern, surrounded by
//! guards, and made inaccessible when they are freed. The arena is global in the process, because services have no other
//! place for it. It is used only in a child, by one run at a time.

use super::region::{Flush, Region, Role};
use crate::DType;
use crate::native::host::{self, gemm, gemms, host_alloc, host_release, numbers, rank, set_error};
use crate::native::memory::header::Header;
use crate::native::memory::object::release;
use precast_abi::context::{Context, ErrorKind, Host};
use precast_abi::tensor::{Object, Tensor, Type};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The host of a watched run.
pub(super) static HOST: Host = Host {
    tensor_new: watched_tensor,
    alloc: watched_alloc,
    release: watched_release,
    gemm: watched_gemm,
    gemms: watched_gemms,
    // The arena supports only one thread.
    parallel: crate::native::threads::alone,
    ..host::host(host::pc_driver_elemwise, host::pc_driver_reduce, host::pc_driver_rows)
};

static WATCHED: Type = Type { name: c"watched tensor".as_ptr(), dealloc: drop_watched };

/// Maximum number of regions in an arena. Further blocks use ordinary memory.
const REGIONS: usize = 4096;

/// The memory that ops have requested since the arena was opened.
#[derive(Debug)]
pub(super) struct Arena {
    fill: u8,
    flush: Flush,
    /// Maximum size of one tensor or block, in bytes.
    limit_bytes: usize,
    pub(super) live: Vec<Region>,
    freed: Vec<Region>,
    /// Number of tensors and blocks so far.
    count: usize,
    /// Whether a matrix product was requested. Its bits may depend on the addresses of its operands.
    pub(super) used_gemm: bool,
    /// Memory whose slack was overwritten.
    pub(super) overrun: Vec<Role>,
}

static ARENA: Mutex<Arena> = Mutex::new(Arena {
    fill: 0,
    flush: Flush::End,
    limit_bytes: usize::MAX,
    live: Vec::new(),
    freed: Vec::new(),
    count: 0,
    used_gemm: false,
    overrun: Vec::new(),
});

/// Locks the arena of this process.
pub(super) fn arena() -> MutexGuard<'static, Arena> {
    ARENA.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Arena {
    /// Sets the fill pattern, the adjacent guard and the size limit for further memory.
    pub(super) fn open(&mut self, fill: u8, flush: Flush, limit_bytes: usize) {
        (self.fill, self.flush, self.limit_bytes, self.used_gemm) = (fill, flush, limit_bytes, false);
        self.overrun.clear();
    }

    /// Drops all freed and live memory. Returns the number of live regions, which were not freed.
    pub(super) fn close(&mut self) -> usize {
        self.freed.clear();
        self.count = 0;
        self.live.drain(..).count()
    }

    /// Checks the slack of all live memory.
    pub(super) fn inspect(&mut self) {
        let broken = self.live.iter().filter(|region| !region.slack_is_intact()).map(Region::role);
        self.overrun.extend(broken);
    }

    /// Allocates memory. Returns `None` if a limit is exceeded.
    fn take(&mut self, role: fn(usize) -> Role, bytes: usize, align: usize) -> Option<*mut u8> {
        if bytes > self.limit_bytes || self.live.len() + self.freed.len() >= REGIONS {
            return None;
        }
        let region = Region::new(role(self.count), bytes, align, self.flush, self.fill).ok()?;
        self.count += 1;
        let data = region.data();
        self.live.push(region);
        Some(data)
    }

    /// Frees memory. Returns `false` if it does not belong to the arena.
    fn give(&mut self, data: usize) -> bool {
        let Some(at) = self.live.iter().position(|region| region.data().addr() == data) else { return false };
        let mut region = self.live.swap_remove(at);
        if !region.slack_is_intact() {
            self.overrun.push(region.role());
        }
        region.close();
        self.freed.push(region);
        true
    }

    fn is_full(&self) -> bool {
        self.live.len() + self.freed.len() >= REGIONS
    }
}

/// Implements `pc_type.dealloc` for the arena's tensors.
unsafe extern "C" fn drop_watched(object: *mut Object) {
    // SAFETY: only this file creates objects of type WATCHED, in a Box; the count fell to 0, so this is the last use.
    let header = unsafe { Box::from_raw(object.cast::<Header>()) };
    if header.tensor.capacity_bytes > 0 {
        arena().give(header.tensor.data.addr());
    }
    // SAFETY: a view holds one reference to its owner; a tensor with its own memory has none.
    unsafe { release(header.tensor.owner) };
    header.recycle();
}

unsafe extern "C" fn watched_tensor(
    ctx: *mut Context,
    typenum: i32,
    ndim: i32,
    shape: *const i64,
) -> *mut Tensor {
    // SAFETY: the header promises `ndim` extents.
    let extents = rank(ndim).map(|n| unsafe { numbers(shape, n) });
    let made = extents.ok_or("a tensor with too many dimensions was requested").and_then(|extents| {
        let dtype = DType::from_typenum(typenum).ok_or("a tensor of an unknown dtype was requested")?;
        let mut header = Header::new(&WATCHED);
        header.tensor.dtype = typenum;
        let item = dtype.itemsize_bytes();
        let elements =
            header.contiguous(item, extents).ok_or("a tensor with too many elements was requested")?;
        let bytes = elements.checked_mul(item).ok_or("a tensor with too many elements was requested")?;
        let data = arena().take(Role::New, bytes, item).ok_or("out of memory for the check")?;
        header.tensor.data = data.cast();
        // Positive even for an empty tensor, because its region must be freed too.
        header.tensor.capacity_bytes = bytes.max(1).cast_signed() as i64;
        Ok(header.into_raw())
    });
    made.unwrap_or_else(|message| {
        // SAFETY: a module passes the context of its call.
        unsafe { set_error(ctx, ErrorKind::Memory, message) };
        ptr::null_mut()
    })
}

/// Alignment of blocks, in bytes.
const BLOCK_ALIGN: usize = 64;

unsafe extern "C" fn watched_alloc(ctx: *mut Context, bytes: usize) -> *mut c_void {
    let (taken, full) = {
        let mut arena = arena();
        (arena.take(Role::Block, bytes, BLOCK_ALIGN), arena.is_full())
    };
    if let Some(data) = taken {
        return data.cast();
    }
    if full {
        // SAFETY: same contract as this function.
        return unsafe { host_alloc(ctx, bytes) };
    }
    // SAFETY: a module passes the context of its call.
    unsafe { set_error(ctx, ErrorKind::Memory, &format!("cannot allocate {bytes} bytes")) };
    ptr::null_mut()
}

unsafe extern "C" fn watched_release(ctx: *mut Context, memory: *mut c_void) {
    if !memory.is_null() && !arena().give(memory.addr()) {
        // SAFETY: memory outside of the arena came from `host_alloc`.
        unsafe { host_release(ctx, memory) };
    }
}

unsafe extern "C" fn watched_gemm(
    ctx: *mut Context,
    dtype: i32,
    m: i64,
    n: i64,
    k: i64,
    a: *const c_char,
    a_row: i64,
    a_col: i64,
    b: *const c_char,
    b_row: i64,
    b_col: i64,
    c: *mut c_char,
    c_row: i64,
    c_col: i64,
) -> c_int {
    arena().used_gemm = true;
    // SAFETY: the arguments are passed on unchanged.
    unsafe { gemm(ctx, dtype, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row, c_col) }
}

unsafe extern "C" fn watched_gemms(
    ctx: *mut Context,
    dtype: i32,
    extents: *const i64,
    a: *const c_char,
    a_steps: *const i64,
    b: *const c_char,
    b_steps: *const i64,
    c: *mut c_char,
    c_steps: *const i64,
) -> c_int {
    arena().used_gemm = true;
    // SAFETY: as above.
    unsafe { gemms(ctx, dtype, extents, a, a_steps, b, b_steps, c, c_steps) }
}
