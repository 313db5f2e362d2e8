//! The limit of this process on the size of files.

/// Returns the maximum size of a file that this process may write, in bytes; `None` if there is no limit, or if the
/// kernel does not tell.
#[cfg(unix)]
pub(crate) fn file_size_limit() -> Option<u64> {
    // `getrlimit` of the crate rustix assumes that the call succeeds, but filters of system calls refuse it.
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the pointer is to a local variable of the type that the call writes.
    let status = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Returns `None`: there is no limit.
#[cfg(not(unix))]
pub(crate) fn file_size_limit() -> Option<u64> {
    None
}
