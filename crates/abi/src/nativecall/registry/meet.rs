//! Makes several parties of one process use the same registry.
//!
//! A process can contain several copies of this crate, or of another implementation of CEP 1000. They may be linked
//! statically, or live in shared objects that do not see each other's symbols. The first one to share its registry
//! wins, and the rest find it:
//!
//! | program | meeting place | safe because |
//! |---|---|---|
//! | CPython | the capsule `registry` of the module `sys.modules["_nativecall"]` | the GIL; `precast/nativecall_python.h` |
//! | any C program | the environment variable `_NATIVECALL_REGISTRY_1` | no thread uses the environment while [`share`] runs |
//!
//! Every copy can reach the environment, no matter how it was linked; LLVM's OpenMP run time uses it for the same
//! purpose. The variable holds the address of a [`Registry`] and 16 random bytes, which Linux passes to each program at
//! its start (`AT_RANDOM`). A child process that inherits the variable and runs another program detects that the value
//! is not its own. A forked child, which has its parent's memory, keeps using it:
//! ```text
//! _NATIVECALL_REGISTRY_1=00007f3c5a1b2c40:9f…16 bytes in hexadecimal…e1
//! ```
//! Sharing is optional: without it, each copy uses its own registry and does not compare addresses across copies.

use super::{OWN, Registry, VERSION};
use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

/// The NUL-terminated name of the variable (`PC_NATIVE_REGISTRY_VARIABLE`). Its number is the version of the registry.
const VARIABLE: &CStr = c"_NATIVECALL_REGISTRY_1";

static CHOSEN: OnceLock<&'static Registry> = OnceLock::new();

/// The reason why this copy of the crate cannot use the registry of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// This copy had already interned signatures in its own registry.
    #[error(
        "this process already shares another registry of signatures, and this registry is in use\nhint: call `share` \
         before interning signatures"
    )]
    InUse,
    /// The environment has no room for the variable.
    #[error("cannot set `_NATIVECALL_REGISTRY_1` in the environment")]
    Environment,
}

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int;
}

/// Returns the registry that this copy uses: the shared one after [`share`], otherwise its own.
pub fn registry() -> &'static Registry {
    CHOSEN.get_or_init(|| &OWN)
}

/// Offers this copy's registry to the process, or adopts the registry already offered.
///
/// # Errors
/// Fails if the process shares another registry and this copy has already used its own, or if the variable cannot be
/// set.
///
/// # Safety
/// No other thread may read or change the environment during the call; as with `setenv`, call it at startup. The shared
/// object that contains this copy of the crate must never be unloaded (`-z nodelete`), nor may any that offered a
/// registry.
pub unsafe fn share() -> Result<&'static Registry, ShareError> {
    let program = program();
    // SAFETY: the caller guarantees exclusive access to the environment.
    let mut found = unsafe { find(&program) };
    if found.is_none() {
        let value = format!("{:016x}:{program}\0", std::ptr::from_ref(registry()).expose_provenance());
        // SAFETY: both strings are NUL-terminated, and the caller guarantees exclusive access to the environment. An
        // existing value is not from this process (inherited from another program, or corrupt), so it is overwritten.
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

/// Returns the registry that the variable names, if it belongs to this run of this program.
///
/// # Safety
/// See [`share`].
unsafe fn find(program: &str) -> Option<&'static Registry> {
    // SAFETY: the name is NUL-terminated, and the caller guarantees exclusive access to the environment.
    let value = unsafe { getenv(VARIABLE.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: environment values are NUL-terminated strings.
    let value = unsafe { CStr::from_ptr(value) }.to_str().ok()?;
    let (address, of) = value.split_once(':')?;
    let address = usize::from_str_radix(address, 16).ok().filter(|_| of == program)?;
    let registry = std::ptr::with_exposed_provenance::<Registry>(address);
    // SAFETY: the random bytes match this run of this program, so one of its parties wrote the value. By convention a
    // registry is never freed, and other versions use other variables.
    let registry = unsafe { registry.as_ref() }?;
    (registry.version == VERSION && registry.struct_bytes as usize >= size_of::<Registry>())
        .then_some(registry)
}

/// Returns a unique ID of this run of this program, in hexadecimal.
#[cfg(target_os = "linux")]
fn program() -> String {
    const AT_RANDOM: std::ffi::c_ulong = 25;
    unsafe extern "C" {
        safe fn getauxval(kind: std::ffi::c_ulong) -> std::ffi::c_ulong;
    }
    let address = std::ptr::with_exposed_provenance::<[u8; 16]>(getauxval(AT_RANDOM) as usize);
    // SAFETY: Linux stores the address of 16 bytes there, which are valid as long as the process; or 0 if unsupported.
    let bytes = unsafe { address.as_ref() }.copied().unwrap_or_default();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns an ID of this process. A forked child has a different ID, so it does not find its parent's registry here.
#[cfg(not(target_os = "linux"))]
fn program() -> String {
    format!("{:032x}", std::process::id())
}
