//! Large pages for large arrays: fresh memory costs a fault for each page that is touched first, 4 KiB or 2 MiB.
//!
//! Linux gives large pages to those who ask where the system says `madvise`, as most distributions do. It is a hint: no
//! value depends on it, and where it is refused nothing is different but the time.

use std::ffi::c_void;

/// From so many bytes on memory comes from the kernel page by page, and asking is worth a system call.
const LEAST_BYTES: usize = 4 << 20;

/// Asks for large pages.
///
/// # Safety
/// `data` is memory of `bytes` bytes that the caller owns.
pub(super) unsafe fn prefer_large(data: *mut u8, bytes: usize) {
    if bytes < LEAST_BYTES {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        // The kernel takes whole pages: what begins and ends inside of the memory.
        let page = rustix::param::page_size();
        let skipped = data.addr().next_multiple_of(page) - data.addr();
        let length = (bytes - skipped) / page * page;
        let start: *mut c_void = data.wrapping_add(skipped).cast();
        // A kernel without large pages refuses; that is fine.
        // SAFETY: the pages lie in memory that the caller owns, and this advice changes no byte of it.
        let _ = unsafe { rustix::mm::madvise(start, length, rustix::mm::Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = data;
}
