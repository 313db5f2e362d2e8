//! The limit on the size of files that this process writes.

/// Returns the maximum size of a file that this process may write, in bytes; `None` if it is unlimited or unknown.
#[cfg_attr(unix, allow(clippy::unnecessary_cast, reason = "the number has 32 bits on some targets"))]
pub(crate) fn file_size_limit() -> Option<u64> {
    #[cfg(unix)]
    {
        // `getrlimit` of the crate rustix assumes that the call succeeds, but filters of system calls refuse it.
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the pointer is to a local variable of the type that the call writes.
        let status = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
        (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as u64)
    }
    #[cfg(not(unix))]
    None
}
