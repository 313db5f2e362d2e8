//! Memory between two inaccessible pages.
//!
//! ```text
//! │ no access │ slack │ data… │ no access │      flush with the end: an access one byte after the data faults
//! │ no access │ data… │ slack │ no access │      flush with the start: an access one byte before the data faults
//! ```
//! Slack is filled with a pattern, so that writes the pages do not catch are found afterwards.

use super::fault;
use std::io;
use std::ptr;

/// The use of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An input.
    Input(usize),
    /// The previous content of an output cell.
    Room(usize),
    /// A tensor that the op requested, by its number.
    New(usize),
    /// A block of memory that the op requested, by its number.
    Block(usize),
}

/// The guard that is adjacent to the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// The guard after the data.
    End,
    /// The guard before the data.
    Start,
}

/// A piece of memory with guards on both sides.
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

// SAFETY: a region is plain memory, and only its owner refers to it.
unsafe impl Send for Region {}

impl Region {
    /// Maps `bytes` bytes, aligned to `align` (at most a page), filled with `fill`.
    pub(super) fn new(role: Role, bytes: usize, align: usize, flush: Flush, fill: u8) -> io::Result<Self> {
        let page_bytes = page_bytes();
        let open_bytes = bytes.max(1).checked_next_multiple_of(page_bytes);
        let map_bytes = open_bytes.and_then(|open| open.checked_add(2 * page_bytes));
        let (Some(open_bytes), Some(map_bytes)) = (open_bytes, map_bytes) else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping at an address that the kernel chooses overlaps nothing.
        let map = unsafe { libc::mmap(ptr::null_mut(), map_bytes, libc::PROT_NONE, flags, -1, 0) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let map = map.cast::<u8>();
        // SAFETY: the mapping begins with a guard page, so the address is within it.
        let open = unsafe { map.add(page_bytes) };
        let offset = match flush {
            Flush::Start => 0,
            Flush::End => (open_bytes - bytes) / align * align,
        };
        // SAFETY: `offset` is at most `open_bytes - bytes`.
        let data = unsafe { open.add(offset) };
        let mut region = Self { role, map, map_bytes, page_bytes, data, data_bytes: bytes, fill, row: None };
        region.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the pages between the guards are writable, and belong only to this region.
        unsafe { open.write_bytes(fill, open_bytes) };
        region.row = fault::watch(role, map.addr(), map_bytes, data.addr(), bytes);
        Ok(region)
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// Returns the first byte of the data.
    pub(super) fn data(&self) -> *mut u8 {
        self.data
    }

    /// Returns whether the data contains all of these bytes, of which there is at least one.
    pub(super) fn covers(&self, first: usize, bytes: usize) -> bool {
        let start = self.data.addr();
        first >= start && first - start <= self.data_bytes && bytes <= self.data_bytes - (first - start)
    }

    /// Returns whether the data overlaps these bytes.
    pub(super) fn meets(&self, first: usize, bytes: usize) -> bool {
        let start = self.data.addr();
        bytes > 0 && first < start + self.data_bytes && start < first + bytes
    }

    /// Returns all bytes between the guards. The region must not be closed.
    pub(super) fn open(&self) -> &[u8] {
        let bytes = self.map_bytes - 2 * self.page_bytes;
        // SAFETY: the mapping begins with a guard.
        let open = unsafe { self.map.add(self.page_bytes) };
        // SAFETY: the pages between the guards are mapped, readable and initialised while the region is not closed.
        unsafe { std::slice::from_raw_parts(open, bytes) }
    }

    /// Returns the offset of the data in [`Region::open`].
    pub(super) fn offset(&self) -> usize {
        self.data.addr() - self.map.addr() - self.page_bytes
    }

    /// Returns whether the bytes between data and guards still have the pattern.
    pub(super) fn slack_is_intact(&self) -> bool {
        let (open, offset) = (self.open(), self.offset());
        let slack = open[..offset].iter().chain(&open[offset + self.data_bytes..]);
        slack.copied().all(|byte| byte == self.fill)
    }

    /// Forbids all further access, so that code that still uses the memory faults.
    pub(super) fn close(&mut self) {
        // If this fails, the memory stays accessible, and use after free is not detected.
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
        // SAFETY: the mapping belongs to this region, which is being dropped.
        unsafe { libc::munmap(self.map.cast(), self.map_bytes) };
    }
}

/// Returns the size of a page.
fn page_bytes() -> usize {
    // SAFETY: only queries a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}
