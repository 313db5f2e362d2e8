//! ISA levels and variants: for which processors a unit is compiled.
//!
//! A level is a fixed set of features ([`precast_core::cpu::LEVELS`]), so that a host can tell by cpuid whether it may run the
//! code; what the compiler is told of it stands here. `native` is not a
//! level: what it means depends on the machine that compiles. [`Isa::native`] gives the level of this CPU by name.

use std::fmt;
use std::str::FromStr;

use precast_core::cpu::{self, LEVELS, Level};
use precast_store::key::Profile;

/// What a unit is compiled for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The target as Rust spells it, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// The ISA level.
    pub isa: Isa,
    /// What the build is for; the unit's modules must say the same.
    pub profile: Profile,
}

impl Variant {
    /// The variants of a build: the levels that [`Isa::choose`] chooses of those named.
    ///
    /// # Errors
    /// As [`Isa::choose`].
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

/// Says that a text is not an ISA level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseIsaError {
    /// `native` would mean something else on every machine.
    #[error("ISA level `native` depends on the machine that compiles\nhint: {}", native_hint(*level))]
    Native {
        /// The level of this CPU.
        level: Option<Isa>,
    },
    /// No such level.
    #[error(
        "unknown ISA level `{found}`, expected one of `x86-64`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`, `aarch64`"
    )]
    Unknown {
        /// The text.
        found: String,
    },
}

fn native_hint(level: Option<Isa>) -> String {
    level.map_or_else(|| "name a level".to_owned(), |level| format!("name a level; this CPU is an `{level}`"))
}

impl Isa {
    /// Every level, the lowest of an architecture first.
    pub const ALL: &'static [Self] =
        &[Self::X86_64, Self::X86_64V2, Self::X86_64V3, Self::X86_64V4, Self::Aarch64];

    /// What every host knows of it.
    const fn level(self) -> &'static Level {
        LEVELS[self as usize]
    }

    /// Gives the name used in keys, records and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.level().name
    }

    /// Gives the architecture, as the first part of a target triple.
    #[must_use]
    pub const fn arch(self) -> &'static str {
        self.level().arch
    }

    /// Gives the compiler's flags.
    #[must_use]
    pub const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &["-march=x86-64", "-mtune=generic"],
            Self::X86_64V2 => &["-march=x86-64-v2", "-mtune=generic"],
            Self::X86_64V3 => &["-march=x86-64-v3", "-mtune=generic"],
            Self::X86_64V4 => &["-march=x86-64-v4", "-mtune=generic", "-mprefer-vector-width=512"],
            // Outlined atomics call into libgcc, which a module does not link.
            Self::Aarch64 => &["-march=armv8-a", "-mno-outline-atomics"],
        }
    }

    /// Gives the argument that keeps gcc's assembler to the level: `asm` and `target` attributes could leave it, and the code
    /// would then need a CPU that no record asks for. On other architectures the compiler decides for each function.
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

    /// Gives the CPU features that the code needs beyond its architecture, as `is_x86_feature_detected!` spells them,
    /// sorted.
    #[must_use]
    pub fn cpu_features(self) -> Vec<&'static str> {
        let mut features: Vec<_> = self.level().features().collect();
        features.sort_unstable();
        features
    }

    /// Gives the levels that a target is served by when nothing is said; none for an architecture that has no level.
    #[must_use]
    pub fn defaults(target: &str) -> Vec<Self> {
        match target.split('-').next() {
            Some("x86_64") => vec![Self::X86_64V2, Self::X86_64V3, Self::X86_64V4],
            Some("aarch64") => vec![Self::Aarch64],
            _ => Vec::new(),
        }
    }

    /// The levels of a target's architecture, for messages.
    fn of_target(target: &str) -> String {
        let arch = target.split('-').next().unwrap_or(target);
        let levels = Self::ALL.iter().filter(|level| level.arch() == arch);
        levels.map(|level| format!("`{level}`")).collect::<Vec<_>>().join(", ")
    }

    /// Chooses the levels of a build: those that were named, else the defaults of the target; each once, the lowest first.
    ///
    /// # Errors
    /// A level is of another architecture than the target, or no level is known for the target.
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

    /// Finds the highest level of this CPU that may be used here ([`cpu::level`]); `None` on an architecture that has no level.
    #[must_use]
    pub fn native() -> Option<Self> {
        let level = cpu::level()?;
        Self::ALL.iter().copied().find(|isa| isa.level() == level)
    }
}

/// Says why no levels can be chosen for a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChooseIsaError {
    /// A level of another architecture.
    #[error(
        "ISA level `{level}` is of `{}`, the target is `{target}`\nhint: name the target, or levels of it: {}",
        level.arch(),
        Isa::of_target(target)
    )]
    Foreign {
        /// The level.
        level: Isa,
        /// The target.
        target: String,
    },
    /// The target has no level.
    #[error(
        "there is no ISA level for target `{target}`\nhint: targets of `x86_64` and `aarch64` are supported; this machine is `{}`",
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
    fn names_are_read_back() {
        for level in Isa::ALL {
            assert_eq!(level.to_string().parse(), Ok(*level));
        }
    }

    #[test]
    fn native_is_refused_with_the_level_of_this_cpu() {
        let error = "native".parse::<Isa>().unwrap_err().to_string();
        assert!(error.contains("hint: name a level"), "{error}");
        assert!(error.contains(Isa::native().unwrap().name()), "{error}");
    }

    #[test]
    fn levels_are_those_that_hosts_know() {
        assert!(Isa::ALL.iter().map(|isa| isa.level()).eq(LEVELS));
        let flag = |isa: &Isa| isa.flags()[0].trim_start_matches("-march=").to_owned();
        assert!(Isa::ALL[..4].iter().all(|isa| flag(isa) == isa.name()));
    }
}
