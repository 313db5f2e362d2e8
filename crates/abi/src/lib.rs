//! The C ABI between the host and compiled modules: C headers, their Rust mirror, CEP 1000 signatures and tables.
//!
//! ```text
//! include/precast/tensor.h   pc_object, pc_dtype, pc_tensor      ── mirrored by ──▶ tensor
//! include/precast/context.h  pc_error, pc_host, pc_context       ──────────────────▶ context
//! include/precast/driver.h   pc_elemwise, pc_reduce, pc_rows     ──────────────────▶ driver
//! include/precast/module.h   pc_task, pc_entry, pc_module        ──────────────────▶ module
//! include/precast/linked.h   pc_linked                           ──────────────────▶ module
//! include/precast/copy.h, output.h      for drivers and kernels ([`KERNEL_HEADERS`])
//! compat/Python.h, compat/numpy/…       CPython's and NumPy's C API on the types above, for op code written against it;
//!                                       their names              ──────────────────▶ compat
//! include/precast/nativecall.h  CEP 1000: signatures, tables     ──────────────────▶ nativecall
//! ```
//! The headers are authoritative: in `tests/it/mirror.rs` the C compiler compares every size and offset with the
//! mirror. The text of the headers is embedded in this crate ([`HEADERS`]), because a JIT needs them on machines
//! without the source tree.
//!
//! This crate neither loads modules nor calls them; the native loader of `precast-core` does both.
#![allow(unsafe_code, reason = "this crate is the mirror of a C ABI; each block argues its case")]

pub mod compat;
pub mod context;
pub mod driver;
pub mod module;
#[cfg(feature = "nativecall")]
pub mod nativecall;
pub mod tensor;

/// The version of the ABI in this crate: the major version in the upper 16 bits, the minor version in the lower 16.
pub const ABI_VERSION: u32 = 0x0001_0006;

/// The oldest module ABI that this host supports. Older modules have a shorter `pc_monoid`.
pub const ABI_OLDEST: u32 = 0x0001_0005;

/// The logical name and text of every header that all modules include, sorted by name.
pub const HEADERS: &[(&str, &str)] = &[
    ("precast/context.h", include_str!("../include/precast/context.h")),
    ("precast/driver.h", include_str!("../include/precast/driver.h")),
    ("precast/module.h", include_str!("../include/precast/module.h")),
    ("precast/tensor.h", include_str!("../include/precast/tensor.h")),
];

/// Headers for drivers and kernels: copying elements, and reusing outputs that fit. A module includes them only if
/// needed.
pub const KERNEL_HEADERS: &[(&str, &str)] = &[
    ("precast/copy.h", include_str!("../include/precast/copy.h")),
    ("precast/output.h", include_str!("../include/precast/output.h")),
];

/// The header for hosts written in C; modules do not need it.
pub const HOST_HEADERS: &[(&str, &str)] = &[("precast/host.h", include_str!("../include/precast/host.h"))];

/// The header for modules that are linked into a program; other modules do not need it.
pub const LINKED_HEADERS: &[(&str, &str)] =
    &[("precast/linked.h", include_str!("../include/precast/linked.h"))];

/// The headers of CEP 1000, for C code that finds functions by signature; modules do not need them.
pub const NATIVECALL_HEADERS: &[(&str, &str)] = &[
    ("precast/nativecall.h", include_str!("../include/precast/nativecall.h")),
    ("precast/nativecall_registry.h", include_str!("../include/precast/nativecall_registry.h")),
];

/// The logical name and text of every compat header, sorted by name: `Python.h`, `numpy/arrayobject.h`, and the headers
/// they include in addition to [`HEADERS`]. A module includes them if one of its ops requests them; see
/// `compat/README.md`.
pub const COMPAT_HEADERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/compat.rs"));
