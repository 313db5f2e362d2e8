//! Requests large pages for large arrays. The first access to each page of fresh memory costs a fault, and a page is 4 KiB
//! or 2 MiB.
//!
//! Linux provides large pages on request if the system setting is `madvise`, as in most distributions. The request is a
//! hint: if it is rejected, only the time differs.

#[cfg(target_os = "linux")]
use std::ffi::c_void;

/// Minimum size in bytes for a request. Such memory comes from the kernel page by page, and the request is worth a system
/// call.
pub(crate) const LEAST_BYTES: usize = 4 << 20;

/// Requests large pages.
///
/// # Safety
/// `data` is memory of `bytes` bytes that the caller owns.
pub(crate) unsafe fn prefer_large(data: *mut u8, bytes: usize) {
    if bytes < LEAST_BYTES {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        // A kernel without large pages rejects this, which is fine.
        // SAFETY: this advice changes no byte of memory that the caller owns.
        let _ = unsafe { advise(data, bytes, rustix::mm::Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = data;
}

/// Lets the kernel reclaim the pages, whose bytes may become 0 until they are written again. Returns whether that is
/// supported.
///
/// # Safety
/// `data` is memory of `bytes` bytes that the caller owns, and its contents are no longer needed.
pub(crate) unsafe fn may_be_taken(data: *mut u8, bytes: usize) -> bool {
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

/// Applies advice to the whole pages inside some memory.
///
/// # Safety
/// The caller owns the memory, and the effect of the advice is allowed.
#[cfg(target_os = "linux")]
unsafe fn advise(data: *mut u8, bytes: usize, advice: rustix::mm::Advice) -> rustix::io::Result<()> {
    let page = rustix::param::page_size();
    let skipped = data.addr().next_multiple_of(page) - data.addr();
    let length = (bytes - skipped) / page * page;
    let start: *mut c_void = data.wrapping_add(skipped).cast();
    // SAFETY: the pages are inside memory that the caller owns.
    unsafe { rustix::mm::madvise(start, length, advice) }
}
