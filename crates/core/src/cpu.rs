//! What this host has: by cpuid only, never by a compiler probe.

use crate::record::Host;
use std::sync::OnceLock;

macro_rules! detected {
    ($($feature:tt),*) => {
        [$(($feature, std::is_x86_feature_detected!($feature))),*]
    };
}

/// Features that ISA levels ask for, with whether this CPU has them.
#[cfg(target_arch = "x86_64")]
fn features() -> Vec<String> {
    let known = detected!(
        "sse3",
        "ssse3",
        "sse4.1",
        "sse4.2",
        "popcnt",
        "cmpxchg16b",
        "avx",
        "avx2",
        "bmi1",
        "bmi2",
        "f16c",
        "fma",
        "lzcnt",
        "movbe",
        "avx512f",
        "avx512bw",
        "avx512cd",
        "avx512dq",
        "avx512vl"
    );
    known.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_owned()).collect()
}

/// Features that ISA levels ask for, with whether this CPU has them.
#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<String> {
    Vec::new()
}

/// This host, found out once.
pub fn host() -> &'static Host {
    static THIS: OnceLock<Host> = OnceLock::new();
    THIS.get_or_init(|| Host {
        arch: std::env::consts::ARCH.to_owned(),
        os: std::env::consts::OS.to_owned(),
        libc: Some(if cfg!(target_env = "musl") { "musl" } else { "gnu" }.to_owned()),
        libc_version: crate::native::libc_version(),
        cpu: features().into_iter().collect(),
        abi: (precast_abi::ABI_OLDEST, precast_abi::ABI_VERSION),
    })
}
