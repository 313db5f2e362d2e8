//! The properties of this host. CPU features come only from cpuid, never from a compiler probe. `PRECAST_ISA_LIMIT` can
//! restrict them, for a CPU that must not be used in full or to simulate another one.

use crate::record::host::Host;
use std::iter;
use std::sync::OnceLock;

/// The variable that names the highest ISA level whose code may be loaded, such as `x86-64-v2`.
pub const LIMIT: &str = "PRECAST_ISA_LIMIT";

/// An ISA level: a fixed set of CPU features, so that a host can check with cpuid whether it can run the code.
#[derive(Debug, PartialEq, Eq)]
pub struct Level {
    /// The name in keys, records and messages.
    pub name: &'static str,
    /// The architecture, as the first part of a target triple.
    pub arch: &'static str,
    /// The next lower level. Its features are included.
    pub below: Option<&'static Self>,
    /// The features that this level adds, as `is_x86_feature_detected!` spells them.
    pub adds: &'static [&'static str],
}

static V1: Level = Level { name: "x86-64", arch: "x86_64", below: None, adds: &[] };
static V2: Level = Level {
    name: "x86-64-v2",
    arch: "x86_64",
    below: Some(&V1),
    adds: &["cmpxchg16b", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"],
};
static V3: Level = Level {
    name: "x86-64-v3",
    arch: "x86_64",
    below: Some(&V2),
    adds: &["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"],
};
static V4: Level = Level {
    name: "x86-64-v4",
    arch: "x86_64",
    below: Some(&V3),
    adds: &["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"],
};
static AARCH64: Level = Level { name: "aarch64", arch: "aarch64", below: None, adds: &[] };

/// All levels, sorted from the lowest of each architecture.
pub static LEVELS: [&Level; 5] = [&V1, &V2, &V3, &V4, &AARCH64];

impl Level {
    /// Returns all features that the code needs beyond the architecture.
    pub fn features(&'static self) -> impl Iterator<Item = &'static str> {
        iter::successors(Some(self), |level| level.below).flat_map(|level| level.adds.iter().copied())
    }
}

/// An invalid ISA limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid `{LIMIT}`: unknown ISA level `{found}` for `{}`\nhint: set it to one of `{}`, or unset it", std::env::consts::ARCH, own().map(|level| level.name).collect::<Vec<_>>().join("`, `"))]
pub struct LimitError {
    /// The value of the variable.
    pub found: String,
}

/// Returns the levels of this architecture.
fn own() -> impl Iterator<Item = &'static Level> {
    LEVELS.into_iter().filter(|level| level.arch == std::env::consts::ARCH)
}

/// Returns the highest level whose code this process may load, if a limit is set. The variable is read once.
///
/// # Errors
/// The variable does not name a level of this architecture.
pub fn limit() -> Result<Option<&'static Level>, LimitError> {
    static THIS: OnceLock<Result<Option<&'static Level>, LimitError>> = OnceLock::new();
    THIS.get_or_init(|| limit_of(&std::env::var_os(LIMIT).unwrap_or_default().to_string_lossy())).clone()
}

fn limit_of(value: &str) -> Result<Option<&'static Level>, LimitError> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(None);
    }
    let found = own().find(|level| level.name == value);
    found.map(Some).ok_or_else(|| LimitError { found: value.to_owned() })
}

macro_rules! detected {
    ($($feature:tt),*) => {
        [$(($feature, std::is_x86_feature_detected!($feature))),*]
    };
}

/// Returns the CPU features that ISA levels use and that this CPU has.
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

/// Returns no features: the ISA levels of this architecture add none.
#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<String> {
    Vec::new()
}

/// Returns this host, which is detected once. An invalid limit is ignored here: code that loads modules calls [`limit`]
/// first.
pub fn host() -> &'static Host {
    static THIS: OnceLock<Host> = OnceLock::new();
    THIS.get_or_init(|| {
        let limit = limit().ok().flatten();
        let allowed =
            |name: &String| limit.is_none_or(|level| level.features().any(|feature| feature == name));
        Host {
            arch: std::env::consts::ARCH.to_owned(),
            os: std::env::consts::OS.to_owned(),
            libc: Some(if cfg!(target_env = "musl") { "musl" } else { "gnu" }.to_owned()),
            libc_version: crate::native::libc_version(),
            cpu: features().into_iter().filter(allowed).collect(),
            limit: limit.map(|level| level.name.to_owned()),
            abi: (precast_abi::ABI_OLDEST, precast_abi::ABI_VERSION),
        }
    })
}

/// Returns the highest level whose code this process loads: the level of the CPU, but not above the limit. Returns `None`
/// on an architecture without levels.
#[must_use]
pub fn level() -> Option<&'static Level> {
    own().filter(|level| level.features().all(|feature| host().cpu.contains(feature))).last()
}

/// Returns the level of the kernels in `c/` whose instructions may be used: the highest of 0, 1 for x86-64-v3 and 2 for
/// x86-64-v4 that the host allows.
pub(crate) fn kernels() -> i32 {
    static THIS: OnceLock<i32> = OnceLock::new();
    *THIS.get_or_init(|| {
        let kernels = |level: &Level| match level.name {
            "x86-64-v3" => Some(1),
            "x86-64-v4" => Some(2),
            _ => None,
        };
        iter::successors(level(), |level| level.below).find_map(kernels).unwrap_or(0)
    })
}

/// Returns a hint to build code for this host.
#[cold]
pub(crate) fn hint() -> String {
    let level = level().map_or(std::env::consts::ARCH, |level| level.name);
    format!("hint: build the bundle for this host too, with `--isa {level}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_adds_features_to_the_one_below() {
        for pair in LEVELS.windows(2).filter(|pair| pair[0].arch == pair[1].arch) {
            assert_eq!(pair[1].below, Some(pair[0]));
            assert!(!pair[1].adds.is_empty());
        }
        for level in LEVELS {
            let known = level.features().count();
            assert_eq!(level.features().collect::<std::collections::BTreeSet<_>>().len(), known, "{level:?}");
        }
        assert_eq!(V4.features().count(), 19);
    }

    #[test]
    fn limit_is_a_known_level() {
        for value in ["", " "] {
            assert_eq!(limit_of(value), Ok(None));
        }
        for level in own() {
            assert_eq!(limit_of(level.name), Ok(Some(level)));
        }
        let foreign = LEVELS.iter().find(|level| level.arch != std::env::consts::ARCH).unwrap().name;
        for value in ["native", "avx2", "x86-64-v5", "v3", foreign] {
            let error = limit_of(value).unwrap_err().to_string();
            assert!(error.contains(&format!("invalid `{LIMIT}`: unknown ISA level `{value}`")), "{error}");
            assert!(
                error.contains("\nhint: set it to one of `") && error.contains(own().next().unwrap().name),
                "{error}"
            );
        }
    }
}
