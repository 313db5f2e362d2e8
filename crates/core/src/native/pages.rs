//! Large pages for large arrays: fresh memory costs a fault for each page that is touched first, 4 KiB or 2 MiB.
//!
//! Linux gives large pages to those who ask where the system says `madvise`, as most distributions do. It is a hint: no
//! value depends on it, and where it is refused nothing is different but the time.

#[cfg(target_os = "linux")]
use std::ffi::c_void;

/// From so many bytes on memory comes from the kernel page by page, and asking is worth a system call.
pub(super) const LEAST_BYTES: usize = 4 << 20;

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
        // A kernel without large pages refuses; that is fine.
        // SAFETY: this advice changes no byte of memory that the caller owns.
        let _ = unsafe { advise(data, bytes, rustix::mm::Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = data;
}

/// Tells the kernel that it may take the pages, whose bytes then are 0, until they are written again. Returns whether it heard.
///
/// # Safety
/// `data` is memory of `bytes` bytes that the caller owns, and what it holds is not wanted.
pub(super) unsafe fn may_be_taken(data: *mut u8, bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: as promised by the caller.
        unsafe { advise(data, bytes, rustix::mm::Advice::LinuxFree) }.is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (data, bytes);
        false
    }
}

/// Advises about the whole pages that lie in some memory.
///
/// # Safety
/// The caller owns the memory, and what the advice does to it is wanted.
#[cfg(target_os = "linux")]
unsafe fn advise(data: *mut u8, bytes: usize, advice: rustix::mm::Advice) -> rustix::io::Result<()> {
    let page = rustix::param::page_size();
    let skipped = data.addr().next_multiple_of(page) - data.addr();
    let length = (bytes - skipped) / page * page;
    let start: *mut c_void = data.wrapping_add(skipped).cast();
    // SAFETY: the pages lie in memory that the caller owns.
    unsafe { rustix::mm::madvise(start, length, advice) }
}
