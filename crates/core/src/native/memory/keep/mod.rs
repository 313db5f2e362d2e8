//! An allocator that keeps large blocks after they are freed, and reuses them for blocks of the same size.
//!
//! Without it, a result of 80 MB is mapped and unmapped by the kernel in each call, and the kernel clears every page. That
//! takes longer than the loop that fills the result. Arrays are `Vec`s, so their memory comes from the global allocator,
//! which only a program can choose:
//! ```
//! #[global_allocator]
//! static MEMORY: precast_core::KeepLarge = precast_core::KeepLarge::new(1 << 30);
//! ```
//! ```text
//! alloc    1 MiB or more ─▶ the newest block of the same class, or a new one with large pages requested ([`pages`])
//! dealloc  1 MiB or more ─▶ kept, with its pages marked as reclaimable (`MADV_FREE`); beyond the limit the oldest are freed
//! smaller  ──────────────▶ the underlying allocator
//! ```
//! Sizes are rounded up to classes, eight for each power of two, so a block is at most an eighth larger than requested. The
//! kernel reclaims pages of kept blocks when memory is short. The remaining pages are reused without a fault.
//!
//! Marking pages costs as much as filling them from a cache. So a block of at most 32 MiB is marked only when the next one
//! is freed. A program whose results have one such size makes no system calls. On systems other than Linux, nothing is
//! kept.
//!
//! A thread that finds the list locked continues without it. So no thread waits, and a process that was forked while the
//! list was locked does not deadlock.

use super::pages;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Maximum number of kept blocks. It covers the sizes of a program's results and temporaries.
const BLOCKS: usize = 32;

/// Minimum size of a kept block, in bytes. glibc serves smaller ones without the kernel.
const LEAST_BYTES: usize = 1 << 20;

/// Maximum size of a block that stays unmarked after it was freed, in bytes.
const UNMARKED_BYTES: usize = 32 << 20;

/// Alignment of large blocks: a cache line, so that no vector of an array crosses a line. This saves a sixth of the time of
/// a loop that waits for the caches.
const ALIGN: usize = 64;

/// An allocator over the system's allocator, or another one, that keeps large blocks after they are freed. Zeroed blocks of
/// a megabyte or more are cleared at once, and a block that grows is copied. So memory that is mostly never touched should
/// be mapped separately.
///
/// # Examples
/// A program with results of several megabytes declares it beside `main`; see the module documentation.
/// ```
/// use precast_core::KeepLarge;
/// /// Keeps up to 512 MiB.
/// static MEMORY: KeepLarge = KeepLarge::new(512 << 20);
/// assert_eq!(MEMORY.kept_bytes(), 0);
/// ```
#[derive(Debug)]
pub struct KeepLarge<A = System> {
    below: A,
    limit_bytes: usize,
    kept: Mutex<Kept>,
}

/// Kept blocks by age, the oldest first: `(address, bytes)`.
#[derive(Debug)]
struct Kept {
    blocks: [(usize, usize); BLOCKS],
    count: usize,
    bytes: usize,
    /// The address of the block that is not marked as reclaimable yet, or 0.
    unmarked: usize,
}

impl KeepLarge {
    /// Creates an allocator over the system's allocator that keeps at most `limit_bytes` in total.
    #[must_use]
    pub const fn new(limit_bytes: usize) -> Self {
        Self::over(System, limit_bytes)
    }
}

impl<A> KeepLarge<A> {
    /// Creates an allocator over another one that keeps at most `limit_bytes` in total.
    #[must_use]
    pub const fn over(below: A, limit_bytes: usize) -> Self {
        Self { below, limit_bytes, kept: Mutex::new(Kept::NONE) }
    }

    /// Returns the number of bytes currently kept, or 0 while another thread has locked the list.
    pub fn kept_bytes(&self) -> usize {
        self.kept().map_or(0, |kept| kept.bytes)
    }

    /// Locks the list, unless another thread has locked it. No code allocates or panics while it is locked.
    fn kept(&self) -> Option<MutexGuard<'_, Kept>> {
        match self.kept.try_lock() {
            Ok(kept) => Some(kept),
            Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Removes the newest block of a class, or the oldest of all.
    fn take(&self, class: Option<usize>) -> Option<(usize, usize)> {
        self.kept()?.take(class)
    }
}

impl<A: GlobalAlloc> KeepLarge<A> {
    /// Frees the kept blocks. Stops early if another thread locks the list.
    pub fn give_back(&self) {
        while let Some(block) = self.take(None) {
            self.free(block);
        }
    }

    fn free(&self, (address, bytes): (usize, usize)) {
        // SAFETY: a kept block was allocated below with the layout of its class, and has just left the list.
        unsafe { self.below.dealloc(ptr::with_exposed_provenance_mut(address), of_class(bytes)) }
    }

    /// Keeps an unused block, after freeing the oldest ones if necessary, or frees it.
    fn keep(&self, data: *mut u8, bytes: usize) {
        let new = (data.expose_provenance(), bytes);
        let is_marked = bytes > UNMARKED_BYTES;
        if bytes > self.limit_bytes || !cfg!(target_os = "linux") || (is_marked && !mark(new)) {
            return self.free(new);
        }
        loop {
            let Some(mut kept) = self.kept() else { return self.free(new) };
            let refused = kept.mark();
            if refused.is_none() && kept.count < BLOCKS && kept.bytes + bytes <= self.limit_bytes {
                return kept.put(new, is_marked);
            }
            if let Some(refused) = refused {
                drop(kept);
                self.free(refused);
                return self.free(new);
            }
            let oldest = kept.take(None);
            drop(kept);
            if let Some(oldest) = oldest {
                self.free(oldest);
            }
        }
    }
}

/// Marks the pages of a block as reclaimable. Returns `false` if the kernel does not support that.
fn mark((address, bytes): (usize, usize)) -> bool {
    // SAFETY: a block that is kept, or about to be kept, is unused.
    unsafe { pages::may_be_taken(ptr::with_exposed_provenance_mut(address), bytes) }
}

impl Kept {
    const NONE: Self = Self { blocks: [(0, 0); BLOCKS], count: 0, bytes: 0, unmarked: 0 };

    fn put(&mut self, block: (usize, usize), is_marked: bool) {
        self.blocks[self.count] = block;
        self.count += 1;
        self.bytes += block.1;
        self.unmarked = if is_marked { 0 } else { block.0 };
    }

    /// Marks the block that is not marked yet. Removes and returns it if the kernel does not support that.
    fn mark(&mut self) -> Option<(usize, usize)> {
        let unmarked = std::mem::take(&mut self.unmarked);
        let at = self.blocks[..self.count].iter().rposition(|(address, _)| *address == unmarked)?;
        if mark(self.blocks[at]) { None } else { Some(self.take_at(at)) }
    }

    /// Removes the newest block of a class, which may still be in a cache, or the oldest of all.
    fn take(&mut self, class: Option<usize>) -> Option<(usize, usize)> {
        let known = &self.blocks[..self.count];
        let at = match class {
            Some(class) => known.iter().rposition(|(_, bytes)| class == *bytes)?,
            None if known.is_empty() => return None,
            None => 0,
        };
        Some(self.take_at(at))
    }

    fn take_at(&mut self, at: usize) -> (usize, usize) {
        let block = self.blocks[at];
        self.blocks.copy_within(at + 1..self.count, at);
        self.count -= 1;
        self.bytes -= block.1;
        block
    }
}

/// Returns the size of a large block's class in bytes, or `None` if the underlying allocator serves the request.
#[inline]
fn class(layout: Layout) -> Option<usize> {
    if layout.size() < LEAST_BYTES || layout.align() > ALIGN { None } else { class_of_large(layout) }
}

#[inline(never)]
fn class_of_large(layout: Layout) -> Option<usize> {
    let step = 1 << (layout.size().ilog2() - 3);
    layout.size().checked_next_multiple_of(step).filter(|bytes| isize::try_from(*bytes).is_ok())
}

fn of_class(bytes: usize) -> Layout {
    // SAFETY: the alignment is a power of two, and `class` returns sizes that do not exceed `isize::MAX` when rounded up to
    // it.
    unsafe { Layout::from_size_align_unchecked(bytes, ALIGN) }
}

// SAFETY: blocks come from the allocator below, have at least the requested size and alignment, and are reused only after
// they were freed. A block is freed below with the layout it was allocated with, that of its class.
unsafe impl<A: GlobalAlloc> GlobalAlloc for KeepLarge<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(bytes) = class(layout) else {
            // SAFETY: the caller's promise.
            return unsafe { self.below.alloc(layout) };
        };
        if let Some((address, _)) = self.take(Some(bytes)) {
            return ptr::with_exposed_provenance_mut(address);
        }
        // SAFETY: a class has a positive size.
        let data = unsafe { self.below.alloc(of_class(bytes)) };
        if !data.is_null() {
            // SAFETY: the block belongs to this allocator.
            unsafe { pages::prefer_large(data, bytes) };
        }
        data
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if class(layout).is_none() {
            // SAFETY: the caller's promise.
            return unsafe { self.below.alloc_zeroed(layout) };
        }
        // SAFETY: the caller's promise.
        let data = unsafe { self.alloc(layout) };
        if !data.is_null() {
            // SAFETY: the block has the size of its class, and is not shared.
            unsafe { data.write_bytes(0, layout.size()) };
        }
        data
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        match class(layout) {
            Some(bytes) => self.keep(data, bytes),
            // SAFETY: the caller's promise; a block without a class came from below with this layout.
            None => unsafe { self.below.dealloc(data, layout) },
        }
    }

    unsafe fn realloc(&self, data: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size is positive and, rounded up to the alignment, at most `isize::MAX`.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class(layout), class(new)) {
            (Some(old), Some(bytes)) if old == bytes => data,
            // SAFETY: the caller's promise; the block came from below with this layout.
            (None, None) => unsafe { self.below.realloc(data, layout, size) },
            _ => {
                // SAFETY: the caller promises a positive size.
                let moved = unsafe { self.alloc(new) };
                if !moved.is_null() {
                    // SAFETY: both blocks have at least the smaller of the two sizes, and they are different.
                    unsafe { ptr::copy_nonoverlapping(data, moved, layout.size().min(size)) };
                    // SAFETY: the caller passes ownership of the block.
                    unsafe { self.dealloc(data, layout) };
                }
                moved
            }
        }
    }
}

#[cfg(test)]
mod tests;
