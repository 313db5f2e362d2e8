//! The file of this library.

use crate::error::Error;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Returns the path of this library.
pub(crate) fn library() -> Result<PathBuf, Error> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    static HERE: u8 = 0;
    let address: *const libc::c_void = (&raw const HERE).cast();
    // SAFETY: `dladdr` reads no memory at the address, and writes at most one `Dl_info`.
    let known = unsafe { libc::dladdr(address, found.as_mut_ptr()) };
    // SAFETY: zeroed bytes are a valid `Dl_info`, which has integers and pointers only.
    let found = unsafe { found.assume_init() };
    if known == 0 || found.dli_fname.is_null() {
        return Err(Error::Package("the dynamic linker does not know its file".to_owned()));
    }
    // SAFETY: the linker keeps the text as long as the library is loaded, and this code is part of it.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Ok(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}
