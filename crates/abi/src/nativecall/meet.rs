//! How several parties of one process come to use one registry.
//!
//! Several copies of this crate, or of another implementation of CEP 1000, can be in one process: linked statically, or in
//! shared objects that do not see each other's symbols. The first one to share its registry wins; the others find it:
//!
//! | where | the meeting place | what makes it safe |
//! |---|---|---|
//! | CPython | the capsule `registry` of the module `sys.modules["_nativecall"]` | the GIL; `precast/nativecall_python.h` |
//! | any C program | the environment variable `_NATIVECALL_REGISTRY_1` | [`share`] is called while the environment is at rest |
//!
//! The environment is the one thing that every copy reaches, however it was linked; LLVM's OpenMP run time meets there too.
//! The variable holds the address of a [`Registry`] and the 16 random bytes that Linux gives each program at its start
//! (`AT_RANDOM`), so a child that inherits the variable and runs another program sees that it is not its own, while a
//! forked child, which has the parent's memory, goes on with it:
//! ```text
//! _NATIVECALL_REGISTRY_1=00007f3c5a1b2c40:9f…16 bytes in hexadecimal…e1
//! ```
//! Nobody has to share: without it each copy has the registry of its own, and compares no addresses with others.

use super::registry::{OWN, Registry, VERSION};
use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

/// The variable, with its NUL (`PC_NATIVE_REGISTRY_VARIABLE`). Its number is the version of the registry.
const VARIABLE: &CStr = c"_NATIVECALL_REGISTRY_1";

static CHOSEN: OnceLock<&'static Registry> = OnceLock::new();

/// Why the registry of the process cannot be used by this copy of the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// Signatures were interned before.
    #[error(
        "another registry of signatures is shared in this process, and this one is in use already\n\
         hint: call `share` before anything is interned"
    )]
    InUse,
    /// There is no room in the environment.
    #[error("cannot set `_NATIVECALL_REGISTRY_1` in the environment")]
    Environment,
}

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int;
}

/// The registry that this copy uses: the shared one after [`share`], else its own.
pub fn registry() -> &'static Registry {
    CHOSEN.get_or_init(|| &OWN)
}

/// Offers this copy's registry to the process, or adopts the one that is offered there.
///
/// # Errors
/// Another registry is there and this copy has used its own; no room for the variable.
///
/// # Safety
/// No other thread changes or reads the environment at the same time: call it at the start, as one calls `setenv`. The
/// shared object that has this copy of the crate is never unloaded (`-z nodelete`), nor is one that offered a registry.
pub unsafe fn share() -> Result<&'static Registry, ShareError> {
    let program = program();
    // SAFETY: the caller's promise about the environment.
    let mut found = unsafe { find(&program) };
    if found.is_none() {
        let value = format!("{:016x}:{program}\0", std::ptr::from_ref(registry()).expose_provenance());
        // SAFETY: both strings end with NUL; the caller's promise about the environment. What stands there is not ours
        // (another program's, or damaged), so it is overwritten.
        let failed = unsafe { setenv(VARIABLE.as_ptr(), value.as_ptr().cast(), 1) };
        if failed != 0 {
            return Err(ShareError::Environment);
        }
        found = Some(registry());
    }
    let chosen = found.map_or_else(registry, |found| CHOSEN.get_or_init(|| found));
    match found {
        Some(found) if !std::ptr::eq(found, chosen) => Err(ShareError::InUse),
        _ => Ok(chosen),
    }
}

/// The registry that the variable names, if it is of this run of this program.
///
/// # Safety
/// As [`share`].
unsafe fn find(program: &str) -> Option<&'static Registry> {
    // SAFETY: the name ends with NUL; the caller's promise about the environment.
    let value = unsafe { getenv(VARIABLE.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the values of the environment are strings.
    let value = unsafe { CStr::from_ptr(value) }.to_str().ok()?;
    let (address, of) = value.split_once(':')?;
    let address = usize::from_str_radix(address, 16).ok().filter(|_| of == program)?;
    let registry = std::ptr::with_exposed_provenance::<Registry>(address);
    // SAFETY: the random bytes are those of this run of this program, so one of its parties wrote the value, and the
    // convention is that a registry is never freed. A version that is not ours has another variable.
    let registry = unsafe { registry.as_ref() }?;
    (registry.version == VERSION && registry.struct_bytes as usize >= size_of::<Registry>())
        .then_some(registry)
}

/// What tells this run of this program from all others, in hexadecimal.
#[cfg(target_os = "linux")]
fn program() -> String {
    const AT_RANDOM: std::ffi::c_ulong = 25;
    unsafe extern "C" {
        safe fn getauxval(kind: std::ffi::c_ulong) -> std::ffi::c_ulong;
    }
    let address = std::ptr::with_exposed_provenance::<[u8; 16]>(getauxval(AT_RANDOM) as usize);
    // SAFETY: Linux puts the address of 16 bytes there, which stay as long as the process; 0 if it does not.
    let bytes = unsafe { address.as_ref() }.copied().unwrap_or_default();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What tells this run of this program from all others; a forked child does not find its parent's registry here.
#[cfg(not(target_os = "linux"))]
fn program() -> String {
    format!("{:032x}", std::process::id())
}
