//! The properties of a host, which the requirements of code are compared with.

use std::collections::BTreeSet;

/// The properties of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Architecture, such as `x86_64`.
    pub arch: String,
    /// Operating system, such as `linux`.
    pub os: String,
    /// C library, such as `gnu`.
    pub libc: Option<String>,
    /// Version of the C library.
    pub libc_version: Option<String>,
    /// CPU features that may be used.
    pub cpu: BTreeSet<String>,
    /// The highest ISA level that may be used, if a limit is set.
    pub limit: Option<String>,
    /// Lowest and highest version of the C ABI that the host supports.
    pub abi: (u32, u32),
}
