//! ISA levels and variants: the processors that a unit is compiled for.
//!
//! A level is a fixed set of features ([`precast_core::cpu::LEVELS`]), so that a host can check with `cpuid` whether it
//! may run the code. This module defines the compiler flags of each level. `native` is not a level, because its meaning
//! depends on the machine that compiles. [`Isa::native`] returns the level of this CPU.

use std::fmt;
use std::str::FromStr;

use precast_core::cpu::{self, LEVELS, Level};
use precast_store::key::Profile;

/// The target, ISA level and profile that a unit is compiled for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The target triple in Rust's spelling, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// The ISA level.
    pub isa: Isa,
    /// The build profile; it must equal the profile of the unit's modules.
    pub profile: Profile,
}

impl Variant {
    /// Returns the variants of a build, one for each level that [`Isa::choose`] selects.
    ///
    /// # Errors
    /// See [`Isa::choose`].
    pub fn choose(named: Vec<Isa>, target: &str, profile: Profile) -> Result<Vec<Self>, ChooseIsaError> {
        let variant = |isa| Self { target: target.to_owned(), isa, profile };
        Ok(Isa::choose(named, target)?.into_iter().map(variant).collect())
    }
}

/// An ISA level: the instructions that the compiler may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// `x86-64`: SSE2.
    X86_64,
    /// `x86-64-v2`: up to SSE4.2 and POPCNT.
    X86_64V2,
    /// `x86-64-v3`: AVX2, FMA, BMI2.
    X86_64V3,
    /// `x86-64-v4`: AVX-512 F, BW, CD, DQ, VL.
    X86_64V4,
    /// `aarch64`: Armv8-A with Advanced SIMD.
    Aarch64,
}

/// An error: a text is not an ISA level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseIsaError {
    /// `native` has a different meaning on every machine.
    #[error("ISA level `native` depends on the build machine\nhint: {}", native_hint(*level))]
    Native {
        /// The level of this CPU.
        level: Option<Isa>,
    },
    /// The level is unknown.
    #[error(
        "unknown ISA level `{found}`, expected one of `x86-64`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`, `aarch64`"
    )]
    Unknown {
        /// The text.
        found: String,
    },
}

fn native_hint(level: Option<Isa>) -> String {
    level.map_or_else(
        || "name a level".to_owned(),
        |level| format!("name a level; this CPU supports `{level}`"),
    )
}

impl Isa {
    /// All levels, grouped by architecture, the lowest first.
    pub const ALL: &'static [Self] =
        &[Self::X86_64, Self::X86_64V2, Self::X86_64V3, Self::X86_64V4, Self::Aarch64];

    /// Returns the shared definition of the level, which every host uses.
    const fn level(self) -> &'static Level {
        LEVELS[self as usize]
    }

    /// Returns the name used in keys, records and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.level().name
    }

    /// Returns the architecture as the first part of a target triple.
    #[must_use]
    pub const fn arch(self) -> &'static str {
        self.level().arch
    }

    /// Returns the compiler flags.
    #[must_use]
    pub const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &["-march=x86-64", "-mtune=generic"],
            Self::X86_64V2 => &["-march=x86-64-v2", "-mtune=generic"],
            Self::X86_64V3 => &["-march=x86-64-v3", "-mtune=generic"],
            Self::X86_64V4 => &["-march=x86-64-v4", "-mtune=generic", "-mprefer-vector-width=512"],
            // Outlined atomics call libgcc, which modules do not link.
            Self::Aarch64 => &["-march=armv8-a", "-mno-outline-atomics"],
        }
    }

    /// Returns the argument that restricts gcc's assembler to the level. Otherwise `asm` and `target` attributes could
    /// use instructions beyond the level, and the code would require a CPU feature that no record states. On other
    /// architectures the compiler selects the instruction set for each function.
    #[must_use]
    pub const fn assembler_flag(self) -> Option<&'static str> {
        match self {
            Self::X86_64 => Some("-Wa,-march=generic64"),
            Self::X86_64V2 => Some("-Wa,-march=generic64+sse4.2+popcnt+cx16"),
            Self::X86_64V3 => {
                Some("-Wa,-march=generic64+sse4.2+popcnt+cx16+xsave+avx2+fma+f16c+bmi+bmi2+lzcnt+movbe")
            }
            Self::X86_64V4 => Some(
                "-Wa,-march=generic64+sse4.2+popcnt+cx16+xsave+avx2+fma+f16c+bmi+bmi2+lzcnt+movbe\
                 +avx512f+avx512bw+avx512cd+avx512dq+avx512vl",
            ),
            Self::Aarch64 => None,
        }
    }

    /// Returns the CPU features that the code needs beyond the base architecture, sorted, in the spelling of
    /// `is_x86_feature_detected!`.
    #[must_use]
    pub fn cpu_features(self) -> Vec<&'static str> {
        let mut features: Vec<_> = self.level().features().collect();
        features.sort_unstable();
        features
    }

    /// Returns the default levels of a target; empty for an architecture without levels.
    #[must_use]
    pub fn defaults(target: &str) -> Vec<Self> {
        match target.split('-').next() {
            Some("x86_64") => vec![Self::X86_64V2, Self::X86_64V3, Self::X86_64V4],
            Some("aarch64") => vec![Self::Aarch64],
            _ => Vec::new(),
        }
    }

    /// Returns the levels of a target's architecture, for messages.
    fn of_target(target: &str) -> String {
        let arch = target.split('-').next().unwrap_or(target);
        let levels = Self::ALL.iter().filter(|level| level.arch() == arch);
        let names: Vec<String> = levels.map(|level| format!("`{level}`")).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// Selects the levels of a build: the named ones, or the target's defaults if none are named. The result is sorted,
    /// the lowest first, without duplicates.
    ///
    /// # Errors
    /// Fails if a level belongs to a different architecture than the target, or if the target has no levels.
    pub fn choose(named: Vec<Self>, target: &str) -> Result<Vec<Self>, ChooseIsaError> {
        let mut levels = if named.is_empty() { Self::defaults(target) } else { named };
        levels.sort_unstable();
        levels.dedup();
        let arch = target.split('-').next().unwrap_or(target);
        match levels.iter().find(|level| level.arch() != arch) {
            Some(level) => Err(ChooseIsaError::Foreign { level: *level, target: target.to_owned() }),
            None if levels.is_empty() => Err(ChooseIsaError::None { target: target.to_owned() }),
            None => Ok(levels),
        }
    }

    /// Returns the highest level of this CPU that may be used here ([`cpu::level`]); `None` on an architecture without
    /// levels.
    #[must_use]
    pub fn native() -> Option<Self> {
        let level = cpu::level()?;
        Self::ALL.iter().copied().find(|isa| isa.level() == level)
    }
}

/// The reason why no levels can be selected for a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChooseIsaError {
    /// A level belongs to a different architecture.
    #[error(
        "ISA level `{level}` is for `{}`, but the target is `{target}`; its levels: {}",
        level.arch(),
        Isa::of_target(target)
    )]
    Foreign {
        /// The level.
        level: Isa,
        /// The target.
        target: String,
    },
    /// The target has no levels.
    #[error(
        "no ISA level for target `{target}`\nhint: use an `x86_64` or `aarch64` target; this machine is `{}`",
        crate::host_target()
    )]
    None {
        /// The target.
        target: String,
    },
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Isa {
    type Err = ParseIsaError;

    fn from_str(text: &str) -> Result<Self, ParseIsaError> {
        if text == "native" {
            return Err(ParseIsaError::Native { level: Self::native() });
        }
        let level = Self::ALL.iter().copied().find(|level| level.name() == text);
        level.ok_or_else(|| ParseIsaError::Unknown { found: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_names_round_trip() {
        for level in Isa::ALL {
            assert_eq!(level.to_string().parse(), Ok(*level));
        }
    }

    #[test]
    fn native_is_rejected_with_this_level() {
        let error = "native".parse::<Isa>().unwrap_err().to_string();
        assert!(error.contains("hint: name a level"), "{error}");
        assert!(error.contains(Isa::native().unwrap().name()), "{error}");
    }

    #[test]
    fn levels_match_those_of_hosts() {
        assert!(Isa::ALL.iter().map(|isa| isa.level()).eq(LEVELS));
        let flag = |isa: &Isa| isa.flags()[0].trim_start_matches("-march=").to_owned();
        assert!(Isa::ALL[..4].iter().all(|isa| flag(isa) == isa.name()));
    }
}
