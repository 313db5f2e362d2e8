//! Memory between two pages that nobody may touch.
//!
//! ```text
//! │ no access │ slack │ data… │ no access │      flush with the end: one byte too far is a fault
//! │ no access │ data… │ slack │ no access │      flush with the start: one byte too early is
//! ```
//! Slack is filled with a pattern, so that what the pages do not catch is found afterwards.

use super::fault;
use std::io;
use std::ptr;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An input.
    Input(usize),
    /// What an output cell held before the call.
    Room(usize),
    /// A tensor that the op asked for; which, in order.
    New(usize),
    /// A block of memory that the op asked for; which, in order.
    Block(usize),
}

/// Which guard the data touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// The one after it.
    End,
    /// The one before it.
    Start,
}

/// Some bytes of memory with guards on both sides.
#[derive(Debug)]
pub(super) struct Region {
    role: Role,
    /// First byte of the mapping.
    map: *mut u8,
    map_bytes: usize,
    page_bytes: usize,
    data: *mut u8,
    data_bytes: usize,
    fill: u8,
    row: Option<usize>,
}

// SAFETY: a region is plain memory that its owner alone refers to.
unsafe impl Send for Region {}

impl Region {
    /// Maps `bytes`, aligned to `align` (at most a page), all filled with `fill`.
    pub(super) fn new(role: Role, bytes: usize, align: usize, flush: Flush, fill: u8) -> io::Result<Self> {
        let page_bytes = page_bytes();
        let open_bytes = bytes.max(1).checked_next_multiple_of(page_bytes);
        let map_bytes = open_bytes.and_then(|open| open.checked_add(2 * page_bytes));
        let (Some(open_bytes), Some(map_bytes)) = (open_bytes, map_bytes) else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice overlaps nothing.
        let map = unsafe { libc::mmap(ptr::null_mut(), map_bytes, libc::PROT_NONE, flags, -1, 0) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let map = map.cast::<u8>();
        // SAFETY: the mapping begins with a page of guard, so the address is within it.
        let open = unsafe { map.add(page_bytes) };
        let offset = match flush {
            Flush::Start => 0,
            Flush::End => (open_bytes - bytes) / align * align,
        };
        // SAFETY: `offset` is at most `open_bytes - bytes`.
        let data = unsafe { open.add(offset) };
        let mut region = Self { role, map, map_bytes, page_bytes, data, data_bytes: bytes, fill, row: None };
        region.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the pages between the guards may be written, and belong to this region alone.
        unsafe { open.write_bytes(fill, open_bytes) };
        region.row = fault::watch(role, map.addr(), map_bytes, data.addr(), bytes);
        Ok(region)
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// First byte of the data.
    pub(super) fn data(&self) -> *mut u8 {
        self.data
    }

    /// Whether the data covers all of these bytes, which are at least one.
    pub(super) fn covers(&self, first: usize, bytes: usize) -> bool {
        let start = self.data.addr();
        first >= start && first - start <= self.data_bytes && bytes <= self.data_bytes - (first - start)
    }

    /// Whether the data and these bytes have one in common.
    pub(super) fn meets(&self, first: usize, bytes: usize) -> bool {
        let start = self.data.addr();
        bytes > 0 && first < start + self.data_bytes && start < first + bytes
    }

    /// Everything between the guards; `None` once closed.
    pub(super) fn open(&self) -> &[u8] {
        let bytes = self.map_bytes - 2 * self.page_bytes;
        // SAFETY: the mapping begins with a guard.
        let open = unsafe { self.map.add(self.page_bytes) };
        // SAFETY: the pages between the guards are mapped, readable and initialised while the region is not closed.
        unsafe { std::slice::from_raw_parts(open, bytes) }
    }

    /// Where the data begins in [`Region::open`].
    pub(super) fn offset(&self) -> usize {
        self.data.addr() - self.map.addr() - self.page_bytes
    }

    /// Whether the bytes between data and guards are still those of the pattern.
    pub(super) fn slack_is_intact(&self) -> bool {
        let (open, offset) = (self.open(), self.offset());
        let slack = open[..offset].iter().chain(&open[offset + self.data_bytes..]);
        slack.copied().all(|byte| byte == self.fill)
    }

    /// Forbids all access from now on: code that still uses the memory faults.
    pub(super) fn close(&mut self) {
        // Refused, the memory stays open, and use after free goes unnoticed.
        let _ = self.protect(libc::PROT_NONE);
        fault::freed(self.row);
    }

    fn protect(&self, protection: libc::c_int) -> io::Result<()> {
        // SAFETY: the mapping begins with a guard.
        let open = unsafe { self.map.add(self.page_bytes) };
        let bytes = self.map_bytes - 2 * self.page_bytes;
        // SAFETY: whole pages of a mapping that this region owns.
        match unsafe { libc::mprotect(open.cast(), bytes, protection) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        fault::forget(self.row);
        // SAFETY: the mapping belongs to this region, which is gone.
        unsafe { libc::munmap(self.map.cast(), self.map_bytes) };
    }
}

/// The size of a page.
fn page_bytes() -> usize {
    // SAFETY: asks for a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}
