//! The C ABI between host and compiled modules: headers, their Rust mirror, CEP 1000 signatures and tables.
//!
//! ```text
//! include/precast/tensor.h   pc_object, pc_dtype, pc_tensor      ── mirrored by ──▶ tensor
//! include/precast/context.h  pc_error, pc_host, pc_context       ──────────────────▶ context
//! include/precast/driver.h    pc_elemwise, pc_reduce, pc_rows   ──────────────────▶ driver
//! include/precast/module.h   pc_task, pc_entry, pc_module        ──────────────────▶ module
//! include/precast/linked.h   pc_linked                           ──────────────────▶ module
//! include/precast/copy.h, output.h      for drivers and kernels ([`KERNEL_HEADERS`])
//! compat/Python.h, compat/numpy/…  CPython's and NumPy's C API on the types above: op code that was written for them; their names ──▶ compat
//! include/precast/nativecall.h  CEP 1000: signatures, tables     ──────────────────▶ nativecall
//! ```
//! The headers are the truth; `tests/it/mirror.rs` makes the C compiler compare every size and offset with the mirror.
//! The headers travel inside this crate as text ([`HEADERS`]), because a JIT needs them where no source tree is.
//!
//! Nothing here loads or calls: the native loader of `precast-core` does.
#![allow(unsafe_code, reason = "this crate is the mirror of a C ABI; each block argues its case")]

pub mod compat;
pub mod context;
pub mod driver;
pub mod module;
#[cfg(feature = "nativecall")]
pub mod nativecall;
pub mod tensor;

/// Version of the ABI in this crate: major in the upper 16 bits, minor in the lower 16.
pub const ABI_VERSION: u32 = 0x0001_0005;

/// Oldest module ABI that this host still serves: monoids of before are shorter.
pub const ABI_OLDEST: u32 = 0x0001_0005;

/// Logical name and text of every header of the ABI, in the order of their names; each module includes them.
pub const HEADERS: &[(&str, &str)] = &[
    ("precast/context.h", include_str!("../include/precast/context.h")),
    ("precast/driver.h", include_str!("../include/precast/driver.h")),
    ("precast/module.h", include_str!("../include/precast/module.h")),
    ("precast/tensor.h", include_str!("../include/precast/tensor.h")),
];

/// Headers for drivers and kernels, which a module includes where it needs them: elements copied, outputs kept where they fit.
pub const KERNEL_HEADERS: &[(&str, &str)] = &[
    ("precast/copy.h", include_str!("../include/precast/copy.h")),
    ("precast/output.h", include_str!("../include/precast/output.h")),
];

/// The header for hosts in C; no module needs it.
pub const HOST_HEADERS: &[(&str, &str)] = &[("precast/host.h", include_str!("../include/precast/host.h"))];

/// The header of modules that are linked into a program; no module needs it.
pub const LINKED_HEADERS: &[(&str, &str)] =
    &[("precast/linked.h", include_str!("../include/precast/linked.h"))];

/// Headers of CEP 1000, for C that finds functions by signature; no module needs them.
pub const NATIVECALL_HEADERS: &[(&str, &str)] = &[
    ("precast/nativecall.h", include_str!("../include/precast/nativecall.h")),
    ("precast/nativecall_registry.h", include_str!("../include/precast/nativecall_registry.h")),
];

/// Logical name and text of every compat header, in the order of their names: `Python.h`, `numpy/arrayobject.h`, and what they
/// include beside [`HEADERS`]. They are for modules with an op that asks for them; see `compat/README.md`.
pub const COMPAT_HEADERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/compat.rs"));
