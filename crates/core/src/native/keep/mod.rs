//! An allocator that keeps large blocks after they are freed, for the next ones of their size.
//!
//! A result of 80 MB comes from the kernel and goes back to it in each call, and the kernel clears every page of it: that takes
//! longer than the loop that fills it. Arrays are `Vec`s, so what becomes of their memory is the global allocator's affair, and a
//! program decides about that one:
//! ```
//! #[global_allocator]
//! static MEMORY: precast_core::KeepLarge = precast_core::KeepLarge::new(1 << 30);
//! ```
//! ```text
//! alloc    1 MiB or more ─▶ the newest block of the same class, or a new one, for which large pages are asked ([`pages`])
//! dealloc  1 MiB or more ─▶ kept, its pages marked as free to take (`MADV_FREE`); beyond the limit the oldest go
//! smaller  ──────────────▶ the allocator below
//! ```
//! Sizes are rounded up to classes, eight for each power of two, so a block is at most an eighth larger than what was asked for.
//! The kernel takes pages of kept blocks when memory is short; those that are still there are used again without a fault. To mark
//! pages costs as much as to fill them from a cache, so the block that was freed last is marked when the next one is, unless it is
//! large: a program whose results are of one size makes no call of the system. Elsewhere than on Linux nothing is kept.
//!
//! A thread that finds the list in use goes on without it: nobody waits, and a process that was forked meanwhile is not stuck.

use super::pages;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Blocks that are kept at most; as many sizes as the results and temporaries of a program have.
const BLOCKS: usize = 32;

/// From so many bytes on blocks are kept: glibc gives smaller ones without the kernel.
const LEAST_BYTES: usize = 1 << 20;

/// The block that was freed last stays unmarked up to so many bytes.
const UNMARKED_BYTES: usize = 32 << 20;

/// Large blocks begin with a line of the cache, so that no vector of an array lies in two: a loop that waits for the caches then takes a
/// sixth less.
const ALIGN: usize = 64;

/// The system's allocator, or another, which keeps large blocks after they are freed. Zeroed blocks of a megabyte or more are written at
/// once, and a block that grows is copied: what is mostly never touched is better mapped by itself.
///
/// # Examples
/// A program with results of several megabytes has it beside its `main`; see the module's page.
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

/// Blocks by age, the oldest first: `(address, bytes)`.
#[derive(Debug)]
struct Kept {
    blocks: [(usize, usize); BLOCKS],
    count: usize,
    bytes: usize,
    /// The address of the one whose pages the kernel may not take yet; 0 if there is none.
    unmarked: usize,
}

impl KeepLarge {
    /// The system's allocator; blocks of at most so many bytes together are kept.
    #[must_use]
    pub const fn new(limit_bytes: usize) -> Self {
        Self::over(System, limit_bytes)
    }
}

impl<A> KeepLarge<A> {
    /// Another allocator; blocks of at most so many bytes together are kept.
    #[must_use]
    pub const fn over(below: A, limit_bytes: usize) -> Self {
        Self { below, limit_bytes, kept: Mutex::new(Kept::NONE) }
    }

    /// Bytes that are kept at present; 0 as long as another thread has the list.
    pub fn kept_bytes(&self) -> usize {
        self.kept().map_or(0, |kept| kept.bytes)
    }

    /// The list, unless another thread has it; nothing allocates or panics as long as it is held.
    fn kept(&self) -> Option<MutexGuard<'_, Kept>> {
        match self.kept.try_lock() {
            Ok(kept) => Some(kept),
            Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Takes the newest block of a class, or the oldest of all.
    fn take(&self, class: Option<usize>) -> Option<(usize, usize)> {
        self.kept()?.take(class)
    }
}

impl<A: GlobalAlloc> KeepLarge<A> {
    /// Gives back what is kept, up to where another thread has the list.
    pub fn give_back(&self) {
        while let Some(block) = self.take(None) {
            self.free(block);
        }
    }

    fn free(&self, (address, bytes): (usize, usize)) {
        // SAFETY: a kept block was allocated below with the layout of its class, and left the list just now.
        unsafe { self.below.dealloc(ptr::with_exposed_provenance_mut(address), of_class(bytes)) }
    }

    /// Keeps a block that nobody uses, or frees it, and what is the oldest.
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

/// Lets the kernel take the pages of a block; `false` if it does not hear of that.
fn mark((address, bytes): (usize, usize)) -> bool {
    // SAFETY: nobody uses a block that is kept, or is to be kept.
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

    /// Marks the block that is not marked yet; takes it, if the kernel does not hear of that.
    fn mark(&mut self) -> Option<(usize, usize)> {
        let unmarked = std::mem::take(&mut self.unmarked);
        let at = self.blocks[..self.count].iter().rposition(|(address, _)| *address == unmarked)?;
        if mark(self.blocks[at]) { None } else { Some(self.take_at(at)) }
    }

    /// Takes the newest block of a class, which may be in a cache still, or the oldest of all.
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

/// The bytes of the class of a large block; `None` for what the allocator below serves alone.
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
    // SAFETY: the alignment is a power of two, and `class` gives sizes that are no larger than `isize::MAX` when rounded up to it.
    unsafe { Layout::from_size_align_unchecked(bytes, ALIGN) }
}

// SAFETY: what is handed out comes from the allocator below, is as large and aligned as was asked for, and is handed out again
// only after it was freed; a block is given back below with the layout it was allocated with, that of its class.
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
            // SAFETY: the block is this allocator's.
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
            // SAFETY: the block is as large as its class, and nobody else's.
            unsafe { data.write_bytes(0, layout.size()) };
        }
        data
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        match class(layout) {
            Some(bytes) => self.keep(data, bytes),
            // SAFETY: the caller's promise; a block of no class came from below with this layout.
            None => unsafe { self.below.dealloc(data, layout) },
        }
    }

    unsafe fn realloc(&self, data: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size is positive and, rounded up to the alignment, no larger than `isize::MAX`.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class(layout), class(new)) {
            (Some(old), Some(bytes)) if old == bytes => data,
            // SAFETY: the caller's promise; the block came from below with this layout.
            (None, None) => unsafe { self.below.realloc(data, layout, size) },
            _ => {
                // SAFETY: the caller promises a positive size.
                let moved = unsafe { self.alloc(new) };
                if !moved.is_null() {
                    // SAFETY: both blocks are as large as the smaller of the sizes, and not the same.
                    unsafe { ptr::copy_nonoverlapping(data, moved, layout.size().min(size)) };
                    // SAFETY: the caller gives the block away.
                    unsafe { self.dealloc(data, layout) };
                }
                moved
            }
        }
    }
}

#[cfg(test)]
mod tests;
